"""Gaps between groups: by hand, against scipy; and what they never say.

By hand: groups A and B of ten dishes with three answers each; five of A's dishes (1, 1, 1) and five (1, 0, 0), of B's
(1, 1, 0) and (0, 0, 0). Means 2/3 and 1/3, gap 1/3, ratio 1/2, deviation of the means 1/6 over their mean 1/2: 1/3.
The dishes' means lie 1/3 from those of the groups: each variance 1/9 ÷ 9, so that t = 1/3 ÷ √(2/81) = 2.12 of about 18
degrees of freedom. Two normal deviations with these variances lie √(2/81) · √(2/π) = 0.1254 apart on average.
"""

from itertools import combinations
from statistics import fmean
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.multitest import multipletests

from evaluation.metrics.disparity import Disparity, compute_disparity
from evaluation.metrics.inference.multiple_testing import holm
from evaluation.metrics.samples import Sample

Floats = np.typing.NDArray[np.float64]


def make_sample(*groups: list[list[float]], raters: bool = False, shared: list[list[float]] | None = None) -> Sample:
    """Groups of dishes of values. With `raters`, the i-th value of every dish of a group is by one person.

    `shared`: dishes that lie in the first two groups.
    """
    rows = [
        (value, f"{place}:{number}", f"{place}:{who}", place)
        for place, dishes in enumerate([*groups, *([shared] if shared else [])])
        for number, dish in enumerate(dishes)
        for who, value in enumerate(dish)
    ]
    values, dishes, people, kinds = (np.array(column) for column in zip(*rows, strict=True))
    belongs = np.eye(len(groups), dtype=np.bool_)
    belongs = np.vstack([belongs, belongs[:2].any(axis=0)])
    return Sample.of(values.astype(float), dishes, people if raters else None, kinds.astype(int), belongs)


def drawn(rng: np.random.Generator, dishes: int, answers: int, mean: float = 0.0) -> list[list[float]]:
    """Answers that resemble each other within a dish."""
    return (mean + rng.normal(size=(dishes, 1)) + rng.normal(size=(dishes, answers))).tolist()


def by_hand() -> Disparity:
    return compute_disparity(make_sample([[1, 1, 1], [1, 0, 0]] * 5, [[1, 1, 0], [0, 0, 0]] * 5))


def test_a_gap_by_hand() -> None:
    found = by_hand()
    assert [(group.place, group.n, group.dishes) for group in found.groups] == [(0, 30, 10), (1, 30, 10)]
    assert (found.n, found.dishes) == (60, 20)
    assert (found.highest.place, found.lowest.place) == (0, 1)
    assert [found.gap, found.ratio, found.variation] == pytest.approx([1 / 3, 1 / 2, 1 / 3])
    assert found.expected == pytest.approx(np.sqrt(2 / 81) * np.sqrt(2 / np.pi), rel=0.02)
    assert found.p == pytest.approx(2 * stats.t.sf(np.sqrt(81 / 2) / 3, 18), abs=0.012)


def test_two_groups_of_single_answers_agree_with_welch() -> None:
    rng = np.random.default_rng(5)
    first, second = rng.normal(size=40), rng.normal(0.45, size=35)
    found = compute_disparity(make_sample([[x] for x in first], [[x] for x in second]))
    theirs = stats.ttest_ind(first, second, equal_var=False)
    assert found.gap == pytest.approx(abs(first.mean() - second.mean()))
    assert found.p == pytest.approx(theirs.pvalue, abs=0.015)
    _low, high = sorted(np.abs(theirs.confidence_interval()))
    assert found.interval.high == pytest.approx(high, rel=0.04)


def test_dishes_are_the_units_however_often_they_were_asked_about() -> None:
    rng = np.random.default_rng(1)
    once = [[[x] for x in rng.normal(size=30)] for _ in range(3)]
    often = [[dish * 20 for dish in group] for group in once]
    few, many = compute_disparity(make_sample(*once)), compute_disparity(make_sample(*often))
    assert few.p == many.p
    assert few.gap == pytest.approx(many.gap)
    assert (few.interval.low, few.interval.high) == pytest.approx((many.interval.low, many.interval.high))


