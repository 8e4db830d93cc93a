"""Answers of the study *stereotypes* as observations: an image asked one question, and for shares one option of it.

`unread` is one number for a question and is with `stereotypes.flattening`; the table of answers only repeats it
beside every option.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

import numpy as np

from evaluation.contracts.study import OutcomeData
from evaluation.contracts.table import TableSpec
from evaluation.metrics.arrays import Floats
from evaluation.metrics.observations import (
    ALL,
    Labels,
    Observations,
    create_empty_observations,
    hash_labels,
    none_of,
    stack_observations,
)
from evaluation.studies.stereotypes.tables import (
    ANSWERS,
    ANSWERS_COUNTRY,
    FLATTENING,
    FLATTENING_COUNTRY,
    READINGS,
    Check,
    QuestionOutcome,
    build_stereotype_notes,
    gather_stereotype_answers,
    mark_same_options,
)


def observe_stereotype_answers(table: TableSpec, outcomes: Iterable[OutcomeData]) -> Observations:
    """Question after question and option after option, the option's share in each image; NaN where none was read."""
    found, dimension = gather_stereotype_answers(outcomes), table.columns[2]
    parts = []
    for question, asked in found.by_question().items():
        shares = np.array([each.share for each in asked])
        base = build_question_observations(
            asked,
            {"share": shares[:, 0]},
            {"question": question, "option": ""},
            dimension,
            build_stereotype_notes(found),
        )
        parts += [with_option(base, option, shares[:, at]) for at, option in enumerate(asked[0].options)]
    return stack_observations(parts) if parts else create_empty_observations(table.columns)


def with_option(base: Observations, option: str, shares: Floats) -> Observations:
    """The same images and question, with the share of one option."""
    groups = {**base.groups, "option": Labels.same(option, len(base))}
    rest = {name: getattr(base, name) for name in ("dishes", "raters", "images", "units", "reviews", "notes")}
    return Observations({"share": np.ascontiguousarray(shares)}, groups, **rest)


def observe_unread_shares(table: TableSpec, outcomes: Iterable[OutcomeData]) -> Observations:
    """Question after question, the share of its orders that was not read in each image."""
    found, dimension = gather_stereotype_answers(outcomes), table.columns[1]
    parts = [
        build_question_observations(
            asked,
            {"unread": np.array([each.unread_share for each in asked])},
            {"question": question},
            dimension,
            build_stereotype_notes(found),
        )
        for question, asked in found.by_question().items()
    ]
    return stack_observations(parts) if parts else create_empty_observations(table.columns)


def build_question_observations(
    asked: Sequence[QuestionOutcome],
    values: Mapping[str, Floats],
    named: Mapping[str, str],
    dimension: str,
    told: tuple[str, ...],
) -> Observations:
    """One question about images; `named`: columns in which all are alike."""
    n = len(asked)
    return Observations(
        values=values,
        groups={
            **{column: Labels.same(value, n) for column, value in named.items()},
            dimension: Labels.of(each.labels.get(dimension, ()) for each in asked),
            "model": Labels.each(each.model for each in asked),
        },
        dishes=hash_labels(each.cluster for each in asked),
        raters=None,
        images=np.array([each.image for each in asked], dtype=np.int64),
        units=none_of(n),
        reviews=none_of(n),
        notes=told,
    )


def observe_reading_agreement(outcomes: Iterable[OutcomeData]) -> Observations:
    """Pairs of image and question that were answered in both ways."""
    found = gather_stereotype_answers(outcomes)
    checks: Sequence[Check] = found.checks
    if not checks:
        return create_empty_observations(READINGS.columns)
    agreement, of_read = mark_same_options(checks).T
    return Observations(
        values={"agreement": agreement, "agreement_read": of_read},
        groups={"question": Labels.of((check.question, ALL) for check in checks)},
        dishes=hash_labels(check.cluster for check in checks),
        raters=None,
        images=np.array([check.image for check in checks], dtype=np.int64),
        units=none_of(len(checks)),
        reviews=none_of(len(checks)),
        notes=build_stereotype_notes(found),
    )


OBSERVED: Mapping[str, Callable[[Iterable[OutcomeData]], Observations]] = {
    "answers": partial(observe_stereotype_answers, ANSWERS),
    "answers_country": partial(observe_stereotype_answers, ANSWERS_COUNTRY),
    "flattening": partial(observe_unread_shares, FLATTENING),
    "flattening_country": partial(observe_unread_shares, FLATTENING_COUNTRY),
    "readings": observe_reading_agreement,
}
