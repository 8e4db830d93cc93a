"""What the controls in a campaign say about the answers: real photographs, and images asked about once more."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from evaluation.contracts.table import Filters, TableSpec
from evaluation.metrics.observations import ALL, Labels, Observations
from evaluation.metrics.tidy import TidyTable
from review.tables.filters import NARROWING
from review.tables.observe import build_opinion_observations
from review.tables.selection import CHOICES, REVIEW_INPUTS, Opinion, iterate_opinions, select_reviews
from review.tables.shares import ShareCell, cell_rows

CONTROL_METRICS = {
    "real_no_food": "Share of answers about real photographs of dishes that say: this is no food.",
    "real_not_the_dish": (
        "Share of answers about real photographs of the dish that say: this is no food, or not the dish."
    ),
    "same_food": "Share of images asked about twice where the same person says the same: food or not.",
    "same_dish": "The same for: the dish or not. No food counts as not the dish.",
    "same_match": "The same for the match, where it was answered both times.",
    "same_rating": "The same for the rating, where it was given both times: exactly equal.",
}
Values = list[bool | None]
Read = tuple[Opinion, Sequence[bool | None]]


def compute_control_table(filters: Filters) -> TidyTable:
    """`review.controls`, for every country and for all together."""
    chosen = select_reviews(filters, repeats=True)
    found = [*of_real_photographs(said := list(iterate_opinions(chosen.reviews))), *of_repeats(said)]
    groups: Mapping[str, list[Read]] = defaultdict(list)
    for opinion, values in found:
        groups[opinion.country].append((opinion, values))
        groups[ALL].append((opinion, values))
    rows = [
        row
        for country, held in groups.items()
        for row in cell_rows({"country": country}, tuple(CONTROL_METRICS), ShareCell.of(held), filters)
    ]
    notes = [*chosen.notes]
    if chosen.questionnaire and not rows:
        notes.append("No real photographs and no repeats are among these images.")
    return TidyTable(
        CONTROLS.name, CONTROLS.version, CONTROLS.columns, tuple(rows), tuple(notes), chosen.demonstration, chosen.extra
    )


def observe_controls(filters: Filters) -> Observations:
    """The answers about real photographs, and the pairs of answers about one image."""
    chosen = select_reviews(filters, repeats=True)
    found = chain(of_real_photographs(said := list(iterate_opinions(chosen.reviews))), of_repeats(said))
    made = build_opinion_observations(tuple(CONTROL_METRICS), found, chosen)
    countries = made.labels("country")
    return replace(made, groups={"country": Labels(countries.codes, tuple((*kind, ALL) for kind in countries.kinds))})


def of_real_photographs(said: Iterable[Opinion]) -> Iterable[Read]:
    """The first answers about real photographs."""
    for opinion in said:
        if opinion.real and not opinion.repeat:
            dish = dish_or_not(opinion)
            yield opinion, [_denied(opinion.food), _denied(dish), None, None, None, None]


def of_repeats(said: Sequence[Opinion]) -> Iterable[Read]:
    """Pairs of first and second answer of one person about one image."""
    first = {(opinion.reviewer, opinion.image, opinion.country): opinion for opinion in said if not opinion.repeat}
    for again in said:
        before = first.get((again.reviewer, again.image, again.country))
        if again.repeat and before:
            yield again, [None, None, *(_same(before, again, answer) for answer in ANSWERS)]


def dish_or_not(opinion: Opinion) -> bool | None:
    return False if opinion.food is False else opinion.correct_dish


def _denied(answer: bool | None) -> bool | None:
    return None if answer is None else not answer


def _same(before: Opinion, again: Opinion, answer: Callable[[Opinion], object]) -> bool | None:
    """Whether both answers are equal; None where one of them is missing."""
    pair = answer(before), answer(again)
    return None if None in pair else pair[0] == pair[1]


ANSWERS: tuple[Callable[[Opinion], object], ...] = (
    lambda opinion: opinion.food,
    dish_or_not,
    lambda opinion: opinion.match or None,
    lambda opinion: opinion.quality,
)
CONTROLS = TableSpec(
    name="review.controls",
    title="Controls: real photographs and repeated images",
    source="Own; World Wide recipe has none",
    version="2",
    columns=("country",),
    metrics=CONTROL_METRICS,
    inputs=REVIEW_INPUTS,
    filters=("country", "campaign", "questionnaire", "excluded", "interval", *NARROWING),
    choices=CHOICES,
    compute=compute_control_table,
    unread=("country",),
    observe=observe_controls,
    worse={metric: "high" if metric.startswith("real") else "low" for metric in CONTROL_METRICS},
)
