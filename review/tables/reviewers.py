"""How many people reviewed how many images (World Wide recipe, Table E.7)."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from math import sqrt

import numpy as np
import numpy.typing as npt

from evaluation.contracts.table import Filters, TableSpec
from evaluation.metrics.inference.intervals import AMOUNT, Interval, build_empty_interval, one_way
from evaluation.metrics.tidy import Estimate, TidyRow, TidyTable
from review.tables.filters import NARROWING
from review.tables.selection import (
    EXCLUDED,
    REVIEW_INPUTS,
    Opinion,
    describe_nameless_reviews,
    iterate_opinions,
    select_reviews,
)

ALL = "all"
LEAST_MEAN = 5
FEW_IMAGES = f"they judged fewer than {LEAST_MEAN} images each: no interval is claimed"
DESCRIBES = "it describes these people: no interval is claimed"
Floats = npt.NDArray[np.float64]
AS_PUBLISHED = (
    "As published: the mean and its deviation are over the people who judged an image of the model; the deviation is "
    "the population's (divided by their number). The row “all” takes all models together."
)


def compute_reviewer_table(filters: Filters) -> TidyTable:
    """`review.reviewers`."""
    chosen = select_reviews(filters)
    rows: list[TidyRow] = []
    by_country: dict[str, list[Opinion]] = defaultdict(list)
    for opinion in iterate_opinions(chosen.reviews):
        if opinion.model:
            by_country[opinion.country].append(opinion)
    for country, said in by_country.items():
        everybody = sorted({opinion.reviewer for opinion in said})
        for model in (*sorted({opinion.model for opinion in said}), ALL):
            mine = [opinion for opinion in said if model in (ALL, opinion.model)]
            rows += [
                TidyRow({"country": country, "model": model}, metric, estimate)
                for metric, estimate in estimate_reviewer_metrics(mine, everybody).items()
            ]
    notes = (AS_PUBLISHED, *chosen.notes, *describe_nameless_reviews(chosen.reviews))
    return TidyTable(
        REVIEWERS.name, REVIEWERS.version, REVIEWERS.columns, tuple(rows), notes, chosen.demonstration, chosen.extra
    )


def estimate_reviewer_metrics(said: Sequence[Opinion], everybody: Iterable[str]) -> dict[str, Estimate]:
    """All metrics of one row; `everybody` are the reviewers of the country."""
    given = Counter(opinion.reviewer for opinion in said)
    judged = np.array(sorted(given.values()), dtype=np.float64)
    of_country = np.array(sorted(given[person] for person in everybody), dtype=np.float64)
    dishes = len({opinion.dish for opinion in said})
    mean, deviation = estimate_mean_and_deviation(judged)
    mean_of_all, deviation_of_all = estimate_mean_and_deviation(of_country)
    return {
        "reviewers": Estimate(len(given), len(said), dishes, people=len(given)),
        "images_per_reviewer": mean,
        "deviation": deviation,
        "images": Estimate(len({opinion.image for opinion in said}), len(said), dishes, people=len(given)),
        "images_per_reviewer_of_country": mean_of_all,
        "deviation_of_country": deviation_of_all,
    }


def estimate_mean_and_deviation(numbers: Floats) -> tuple[Estimate, Estimate]:
    """Mean, with an interval over people, and population deviation of images per person, `numbers` (people,)."""
    people = len(numbers)
    [of_mean] = one_way(numbers[:, None], np.arange(people), bounds=AMOUNT, what="reviewers")
    intervals = (
        of_mean if numbers.mean() >= LEAST_MEAN else build_empty_interval(FEW_IMAGES),
        build_empty_interval(DESCRIBES),
    )
    values = (float(numbers.mean()), sqrt(float(numbers.var(ddof=0))))
    first, second = (_estimate(value, people, found) for value, found in zip(values, intervals, strict=True))
    return first, second


def _estimate(value: float, people: int, found: Interval) -> Estimate:
    return Estimate(value, people, people, found.low, found.high, found.method, found.reason, people)


REVIEWERS = TableSpec(
    name="review.reviewers",
    title="Reviewers, and images per reviewer",
    source="World Wide recipe, Table E.7",
    version="2",
    columns=("country", "model"),
    metrics={
        "reviewers": "People who judged at least one image of the model; n is the number of their reviews.",
        "images_per_reviewer": "Mean number of the model's images that these people judged.",
        "deviation": "Population deviation of that number among these people.",
        "images": "Different images of the model that were judged.",
        "images_per_reviewer_of_country": "The same mean over all reviewers of the country, none counting as 0.",
        "deviation_of_country": "The same deviation over all reviewers of the country, none counting as 0.",
    },
    inputs=REVIEW_INPUTS,
    filters=("country", "model", "campaign", "questionnaire", "excluded", *NARROWING),
    choices={"excluded": EXCLUDED},
    compute=compute_reviewer_table,
    unread=("country", "model"),
)
