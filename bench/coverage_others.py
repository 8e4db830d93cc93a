"""Coverage of Spearman's ρ over countries, of shares among the nearest images, and of Wilson's interval where each
answer stands for itself. A part of `python -m bench.coverage`."""

from collections.abc import Sequence
from itertools import product
from zlib import crc32

import numpy as np

from bench.coverage_rows import Coverage, Setting
from bench.coverage_samples import DISCRETE, SEED, SHARES, counted
from evaluation.metrics.inference.intervals import SHARE, one_way
from evaluation.metrics.inference.proportion import LEAST, chance_alone
from evaluation.metrics.ranks import spearman, spearman_interval

RHO, NEAREST, WILSON = "rank correlation", "share among the nearest", "Wilson, independent"
SAMPLES, QUICK = 2000, 50
MANY = 200_000


def settings(quick: bool, samples: int | None = None) -> Sequence[Setting]:
    """Every size and truth."""
    many = samples or (QUICK if quick else SAMPLES)
    if quick:
        return [Setting("rho quick", correlations, (10, 0.3, True, many))]
    return [
        *(
            Setting("rho", correlations, (*each, many))
            for each in product((10, 15, 40), (0.0, 0.3, 0.6, 0.9), (False, True))
        ),
        *(Setting("nearest", nearest, (*each, many)) for each in product((1, 5), SHARES, (0.0, 0.5))),
        *(Setting("wilson", independent, (*each, 5 * many)) for each in product((LEAST, 60, 500), SHARES)),
    ]


def random_for(setting: str) -> np.random.Generator:
    return np.random.default_rng([SEED, crc32(setting.encode())])


def correlations(n: int, rho: float, ties: bool, samples: int) -> list[Coverage]:
    """Two normal values; with ties the first is a number of dishes, half of them 0."""
    setting = f"{n} countries; normal ρ {rho:g}{'; half of one side tied' if ties else ''}"
    random = random_for(setting)

    def drawn(size: int) -> tuple[np.ndarray, np.ndarray]:
        one, other = random.multivariate_normal([0, 0], [[1, rho], [rho, 1]], size).T
        return (np.maximum(np.floor(3 * one), 0) if ties else one), other

    truth = spearman(*drawn(MANY)) or 0.0
    found = [spearman_interval(*drawn(n), "countries") for _ in range(samples)]
    return [counted(RHO, setting, found, truth, DISCRETE)]


def nearest(images: int, share: float, spread: float, samples: int) -> list[Coverage]:
    """50 of 300 images with the highest scores, of which those of one place score by `spread` more."""
    setting = f"50 of 300 images, {images} of a dish; share {share:g}; scores of the place apart by {spread:g}"
    random, dishes = random_for(setting), 300 // images
    spread = spread if share < 0.5 else -spread

    def drawn(times: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        here = random.random(dishes * times) < share
        scores = random.normal(0, 0.5, dishes * times) + spread * here
        scores = np.repeat(scores, images) + random.normal(size=dishes * times * images)
        return np.repeat(here, images), scores, np.repeat(np.arange(dishes * times), images)

    here, scores, _names = drawn(500)
    truth = float(here[scores >= np.quantile(scores, 250 / 300)].mean())
    found = []
    for _ in range(samples):
        here, scores, names = drawn(1)
        chosen = np.argsort(-scores, kind="stable")[:50]
        found += one_way(here[chosen][:, None].astype(np.float64), names[chosen], bounds=SHARE)
    return [counted(NEAREST, setting, found, truth, DISCRETE)]


def independent(n: int, share: float, samples: int) -> list[Coverage]:
    """Each dish is counted once."""
    setting = f"{n} dishes; share {share:g}"
    yes = random_for(setting).binomial(n, share, samples)
    return [counted(WILSON, setting, [chance_alone(int(each), n) for each in yes], share, DISCRETE if n < 100 else "")]


def run(setting: Setting) -> list[Coverage]:
    """The rows of one setting."""
    return list(setting.make(*setting.arguments))
