"""Tables of the study *knowledge*: how right answers about dishes are, and how descriptions fail."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from evaluation.contracts.study import OutcomeData
from evaluation.contracts.table import TableSpec
from evaluation.metrics.arrays import Floats
from evaluation.metrics.observations import Labels, Observations, hash_labels, none_of
from evaluation.metrics.tidy import TidyRow, TidyTable
from evaluation.studies.knowledge.answers import (
    Scored,
    estimate_answer_means,
    extract_metric_column,
    group_answers_by_cell,
    labels_of,
    score_answers,
    score_descriptions,
    sem_of,
)
from evaluation.studies.knowledge.fields import FAILURES
from evaluation.studies.knowledge.specs import OBSERVED_FIELDS

NO_VERDICT = "no answer was judged, or no contributor named an option"
NO_DESCRIPTION = "no description came, or none was released"
PRINTED = "Table H.9 prints 61.0 for country, Africa, GPT 3.5; the released answers give 60.9 (1,559 of 2,560)."
KINDS = (*FAILURES, "refused")
CLUSTERED = (
    "Intervals are over dishes: samples of one dish resemble each other. A dish of several places counts in each."
)
SEM_NOTE = (
    "The standard error (sem) takes rows (dish × sample) for independent, as the paper does, and is too narrow for "
    "that reason."
)


def fields_table(table: TableSpec, outcomes: Iterable[OutcomeData]) -> TidyTable:
    """A row for each field, place and model."""
    _, place, _ = table.columns
    counted = Counter[str]()
    answers = list(score_answers(tally_outcome_states(outcomes, counted)))
    rows: list[TidyRow] = []
    for (field, where, model), members in group_answers_by_cell(answers, place).items():
        rows += field_rows({"field": field, place: where, "model": model}, members)
    printed = (PRINTED,) if place == "continent" and any(each.model == "gpt-3.5" for each in answers) else ()
    return TidyTable(table.name, table.version, table.columns, tuple(rows), (*build_knowledge_notes(counted), *printed))


def field_rows(named: Mapping[str, str], members: Sequence[Scored]) -> Iterator[TidyRow]:
    clusters = labels_of(members, lambda each: each.cluster)
    values = np.column_stack([extract_metric_column(members, metric) for metric in OBSERVED_FIELDS])
    for metric, mean in zip(OBSERVED_FIELDS, estimate_answer_means(values, clusters, NO_VERDICT), strict=True):
        yield TidyRow(named, metric, mean)
    for metric, held in (("sem", values[:, 0]), ("sem_read", values[:, 1])):
        yield TidyRow(named, metric, sem_of(held, clusters, NO_VERDICT))


def failures_table(table: TableSpec, outcomes: Iterable[OutcomeData]) -> TidyTable:
    """A row for each kind of failure, place and model; models without descriptions are not measured."""
    _, place, _ = table.columns
    counted = Counter[str]()
    rows_ = list(tally_outcome_states(outcomes, counted))
    found = group_answers_by_cell(score_descriptions(rows_), place)
    groups = dict.fromkeys((where, row.model) for row in rows_ for where in row.labels.get(place, ()))
    rows: list[TidyRow] = []
    for where, model in groups:
        rows += failure_rows({place: where, "model": model}, found.get(("description", where, model), []))
    return TidyTable(table.name, table.version, table.columns, tuple(rows), build_knowledge_notes(counted))


def failure_rows(named: Mapping[str, str], members: Sequence[Scored]) -> Iterator[TidyRow]:
    clusters = labels_of(members, lambda each: each.cluster)
    values = np.array([[each.values[kind] for kind in KINDS] for each in members]).reshape(len(members), len(KINDS))
    for kind, mean, held in zip(KINDS, estimate_answer_means(values, clusters, NO_DESCRIPTION), values.T, strict=True):
        groups = {"failure": kind, **named}
        yield TidyRow(groups, "share", mean)
        yield TidyRow(groups, "sem", sem_of(held, clusters, NO_DESCRIPTION))


def observe_fields(table: TableSpec, outcomes: Iterable[OutcomeData]) -> Observations:
    """An observation for each answer."""
    answers = list(score_answers(outcomes))
    values = {metric: extract_metric_column(answers, metric) for metric in table.observed}
    return build_answer_observations(table, answers, values, [(each.field,) for each in answers])


def observe_failures(table: TableSpec, outcomes: Iterable[OutcomeData]) -> Observations:
    """An observation for each description and kind of failure."""
    pairs = [(kind, each) for each in score_descriptions(outcomes) for kind in KINDS]
    shares = np.array([each.values[kind] for kind, each in pairs], dtype=np.float64)
    return build_answer_observations(
        table, [each for _, each in pairs], {"share": shares}, [(kind,) for kind, _ in pairs]
    )


def build_answer_observations(
    table: TableSpec, answers: Sequence[Scored], values: Mapping[str, Floats], first: Sequence[tuple[str, ...]]
) -> Observations:
    """The answers as observations; `first` are the values of the table's first column."""
    name, place, _ = table.columns
    return Observations(
        values=values,
        groups={
            name: Labels.of(first),
            place: Labels.of(each.labels.get(place, ()) for each in answers),
            "model": Labels.each(each.model for each in answers),
        },
        dishes=hash_labels(each.cluster for each in answers),
        raters=None,
        images=none_of(len(answers)),
        units=np.array([each.unit for each in answers], dtype=np.int64),
        reviews=none_of(len(answers)),
    )


def tally_outcome_states(outcomes: Iterable[OutcomeData], counted: Counter[str]) -> Iterator[OutcomeData]:
    """The same outcomes, their states counted."""
    for row in outcomes:
        counted[row.state] += 1
        yield row


def build_knowledge_notes(counted: Counter[str]) -> tuple[str, ...]:
    """Sentences under every table of the study."""
    other = "; ".join(f"{state} {n}" for state, n in sorted(counted.items()) if state != "done")
    return (
        f"Questions asked: {counted.total()}; answered: {counted['done']}{f' ({other})' if other else ''}.",
        CLUSTERED,
        SEM_NOTE,
    )
