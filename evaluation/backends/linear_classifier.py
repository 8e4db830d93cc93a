"""A linear classifier on feature vectors, fitted in a unit: multinomial logistic regression by scikit-learn.

It stands for the network of the Classification Accuracy Score, and results name it. Vectors are standardised by those
that it learns from. Its optimum is one, so that the same vectors give the same accuracy.
"""

import warnings

import numpy as np
import numpy.typing as npt

CLASSIFIER_NAME = "logistic regression on standardised vectors (L2, C = 1)"
PENALTY = 1.0
MOST_STEPS = 1000


def fit_and_test(
    learn: npt.ArrayLike, learn_labels: npt.ArrayLike, test: npt.ArrayLike, test_labels: npt.ArrayLike
) -> float:
    """The share of `test` (m, d) that a classifier names right which learnt from `learn` (n, d), 0 to 1.

    Raises ValueError where vectors are of two widths, or hold NaN, or where there is one label to learn alone.
    """
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    one, other = np.asarray(learn, dtype=np.float64), np.asarray(test, dtype=np.float64)
    if one.ndim != 2 or other.ndim != 2 or one.shape[1] != other.shape[1]:
        raise ValueError(f"vectors of one width are needed, got the shapes {one.shape} and {other.shape}")
    model = make_pipeline(StandardScaler(), LogisticRegression(C=PENALTY, max_iter=MOST_STEPS))
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        try:
            model.fit(one, np.asarray(learn_labels, dtype=str))
        except ConvergenceWarning:
            raise ValueError(f"the classifier did not settle in {MOST_STEPS} steps: check the vectors") from None
    return float((model.predict(other) == np.asarray(test_labels, dtype=str)).mean())
