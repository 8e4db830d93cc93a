"""The classifier of the Classification Accuracy Score: a case by hand, and good and bad vectors."""

import numpy as np
import pytest
from sklearn.linear_model import RidgeClassifier

from evaluation.backends.linear_classifier import fit_and_test
from evaluation.metrics.classifier_splits import draw_splits, summarise_splits


def test_by_hand() -> None:
    """Two labels on a line, cut at 0: of four photographs three lie on the side of their label."""
    learn, labels = [[-2.0], [-1.0], [1.0], [2.0]], ["pho", "pho", "pie", "pie"]
    assert fit_and_test(learn, labels, [[-3.0], [-0.5], [0.5], [-0.2]], ["pho", "pho", "pie", "pie"]) == 0.75


def test_ten_splits_of_generated_images_and_of_photographs() -> None:
    random = np.random.default_rng(1)
    labels = np.repeat(["pie", "pho", "dal"], 20)
    centres = np.repeat(random.normal(size=(3, 8)) * 2, 20, axis=0)
    photographs, unlike = centres + random.normal(size=(60, 8)), centres[::-1] + random.normal(size=(60, 8))
    found = {}
    for name, learns in (("real", photographs), ("generated", unlike)):
        accuracies = [
            fit_and_test(learns[learn], labels[learn], photographs[test], labels[test])
            for learn, test in draw_splits(labels)
        ]
        found[name] = summarise_splits(accuracies)
    assert found["real"].n == 10
    assert found["real"].accuracy > 0.9
    # First and last label are swapped: only the middle one is learnt right.
    assert found["generated"].accuracy == pytest.approx(1 / 3, abs=0.1)
    theirs = RidgeClassifier().fit(photographs, labels).score(photographs, labels)
    assert found["real"].accuracy == pytest.approx(theirs, abs=0.1)


def test_the_same_vectors_give_the_same_accuracy() -> None:
    random = np.random.default_rng(2)
    vectors, labels = random.normal(size=(40, 6)), np.repeat(["pie", "pho"], 20)
    first = fit_and_test(vectors, labels, vectors, labels)
    order = random.permutation(40)
    assert fit_and_test(vectors[order], labels[order], vectors, labels) == pytest.approx(first, abs=0.026)
    assert fit_and_test(vectors, labels, vectors, labels) == first


def test_vectors_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="vectors of one width"):
        fit_and_test([[1.0]], ["pie"], [[1.0, 2.0]], ["pie"])
    with pytest.raises(ValueError, match="NaN"):
        fit_and_test([[np.nan], [1.0]], ["pie", "pho"], [[1.0]], ["pie"])
    with pytest.raises(ValueError, match="class"):
        fit_and_test([[1.0], [2.0]], ["pie", "pie"], [[1.0]], ["pie"])
