"""The interval of reviews beside others that could have been taken: how often they hold the truth.

    python -m bench.intervals [--samples 300] [--share 0.19]

Draws reviews from a model with a known share: a probit whose dishes, reviewers and pairs of both differ by normal
effects. The pattern is like that of one country and model in the paper: 30 dishes, 7 people who judged between 4 and
28 of them, 5 images each. Prints coverage and mean width of each interval, and the width as a ratio to Wilson's.
"""

import argparse
from collections import defaultdict
from collections.abc import Iterator
from math import sqrt
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from evaluation.metrics.inference.intervals import SHARE, one_way, two_way
from evaluation.metrics.inference.proportion import Z, wilson_interval

DISHES = 30
JUDGED = (4, 9, 10, 12, 16, 18, 28)
IMAGES = 5
DRAWS = 500
NORMAL = NormalDist()
# Deviations of dishes, reviewers and pairs on the probit scale.
DIFFERENCES = ((1.0, 0.7, 0.5), (0.5, 0.9, 0.3), (1.0, 0.2, 0.3), (0.0, 0.0, 0.0))
Floats = npt.NDArray[np.float64]
Limits = tuple[float, float]


def pattern(random: np.random.Generator) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Labels (n,) of the dishes and reviewers of all reviews."""
    pairs = [
        (dish, person)
        for person, many in enumerate(JUDGED)
        for dish in random.choice(DISHES, many, replace=False)
        for _ in range(IMAGES)
    ]
    dishes, people = np.array(pairs).T
    return dishes, people


def drawn(
    random: np.random.Generator, share: float, deviations: tuple[float, float, float]
) -> tuple[Floats, npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Answers (n,) of 0 and 1 with the expected `share`, and the labels of dishes and reviewers."""
    dishes, people = pattern(random)
    of_dishes, of_people, of_pairs = deviations
    middle = NORMAL.inv_cdf(share) * sqrt(1 + sum(deviation**2 for deviation in deviations))
    effect = middle + random.normal(0, of_dishes, DISHES)[dishes] + random.normal(0, of_people, len(JUDGED))[people]
    effect += random.normal(0, of_pairs, (DISHES, len(JUDGED)))[dishes, people]
    return (effect + random.normal(0, 1, len(dishes)) > 0).astype(np.float64), dishes, people


def intervals(
    random: np.random.Generator, values: Floats, dishes: npt.NDArray[np.int64], people: npt.NDArray[np.int64]
) -> Iterator[tuple[str, Limits]]:
    """Every interval by its name."""
    (ours,) = two_way(values[:, None], dishes, people)
    yield "two-way jackknife, logit, t (the default)", (ours.low or 0.0, ours.high or 0.0)
    yield "pigeonhole bootstrap (the default until 2026)", percentiles(pigeonhole(random, values, dishes, people))
    yield "two-way sandwich, normal", sandwich(values, dishes, people)
    yield "reviewers, then dishes within each", percentiles(nested(random, values, dishes, people))
    each_way = np.concatenate([one_cluster(random, values, people), one_cluster(random, values, dishes)])
    yield "half of the draws each way", percentiles(each_way)
    yield "reviewers alone", percentiles(each_way[:DRAWS])
    (alone,) = one_way(values[:, None], dishes, bounds=SHARE)
    yield "dishes alone, jackknife", (alone.low or 0.0, alone.high or 0.0)
    naive = wilson_interval(int(values.sum()), len(values))
    yield "Wilson", (naive.low or 0.0, naive.high or 0.0)


def percentiles(shares: Floats) -> Limits:
    low, high = np.percentile(shares[~np.isnan(shares)], [2.5, 97.5])
    return float(low), float(high)


def pigeonhole(
    random: np.random.Generator, values: Floats, dishes: npt.NDArray[np.int64], people: npt.NDArray[np.int64]
) -> Floats:
    """Shares (DRAWS,) of resampled dishes and reviewers, a review weighing the product of both draws (Owen 2007)."""
    shape = (DISHES, len(JUDGED))
    cell = dishes * shape[1] + people
    sums, counts = (
        np.bincount(cell, each, DISHES * shape[1]).reshape(shape) for each in (values, np.ones(len(values)))
    )
    first, second = (random.multinomial(size, np.full(size, 1 / size), DRAWS) for size in shape)
    return np.asarray(((first @ sums) * second).sum(axis=1) / ((first @ counts) * second).sum(axis=1))


def sandwich(values: Floats, dishes: npt.NDArray[np.int64], people: npt.NDArray[np.int64]) -> Limits:
    """Cameron, Gelbach & Miller 2011: dishes + reviewers − pairs, at least the larger of the first two."""
    mean = values.mean()
    pairs = dishes * len(JUDGED) + people
    first, second, both = (
        float((np.bincount(labels, weights=values - mean) ** 2).sum()) for labels in (dishes, people, pairs)
    )
    error = sqrt(max(first + second - both, first, second)) / len(values)
    return float(mean) - Z * error, float(mean) + Z * error


def one_cluster(random: np.random.Generator, values: Floats, labels: npt.NDArray[np.int64]) -> Floats:
    """Shares (DRAWS,) of resampled clusters, in an order of their own."""
    sums, counts = np.bincount(labels, weights=values), np.bincount(labels)
    times = random.multinomial(len(sums), np.full(len(sums), 1 / len(sums)), DRAWS)
    return np.asarray(times @ sums / (times @ counts))


def nested(
    random: np.random.Generator, values: Floats, dishes: npt.NDArray[np.int64], people: npt.NDArray[np.int64]
) -> Floats:
    """Shares (DRAWS,) of resampled reviewers, the dishes resampled anew within each."""
    totals, weights = np.zeros((2, DRAWS))
    times = random.multinomial(len(JUDGED), np.full(len(JUDGED), 1 / len(JUDGED)), DRAWS)
    for person in range(len(JUDGED)):
        mine = people == person
        _names, row = np.unique(dishes[mine], return_inverse=True)
        sums, counts = np.bincount(row, weights=values[mine]), np.bincount(row)
        again = random.multinomial(times[:, person] * len(sums), np.full(len(sums), 1 / len(sums)))
        totals += again @ sums
        weights += again @ counts
    return totals / weights


def measured(samples: int, share: float, deviations: tuple[float, float, float]) -> dict[str, tuple[float, float]]:
    """Coverage and mean width by the interval's name."""
    random = np.random.default_rng(11)
    found: dict[str, list[Limits]] = defaultdict(list)
    for _ in range(samples):
        for name, limits in intervals(random, *drawn(random, share, deviations)):
            found[name].append(limits)
    return {
        name: (
            sum(low <= share <= high for low, high in held) / samples,
            sum(high - low for low, high in held) / samples,
        )
        for name, held in found.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=300)
    parser.add_argument("--share", type=float, default=0.19)
    options = parser.parse_args()
    print(f"{options.samples} samples, share {options.share}; simulation error of a coverage of 95 %: ", end="")
    print(f"± {100 * 1.96 * sqrt(0.95 * 0.05 / options.samples):.1f} points")
    for deviations in DIFFERENCES:
        print(f"dishes, reviewers, pairs differ by {deviations} on the probit scale")
        found = measured(options.samples, options.share, deviations)
        unit = found["Wilson"][1]
        for name, (coverage, width) in found.items():
            print(f"  {name:46} holds the truth in {coverage:6.1%}  width {width:.3f} = {width / unit:.1f} × Wilson")


if __name__ == "__main__":
    main()
