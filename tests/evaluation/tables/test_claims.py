"""No interval: no p, no name, no rank. The one rule, on rows by hand; see also tests/replication/test_claims.py."""

from typing import Any

import pytest

from evaluation.contracts.table import PValue, TableSpec
from evaluation.metrics.tidy import Estimate, TidyRow, is_small
from evaluation.tables.claims import within_claims

TABLE = TableSpec(
    name="test.gaps",
    title="Gaps",
    source="test",
    version="1",
    columns=("measure", "model", "worse"),
    metrics={"gap": "", "p": "", "p_holm": ""},
    inputs=(),
    filters=(),
    tests=(PValue("p", tested="gap", holm="p_holm"),),
    ranks={"worse": "gap"},
)


def rows(model: str, p: float | None, measure: str = "food", **gap: Any) -> list[TidyRow]:
    groups = {"measure": measure, "model": model, "worse": "Kenya"}
    about = Estimate(**{"value": 0.5, "n": 90, "clusters": 30, "low": 0.1, "high": 0.9, "people": 9, **gap})
    return [TidyRow(groups, "gap", about), TidyRow(groups, "p", Estimate(p, 90, 30, method="t", people=9))]


def found(made: list[TidyRow], model: str) -> dict[str, Estimate]:
    return {row.metric: row.estimate for row in made if row.groups["model"] == model}


def test_without_an_interval_the_p_goes_and_nobody_is_named() -> None:
    made = within_claims(TABLE, [*rows("a", 0.001, low=None, high=None, reason="too few"), *rows("b", 0.04)])
    assert {row.groups["worse"] for row in made if row.groups["model"] == "a"} == {""}
    assert {row.groups["worse"] for row in made if row.groups["model"] == "b"} == {"Kenya"}
    lost = found(made, "a")
    assert (lost["p"].value, lost["p_holm"].value, lost["p"].reason) == (None, None, "too few")
    assert found(made, "b")["p"].value == 0.04


@pytest.mark.parametrize("small", [{"n": 29}, {"clusters": 9}, {"people": 4}])
def test_nobody_is_named_in_a_small_group(small: dict[str, Any]) -> None:
    made = within_claims(TABLE, rows("a", 0.001, **small))
    assert {row.groups["worse"] for row in made} == {""}
    assert is_small(**{"n": 30, "clusters": 10, "people": 5, **small})
    assert not is_small(30, 10, 5) and not is_small(30, 10)


def test_corrections_count_the_tests_that_could_be_made_within_a_measure() -> None:
    """Four comparisons, of which one has no p and one no interval: the other two are the family."""
    lacking = [*rows("c", None), *rows("d", 0.0001, low=None, high=None)]
    made = within_claims(TABLE, [*rows("a", 0.01), *rows("b", 0.03), *lacking, *rows("a", 0.01, "other")])
    adjusted = {(row.groups["measure"], row.groups["model"]): row.estimate for row in made if row.metric == "p_holm"}
    assert {names: estimate.value for names, estimate in adjusted.items()} == {
        ("food", "a"): 0.02,
        ("food", "b"): 0.03,
        ("food", "c"): None,
        ("food", "d"): None,
        ("other", "a"): 0.01,
    }
    assert adjusted["food", "a"].method.endswith("Holm over 2 tests of this measure")
