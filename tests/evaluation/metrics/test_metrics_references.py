"""Statistics of tables against scipy, statsmodels and scikit-learn, or written out observation by observation."""

from itertools import combinations

import numpy as np
import numpy.typing as npt
import pytest
from scipy import spatial, stats
from sklearn.metrics.pairwise import cosine_similarity
from sklearn.preprocessing import minmax_scale
from statsmodels.stats.proportion import proportion_confint

from evaluation.metrics import agreement, association, colours, concentration
from evaluation.metrics.entropy import entropy
from evaluation.metrics.inference import proportion, sem

Floats = npt.NDArray[np.float64]
RNG = np.random.default_rng(7)


@pytest.mark.parametrize(("yes", "n"), [(0, 9), (3, 9), (9, 9), (82, 431), (1, 1000)])
def test_wilson_is_that_of_statsmodels(yes: int, n: int) -> None:
    found = proportion.wilson_interval(yes, n)
    assert (found.low, found.high) == pytest.approx(proportion_confint(yes, n, method="wilson"), abs=1e-12)


@pytest.mark.parametrize("values", [[0.0, 1.0], [1.0, 1.0, 0.0, 0.5], list(range(40))])
def test_population_sem_is_that_of_scipy(values: list[float]) -> None:
    assert sem.population_sem(values) == pytest.approx(stats.sem(values, ddof=0))
    found = sem.sem_interval(values)
    expected = stats.norm.interval(0.95, loc=np.mean(values), scale=stats.sem(values, ddof=0))
    assert (found.low, found.high) == pytest.approx(expected)


def test_entropy_is_that_of_scipy() -> None:
    shares = RNG.dirichlet(np.ones(5), size=20)
    shares[0] = [1, 0, 0, 0, 0]
    assert entropy(shares) == pytest.approx(stats.entropy(shares, base=2, axis=1))
    counts = shares * 17
    found = concentration.entropy_and_largest(counts)
    assert found[:, 0] == pytest.approx(stats.entropy(counts, base=5, axis=1))
    assert found[:, 1] == pytest.approx(counts.max(axis=1) / counts.sum(axis=1))
    for wrong in (counts[0], counts[:, :1], -counts):
        with pytest.raises(ValueError, match="at least two options"):
            concentration.entropy_and_largest(wrong)


def test_cosines_are_those_of_scikit_learn_and_scipy() -> None:
    images, texts = RNG.normal(size=(6, 9)), RNG.normal(size=(4, 9))
    assert association.cosine_similarity(images, texts) == pytest.approx(cosine_similarity(images, texts))
    assert association.cosine_similarity(images, texts) == pytest.approx(
        1 - spatial.distance.cdist(images, texts, "cosine")
    )


def test_rescaling_is_that_of_scikit_learn() -> None:
    scores = RNG.normal(size=30)
    models = np.array(["a", "b", "c"] * 10)
    assert association.normalised_over_all(scores) == pytest.approx(minmax_scale(scores, (-1, 1)))
    within = association.normalised_within(scores, models)
    for model in "abc":
        assert within[models == model] == pytest.approx(minmax_scale(scores[models == model], (-1, 1)))


def test_divergence_of_two_images_is_the_squared_distance_of_scipy() -> None:
    shares = RNG.dirichlet(np.ones(colours.BINS), size=2)
    parts = np.column_stack([shares, entropy(shares), np.ones(2)]).sum(axis=0, keepdims=True)
    expected = spatial.distance.jensenshannon(*shares, base=2) ** 2
    assert colours.jensen_shannon_divergence(parts)[0, 0] == pytest.approx(expected)


def test_colours_are_counted_pixel_by_pixel() -> None:
    pixels = RNG.integers(0, 256, size=(7, 5, 3), dtype=np.uint8)
    flat = [tuple(map(int, pixel)) for pixel in pixels.reshape(-1, 3)]
    across = [red - green for red, green, _blue in flat]
    along = [(red + green) / 2 - blue for red, green, blue in flat]
    spread = (np.var(across) + np.var(along)) ** 0.5
    expected = spread + 0.3 * (np.mean(across) ** 2 + np.mean(along) ** 2) ** 0.5
    assert colours.colourfulness(pixels) == pytest.approx(expected)
    boxes = [tuple(min(2, value * 3 // 256) for value in pixel) for pixel in flat]
    counted = [boxes.count((red, green, blue)) / 35 for red in range(3) for green in range(3) for blue in range(3)]
    assert colours.colour_histogram(pixels) == pytest.approx(counted)


def ratings(units: int, people: int, categories: int) -> list[list[int]]:
    """What some of the people said of each unit, at least one of them."""
    return [[int(RNG.integers(categories)) for _ in range(RNG.integers(1, people + 1))] for _ in range(units)]


def pairs(said: list[int]) -> list[tuple[int, int]]:
    return list(combinations(said, 2))


def ac1_by_hand(given: list[list[int]], categories: int) -> float:
    """Gwet 2008: agreement of pairs, and chance from the mean shares of the categories over all units."""
    paired = [pairs(said) for said in given if len(said) > 1]
    raw = np.mean([np.mean([one == other for one, other in found]) for found in paired])
    shares = [np.mean([said.count(k) / len(said) for said in given]) for k in range(categories)]
    chance = sum(share * (1 - share) for share in shares) / (categories - 1)
    return float((raw - chance) / (1 - chance))


@pytest.mark.parametrize("categories", [2, 3, 5])
def test_raw_agreement_and_ac1_are_those_of_all_pairs(categories: int) -> None:
    given = ratings(25, 5, categories)
    counts = np.array([[said.count(k) for k in range(categories)] for said in given])
    found = agreement.agreement_coefficients(counts, "nominal")
    paired = [pairs(said) for said in given if len(said) > 1]
    assert found.raw_agreement == pytest.approx(np.mean([np.mean([a == b for a, b in held]) for held in paired]))
    assert found.ac1 == pytest.approx(ac1_by_hand(given, categories))
