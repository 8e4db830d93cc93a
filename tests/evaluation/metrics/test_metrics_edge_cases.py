"""What metrics make of nothing, one value, equal values and values that are not numbers: a number, or a reason."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from evaluation.metrics import (
    agreement,
    association,
    calibration,
    classification,
    colours,
    concentration,
    entropy,
    human_ceiling,
    ranks,
    thresholds,
    variance_components,
)
from evaluation.metrics.inference import intervals, multiple_testing, proportion, sem
from evaluation.metrics.inference.interval_reach import t_critical_value
from evaluation.metrics.inference.intervals import Interval

Column = np.ndarray
NAN = float("nan")
t_critical_value(5.0)  # the first call computes a table, which has no part in any test's time
value = st.one_of(st.sampled_from([0.0, 0.25, 0.5, 1.0]), st.just(NAN))
columns = st.lists(st.tuples(value, value), max_size=14).map(lambda rows: np.array(rows).reshape(-1, 2).T)


def half(first: Column, second: Column) -> tuple[Column, Column]:
    """Weights of yes and no."""
    yes = np.nan_to_num(second)
    return yes, 1 - yes


MADE: dict[str, Callable[[Column, Column], Any]] = {
    "one_way": lambda a, b: intervals.one_way(a[:, None], np.arange(len(a)), bounds=intervals.SHARE),
    "one_way, amounts": lambda a, b: intervals.one_way(a[:, None], np.arange(len(a)), bounds=intervals.AMOUNT),
    "one_way, any": lambda a, b: intervals.one_way(a[:, None], np.arange(len(a)) // 2),
    "two_way": lambda a, b: intervals.two_way(a[:, None], np.arange(len(a)), np.arange(len(a)) % 5),
    "spearman": ranks.spearman,
    "spearman_interval": ranks.spearman_interval,
    "weighted spearman": lambda a, b: classification.weighted_spearman(a, b, np.ones(len(a))),
    "auc": lambda a, b: classification.auc(a, *half(a, b)),
    "auc_interval": lambda a, b: classification.auc_interval(a, *half(a, b), np.arange(len(a))),
    "agreement": lambda a, b: classification.compute_label_agreement(
        classification.two_by_two(np.nan_to_num(a) > 0, *half(a, b))
    ),
    "agreement_intervals": lambda a, b: classification.agreement_intervals(
        classification.two_by_two(np.nan_to_num(a) > 0, *half(a, b)), np.arange(len(a))
    ),
    "calibration": lambda a, b: calibration.compute_calibration(np.nan_to_num(a), *half(a, b)),
    "calibration_intervals": lambda a, b: calibration.calibration_intervals(
        np.nan_to_num(a), *half(a, b), np.arange(len(a))
    ),
    "reliability": lambda a, b: [
        found.observed for found in calibration.reliability_bins(np.nan_to_num(a), *half(a, b), np.arange(len(a)))
    ],
    "coefficients": lambda a, b: agreement.agreement_coefficients(
        np.nan_to_num(np.column_stack([a, b])) * 4, "nominal"
    ),
    "coefficients, ordinal": lambda a, b: agreement.agreement_coefficients(
        np.nan_to_num(np.column_stack([a, b])) * 4, "ordinal"
    ),
    "intervals": lambda a, b: agreement.coefficient_intervals(
        np.nan_to_num(np.column_stack([a, b])) * 4, np.arange(len(a)), "nominal"
    ),
    "held_out": lambda a, b: (
        human_ceiling.held_out(np.zeros(len(a), dtype=np.intp), np.nan_to_num(a), 0.5, "majority").value
    ),
    "population_sem": lambda a, b: sem.population_sem(a),
    "sem_interval": lambda a, b: sem.sem_interval(a),
    "best_threshold": lambda a, b: thresholds.best_threshold(a, *half(a, b)),
    "fitted_labels": lambda a, b: thresholds.fitted_labels(a, *half(a, b), np.arange(len(a))),
    "normalised": lambda a, b: association.normalised_over_all(a),
    "components": lambda a, b: variance_components.estimate_components(
        a[~np.isnan(a)], {"dish": np.arange(len(a[~np.isnan(a)])) // 2}
    ),
    "entropy": lambda a, b: entropy.entropy(np.column_stack([a, 1 - a])),
    "flattening": lambda a, b: concentration.entropy_and_largest(np.nan_to_num(np.column_stack([a, b]))),
    "divergence": lambda a, b: colours.jensen_shannon_divergence(
        np.nan_to_num(np.column_stack([a, 1 - a, np.zeros(len(a)), a]))
    ),
    "holm": lambda a, b: multiple_testing.holm(a[~np.isnan(a)].tolist()),
    "chance_alone": lambda a, b: proportion.chance_alone(int(np.nansum(a > 0)), len(a)),
}


def parts(found: Any) -> list[Any]:
    """The single numbers and intervals of what a metric gives."""
    if isinstance(found, tuple | list):
        return [part for each in found for part in parts(each)]
    return [found]


@pytest.mark.parametrize("name", MADE)
@given(pair=columns)
@example(pair=np.zeros((2, 0)))
@example(pair=np.array([[0.5], [NAN]]))
@example(pair=np.array([[1, NAN, 3, *range(9)], [*range(12)]], dtype=float) / 12)
@example(pair=np.full((2, 12), 1 / 3))
@example(pair=np.full((2, 12), NAN))
def test_nothing_breaks_a_metric_and_no_interval_lacks_its_reason(name: str, pair: np.ndarray) -> None:
    with np.errstate(all="raise"):
        found = parts(MADE[name](*pair))
    for part in found:
        if isinstance(part, Interval):
            assert (part.low is None) == (part.high is None) == bool(part.reason)
            if part.low is not None and part.high is not None:
                assert np.isfinite([part.low, part.high]).all()
                assert part.low < part.high
        elif isinstance(part, float):
            assert np.isfinite(part), "what cannot be measured is None"


def test_no_unit_at_all_has_no_agreement() -> None:
    assert set(agreement.agreement_coefficients(np.zeros((0, 2)), "nominal")) == {None}
    assert {each.low for each in agreement.coefficient_intervals(np.zeros((0, 2)), np.zeros(0), "ordinal")} == {None}
