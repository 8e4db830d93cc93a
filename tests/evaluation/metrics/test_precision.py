"""Variance components and the precision that a design is expected to give."""

import itertools
from math import sqrt

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.metrics.inference.intervals import one_way, two_way
from evaluation.metrics.precision import (
    Design,
    compute_mean_variance,
    compute_precision,
    interval_variance,
    list_alternative_designs,
)
from evaluation.metrics.variance_components import Components, estimate_components, identify_parts

ONE = Components(dish=0.04, image=0.0, reviewer=0.02, residual=0.18)
Labels = npt.NDArray[np.int64]
Drawn = tuple[npt.NDArray[np.float64], Labels, Labels, Labels]


def dealt(design: Design) -> tuple[Labels, Labels, Labels]:
    """Dish, image and person of each opinion: people take turns, so that all judge equally much."""
    numbers = np.arange(design.dishes * design.images)
    people = itertools.cycle(range(max(1, design.people)))
    each = [[next(people) for _ in range(max(1, design.reviewers))] for _ in numbers]
    images = np.repeat(numbers, max(1, design.reviewers))
    return images // design.images, images, np.array(each).ravel()


def drawn(design: Design, parts: Components, rng: np.random.Generator) -> Drawn:
    """Opinions of one study under the model that the planner assumes."""
    dishes, images, people = dealt(design)
    values = rng.normal(0, sqrt(parts.dish), design.dishes)[dishes]
    values = values + rng.normal(0, sqrt(parts.image), images.max() + 1)[images]
    values = values + rng.normal(0, sqrt(parts.reviewer), people.max() + 1)[people]
    return values + rng.normal(0, sqrt(parts.residual), len(values)), dishes, images, people


# Components.


def test_components_of_a_hand_worked_table() -> None:
    # Two dishes, two people, once each:  1 3 / 5 11. Means of dishes 2 and 8, of people 3 and 7, of all 5.
    # SS dishes 2·(9+9) = 36, people 2·(4+4) = 16, rest (1-0)²+(3-4)²+(5-6)²+(11-10)² = 4; each with one degree.
    # residual 4; dish (36-4)/2 = 16; reviewer (16-4)/2 = 6.
    found = estimate_components(
        np.array([1.0, 3.0, 5.0, 11.0]), {"dish": np.array([0, 0, 1, 1]), "reviewer": np.array([0, 1, 0, 1])}
    )
    assert found is not None
    assert (found.dish, found.reviewer, found.residual) == pytest.approx((16, 6, 4))


def test_components_equal_those_of_the_analysis_of_variance() -> None:
    import pandas as pd
    from statsmodels.formula.api import ols
    from statsmodels.stats.anova import anova_lm

    rng = np.random.default_rng(3)
    dishes, people = (labels.ravel() for labels in np.indices((7, 5)))
    values = rng.normal(size=7)[dishes] + rng.normal(size=5)[people] + rng.normal(size=35)
    frame = pd.DataFrame({"y": values, "d": dishes, "p": people})
    mean_squares = anova_lm(ols("y ~ C(d) + C(p)", frame).fit())["mean_sq"]
    rest = mean_squares["Residual"]
    found = estimate_components(values, {"dish": dishes, "reviewer": people})
    assert found is not None
    assert found.residual == pytest.approx(rest)
    assert found.dish == pytest.approx((mean_squares["C(d)"] - rest) / 5)
    assert found.reviewer == pytest.approx((mean_squares["C(p)"] - rest) / 7)


def test_components_of_one_part_equal_those_of_a_mixed_model() -> None:
    import pandas as pd
    from statsmodels.formula.api import mixedlm

    rng = np.random.default_rng(5)
    dishes = np.repeat(np.arange(12), 6)
    values = rng.normal(0, 2, 12)[dishes] + rng.normal(0, 1, 72)
    # In a balanced design of one part restricted likelihood gives the estimates of the analysis of variance.
    fitted = mixedlm("y ~ 1", pd.DataFrame({"y": values, "d": dishes}), groups="d").fit(reml=True)
    found = estimate_components(values, {"dish": dishes})
    assert found is not None
    assert found.dish == pytest.approx(float(fitted.cov_re.iloc[0, 0]), rel=1e-3)
    assert found.residual == pytest.approx(fitted.scale, rel=1e-3)