def test_a_dish_in_two_groups_weighs_a_half_in_each() -> None:
    """Ten dishes of 0 in A, ten of 1 in B, six of 1 in both: A (6 · ½) ÷ (10 + 3) = 3/13, B 1; without them 0 and 1."""
    sample = make_sample([[0.0] * 3] * 10, [[1.0] * 3] * 10, shared=[[1.0] * 3] * 6)
    found = compute_disparity(sample)
    assert [group.mean for group in found.groups] == pytest.approx([3 / 13, 1])
    assert [(group.n, group.dishes) for group in found.groups] == [(48, 16), (48, 16)]
    assert (found.n, found.dishes, sample.shared) == (78, 26, 6)
    alone = compute_disparity(sample.unshared())
    assert ([group.mean for group in alone.groups], alone.n) == ([0, 1], 60)


def test_the_order_of_the_observations_changes_nothing_to_the_last_digit() -> None:
    rng = np.random.default_rng(2)
    n, kinds = 400, np.array([[True, False, False], [True, True, True], [False, True, False], [False, False, True]])
    values, dishes, raters = rng.normal(size=n), rng.integers(0, 50, n), rng.integers(0, 9, n)
    kind, order = dishes % 4, rng.permutation(n)
    one = Sample.of(values, dishes, raters, kind, kinds)
    other = Sample.of(values[order], dishes[order], raters[order], kind[order], kinds)
    assert compute_disparity(one) == compute_disparity(other)
    assert compute_disparity(one).interval.low is not None


def test_where_groups_do_not_differ_p_is_spread_evenly_and_the_gap_is_as_expected() -> None:
    rng = np.random.default_rng(11)
    found = [compute_disparity(make_sample(*(drawn(rng, 12, 3) for _ in range(4)))) for _ in range(60)]
    p = [each.p or 0.0 for each in found]
    assert fmean(p) == pytest.approx(0.5, abs=0.12)
    assert fmean(each.gap or 0 for each in found) == pytest.approx(fmean(each.expected or 0 for each in found), rel=0.1)
    assert sum(each.interval.low == 0 for each in found) >= 55


def test_people_who_judge_differently_widen_the_interval() -> None:
    rng = np.random.default_rng(3)
    tastes = rng.normal(0, 1, 6)
    groups = [(np.array(drawn(rng, 15, 6)) + tastes).tolist() for _ in range(3)]
    machine, people = (
        compute_disparity(make_sample(*groups)).interval,
        compute_disparity(make_sample(*groups, raters=True)).interval,
    )
    assert machine.high is not None and people.high is not None
    assert people.high > machine.high
    assert ("reviewers" in people.method, "reviewers" in machine.method) == (True, False)


def test_a_group_with_four_reviewers_is_small_and_not_compared() -> None:
    rng = np.random.default_rng(3)
    few = [(np.array(drawn(rng, 15, 4)) - 9).tolist(), drawn(rng, 15, 6), drawn(rng, 15, 5)]
    found = compute_disparity(make_sample(*few, raters=True))
    assert [(group.place, group.people) for group in found.groups] == [(1, 6), (2, 5)]
    assert found.gap is not None and found.gap < 5
    alone = compute_disparity(make_sample(*few[:2], raters=True))
    assert (alone.gap, alone.p, alone.interval.low) == (None, None, None)
    assert "5 reviewers" in alone.reason


