"""How often the interval of a gap between groups holds the truth, and how often its p is small where nothing differs.

    python -m bench.gaps [--samples 300]

Draws pictures of dishes that differ (deviation 0.7, an answer's own 1), four of each dish; or eight people of each
group, who judge all its dishes and differ too (0.5). Prints, for groups of the same and of different means, coverage,
the share of p ≤ .05, mean p and the mean width of the interval. Where nothing differs 5 % would be right, unless
people differ: each group has its own, and no relabelling of dishes can tell a harsh group from harsh pictures.
"""

import argparse

import numpy as np

from evaluation.metrics.disparity import disparity
from evaluation.metrics.groups import Sample

PICTURES, PEOPLE = 4, 8
DISH, PERSON = 0.7, 0.5
# Dishes of each group, and the groups' means.
CASES = ((15, (0, 0)), (15, (0, 1)), (15, (0,) * 5), (15, (0, 0, 0, 0.5, 1)), (40, (0,) * 7))


def drawn(random: np.random.Generator, dishes: int, means: tuple[float, ...], people: bool) -> Sample:
    """One sample: all answers about the dishes of all groups."""
    groups, answers = len(means), PEOPLE if people else PICTURES
    of_dish = random.normal(0, DISH, (groups, dishes, 1))
    of_person = random.normal(0, PERSON if people else 0, (groups, 1, answers))
    values = np.reshape(means, (groups, 1, 1)) + of_dish + of_person + random.normal(size=(groups, dishes, answers))
    group, dish, answer = (place.ravel() for place in np.indices(values.shape))
    raters = group * answers + answer if people else None
    return Sample.of(values.ravel(), group * dishes + dish, raters, group, np.eye(groups, dtype=np.bool_))


def measured(samples: int, dishes: int, means: tuple[float, ...], people: bool) -> tuple[float, float, float, float]:
    """Coverage, share of p ≤ .05, mean p, mean width."""
    random = np.random.default_rng(1)
    truth = max(means) - min(means)
    rows = []
    for _ in range(samples):
        found = disparity(drawn(random, dishes, means, people))
        low, high, p = found.interval.low, found.interval.high, found.p
        assert low is not None and high is not None and p is not None
        rows.append((low <= truth <= high, p <= 0.05, p, high - low))
    coverage, small, p, width = np.mean(rows, axis=0)
    return float(coverage), float(small), float(p), float(width)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=300)
    samples = parser.parse_args().samples
    print(f"{'who':9}{'dishes':>7}  {'means':22}{'holds':>7}{'p≤.05':>7}{'p':>7}{'width':>7}")
    for people in (False, True):
        for dishes, means in CASES:
            coverage, small, p, width = measured(samples, dishes, means, people)
            shown = ", ".join(f"{mean:g}" for mean in means)
            who = "people" if people else "pictures"
            print(f"{who:9}{dishes:7}  {shown:22}{coverage:7.1%}{small:7.1%}{p:7.3f}{width:7.2f}")


if __name__ == "__main__":
    main()
