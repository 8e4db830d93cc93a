"""Coverage of shares of reviews: dishes and people differ. A part of `python -m bench.coverage`."""

from collections.abc import Sequence
from itertools import product
from typing import Any
from zlib import crc32

import numpy as np

from bench.coverage_rows import Coverage, Setting
from bench.coverage_samples import (
    DISCRETE,
    FEW_ANSWERS,
    FEW_PEOPLE,
    NOTHING_DIFFERS,
    PEOPLE_ALIKE,
    SEED,
    SHARES,
    SPREADS,
    Pattern,
    answers,
    counted,
    released,
)
from evaluation.metrics.inference.intervals import two_way
from evaluation.metrics.inference.proportion import wilson_interval

KIND, WILSON = "reviews", "reviews, Wilson"
SAMPLES, QUICK = 5000, 40
AT_ONCE = 1000
# The smallest numbers for which a table claims an interval, few people with much to judge, many with little.
BALANCED = ((10, 5, 1), (10, 5, 3), (30, 5, 5), (30, 8, 5), (10, 20, 1), (20, 8, 1), (50, 20, 1))


def sparse() -> Pattern:
    """The least that claims an interval: ten dishes, each judged once, by five people."""
    return Pattern("10 dishes, 5 people, 10 answers", np.arange(10), np.arange(10) % 5)


def settings(quick: bool, samples: int | None = None) -> Sequence[Setting]:
    """Every pattern, spread and share."""
    if quick:
        few = (Pattern.balanced(10, 5, 1), 0.3, 0.7, 0.7, samples or QUICK)
        return [Setting("reviews quick", covered, few)]
    patterns = [*released(), sparse(), *(Pattern.balanced(*sizes) for sizes in BALANCED)]
    return [
        Setting(f"reviews {pattern.name} {share:g}", covered, (pattern, share, dishes, people, samples or SAMPLES))
        for pattern, share, dishes, people in product(patterns, SHARES, SPREADS, SPREADS)
    ]


def covered(pattern: Pattern, share: float, of_dishes: float, of_people: float, samples: int) -> list[Coverage]:
    """Our interval, and Wilson's on the patterns of the release."""
    setting = f"{pattern.name}; share {share:g}; dishes differ by {of_dishes:g}, people by {of_people:g}"
    random = np.random.default_rng([SEED, crc32(setting.encode())])
    found: list[Any] = []
    narrow: list[Any] = []
    while len(found) < samples:
        many = min(AT_ONCE, samples - len(found))
        values = answers(random, pattern, share, of_dishes, of_people, many)
        found += two_way(values, pattern.dishes, pattern.people)
        narrow += [wilson_interval(int(yes), pattern.n) for yes in values.sum(axis=0)]
    alike = "" if of_people else PEOPLE_ALIKE if of_dishes else NOTHING_DIFFERS
    few = FEW_PEOPLE if pattern.people.max() < 9 else ""
    loose = DISCRETE if pattern.n <= FEW_ANSWERS else alike or few
    return [counted(KIND, setting, found, share, loose), counted(WILSON, setting, narrow, share, published=True)]


def run(setting: Setting) -> list[Coverage]:
    """The rows of one setting."""
    return list(setting.make(*setting.arguments))