@pytest.mark.parametrize(
    ("groups", "reason"),
    [
        ([[[0.0] * 4] * 12], "two groups"),
        ([[[0.0] * 4] * 12, [[1.0] * 9] * 4], "two groups"),
        ([[[0.0] * 4] * 12, [[1.0] * 2] * 12], "two groups"),
        ([[[0.0] * 4] * 3, [[1.0] * 4] * 3], "10 dishes"),
        ([[[float("nan")] * 4] * 12, [[1.0] * 4] * 12], "two groups"),
        ([[[float("nan")] * 4] * 12, [[float("nan")] * 4] * 12], "10 dishes"),
    ],
)
def test_what_cannot_be_compared_has_a_reason_and_no_number(groups: Any, reason: str) -> None:
    found = compute_disparity(make_sample(*groups))
    assert (found.gap, found.expected, found.p, found.ratio, found.variation) == (None,) * 5
    assert reason in found.reason


def test_a_small_group_is_never_the_lowest_or_the_highest() -> None:
    groups = [[[-9.0] * 5] * 9, [[0.0, 1.0, 1.0]] * 11, [[0.0, 0.0, 1.0]] * 12, [[9.0, 9.0]] * 10]
    found = compute_disparity(make_sample(*groups))
    assert [group.place for group in found.groups] == [1, 2]
    assert found.n == 33 + 36


def test_where_all_are_equal_there_is_no_gap_no_interval_and_no_test() -> None:
    found = compute_disparity(make_sample([[1.0] * 4] * 10, [[1.0] * 4] * 10))
    assert (found.gap, found.expected, found.p) == (0.0, None, None)
    assert (found.ratio, found.variation) == (1.0, 0.0)
    assert (found.interval.low, "equal" in found.interval.reason) == (None, True)


def test_no_ratio_of_what_may_be_negative_or_is_nothing() -> None:
    for groups in ([[[-1.0] * 4] * 10, [[1.0] * 4] * 10], [[[0.0] * 4] * 10, [[0.0] * 4] * 10]):
        found = compute_disparity(make_sample(*groups))
        assert (found.ratio, found.variation) == (None, None)


def test_parts_of_a_dish_in_different_groups_move_together() -> None:
    """Twenty dishes of which each group has a half: what is common to a dish is no difference between groups."""
    rng = np.random.default_rng(4)
    dishes = np.repeat(np.arange(20), 4)
    values = rng.normal(0, 3, 20)[dishes] + rng.normal(0, 0.1, 80)
    halves, whole = np.arange(80) % 2, dishes % 2
    found = [
        compute_disparity(Sample.of(values, dishes, None, kinds, np.eye(2, dtype=np.bool_)))
        for kinds in (halves, whole)
    ]
    reach = [each.interval.high - each.gap for each in found if each.interval.high and each.gap is not None]
    assert reach[0] < reach[1] / 4


def test_holm_by_hand() -> None:
    """Sorted .01, .02, .03, .04 times 4, 3, 2, 1: .04, .06, .06 and .04, which may not fall: .06."""
    assert holm([0.04, 0.01, 0.03, 0.02]) == pytest.approx([0.06, 0.04, 0.06, 0.06])
    assert holm([0.9, 0.6]) == [1.0, 1.0]
    assert holm([]) == []


@given(st.lists(st.floats(0.0005, 1), min_size=1, max_size=6))
def test_holm_is_the_closed_test_of_all_families(p: list[float]) -> None:
    """Adjusted: the largest Bonferroni p of any subset that holds the test (Marcus, Peritz & Gabriel 1976)."""
    places = range(len(p))
    families = [held for size in places for held in combinations(places, size + 1)]
    closed = [max(min(1.0, len(f) * min(p[j] for j in f)) for f in families if i in f) for i in places]
    assert np.allclose(holm(p), closed, rtol=1e-9)


def test_holm_agrees_with_statsmodels() -> None:
    """Once: statsmodels collects garbage at each call, a fifth of a second in a process of this size."""
    p = [0.04, 0.0005, 0.3, 0.02, 0.02, 1.0]
    assert np.allclose(holm(p), multipletests(p, method="holm")[1], rtol=1e-9)
