"""What no table says without an interval: no p, no "worse", no rank. One rule, which every table passes.

A table declares in `TableSpec.tests` which of its metrics are p-values, and with which number they go; in
`TableSpec.ranks` which of its columns name the worse or the lowest of several groups, and by which number.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from evaluation.contracts.table import PValue, TableSpec
from evaluation.metrics.inference.multiple_testing import holm
from evaluation.metrics.tidy import Estimate, TidyRow

Key = tuple[tuple[str, str], ...]
UNTESTED = "no interval is claimed, so no test is made and nobody is named"


def within_claims(table: TableSpec, rows: Sequence[TidyRow]) -> list[TidyRow]:
    """The rows without a p and without a name that no interval is behind, then the corrected p-values.

    Corrections count the tests that could be made, over all rows: before filters on columns keep some of them.
    """
    if not table.tests and not table.ranks:
        return list(rows)
    numbers = {(build_row_key(row), row.metric): row.estimate for row in rows}
    kept = [withdraw_unclaimed_test(table, row, numbers) for row in rows]
    kept += [corrected for test in table.tests if test.holm for corrected in build_holm_corrections(kept, test)]
    unnamed = {
        column: {
            build_row_key(row) for row in rows if not has_claimed_interval(numbers.get((build_row_key(row), metric)))
        }
        for column, metric in table.ranks.items()
    }
    return [without_names(row, unnamed) for row in kept]


def build_row_key(row: TidyRow) -> Key:
    return tuple(row.groups.items())


def has_claimed_interval(estimate: Estimate | None) -> bool:
    """Whether a number has an interval, and its group is not small."""
    return estimate is not None and estimate.low is not None and not estimate.small


def withdraw_unclaimed_test(table: TableSpec, row: TidyRow, numbers: Mapping[tuple[Key, str], Estimate]) -> TidyRow:
    """The row, its p taken back where the number that it is about claims no interval."""
    test = next((test for test in table.tests if test.p == row.metric), None)
    if test is None or row.estimate.value is None:
        return row
    about = numbers.get((build_row_key(row), test.tested))
    if about is not None and about.low is not None:
        return row
    reason = about.reason if about is not None and about.reason else UNTESTED
    return replace(row, estimate=replace(row.estimate, value=None, low=None, high=None, method="", reason=reason))


def build_holm_corrections(rows: Iterable[TidyRow], test: PValue) -> list[TidyRow]:
    """Rows of the corrected p for those of the p: Holm's correction within each measure, over all of its tests.

    A test that could not be made is in no family.
    """
    found: list[TidyRow] = []
    tests = [row for row in rows if row.metric == test.p]
    for measure in dict.fromkeys(row.groups.get("measure") for row in tests):
        mine = [row for row in tests if row.groups.get("measure") == measure]
        made = [row.estimate.value for row in mine if row.estimate.value is not None]
        adjusted = iter(holm(made))
        for row in mine:
            estimate = row.estimate
            if estimate.value is not None:
                method = f"{estimate.method}; Holm over {len(made)} tests of this measure"
                estimate = replace(estimate, value=next(adjusted), method=method)
            found.append(replace(row, metric=test.holm, estimate=estimate))
    return found


def without_names(row: TidyRow, unnamed: Mapping[str, set[Key]]) -> TidyRow:
    """The row, the columns that name somebody emptied where that is not claimed."""
    mine = build_row_key(row)
    empty = {column: "" for column, keys in unnamed.items() if mine in keys}
    return replace(row, groups={**row.groups, **empty}) if empty else row
