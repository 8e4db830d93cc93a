"""How often p is at most .05 where nothing differs, and how often the intervals of gaps and differences hold the truth.

    python -m bench.coverage_pvalues [--samples 2000] [--quick]

Draws answers of 0 and 1 from a logistic model in which dishes and people differ by normal effects, in the pattern of
the released reviews (who judged how many images of which dish), read from the folder in WWD_PUBLISHED_DATA where it
is there, else drawn alike; and in balanced patterns of the smallest numbers for which a table claims an interval.
Exits with 1 where a bound of `bench.coverage_rows` is missed. A part of `python -m bench.coverage`.
"""

import argparse
import csv
import os
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import product
from pathlib import Path

import numpy as np
import numpy.typing as npt

from bench.coverage_rows import HEADS, Coverage, Row, Setting, SmallP
from evaluation.metrics.inference.cluster_tests import Inference, estimate_clustered_means, mean_test, range_test
from evaluation.metrics.samples import Sample
from evaluation.metrics.tidy import is_small

GAP, GAP_MACHINE = "gap of reviews", "gap of machine scores"
DIFFERENCE, DIFFERENCE_MACHINE = "difference of reviews", "difference of machine scores"
FILE = Path("wwd") / "Community_Review_Generated_Dish_Images.csv"
PEOPLE = (0.0, 0.35, 0.7, 1.2)
# Share of yes, and deviation of dishes on the logit scale.
SHARES = ((0.1, 1.0), (0.5, 0.0), (0.5, 1.0), (0.9, 1.0))
# Deviation of what one person thinks of one dish.
PAIR = 0.3
IMAGES = 5
SAMPLES, QUICK = 2000, 20
ALL_PAIRS = "values are 0 and 1, and all pairs of groups are held at once"
NOTHING = "nothing differs"
DISCRETE = "values are discrete"
# Dishes that each person judged, as in the release: where its folder is absent.
JUDGED: dict[str, dict[str, tuple[int, ...]]] = {
    "three": {"a": (3, 7, 9, 10, 13, 17, 27), "b": (2, 3, 4, 4, 4, 6, 6), "c": (1, 1, 30, 30, 30)},
    "four": {
        "a": (1, 4, 6, 15, 20, 29, 29),
        "b": (2, 3, 4, 4, 4, 6, 6),
        "c": (4, 5, 23, 31, 31),
        "d": (3, 3, 4, 10, 10, 30),
    },
}
# Groups, dishes of each, people (or images of a dish, where a machine judged).
BALANCED = {"least": (2, 10, 5), "ten dishes": (2, 10, 4), "seven groups": (7, 12, 4)}
RELEASED = {"three": "Dalle2", "four": "Dalle3"}

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.intp]


@dataclass(frozen=True)
class Pattern:
    """Who judged what: group, dish, person of each answer (n,), numbered over all groups."""

    group: Ints
    dish: Ints
    person: Ints

    @classmethod
    def of(cls, answers: Sequence[tuple[str, str, str]]) -> "Pattern":
        """Answers as group, dish, person; groups that are small are left out, as tables do."""
        held: dict[str, list[tuple[str, str, str]]] = defaultdict(list)
        for answer in answers:
            held[answer[0]].append(answer)
        kept = [
            each
            for found in held.values()
            if not is_small(len(found), len({dish for _, dish, _ in found}), len({who for *_, who in found}))
            for each in found
        ]
        names = zip(*((group, f"{group} {dish}", f"{group} {who}") for group, dish, who in kept), strict=True)
        return cls(*(np.unique(column, return_inverse=True)[1] for column in names))

    def among(self, groups: Sequence[int]) -> "Pattern":
        """The answers of these groups."""
        inside = np.isin(self.group, groups)
        return Pattern(
            *(np.unique(column[inside], return_inverse=True)[1] for column in (self.group, self.dish, self.person))
        )

    @property
    def groups(self) -> int:
        return int(self.group.max()) + 1


def balanced(groups: int, dishes: int, people: int) -> Pattern:
    """Every person of a group judges one image of each of its dishes."""
    group, dish, person = (place.ravel() for place in np.indices((groups, dishes, people)))
    return Pattern(group, group * dishes + dish, group * people + person)


