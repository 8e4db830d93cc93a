"""Comparisons of two masked models: which of them comes first must not reveal the order of their real names."""

from collections.abc import Mapping
from dataclasses import replace

from evaluation.metrics.tidy import Estimate, TidyRow

MIRRORED: Mapping[str, str] = {"first_mean": "second_mean", "second_mean": "first_mean"}
TURNED = "difference"


def order_masked_pair(row: TidyRow) -> TidyRow:
    """`row` with the earlier letter first, where it compares two models; all numbers follow."""
    groups = row.groups
    if groups.get("compared") != "models" or groups["first"] <= groups["second"]:
        return row
    estimate = negate_estimate(row.estimate) if row.metric == TURNED else row.estimate
    return replace(
        row,
        groups={**groups, "first": groups["second"], "second": groups["first"]},
        metric=MIRRORED.get(row.metric, row.metric),
        estimate=estimate,
    )


def negate_estimate(estimate: Estimate) -> Estimate:
    """The difference the other way round."""
    value, low, high = (None if number is None else -number for number in (estimate.value, estimate.low, estimate.high))
    return replace(estimate, value=value, low=high, high=low)
