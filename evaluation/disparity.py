"""`disparity.<table>`: how far groups of dishes lie apart in a table, for every measure, model and kind of place."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial

import numpy as np
from django.utils.translation import gettext_noop as _

from evaluation import derived, observations
from evaluation.metrics import disparity as metrics
from evaluation.metrics.disparity import Disparity, Group
from evaluation.metrics.groups import Sample
from evaluation.metrics.multiple import TOLERANCE
from evaluation.metrics.tidy import Estimate, TidyRow, TidyTable
from evaluation.observations import ALL, Observations
from evaluation.ordering import ordered
from evaluation.table_spec import Filters, TableSpec

BASIC: Mapping[str, str] = {
    "gap": _(
        "Mean of the highest group minus mean of the lowest one, small groups left out. A dish in k groups weighs 1/k "
        "in each. The interval holds for all pairs of groups at once, since the data chose this pair."
    ),
    "gap_expected": _("Mean gap of 2,000 random labelings of whole dishes: the gap where groups do not differ at all."),
    "p": _("Share of random labelings with a gap at least as large, the labeling at hand counted as one of them."),
    "p_holm": _("The same after Holm's correction over all models, kinds of place and questions of this measure."),
}
METRICS: Mapping[str, str] = {
    **BASIC,
    "lowest_value": _("Mean of the lowest group that is not small; n and clusters are its own."),
    "highest_value": _("Mean of the highest group that is not small; n and clusters are its own."),
    "ratio": _("Mean of the lowest group ÷ mean of the highest one."),
    "variation": _("Coefficient of variation: population deviation of the groups' means ÷ their mean."),
    "gap_unshared": _("The gap without the dishes that lie in several groups."),
    "gap_expected_unshared": _("The same mean gap of random labelings, without these dishes."),
    "p_unshared": _("The same share of random labelings, without these dishes."),
    "p_holm_unshared": _("The same after Holm's correction, without these dishes."),
}
ENDS = ("lowest", "highest", "worse")
DRAWN = {"gap": "", "gap_expected": ", by chance"}
RATERS = (
    "Regions differ in the people who judged too, not in the pictures alone: dishes are relabelled, people are not, so "
    "a small p may come from either."
)
DISHES = "Regions differ in their dishes and in who described them, not in what models do alone."
SMALL = "Small groups (n under 30 or under 10 dishes) are neither compared nor named."
NOT_SHARED = "no dish lies in several groups"
NO_INTERVAL = "no interval is claimed: the groups were chosen by the data, see the gap"
NEGATIVE = "not for measures that can be negative, or where all groups are 0"


def spec_of(base: TableSpec) -> TableSpec | None:
    """The table of disparities of `base`; None where it has no observations or no places."""
    places = [column for column in base.columns if column in derived.PLACES]
    if not places or not (base.observe or base.observed):
        return None
    others = tuple(column for column in base.columns if column not in (*places, "model"))
    model = tuple(column for column in base.columns if column == "model")
    dropped = (*places, "interval")
    columns = ("measure", *others, "by", *model, *ENDS)
    return TableSpec(
        name=f"disparity.{base.name}",
        title=_("Disparity between regions"),
        source=f"{base.source}; Good 2005; Phipson & Smyth 2010; Holm 1979",
        version=f"{base.version}.1",
        columns=columns,
        metrics=METRICS,
        inputs=base.inputs,
        filters=("measure", "by", *(name for name in base.filters if name not in dropped)),
        choices={name: values for name, values in base.choices.items() if name not in dropped} | {"by": tuple(places)},
        compute=partial(compute, base),
        unread=columns,
        study=base.study,
        undrawn=tuple(metric for metric in METRICS if metric != "gap"),
        redrawn=with_chance,
    )


def with_chance(table: TidyTable) -> TidyTable:
    """Gaps with what chance alone gives below each of them; the groups' names stand in the table."""
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


def compute(base: TableSpec, filters: Filters) -> TidyTable:
    """All disparities of a table. Filters on columns keep rows of the whole one, so that corrections stay the same."""
    table = spec_of(base)
    assert table is not None
    found = observations.of(base, {name: value for name, value in filters.items() if name not in table.columns})
    assert found is not None
    compared = list(cells(base, found))
    rows = [row for cell in compared for row in rows_of(cell, base, table)]
    rows += derived.with_holm(rows, "p", "p_holm")
    rows += derived.with_holm(rows, "p_unshared", "p_holm_unshared")
    notes = tuple(notes_of(base, found, compared))
    return TidyTable(table.name, table.version, table.columns, tuple(rows), notes, found.demonstration)