@lru_cache(maxsize=1)
def released() -> dict[str, list[tuple[str, str, str]]]:
    """Model → country, dish, person of each released review; nothing where the folder is not there."""
    folder = os.environ.get("WWD_PUBLISHED_DATA")
    found: dict[str, list[tuple[str, str, str]]] = defaultdict(list)
    if folder and (Path(folder) / FILE).exists():
        with (Path(folder) / FILE).open(encoding="utf-8", newline="") as lines:
            for row in csv.DictReader(lines):
                found[row["Model"]].append((row["Country"], row["Dish name"], row["Rater_id"]))
    return found


def reviewed(name: str) -> list[tuple[str, str, str]]:
    """Country, dish, person of the reviews of one model."""
    if found := released().get(RELEASED[name]):
        return found
    random = np.random.default_rng(7)
    return [
        (group, str(dish), str(person))
        for group, judged in JUDGED[name].items()
        for person, many in enumerate(judged)
        for dish in random.choice(31, many, replace=False)
        for _ in range(IMAGES)
    ]


def pattern(name: str) -> Pattern:
    """The reviews of one model; "two": two groups of them; others are balanced, "least" as small as may be."""
    if name in BALANCED:
        return balanced(*BALANCED[name])
    if name == "two":
        return Pattern.of(reviewed("three")).among((1, 2))
    return Pattern.of(reviewed(name))


def paired_pattern(name: str) -> tuple[Ints, Ints]:
    """Dishes and people (n,) who judged the dish under two models; of one country that is not small, or of all."""
    if name in BALANCED:
        found = balanced(1, *BALANCED[name][1:])
        return found.dish, found.person
    first, second = (set(reviewed(model)) for model in ("three", "four"))
    pairs = sorted(first & second)
    if name == "one country":
        of_country = Pattern.of([each for each in pairs for _ in range(IMAGES)])
        inside = np.flatnonzero(of_country.group == of_country.group[0])[::IMAGES]
        return of_country.dish[inside], of_country.person[inside]
    columns = ((f"{country} {dish}", f"{country} {who}") for country, dish, who in pairs)
    dishes, people = (np.unique(column, return_inverse=True)[1] for column in zip(*columns, strict=True))
    return dishes, people


def middle(share: float, deviation: float) -> float:
    """The logit at which answers are yes with this share, where it moves by a normal effect."""
    points, weights = np.polynomial.hermite_e.hermegauss(60)
    low, high = -20.0, 20.0
    for _ in range(60):
        at = (low + high) / 2
        mean = float((weights / (1 + np.exp(-(at + deviation * points)))).sum() / weights.sum())
        low, high = (at, high) if mean < share else (low, at)
    return at


def answers(
    random: np.random.Generator,
    shares: Floats,
    dish: Ints,
    person: Ints,
    deviations: tuple[float, float],
    images: int = 1,
) -> Floats:
    """Shares of yes (n,) among so many images; `shares` (n,) are expected, dishes and people differ."""
    every = np.sqrt(deviations[0] ** 2 + deviations[1] ** 2 + PAIR**2)
    at = {share: middle(share, float(every)) for share in np.unique(shares)}
    pair = np.unique(dish * (int(person.max()) + 1) + person, return_inverse=True)[1]
    logit = np.vectorize(at.__getitem__, otypes=[float])(shares)
    for deviation, codes in zip((*deviations, PAIR), (dish, person, pair), strict=True):
        logit = logit + random.normal(0, deviation, int(codes.max()) + 1)[codes]
    return np.asarray(random.binomial(images, 1 / (1 + np.exp(-logit))) / images)


def gaps(
    name: str, spread: tuple[float, float], shares: tuple[float, ...], samples: int, machine: bool = False
) -> list[Row]:
    """Gaps between groups with these expected shares (the last one is that of all further groups)."""
    random = np.random.default_rng(20261128)
    found = pattern(name)
    of_group = np.array([shares[min(group, len(shares) - 1)] for group in range(found.groups)])
    kinds = np.eye(found.groups, dtype=np.bool_)

    def tested() -> Inference:
        values = answers(random, of_group[found.group], found.dish, found.person, spread)
        raters = None if machine else found.person
        sample = Sample.of(values, found.dish, raters, found.group, kinds)
        return range_test(
            estimate_clustered_means(sample.values, sample.member, sample.weights, sample.dishes, sample.raters)
        )

    same = len(set(shares)) == 1
    setting = told(name, spread, "all " if same else "", shares)
    kind = GAP_MACHINE if machine else GAP
    return rows(kind, setting, tested, samples, float(np.ptp(of_group)), NOTHING if same else ALL_PAIRS)


