"""Coverage of agreement among people, of machines with people, of scores and probabilities: whole dishes are left out.
A part of `python -m bench.coverage`.

The truth is that of very many dishes, for the people at hand: these intervals speak of dishes, not of other people.
"""

from collections.abc import Sequence
from functools import lru_cache
from itertools import product
from zlib import crc32

import numpy as np

from bench.coverage_rows import Coverage, Setting
from bench.coverage_samples import DISCRETE, SEED, SHARES, Floats, counted, logistic, middle
from evaluation.metrics import agreement, calibration, classification
from evaluation.metrics.inference.intervals import Interval

PEOPLE, ALPHA = "statistic: agreement among people", "statistic: alpha"
MACHINE, KAPPA, AUC, BRIER = (
    "statistic: agreement with a machine",
    "statistic: kappa",
    "statistic: AUC",
    "statistic: Brier score",
)
SAMPLES, QUICK = 2000, 20
MANY = 20_000
# How much images of a dish differ, and how people do: fixed, since the intervals speak of dishes.
IMAGE, HABIT = 0.7, 0.5
SPREADS = (0.0, 0.7, 1.2)
# Dishes, images of each, people: the least of 30 images in 10 dishes, and more.
SIZES = ((10, 3, 2), (10, 3, 4), (30, 1, 3))
ALPHA_SIZES = ((50, 1, 2), (50, 1, 3), (50, 3, 3))
# How far a machine knows what people say: nothing, something, much.
SKILLS = (0.0, 0.4, 0.8)
CUTS = (-1.2, -0.4, 0.4, 1.2)


def settings(quick: bool, samples: int | None = None) -> Sequence[Setting]:
    """Every size, spread, share and skill."""
    many = samples or (QUICK if quick else SAMPLES)
    if quick:
        return [
            Setting("people quick", of_people, ((10, 3, 2), 0.3, 0.7, many)),
            Setting("machine quick", of_machine, (20, 3, 0.3, 0.7, 0.4, many)),
        ]
    machine = product((10, 20, 50), (3,), SHARES, SPREADS, SKILLS)
    return [
        *(Setting("people", of_people, (*each, many)) for each in product(SIZES, SHARES, SPREADS)),
        *(Setting("alpha", of_alpha, (*each, many)) for each in product(ALPHA_SIZES, (0.3, 0.5, 0.7), SPREADS)),
        *(Setting("ratings", of_ratings, (*each, many)) for each in product(ALPHA_SIZES, SPREADS)),
        *(Setting(f"machine {each[0]}", of_machine, (*each, many)) for each in machine),
    ]


def random_for(setting: str) -> np.random.Generator:
    return np.random.default_rng([SEED, crc32(setting.encode())])


def opinions(
    random: np.random.Generator, size: tuple[int, int, int], share: float, spread: float
) -> tuple[Floats, Floats]:
    """Counts (units, 2) of no and yes, and the dishes (units,) of the images."""
    dishes, images, people = size
    habits = np.linspace(-HABIT, HABIT, people)
    logit = middle(share, float(np.hypot(spread, IMAGE))) + random.normal(0, spread, (dishes, 1, 1))
    logit = logit + random.normal(0, IMAGE, (dishes, images, 1)) + habits
    yes = (random.random(logit.shape) < logistic(logit)).sum(axis=2).ravel().astype(np.float64)
    return np.column_stack([people - yes, yes]), np.repeat(np.arange(dishes), images)


@lru_cache(maxsize=64)
def true_coefficients(size: tuple[int, int, int], share: float, spread: float) -> agreement.Coefficients:
    counts, _ = opinions(random_for("truth"), (MANY, *size[1:]), share, spread)
    return agreement.agreement_coefficients(counts, "nominal")


def told(size: tuple[int, int, int], rest: str) -> str:
    return f"{size[0]} dishes × {size[1]}, {size[2]} people; {rest}"


def of_people(size: tuple[int, int, int], share: float, spread: float, samples: int) -> list[Coverage]:
    """Raw agreement and AC1."""
    setting = told(size, f"share {share:g}; dishes differ by {spread:g}")
    random, truth = random_for(setting), true_coefficients(size, share, spread)
    found = [agreement.coefficient_intervals(*opinions(random, size, share, spread), "nominal") for _ in range(samples)]
    return [
        row(PEOPLE, f"{name}; {setting}", [getattr(each, name) for each in found], getattr(truth, name))
        for name in ("raw_agreement", "ac1")
    ]