def test_images_within_dishes_are_told_apart_in_an_unbalanced_pilot() -> None:
    rng = np.random.default_rng(11)
    wanted = Components(0.3, 0.2, 0.4, 0.5)
    found = []
    for _ in range(60):
        values, dishes, images, people = drawn(Design(25, 3, 3, 9), wanted, rng)
        kept = rng.random(len(values)) < 0.7
        one = estimate_components(values[kept], {"dish": dishes[kept], "image": images[kept], "reviewer": people[kept]})
        assert one is not None
        found.append((one.dish, one.image, one.reviewer, one.residual))
    assert np.mean(found, axis=0) == pytest.approx((0.3, 0.2, 0.4, 0.5), rel=0.15)


def test_parts_that_cannot_be_told_apart_are_left_out() -> None:
    dishes = np.array([0, 0, 1, 1, 2, 2])
    alone, same, all_one = np.arange(6), dishes + 7, np.zeros(6)
    assert list(identify_parts({"dish": dishes, "image": same, "reviewer": all_one})) == ["dish"]
    assert list(identify_parts({"dish": dishes, "image": alone})) == ["dish"]


@pytest.mark.parametrize("values", [[], [1.0], [2.0, 2.0]])
def test_nothing_is_said_where_nothing_can_vary(values: list[float]) -> None:
    assert estimate_components(np.array(values), {"dish": np.arange(len(values))}) is None


def test_nothing_is_said_of_more_parts_than_the_observations_tell_apart() -> None:
    parts = {"dish": [1, 2, 1], "image": [0, 0, 1], "reviewer": [1, 0, 0]}
    levels = {name: np.array(labels) for name, labels in parts.items()}
    assert list(identify_parts(levels)) == ["dish", "image", "reviewer"]
    assert estimate_components(np.array([0.1, 0.5, 0.9]), levels) is None


