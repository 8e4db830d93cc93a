"""How far people agree about the same image: Krippendorff's alpha, raw agreement, Gwet's AC1.

A unit is an image judged for a country (country, dish, model, generation), an opinion one person's answer about it.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from django.db.models import Q

from evaluation.contracts.table import Filters, TableSpec
from evaluation.metrics.agreement import (
    Coefficients,
    Intervals,
    Level,
    agreement_coefficients,
    coefficient_intervals,
    tally_codes,
)
from evaluation.metrics.inference.intervals import Interval
from evaluation.metrics.tidy import SMALL_CLUSTERS, SMALL_N, Estimate, TidyRow, TidyTable
from review.models import Review, Reviewer
from review.tables.controls import dish_or_not
from review.tables.filters import NARROWING
from review.tables.selection import (
    EXCLUDED,
    REVIEW_INPUTS,
    Opinion,
    identify_reviewer,
    iterate_opinions,
    select_reviews,
)

ALL = "all"
NAMES = ("alpha", "raw_agreement", "ac1")
UNIT = (
    "A unit is one image judged for one country; n are the units with two opinions or more, clusters their dishes. "
    "Intervals are over dishes, for the people at hand."
)
BRANCH = (
    "Questions asked only about food are listed twice: among those who answered them, and with “no food” counted as no "
    "(for the match: not at all similar)."
)
ALIKE = "everybody gave the same answer: chance cannot be distinguished from agreement"
NO_PAIRS = "no image has two opinions"
FAMILIARITY = tuple(Review.Familiarity.values)


@dataclass(frozen=True)
class Question:
    """What is compared: `answer` of an opinion (None is missing), on `level`; ordinal answers sort by themselves."""

    name: str
    level: Level
    answer: Callable[[Opinion], bool | int | str | None]


def _match(opinion: Opinion) -> str | None:
    return None if opinion.match in ("", Review.Match.UNKNOWN) else opinion.match


def _no_food_is(
    answer: Callable[[Opinion], bool | str | None], no: bool | str
) -> Callable[[Opinion], bool | str | None]:
    return lambda opinion: no if opinion.food is False else answer(opinion)


def _familiarity(opinion: Opinion) -> int | None:
    return FAMILIARITY.index(opinion.familiarity) if opinion.familiarity else None


QUESTIONS = (
    Question("associates", "nominal", lambda opinion: opinion.associates),
    Question("familiarity", "ordinal", _familiarity),
    Question("rating", "ordinal", lambda opinion: opinion.quality),
    Question("food", "nominal", lambda opinion: opinion.food),
    Question("correct_dish", "nominal", lambda opinion: opinion.correct_dish),
    Question("correct_dish, no food is no", "nominal", dish_or_not),
    Question("match", "nominal", _match),
    Question("match, no food is no", "nominal", _no_food_is(_match, Review.Match.NONE)),
    Question("disturbing", "nominal", lambda opinion: opinion.disturbing),
    Question("disturbing, no food is no", "nominal", _no_food_is(lambda opinion: opinion.disturbing, False)),
)


def compute_reviewer_agreement(filters: Filters) -> TidyTable:
    """`review.agreement`: every question, in every country and in all together. Real photographs are left out."""
    chosen = select_reviews(filters)
    model = filters.get("model")
    said = [one for one in iterate_opinions(chosen.reviews) if not one.real and model in (None, one.model)]
    by_country: dict[str, list[Opinion]] = {}
    for one in said:
        by_country.setdefault(one.country, []).append(one)
    rows: list[TidyRow] = []
    for country in sorted(by_country) + ([ALL] if said else []):
        mine = Judged.of(said if country == ALL else by_country[country])
        for question in QUESTIONS:
            groups = {"question": question.name, "country": country}
            rows += [TidyRow(groups, metric, estimate) for metric, estimate in estimate_coefficients(question, mine)]
    notes = (UNIT, BRANCH, *chosen.notes)
    return TidyTable(
        AGREEMENT.name, AGREEMENT.version, AGREEMENT.columns, tuple(rows), notes, chosen.demonstration, chosen.extra
    )


@dataclass(frozen=True)
class Judged:
    """Opinions with the numbers (n,) of their units, in the order of country and image; `people` (n,): whose;
    `dishes`: of each unit."""

    said: Sequence[Opinion]
    units: npt.NDArray[np.intp]
    dishes: npt.NDArray[np.str_]
    people: npt.NDArray[np.intp]

    @classmethod
    def of(cls, said: Sequence[Opinion]) -> "Judged":
        dish_of = {(one.country, one.image): one.dish for one in said}
        number = {unit: place for place, unit in enumerate(sorted(dish_of))}
        units = np.array([number[one.country, one.image] for one in said], dtype=np.intp)
        known: dict[str, int] = {}
        people = np.array([known.setdefault(one.reviewer, len(known)) for one in said], dtype=np.intp)
        return cls(said, units, np.array([dish_of[unit] for unit in number]), people)


def estimate_coefficients(question: Question, judged: Judged) -> Iterator[tuple[str, Estimate]]:
    """The coefficients of a question as reported, then all of them whatever the number of units."""
    answers = [question.answer(opinion) for opinion in judged.said]
    held = np.array([answer is not None for answer in answers], dtype=np.bool_)
    given = [answer for answer in answers if answer is not None]
    place = {answer: code for code, answer in enumerate(sorted(set(given)))}
    units = judged.units[held]
    counts = tally_codes(units, [place[answer] for answer in given], len(place))
    dishes = judged.dishes[np.unique(units)] if len(units) else np.array([], dtype=np.str_)
    paired = counts.sum(axis=1) >= 2
    n, clusters = int(paired.sum()), len(np.unique(dishes[paired]))
    place_of = np.searchsorted(np.unique(units), units)
    people = len(np.unique(judged.people[held][paired[place_of]]))
    values = agreement_coefficients(counts, question.level) if n else Coefficients(None, None, None)
    too_few = why_not(n, clusters)
    claimed = None if too_few else coefficient_intervals(counts, dishes, question.level)
    for name, found in _reported(values, claimed, n, clusters, too_few):
        yield name, replace(found, people=people)
    for name, value in zip(NAMES, values, strict=True):
        yield f"{name}_computed", Estimate(value, n, clusters, reason=_missing(value, n), people=people)


def _reported(
    values: Coefficients, claimed: Intervals | None, n: int, clusters: int, too_few: str
) -> Iterator[tuple[str, Estimate]]:
    found: Sequence[Interval] = claimed or [Interval(None, None)] * len(NAMES)
    for name, value, interval in zip(NAMES, values, found, strict=True):
        if too_few or value is None:
            yield name, Estimate(None, n, clusters, reason=too_few or _missing(value, n))
        else:
            yield name, Estimate(value, n, clusters, interval.low, interval.high, interval.method, interval.reason)


def with_others(reviewer: Reviewer) -> dict[str, Estimate]:
    """How far one person agrees with the others: question → raw agreement, without an interval.

    n are the images that they and somebody else judged; each counts the share of the others who said the same.
    People who were left out of the tables are no others, but anybody can be compared.
    """
    mine = Review.objects.counted(include_excluded=True).filter(reviewer=reviewer)
    # Read first: within one query a database may look at everybody's reviews.
    judged = list(mine.order_by().values_list("image", flat=True))
    about_them = Review.objects.counted(include_excluded=True).filter(image__in=judged)
    compared = about_them.filter(Q(reviewer=reviewer) | Q(reviewer__exclusion=None))
    said = [one for one in iterate_opinions(compared) if not one.real]
    me = identify_reviewer(reviewer.source_key, reviewer.pk)
    return {question.name: _with_others(question, said, me) for question in QUESTIONS}


def _with_others(question: Question, said: Iterable[Opinion], me: str) -> Estimate:
    answers: dict[int, dict[str, bool | int | str]] = {}
    dish_of: dict[int, str] = {}
    for opinion in said:
        if (answer := question.answer(opinion)) is not None:
            answers.setdefault(opinion.image, {})[opinion.reviewer] = answer
            dish_of[opinion.image] = opinion.dish
    shared = {image: given for image, given in answers.items() if me in given and len(given) > 1}
    alike = [
        sum(given[me] == answer for who, answer in given.items() if who != me) / (len(given) - 1)
        for given in shared.values()
    ]
    n, clusters = len(shared), len({dish_of[image] for image in shared})
    too_few = why_not(n, clusters)
    return Estimate(None if too_few else float(np.mean(alike)), n, clusters, reason=too_few)


def why_not(n: int, clusters: int) -> str:
    """Why coefficients of so few units are not reported, or an empty text."""
    if n < SMALL_N:
        return f"fewer than {SMALL_N} images with two opinions"
    if clusters < SMALL_CLUSTERS:
        return f"fewer than {SMALL_CLUSTERS} dishes with such images"
    return ""


def _missing(value: float | None, n: int) -> str:
    if value is not None:
        return ""
    return ALIKE if n else NO_PAIRS


COMPUTED = "The same however few the units are, without an interval: not to be reported where the other is empty."
AGREEMENT = TableSpec(
    name="review.agreement",
    title="Agreement among reviewers",
    source="Krippendorff 2011; Gwet 2008",
    version="2",
    columns=("question", "country"),
    metrics={
        "alpha": "Krippendorff’s alpha: 1 is full agreement, 0 what chance would give. Ordinal for ratings.",
        "raw_agreement": "Mean over images of the share of pairs of opinions that are equal.",
        "ac1": "Gwet’s AC1: agreement beyond chance that stays informative where one answer prevails. Nominal.",
        "alpha_computed": COMPUTED,
        "raw_agreement_computed": COMPUTED,
        "ac1_computed": COMPUTED,
    },
    inputs=REVIEW_INPUTS,
    filters=("question", "country", "model", "campaign", "questionnaire", "excluded", *NARROWING),
    choices={"excluded": EXCLUDED},
    undrawn=tuple(f"{name}_computed" for name in NAMES),
    compute=compute_reviewer_agreement,
    unread=("question", "country"),
)
