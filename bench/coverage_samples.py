"""Samples with a known truth for `bench.coverage`: who judged what, and answers that differ by dish and by person."""

import csv
import os
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from bench.coverage_rows import Coverage
from evaluation.metrics.inference.intervals import LEAST_CLUSTERS, LEAST_REVIEWERS, Interval

SEED = 20261128
SPREADS = (0.0, 0.35, 0.7, 1.2)
SHARES = (0.1, 0.3, 0.5, 0.7, 0.9)
FILE = Path("wwd") / "Community_Review_Generated_Dish_Images.csv"
NOTHING_DIFFERS, PEOPLE_ALIKE = "nothing differs", "people do not differ"
DISCRETE = "discrete: few answers"
FEW_PEOPLE = "discrete: yes and no of fewer than 10 people"
FEW_ANSWERS = 160

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.intp]


@dataclass(frozen=True)
class Pattern:
    """Who judged what: codes (n,) of the dish and of the person of each answer."""

    name: str
    dishes: Codes
    people: Codes

    @classmethod
    def balanced(cls, dishes: int, people: int, answers: int) -> "Pattern":
        """Everybody judges every dish so often."""
        dish, person, _answer = (place.ravel() for place in np.indices((dishes, people, answers)))
        return cls(f"{dishes} dishes × {people} people × {answers}", dish, person)

    @property
    def n(self) -> int:
        return len(self.dishes)


def released() -> list[Pattern]:
    """The cells of the published reviews that have 5 people and 10 dishes; a seeded pattern like one where there are no
    published data."""
    folder = Path(os.environ.get("WWD_PUBLISHED_DATA") or Path(__file__).parents[2] / "shared" / "data" / "published")
    if not (folder / FILE).is_file():
        return [seeded()]
    held: dict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
    with (folder / FILE).open(encoding="utf-8-sig", newline="") as file:
        for row in csv.DictReader(file):
            if row["Model"]:
                held[row["Country"], row["Model"]].append((row["Dish name"], row["Rater_id"]))
    found, seen = [], set()
    for (country, model), pairs in sorted(held.items()):
        dishes, people = (np.unique([pair[side] for pair in pairs], return_inverse=True)[1] for side in (0, 1))
        shape = tuple(sorted(Counter(zip(dishes.tolist(), people.tolist(), strict=True)).items()))
        if dishes.max() + 1 >= LEAST_CLUSTERS and people.max() + 1 >= LEAST_REVIEWERS and shape not in seen:
            seen.add(shape)
            found.append(Pattern(f"{country}, {model}", dishes, people))
    return found


def seeded() -> Pattern:
    """30 dishes, 7 people who judged between 2 and 28 of them, five images each."""
    random = np.random.default_rng(SEED)
    pairs = [
        (dish, person)
        for person, many in enumerate((2, 6, 9, 12, 16, 20, 28))
        for dish in random.choice(30, many, replace=False)
        for _ in range(5)
    ]
    dishes, people = np.array(pairs).T
    return Pattern("seeded: 30 dishes, 7 people", np.unique(dishes, return_inverse=True)[1], people)


def logistic(values: npt.ArrayLike) -> Floats:
    return np.asarray((1 + np.tanh(np.asarray(values) / 2)) / 2)


@lru_cache(maxsize=512)
def middle(share: float, spread: float) -> float:
    """The logit at which answers with normal differences of deviation `spread` have the expected `share`."""
    points, weights = np.polynomial.hermite_e.hermegauss(80)
    low, high = -20.0, 20.0
    for _ in range(80):
        between = (low + high) / 2
        if (weights * logistic(between + spread * points)).sum() / weights.sum() < share:
            low = between
        else:
            high = between
    return (low + high) / 2


def answers(
    random: np.random.Generator, pattern: Pattern, share: float, of_dishes: float, of_people: float, samples: int
) -> Floats:
    """Answers (n, samples) of 0 and 1 with an expected `share`; dishes and people differ on the logit scale."""
    dishes = random.normal(0, of_dishes, (pattern.dishes.max() + 1, samples))
    people = random.normal(0, of_people, (pattern.people.max() + 1, samples))
    chance = logistic(
        middle(share, float(np.hypot(of_dishes, of_people))) + dishes[pattern.dishes] + people[pattern.people]
    )
    return (random.random(chance.shape) < chance).astype(np.float64)


def counted(
    kind: str,
    setting: str,
    found: Sequence[Interval],
    truth: float | Floats,
    loose: str = "",
    published: bool = False,
) -> Coverage:
    """The row of intervals of as many samples."""
    ends = np.array([(each.low, each.high) for each in found], dtype=np.float64)
    claimed = ~np.isnan(ends[:, 0])
    low, high = ends[claimed].T
    held = np.broadcast_to(truth, len(ends))[claimed]
    if not claimed.any():
        return Coverage(kind, setting, len(found), 0.0, 0.0, 0.0, 0.0, loose, published)
    return Coverage(
        kind=kind,
        setting=setting,
        samples=len(found),
        claimed=float(claimed.mean()),
        below=float((high < held - 1e-12).mean()),
        above=float((low > held + 1e-12).mean()),
        width=float((high - low).mean()),
        loose=loose,
        published=published,
    )
