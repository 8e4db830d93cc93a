"""`compare.<table>`: models, prompts or runs against each other on the same dishes, for every measure and place."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import numpy.typing as npt

from evaluation.contracts.table import Filters, PValue, TableSpec
from evaluation.derived.comparable import (
    ComparedImages,
    Pair,
    Runs,
    compared_by,
    drop_unshared_images,
    explain_refusal,
    find_differing_parts,
    format_parts,
    list_comparable_pairs,
    pairs_of_runs,
    run_definition,
)
from evaluation.metrics import observations
from evaluation.metrics.dimensions import COMPARED_DIMENSIONS
from evaluation.metrics.observations import ALL, Observations, stack_observations
from evaluation.metrics.ordering import sort_group_values
from evaluation.metrics.paired import Paired, Pairs, compare_pairs
from evaluation.metrics.tidy import Estimate, TidyRow, TidyTable
from evaluation.models import Run
from evaluation.registry import derived
from evaluation.registry.runs import chosen_run
from evaluation.tables import observe

METRICS: Mapping[str, str] = {
    "difference": (
        "Mean over the pairs of: the second minus the first. A pair is a dish under both, by its mean over images; "
        "where people judged, the same person's judgement of the same dish under both. n are pairs, clusters dishes."
    ),
    "p": (
        "Two-sided p of Student's t, from the variance over whole dishes and whole people that the interval has too: "
        "p is at most .05 where the interval leaves out 0. None where no interval is claimed."
    ),
    "p_holm": "The same after Holm's correction over all comparisons of this measure.",
    "first_mean": "Mean of the first over the same pairs.",
    "second_mean": "Mean of the second over the same pairs.",
    "without_partner": "Dishes that were observed under one of the two and have no pair; n are all dishes.",
}
WITH = "with"
HOW = (
    "Paired: only dishes that both have are compared, and where people judged, only what the same person judged. A "
    "dish in k places weighs 1/k in each."
)
PEOPLE = "Interval and p know dishes and people: that few people differ much makes both wide, never a difference."
NOTHING = "Nothing is compared: there are no two models, prompts or runs here."
NOT_SHARED = "they looked at no image in common"
NO_RUN = "There is no finished run of this name to compare with."
SAME_RUN = "A run is not compared with itself."


def spec_of(base: TableSpec) -> TableSpec | None:
    """The table of comparisons of `base`; None where it has no observations or no models."""
    if "model" not in base.columns or not (base.observe or base.observed):
        return None
    kept = tuple(column for column in base.columns if column != "model")
    dropped = ("model", "interval")
    more = (WITH,) if base.study else ()
    columns = ("measure", *kept, "compared", "within", "first", "second")
    return TableSpec(
        name=f"compare.{base.name}",
        title="Models, prompts, runs compared on the same dishes",
        source=f"{base.source}; Cameron, Gelbach & Miller 2011; Bell & McCaffrey 2002; Holm 1979",
        version=f"{base.version}.2",
        columns=columns,
        metrics=METRICS,
        inputs=base.inputs,
        filters=("measure", *more, *(name for name in base.filters if name not in dropped)),
        choices={name: values for name, values in base.choices.items() if name not in dropped},
        compute=partial(compute_comparisons, base),
        unread=columns,
        study=base.study,
        undrawn=tuple(metric for metric in METRICS if metric != "difference"),
        tests=(PValue("p", tested="difference", holm="p_holm"),),
    )


@dataclass(frozen=True)
class Comparison:
    """Observations, of one run or of two, which of them are compared, and what is said about it."""

    found: Observations
    images: tuple[ComparedImages, ...]
    runs: Runs | None = None

    def pairs(self, at: npt.NDArray[np.intp]) -> Iterator[Pair]:
        """The pairs among the observations at these places."""
        if self.runs is None:
            chosen = self.images[0].picked(at)
            yield from (reindex_pair(pair, at) for pair in list_comparable_pairs(chosen))
            return
        first, second = self.images
        mine = at[at < len(first.made)]
        theirs = at[at >= len(first.made)] - len(first.made)
        made = pairs_of_runs(first.picked(mine), second.picked(theirs), self.runs)
        yield from (reindex_pair(pair, at) for pair in made)


def reindex_pair(pair: Pair, at: npt.NDArray[np.intp]) -> Pair:
    """The pair with places among all observations."""
    return replace(
        pair, first=replace(pair.first, at=at[pair.first.at]), second=replace(pair.second, at=at[pair.second.at])
    )


def compute_comparisons(base: TableSpec, filters: Filters) -> TidyTable:
    """All comparisons of a table. Filters on columns keep rows of the whole one, so that corrections stay the same."""
    table = spec_of(base)
    assert table is not None
    made = prepare_comparison(base, {name: value for name, value in filters.items() if name not in table.columns})
    if isinstance(made, str):
        return TidyTable(table.name, table.version, table.columns, (), (made,))
    refused: dict[str, None] = {}
    rows = list(rows_of(base, made, refused))
    people = () if made.found.raters is None else (PEOPLE,)
    nothing = () if rows or refused else (NOTHING,)
    notes = (HOW, *people, *nothing, *refused, *derived.describe_rescaled(base), *made.found.notes)
    return TidyTable(table.name, table.version, table.columns, tuple(rows), notes, made.found.demonstration)


def prepare_comparison(base: TableSpec, filters: Filters) -> Comparison | str:
    """What is to be compared, or the sentence that says why it may not be."""
    other = filters.get(WITH)
    mine = {name: value for name, value in filters.items() if name != WITH}
    found = observe.observe_table(base, mine)
    assert found is not None
    if other is None:
        return Comparison(found, (know_images(base, found),))
    return with_run(base, mine, found, other)


def with_run(base: TableSpec, filters: Filters, found: Observations, other: str) -> Comparison | str:
    """Two runs of one study."""
    runs = [chosen_run(base.study, {**filters, **more}) for more in ({}, {"run": other})]
    if None in runs:
        return NO_RUN
    first, second = (run for run in runs if run is not None)
    if first == second:
        return SAME_RUN
    parts = find_differing_parts([run_definition(run) for run in (first, second)])
    compared = compared_by(base, parts)
    if not compared:
        return f"{first.slug} and {second.slug} are not compared: they differ in {format_parts(parts)}."
    return of_two(base, filters, (first, second), found, compared)


def of_two(base: TableSpec, filters: Filters, runs: tuple[Run, Run], found: Observations, compared: str) -> Comparison:
    theirs = observe.observe_table(base, {**filters, "run": runs[1].slug})
    assert theirs is not None
    parts = [part for part in (found, theirs) if part.values]
    both = stack_observations(parts) if parts else found
    both = replace(
        both,
        notes=(f"Runs {runs[0].slug} (first) and {runs[1].slug} (second).", *found.notes, *theirs.notes),
        demonstration=found.demonstration or theirs.demonstration,
    )
    images = (know_images(base, found), know_images(base, theirs))
    return Comparison(both, images, Runs.of(*runs, compared, base.instrument))


def know_images(base: TableSpec, found: Observations) -> ComparedImages:
    """What is known of the images that models made, or looked at."""
    return ComparedImages.unknown(found) if base.instrument else ComparedImages.of(found)


def rows_of(base: TableSpec, made: Comparison, refused: dict[str, None]) -> Iterator[TidyRow]:
    """Rows of every measure, place and pair; sentences about pairs that are not compared come to `refused`."""
    others = [column for column in base.columns if column not in (*COMPARED_DIMENSIONS, "model")]
    for cell, at in observations.iterate_observation_cells(made.found, others):
        for pair in made.pairs(at):
            if sentence := explain_refusal(pair):
                refused[sentence] = None
                continue
            if base.instrument:
                pair = drop_unshared_images(pair, made.found.images)
                if not len(pair.first.at):
                    refused[f"{pair.first.name} and {pair.second.name} are not compared: {NOT_SHARED}."] = None
                    continue
            names = {"compared": pair.compared, "within": pair.within, "first": pair.first.name}
            yield from rows_of_pair(base, made.found, pair, {**cell, **names, "second": pair.second.name})


def rows_of_pair(base: TableSpec, found: Observations, pair: Pair, groups: Mapping[str, str]) -> Iterator[TidyRow]:
    """The pair in all places together, then in each of them, measure by measure."""
    at = np.concatenate([pair.first.at, pair.second.at])
    held = found.picked(at)
    second = np.arange(len(at)) >= len(pair.first.at)
    for where, weights in places_of(base, held):
        inside = weights > 0
        chosen = held.picked(inside)
        for measure, values in chosen.values.items():
            made = compare_pairs(
                Pairs.of(values, chosen.dishes, chosen.raters, second[inside], weights[inside], chosen.outcomes)
            )
            for metric, estimate in estimate_comparison(made).items():
                yield TidyRow({"measure": measure, **where, **groups}, metric, estimate)


def places_of(base: TableSpec, held: Observations) -> Iterator[tuple[dict[str, str], npt.NDArray[np.float64]]]:
    """All places, then each place of each kind, with the weight of every observation in it."""
    columns = [column for column in base.columns if column in COMPARED_DIMENSIONS]
    everywhere = dict.fromkeys(columns, ALL)
    yield everywhere, np.ones(len(held))
    for column in columns:
        labels = held.labels(column)
        counts = held.count_groups(column)
        for value in sort_group_values((value for value in labels.values if value != ALL), column):
            yield {**everywhere, column: value}, labels.holding(value) / np.maximum(counts, 1)


def estimate_comparison(made: Paired) -> dict[str, Estimate]:
    """The metrics of one comparison but the corrected p."""
    n, dishes, interval, people = made.n, made.dishes, made.interval, made.people
    all_dishes = dishes + made.alone
    lacking = made.reason or interval.reason
    mean = made.reason or "no interval is claimed: see the difference"
    return {
        "difference": Estimate(
            made.difference, n, dishes, interval.low, interval.high, interval.method, lacking, people=people
        ),
        "p": Estimate(made.p, n, dishes, method=interval.method, reason=lacking, people=people),
        "first_mean": Estimate(made.first, n, dishes, reason=mean, people=people),
        "second_mean": Estimate(made.second, n, dishes, reason=mean, people=people),
        "without_partner": Estimate(made.alone, all_dishes, all_dishes, method="count"),
    }