def of_alpha(size: tuple[int, int, int], share: float, spread: float, samples: int) -> list[Coverage]:
    """Alpha of yes and no."""
    setting = told(size, f"share {share:g}; dishes differ by {spread:g}")
    random, truth = random_for(setting), true_coefficients(size, share, spread)
    found = [
        agreement.coefficient_intervals(*opinions(random, size, share, spread), "nominal").alpha for _ in range(samples)
    ]
    return [row(ALPHA, f"nominal; {setting}", found, truth.alpha or 0.0)]


def of_ratings(size: tuple[int, int, int], spread: float, samples: int) -> list[Coverage]:
    """Alpha of ratings from 1 to 5."""
    setting = told(size, f"ratings; dishes differ by {spread:g}")
    random = random_for(setting)

    def rated(dishes: int) -> Floats:
        habits = np.linspace(-HABIT, HABIT, size[2])
        value = random.normal(0, spread, (dishes, 1, 1)) + random.normal(0, IMAGE, (dishes, size[1], 1)) + habits
        levels = np.digitize(value + random.normal(size=value.shape), CUTS).reshape(-1, size[2])
        return np.stack([(levels == level).sum(axis=1) for level in range(5)], axis=1).astype(np.float64)

    truth = agreement.agreement_coefficients(rated(MANY), "ordinal").alpha or 0.0
    names = np.repeat(np.arange(size[0]), size[1])
    found = [agreement.coefficient_intervals(rated(size[0]), names, "ordinal").alpha for _ in range(samples)]
    return [row(ALPHA, f"ordinal; {setting}", found, truth)]


def judged(
    random: np.random.Generator, dishes: int, images: int, share: float, spread: float, skill: float
) -> tuple[Floats, Floats, Floats]:
    """People's labels, a machine's scores and the dishes, (units,) each."""
    logit = middle(share, spread) + random.normal(0, spread, (dishes, 1)) + np.zeros((dishes, images))
    yes = (random.random(logit.shape) < logistic(logit)).astype(np.float64)
    scores = skill * (2 * yes - 1) + 0.3 * (logit - middle(share, spread)) + random.normal(size=logit.shape)
    return yes.ravel(), scores.ravel(), np.repeat(np.arange(dishes), images)


def of_machine(dishes: int, images: int, share: float, spread: float, skill: float, samples: int) -> list[Coverage]:
    """Labels by a fixed threshold, scores, and probabilities."""
    setting = f"{dishes} dishes × {images}; share {share:g}; dishes differ by {spread:g}; skill {skill:g}"
    random = random_for(setting)
    truth, cut = true_values(images, share, spread, skill)
    kinds = {
        "raw_agreement": MACHINE,
        "ac1": MACHINE,
        "prevalence": MACHINE,
        "kappa": KAPPA,
        "auc": AUC,
        "brier": BRIER,
    }
    found: dict[str, list[Interval]] = {name: [] for name in kinds}
    for _ in range(samples):
        yes, scores, names = judged(random, dishes, images, share, spread, skill)
        labels = classification.agreement_intervals(classification.two_by_two(scores > cut, yes, 1 - yes), names)
        brier = calibration.calibration_intervals(logistic(scores), yes, 1 - yes, names).brier
        area = classification.auc_interval(scores, yes, 1 - yes, names)
        for name, interval in {**labels._asdict(), "auc": area, "brier": brier}.items():
            if name in found:
                assert isinstance(interval, Interval)
                found[name].append(interval)
    return [row(kind, f"{name}; {setting}", found[name], truth[name]) for name, kind in kinds.items()]


@lru_cache(maxsize=64)
def true_values(images: int, share: float, spread: float, skill: float) -> tuple[dict[str, float], float]:
    """Of very many dishes, with the threshold that says yes as often as people do."""
    yes, scores, _names = judged(random_for("truth"), MANY, images, share, spread, skill)
    cut = float(np.quantile(scores, 1 - share))
    values = classification.compute_label_agreement(classification.two_by_two(scores > cut, yes, 1 - yes))._asdict()
    area = classification.auc(scores, yes, 1 - yes)
    return {**values, "auc": area or 0.0, "brier": float(((logistic(scores) - yes) ** 2).mean())}, cut


def row(kind: str, setting: str, found: Sequence[Interval], truth: float) -> Coverage:
    return counted(kind, setting, found, truth, "" if kind == BRIER else DISCRETE)


def run(setting: Setting) -> list[Coverage]:
    """The rows of one setting."""
    return list(setting.make(*setting.arguments))
