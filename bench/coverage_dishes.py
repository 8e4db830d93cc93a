"""Coverage of means over dishes, images or people alone: shares, amounts, scores, differences. A part of
`python -m bench.coverage`."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from zlib import crc32

import numpy as np

from bench.coverage_rows import Coverage, Setting
from bench.coverage_samples import DISCRETE, NOTHING_DIFFERS, SEED, SHARES, SPREADS, Floats, logistic, middle
from bench.coverage_samples import counted as row
from evaluation.metrics.inference.intervals import AMOUNT, SHARE, Bounds, Interval, one_way
from evaluation.metrics.inference.sem import sem_interval

SHARES_OF, AMOUNTS, SCORES, DIFFERENCES = (
    "share",
    "amount",
    "score",
    "difference",
)
NO_END = "nothing varies"
SEM = "SEM"
SAMPLES, QUICK = 5000, 200
FEW = 50
# The degrees of freedom are those of dishes that differ; here images do, so that ten dishes count as too few.
UNEQUAL = "only images differ, dishes hold unequal numbers of them"
# Dishes, images of each: the least, and more; and dishes with unequal numbers.
SIZES = ((10, 1), (10, 3), (10, 10), (20, 1), (50, 2), (100, 1))
UNEVEN = (1, 1, 2, 2, 3, 4, 5, 6, 8, 10)


def settings(quick: bool, samples: int | None = None) -> Sequence[Setting]:
    """Every size, spread and share."""
    many = samples or (QUICK if quick else SAMPLES)
    sizes = [(images,) * dishes for dishes, images in SIZES] + [UNEVEN]
    if quick:
        return [
            Setting("shares quick", shares, (sizes[0], 0.3, 0.7, many)),
            Setting("amounts", amounts, (10, 0.3, many)),
        ]
    return [
        *(Setting("shares", shares, (*each, many)) for each in product(sizes, SHARES, SPREADS)),
        *(Setting("parts", parts, (*each, many)) for each in product(sizes, SHARES, SPREADS)),
        *(Setting("ends", ends, (*each, many)) for each in product((10, 20), SHARES, SPREADS)),
        *(Setting("amounts", amounts, (*each, many)) for each in product((10, 20, 50), (0.1, 0.3, 0.5))),
        *(Setting("counts", counts, (*each, many)) for each in product((10, 20, 50), (5.0, 10.0, 40.0))),
        *(Setting("scores", scores, (*each, many)) for each in product((10, 20, 50), (1, 5), SPREADS)),
        *(Setting("differences", differences, (*each, many)) for each in product((10, 20, 50), SHARES, (0.0, 0.2))),
    ]


def drawn(setting: str) -> np.random.Generator:
    return np.random.default_rng([SEED, crc32(setting.encode())])


def said(sizes: Sequence[int]) -> str:
    return f"{len(sizes)} dishes × {sizes[0]}" if len(set(sizes)) == 1 else f"{len(sizes)} uneven dishes"


def chances(random: np.random.Generator, sizes: Sequence[int], share: float, spread: float, samples: int) -> Floats:
    """Chances (n, samples) of yes, dishes differing by `spread`."""
    effect = random.normal(0, spread, (len(sizes), samples))
    return logistic(middle(share, spread) + np.repeat(effect, sizes, axis=0))


def of_dishes(values: Floats, sizes: Sequence[int], bounds: Bounds) -> list[Interval]:
    return one_way(values, np.repeat(np.arange(len(sizes)), sizes), bounds=bounds)


def shares(sizes: Sequence[int], share: float, spread: float, samples: int) -> list[Coverage]:
    """Answers of yes and no; and the interval as published, which takes them for independent."""
    setting = f"{said(sizes)}; share {share:g}; dishes differ by {spread:g}"
    random = drawn(setting)
    chance = chances(random, sizes, share, spread, samples)
    values = (random.random(chance.shape) < chance).astype(np.float64)
    loose = DISCRETE if sum(sizes) <= 100 else "" if spread else NOTHING_DIFFERS
    narrow = [sem_interval(column) for column in values.T[:1000]]
    return [
        row(SHARES_OF, setting, of_dishes(values, sizes, SHARE), share, loose),
        row(SEM, setting, narrow, share, published=True),
    ]


def parts(sizes: Sequence[int], share: float, spread: float, samples: int) -> list[Coverage]:
    """Values between 0 and 1: the mean of four answers, as of four orders of the options; and any value."""
    setting = f"{said(sizes)}; share {share:g}; dishes differ by {spread:g}"
    random = drawn(setting)
    chance = chances(random, sizes, share, spread, samples)
    fourths = random.binomial(4, chance) / 4
    smooth = logistic(middle(share, 0.7) + random.normal(0, 0.7, chance.shape))
    loose = DISCRETE if sum(sizes) <= FEW else "" if spread else NOTHING_DIFFERS
    uneven = UNEQUAL if len(set(sizes)) > 1 else ""
    return [
        row(SHARES_OF, f"fourths; {setting}", of_dishes(fourths, sizes, SHARE), share, loose),
        row(SHARES_OF, f"any value; {setting}", of_dishes(smooth, sizes, SHARE), share, uneven),
    ]


def ends(dishes: int, share: float, spread: float, samples: int) -> list[Coverage]:
    """Samples in which everybody says the same, counted among all: a wrong limit there is a miss of all."""
    setting = f"{dishes} dishes × 1; share {share:g}; dishes differ by {spread:g}"
    random = drawn(setting)
    chance = chances(random, (1,) * dishes, share, spread, samples)
    values = (random.random(chance.shape) < chance).astype(np.float64)
    found = of_dishes(values, (1,) * dishes, SHARE)
    alike = np.ptp(values, axis=0) == 0
    kept = [each if same else Interval(0.0, 1.0) for each, same in zip(found, alike, strict=True)]
    return [row(NO_END, setting, kept, share, DISCRETE)]


def amounts(dishes: int, deviation: float, samples: int) -> list[Coverage]:
    """Amounts above 0, as colourfulness: their logarithm is normal."""
    setting = f"{dishes} dishes; log-normal, deviation {deviation:g}"
    values = drawn(setting).lognormal(0, deviation, (dishes, samples))
    return [row(AMOUNTS, setting, of_dishes(values, (1,) * dishes, AMOUNT), float(np.exp(deviation**2 / 2)))]


def counts(people: int, mean: float, samples: int) -> list[Coverage]:
    """How many images people judged: geometric, from 1 on."""
    setting = f"{people} people; geometric, mean {mean:g}"
    values = drawn(setting).geometric(1 / mean, (people, samples)).astype(np.float64)
    return [row(AMOUNTS, setting, of_dishes(values, (1,) * people, AMOUNT), mean, DISCRETE)]


def scores(dishes: int, images: int, spread: float, samples: int) -> list[Coverage]:
    """Scores without bounds: normal, dishes differing by `spread` of what images do."""
    setting = f"{dishes} dishes × {images}; dishes differ by {spread:g} of what images do"
    random, sizes = drawn(setting), (images,) * dishes
    values = np.repeat(random.normal(0, spread, (dishes, samples)), sizes, axis=0)
    values = values + random.normal(size=values.shape)
    return [row(SCORES, setting, of_dishes(values, sizes, None), 0.0)]


def differences(dishes: int, share: float, shift: float, samples: int) -> list[Coverage]:
    """Differences of two yes or no, one for each of two images of a dish."""
    other = share + (shift if share < 0.8 else -shift)
    setting = f"{dishes} dishes × 2; shares {share:g} and {other:g}"
    random, sizes = drawn(setting), (2,) * dishes
    same = random.random((2 * dishes, samples))
    first, second = (same + 0.3 * random.random(same.shape)) % 1 < share, same < other
    truth = other - share
    values = second.astype(np.float64) - first
    return [row(DIFFERENCES, setting, of_dishes(values, sizes, (-1.0, 1.0)), truth, DISCRETE)]


def run(setting: Setting) -> list[Coverage]:
    """The rows of one setting."""
    make: Callable[..., list[Coverage]] = partial(setting.make)
    return make(*setting.arguments)
