"""`disparity.<table>`: how far groups of dishes lie apart in a table, for every measure, model and kind of place."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial

import numpy as np

from evaluation.contracts.table import Filters, PValue, TableSpec
from evaluation.metrics import disparity as metrics
from evaluation.metrics import observations
from evaluation.metrics.dimensions import COMPARED_DIMENSIONS
from evaluation.metrics.disparity import Disparity, Group
from evaluation.metrics.inference.intervals import Interval
from evaluation.metrics.inference.multiple_testing import TOLERANCE
from evaluation.metrics.observations import ALL, Observations
from evaluation.metrics.ordering import sort_group_values
from evaluation.metrics.samples import Sample
from evaluation.metrics.tidy import Estimate, TidyRow, TidyTable
from evaluation.registry import derived
from evaluation.registry.derived import BY, ENDS
from evaluation.tables import observe

BASIC: Mapping[str, str] = {
    "gap": (
        "Mean of the highest group minus mean of the lowest one, small groups left out. A dish in k groups weighs 1/k "
        "in each. The interval holds for all pairs of groups at once, since the data chose this pair."
    ),
    "gap_expected": "Mean gap of as many groups with these variances that do not differ at all.",
    "p": (
        "Share of 9,999 draws of such groups with a gap at least as large, the gap at hand counted as one of them. It "
        "knows dishes and people, as the interval does: p is at most .05 where the interval leaves out 0. None where "
        "no interval is claimed."
    ),
    "p_holm": "The same after Holm's correction over all models, kinds of place and questions of this measure.",
}
METRICS: Mapping[str, str] = {
    **BASIC,
    "lowest_value": "Mean of the lowest group that is not small; n and clusters are its own.",
    "highest_value": "Mean of the highest group that is not small; n and clusters are its own.",
    "ratio": "Mean of the lowest group ÷ mean of the highest one.",
    "variation": "Coefficient of variation: population deviation of the groups' means ÷ their mean.",
    "gap_unshared": "The gap without the dishes that lie in several groups.",
    "gap_expected_unshared": "The same mean gap by chance, without these dishes.",
    "p_unshared": "The same share of draws, without these dishes.",
    "p_holm_unshared": "The same after Holm's correction, without these dishes.",
}
DRAWN = {"gap": "", "gap_expected": ", by chance"}
RATERS = (
    "Regions differ in the people who judged too, not in the images alone: p and interval know how much single "
    "people differ, but not whether all people of a region judge more strictly than those of another."
)
DISHES = "Regions differ in their dishes and in who described them, not in what models do alone."
SMALL = "Small groups (n under 30, under 10 dishes, or under 5 people who judged) are neither compared nor named."
NOT_SHARED = "no dish lies in several groups"
NO_INTERVAL = "no interval is claimed: the groups were chosen by the data, see the gap"
NEGATIVE = "not for measures that can be negative, or where all groups are 0"


def spec_of(base: TableSpec) -> TableSpec | None:
    """The table of disparities of `base`; None where it has no observations or no places."""
    places = [column for column in base.columns if column in COMPARED_DIMENSIONS]
    if not places or not (base.observe or base.observed):
        return None
    others = tuple(column for column in base.columns if column not in (*places, "model"))
    model = tuple(column for column in base.columns if column == "model")
    dropped = (*places, "interval")
    columns = ("measure", *others, BY, *model, *ENDS)
    return TableSpec(
        name=f"disparity.{base.name}",
        title="Disparity between regions",
        source=f"{base.source}; Cameron, Gelbach & Miller 2011; Bell & McCaffrey 2002; Holm 1979",
        version=f"{base.version}.2",
        columns=columns,
        metrics=METRICS,
        inputs=base.inputs,
        filters=("measure", BY, *(name for name in base.filters if name not in dropped)),
        choices={name: values for name, values in base.choices.items() if name not in dropped} | {BY: tuple(places)},
        compute=partial(compute_disparities, base),
        unread=columns,
        study=base.study,
        undrawn=tuple(metric for metric in METRICS if metric != "gap"),
        redrawn=with_chance,
        tests=(PValue("p", "gap", "p_holm"), PValue("p_unshared", "gap_unshared", "p_holm_unshared")),
        ranks=dict.fromkeys(ENDS, "gap"),
    )


def with_chance(table: TidyTable) -> TidyTable:
    """Gaps with what chance alone gives below each of them; the groups' names are in the table."""
    columns = tuple(column for column in table.columns if column not in ENDS)
    rows = [
        replace(
            row,
            groups={
                **{name: row.groups[name] for name in columns},
                "measure": row.groups["measure"] + DRAWN[row.metric],
            },
            metric="gap",
        )
        for row in table.rows
        if row.metric in DRAWN
    ]
    return replace(table, columns=columns, rows=tuple(rows))


def compute_disparities(base: TableSpec, filters: Filters) -> TidyTable:
    """All disparities of a table. Filters on columns keep rows of the whole one, so that corrections stay the same."""
    table = spec_of(base)
    assert table is not None
    found = observe.observe_table(base, {name: value for name, value in filters.items() if name not in table.columns})
    assert found is not None
    rows = [row for cell in iterate_disparity_cells(base, found) for row in rows_of(cell, base, table)]
    notes = tuple(notes_of(base, found))
    return TidyTable(table.name, table.version, table.columns, tuple(rows), notes, found.demonstration)