@given(st.integers(0, 10_000))
def test_components_are_never_negative_and_move_with_the_square_of_the_scale(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values, dishes, images, people = drawn(Design(4, 2, 2, 4), ONE, rng)
    levels = {"dish": dishes, "image": images, "reviewer": people}
    found, larger = estimate_components(values, levels), estimate_components(3 * values + 5, levels)
    assert found is not None
    assert larger is not None
    assert min(found.dish, found.image, found.reviewer, found.residual) >= 0
    assert larger.total == pytest.approx(9 * found.total)


# Precision.


def test_the_variance_of_a_mean_by_hand() -> None:
    # 10 dishes × 2 images × 3 opinions by 6 people, n = 60: .04/10 + .02/6 + .18/60 = .0103333
    assert compute_mean_variance(Design(10, 2, 3, 6), ONE) == pytest.approx(0.004 + 0.02 / 6 + 0.003)
    # Machine scores: each image has its own rest, and what people would add is part of it.
    assert compute_mean_variance(Design(10, 2), ONE) == pytest.approx(0.004 + 0.2 / 20)


def test_intervals_of_many_dishes_and_people_have_the_variance_of_the_mean() -> None:
    design = Design(1000, 1, 500, 500)
    assert interval_variance(design, ONE) / compute_mean_variance(design, ONE) == pytest.approx(1, rel=0.01)


def test_the_variance_of_an_interval_by_hand() -> None:
    # 10 dishes, 6 people, n = 60; what only an opinion has is in both and taken off once.
    design = Design(10, 2, 3, 6)
    by_dish = (ONE.dish / 10 + ONE.image / 20 + ONE.residual / 60) * 10 / 9
    by_person = (ONE.reviewer / 6 + ONE.residual / 60) * 6 / 5
    assert interval_variance(design, ONE) == pytest.approx(by_dish + by_person - ONE.residual / 60)


def test_gaps_are_those_of_a_power_analysis_where_observations_are_independent() -> None:
    from statsmodels.stats.power import NormalIndPower, TTestIndPower

    parts = Components(dish=0.25, image=0, reviewer=0, residual=0)
    found = compute_precision(Design(100, 1), parts)
    effect = NormalIndPower().solve_power(nobs1=100, alpha=0.05, power=0.8)
    assert found.gap == pytest.approx(effect * 0.5, rel=1e-3)
    student = TTestIndPower().solve_power(nobs1=100, alpha=0.05, power=0.8)
    assert found.gap == pytest.approx(student * 0.5, rel=0.02)
    many = compute_precision(Design(100, 1), parts, tests=10)
    effect = NormalIndPower().solve_power(nobs1=100, alpha=0.005, power=0.8)
    assert many.gap == pytest.approx(effect * 0.5, rel=1e-3)
    assert found.width == pytest.approx(2 * 1.984 * 0.5 / 99**0.5, rel=0.01)


@pytest.mark.parametrize(
    ("design", "parts"),
    [
        (Design(30, 1, 3, 10), Components(0.02, 0, 0.02, 0.15)),
        (Design(20, 2, 3, 12), Components(0.03, 0.03, 0.03, 0.1)),
        (Design(40, 2, 2, 16), Components(0, 0, 0, 0.2)),
        (Design(30, 3), Components(0.03, 0.02, 0, 0.1)),
    ],
)
def test_expected_widths_are_those_of_our_own_intervals(design: Design, parts: Components) -> None:
    rng = np.random.default_rng(20250623)
    widths = []
    for _ in range(12):
        values, dishes, _images, people = drawn(design, parts, rng)
        column = values[:, None]
        found = (two_way(column, dishes, people, bounds=None) if design.reviewers else one_way(column, dishes))[0]
        assert found.low is not None
        assert found.high is not None
        widths.append(found.high - found.low)
    expected = compute_precision(design, parts).width
    assert expected is not None
    assert np.mean(widths) / expected == pytest.approx(1, abs=0.15)


def test_more_of_anything_never_makes_it_worse() -> None:
    parts = Components(0.03, 0.02, 0.02, 0.1)
    here = compute_precision(Design(20, 2, 3, 6), parts)
    for more in (Design(40, 2, 3, 6), Design(20, 4, 3, 6), Design(20, 2, 3, 12)):
        better = compute_precision(more, parts)
        assert better.gap < here.gap
        assert better.width is not None
        assert here.width is not None
        assert better.width <= here.width


@pytest.mark.parametrize(
    ("design", "lacks"),
    [
        (Design(9, 1, 5, 5), ("dishes",)),
        (Design(10, 1, 4, 4), ("people",)),
        (Design(9, 1, 3, 4), ("dishes", "people", "small")),
        (Design(9, 1), ("dishes", "small")),
        (Design(30, 1), ()),
    ],
)
def test_too_few_clusters_claim_no_width_and_say_so(design: Design, lacks: tuple[str, ...]) -> None:
    found = compute_precision(design, ONE)
    assert design.lacks == lacks
    assert (found.width is None) == bool({"dishes", "people"} & set(lacks))


@pytest.mark.parametrize("numbers", [(0, 1), (1, 0), (1, 1, -1), (5, 2, 3, 2), (2, 1, 2, 5)])
def test_impossible_designs_are_refused(numbers: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"at least|more people"):
        Design(*numbers)


def test_alternatives_halve_and_double_each_number_that_may() -> None:
    assert [(other.dishes, other.images) for other in list_alternative_designs(Design(30, 1))] == [
        (30, 1),
        (15, 1),
        (60, 1),
        (30, 2),
    ]
    reviewed = list_alternative_designs(Design(20, 2, 4, 4))
    assert Design(20, 2, 2, 4) in reviewed
    assert Design(20, 2, 4, 8) in reviewed
    assert all(other.reviewers for other in reviewed)