def differences(
    name: str, spread: tuple[float, float], shares: tuple[float, float], samples: int, machine: bool = False
) -> list[Row]:
    """Differences between two models; `spread`: of dishes, of what people think of one model more."""
    random = np.random.default_rng(20261129)
    dish, person = paired_pattern(name)
    weights = np.ones(len(dish))

    def tested() -> Inference:
        first, second = (
            answers(random, np.full(len(dish), share), dish, person, (spread[0], spread[1] / np.sqrt(2)), IMAGES)
            for share in shares
        )
        return mean_test(second - first, weights, dish, None if machine else person)

    kind = DIFFERENCE_MACHINE if machine else DIFFERENCE
    loose = NOTHING if shares[0] == shares[1] else DISCRETE
    return rows(kind, told(name, spread, "", shares), tested, samples, shares[1] - shares[0], loose)


def told(name: str, spread: tuple[float, float], before: str, shares: Sequence[float]) -> str:
    """What was drawn."""
    said = ", ".join(f"{share:g}" for share in dict.fromkeys(shares))
    return f"{name}; {before}{said}; dishes differ by {spread[0]:g}, people by {spread[1]:g}"


def rows(kind: str, setting: str, tested: Callable[[], Inference], samples: int, truth: float, loose: str) -> list[Row]:
    """What of so many samples held the truth, and had a small p where there is nothing to find."""
    claimed, below, above, small, width = 0, 0, 0, 0, 0.0
    for _ in range(samples):
        one = tested()
        low, high = one.interval.low, one.interval.high
        if low is None or high is None:
            continue
        assert one.p is not None
        claimed += 1
        below += high < truth
        above += low > truth
        small += one.p <= 0.05
        width += high - low
    many = max(claimed, 1)
    found: list[Row] = [
        Coverage(kind, setting, samples, claimed / samples, below / many, above / many, width / many, loose)
    ]
    if not truth:
        found.append(SmallP(kind, setting, samples, claimed / samples, small / many))
    return found


def settings(quick: bool, samples: int | None = None) -> Sequence[Setting]:
    """What to simulate."""
    many = samples or (QUICK if quick else SAMPLES)
    return [Setting(f"p {number}", make, (*arguments, many)) for number, (make, arguments) in enumerate(drawn(quick))]


def drawn(quick: bool) -> Iterator[tuple[Callable[..., list[Row]], tuple[object, ...]]]:
    """What is called with which arguments before the number of samples."""
    if quick:
        yield gaps, ("three", (1.0, 0.7), (0.5,))
        yield gaps, ("least", (1.0, 0.7), (0.3, 0.7))
        yield differences, ("all", (1.0, 1.2), (0.5, 0.5))
        yield differences, ("least", (1.0, 0.7), (0.4, 0.6))
        return
    for name, (share, dishes), people in product(("three", "four", "two", "least"), SHARES, PEOPLE):
        yield gaps, (name, (dishes, people), (share,))
    for name, people in product(("three", "least"), PEOPLE):
        yield gaps, (name, (1.0, people), (0.3, 0.6))
    for name, (share, dishes), people in product(("all", "one country", "least"), SHARES, PEOPLE):
        yield differences, (name, (dishes, people), (share, share))
    for name, people in product(("all", "least"), PEOPLE):
        yield differences, (name, (1.0, people), (0.4, 0.6))
    for make, name, (share, dishes) in product((gaps, differences), ("ten dishes", "seven groups"), SHARES):
        shares = (share,) if make is gaps else (share, share)
        yield partial(make, machine=True), (name, (dishes, 0.0), shares)
    for make, name in product((gaps, differences), ("ten dishes", "seven groups")):
        yield partial(make, machine=True), (name, (1.0, 0.0), (0.3, 0.6))


def run(setting: Setting) -> list[Row]:
    """The rows of one setting."""
    return setting.make(*setting.arguments)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int)
    parser.add_argument("--quick", action="store_true", help="few samples of few settings, within seconds; never fails")
    options = parser.parse_args()
    print(HEADS)
    faults = 0
    with ProcessPoolExecutor(2) as pool:
        for found in pool.map(run, settings(options.quick, options.samples)):
            for row in found:
                fault = "" if options.quick else row.fault
                faults += bool(fault)
                print(f"{row.line}{f'  MISSED: {fault}' if fault else ''}  ({row.kind})", flush=True)
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