class Compared:
    """One measure of one model and kind of place: what it says, with and without the dishes in several groups."""

    def __init__(self, groups: Mapping[str, str], places: list[str], sample: Sample) -> None:
        self.groups, self.places, self.shared = groups, places, sample.shared
        self.found = metrics.compute_disparity(sample)
        self.unshared = metrics.compute_disparity(sample.unshared()) if sample.shared else None

    def name(self, group: Group) -> str:
        return self.places[group.place]


def iterate_disparity_cells(base: TableSpec, found: Observations) -> Iterator[Compared]:
    """Every measure, kind of place, model and value of the other columns that occurs."""
    places = [column for column in base.columns if column in COMPARED_DIMENSIONS]
    others = [column for column in base.columns if column not in places]
    for cell, at in observations.iterate_observation_cells(found, others):
        held = found.picked(at)
        for by in places if len(held) else ():
            labels = held.labels(by)
            names = sort_group_values((value for value in labels.values if value != ALL), by)
            kinds = np.array([[name in kind for name in names] for kind in labels.kinds], dtype=np.bool_)
            for measure, values in held.values.items():
                sample = Sample.of(
                    values,
                    held.dishes,
                    held.raters,
                    labels.codes,
                    kinds.reshape(len(labels.kinds), len(names)),
                    held.outcomes,
                )
                yield Compared({"measure": measure, BY: by, **cell}, names, sample)


def rows_of(cell: Compared, base: TableSpec, table: TableSpec) -> Iterator[TidyRow]:
    """All metrics of one comparison but the corrected p-values."""
    ends = name_extreme_groups(cell, base.worse.get(cell.groups["measure"]))
    groups = {column: {**cell.groups, **ends}[column] for column in table.columns}
    for metric, estimate in {**estimate_disparity(cell.found), **estimate_unshared_gap(cell)}.items():
        yield TidyRow(groups, metric, estimate)


def name_extreme_groups(cell: Compared, worse: str | None) -> dict[str, str]:
    """The lowest and the highest group, and which of them is the worse one; empty where there is no such."""
    found = cell.found
    if not found.gap or found.gap <= TOLERANCE:
        return dict.fromkeys(ENDS, "")
    ends = {"low": cell.name(found.lowest), "high": cell.name(found.highest)}
    return {"lowest": ends["low"], "highest": ends["high"], "worse": ends[worse] if worse else ""}


def estimate_disparity(found: Disparity) -> dict[str, Estimate]:
    """The metrics of a disparity, each with its n, clusters and people."""
    number = partial(build_disparity_estimate, found)
    if not found.groups:
        lacking = [metric for metric in METRICS if not metric.endswith("unshared") and metric != "p_holm"]
        return dict.fromkeys(lacking, number(None, reason=found.reason))
    return {
        **estimate_gap(found),
        "lowest_value": estimate_group_mean(found.lowest),
        "highest_value": estimate_group_mean(found.highest),
        "ratio": number(found.ratio, reason=NEGATIVE if found.ratio is None else NO_INTERVAL),
        "variation": number(found.variation, reason=NEGATIVE if found.variation is None else NO_INTERVAL),
    }


def build_disparity_estimate(
    found: Disparity, value: float | None, interval: Interval = metrics.NO_INTERVAL, **more: str
) -> Estimate:
    """A number about all groups that were compared."""
    return Estimate(value, found.n, found.dishes, interval.low, interval.high, people=found.people, **more)


def estimate_gap(found: Disparity) -> dict[str, Estimate]:
    """The gap with its interval, its expectation and its p."""
    method, reason = found.interval.method, found.interval.reason
    return {
        "gap": build_disparity_estimate(found, found.gap, found.interval, method=method, reason=reason),
        "gap_expected": build_disparity_estimate(found, found.expected, method=method, reason=reason),
        "p": build_disparity_estimate(found, found.p, method=method, reason=reason),
    }


def estimate_group_mean(group: Group) -> Estimate:
    return Estimate(group.mean, group.n, group.dishes, reason=NO_INTERVAL, people=group.people)


def estimate_unshared_gap(cell: Compared) -> dict[str, Estimate]:
    """The same without the dishes in several groups; not measured where there are none."""
    found = cell.unshared
    if found is None or not found.groups:
        lacking = build_disparity_estimate(found or cell.found, None, reason=found.reason if found else NOT_SHARED)
        return {f"{metric}_unshared": lacking for metric in BASIC if metric != "p_holm"}
    return {f"{metric}_unshared": number for metric, number in estimate_gap(found).items()}


def notes_of(base: TableSpec, found: Observations) -> Iterator[str]:
    """What has to be known to read the table, then what is said under the table itself."""
    yield DISHES
    if found.raters is not None:
        yield RATERS
    yield SMALL
    yield from derived.describe_rescaled(base)
    without = [measure for measure in found.values if measure not in base.worse]
    if without and base.worse:
        yield f"Neither end is the worse one: {', '.join(without)}."
    yield from found.notes