class Compared:
    """One measure of one model and kind of place: what it says, with and without the dishes in several groups."""

    def __init__(self, groups: Mapping[str, str], places: list[str], sample: Sample) -> None:
        self.groups, self.places, self.shared = groups, places, sample.shared
        self.found = metrics.disparity(sample)
        self.unshared = metrics.disparity(sample.unshared()) if sample.shared else None

    def name(self, group: Group) -> str:
        return self.places[group.place]


def cells(base: TableSpec, found: Observations) -> Iterator[Compared]:
    """Every measure, kind of place, model and value of the other columns that occurs."""
    places = [column for column in base.columns if column in derived.PLACES]
    others = [column for column in base.columns if column not in places]
    for cell, at in observations.cells(found, others):
        held = found.picked(at)
        for by in places if len(held) else ():
            labels = held.labels(by)
            names = ordered((value for value in labels.values if value != ALL), by)
            kinds = np.array([[name in kind for name in names] for kind in labels.kinds], dtype=np.bool_)
            for measure, values in held.values.items():
                sample = Sample.of(
                    values, held.dishes, held.raters, labels.codes, kinds.reshape(len(labels.kinds), len(names))
                )
                yield Compared({"measure": measure, "by": by, **cell}, names, sample)


def rows_of(cell: Compared, base: TableSpec, table: TableSpec) -> Iterator[TidyRow]:
    """All metrics of one comparison but the corrected p-values."""
    ends = named(cell, base.worse.get(cell.groups["measure"]))
    groups = {column: {**cell.groups, **ends}[column] for column in table.columns}
    for metric, estimate in {**estimates(cell.found), **unshared(cell)}.items():
        yield TidyRow(groups, metric, estimate)


def named(cell: Compared, worse: str | None) -> dict[str, str]:
    """The lowest and the highest group, and which of them is the worse one; empty where there is no such."""
    found = cell.found
    if not found.gap or found.gap <= TOLERANCE:
        return dict.fromkeys(ENDS, "")
    ends = {"low": cell.name(found.lowest), "high": cell.name(found.highest)}
    return {"lowest": ends["low"], "highest": ends["high"], "worse": ends[worse] if worse else ""}


def estimates(found: Disparity) -> dict[str, Estimate]:
    """The metrics of a disparity, each with its n and clusters."""
    n, many = found.n, found.dishes
    if not found.groups:
        lacking = [metric for metric in METRICS if not metric.endswith("unshared") and metric != "p_holm"]
        return dict.fromkeys(lacking, Estimate(None, n, many, reason=found.reason))
    return {
        **basic(found),
        "lowest_value": end(found.lowest),
        "highest_value": end(found.highest),
        "ratio": Estimate(found.ratio, n, many, reason=NEGATIVE if found.ratio is None else NO_INTERVAL),
        "variation": Estimate(found.variation, n, many, reason=NEGATIVE if found.variation is None else NO_INTERVAL),
    }


def basic(found: Disparity) -> dict[str, Estimate]:
    """The gap with its interval, its expectation and its p."""
    n, many, interval = found.n, found.dishes, found.interval
    return {
        "gap": Estimate(found.gap, n, many, interval.low, interval.high, interval.method, interval.reason),
        "gap_expected": Estimate(found.expected, n, many, method=metrics.METHOD),
        "p": Estimate(found.p, n, many, method=metrics.METHOD),
    }


def end(group: Group) -> Estimate:
    return Estimate(group.mean, group.n, group.dishes, reason=NO_INTERVAL)


def unshared(cell: Compared) -> dict[str, Estimate]:
    """The same without the dishes in several groups; not measured where there are none."""
    found = cell.unshared
    if found is None or not found.groups:
        n, many = (found.n, found.dishes) if found else (cell.found.n, cell.found.dishes)
        lacking = Estimate(None, n, many, reason=found.reason if found else NOT_SHARED)
        return {f"{metric}_unshared": lacking for metric in BASIC if metric != "p_holm"}
    return {f"{metric}_unshared": estimate for metric, estimate in basic(found).items()}


def notes_of(base: TableSpec, found: Observations, compared: Iterable[Compared]) -> Iterator[str]:
    """What has to be known to read the table, then what is said under the table itself."""
    yield DISHES
    if found.raters is not None:
        yield RATERS
    yield SMALL
    yield from derived.about_rescaled(base)
    without = [measure for measure in found.values if measure not in base.worse]
    if without and base.worse:
        yield f"Neither end is the worse one: {', '.join(without)}."
    if split := max((cell.found.split for cell in compared), default=0):
        yield f"Dishes whose observations lie in different groups: up to {split}. Their parts are relabelled singly."
    yield from found.notes
