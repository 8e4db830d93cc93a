"""Variances of whole dishes and whole people: by hand, against scipy and statsmodels, and p never against the interval.

By hand: ten dishes × five people, answer = dish ± 1 (five of each) + person (−2, −1, 0, 1, 2) + 1/2. Mean 1/2. Leaving
out clusters raises their sums: dishes 10/9 · Σ(±1)² ÷ 10² = 1/9; people 5/4 · Σ(10) ÷ 5² = 1/2; the cells count twice:
Σ of squared residuals 150 ÷ 50² = 0.06. Variance 1/9 + 1/2 − 0.06 = 0.5511, at least the larger part. Degrees of
freedom (1/9 + 1/2)² ÷ ((1/9)² ÷ 9 + (1/2)² ÷ 4) = 5.847. One mean alone takes people for the scarcer, 20 times what
they add: 20 · (1/2 − 0.06) = 8.8 beside 1/9, a weight of 0.9875, so that 1 ÷ (0.9875² ÷ 4 + 0.0125² ÷ 9) = 4.102.
"""

import subprocess
import sys

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from evaluation.metrics.inference import student_t
from evaluation.metrics.inference.cluster_tests import (
    Inference,
    Means,
    estimate_clustered_means,
    freedom_of,
    mean_test,
    raised_by,
    range_test,
)

Floats = np.typing.NDArray[np.float64]
Ints = np.typing.NDArray[np.intp]
EVERY = np.ones((1, 1))


def crossed(dishes: int, people: int) -> tuple[Ints, Ints]:
    dish, person = np.indices((dishes, people))
    return dish.ravel(), person.ravel()


def of_one(values: Floats, dish: Ints, person: Ints | None) -> Means:
    return estimate_clustered_means(values, np.zeros(len(values), dtype=np.intp), EVERY, dish, person)


def test_a_variance_of_dishes_and_people_by_hand() -> None:
    dish, person = crossed(10, 5)
    values = (np.where(dish % 2, 1.0, -1.0) + person - 2 + 0.5).astype(np.float64)
    found = of_one(values, dish, person)
    assert found.values[0] == pytest.approx(0.5)
    assert found.covariance[0, 0] == pytest.approx(1 / 9 + 1 / 2 - 0.06)
    assert found.freedom[0] == pytest.approx(5.847, abs=1e-3)
    tested = mean_test(values, np.ones(50), dish, person)
    error = np.sqrt(1 / 9 + 1 / 2 - 0.06)
    assert tested.p == pytest.approx(2 * stats.t.sf(0.5 / error, 4.1016), rel=1e-4)
    assert tested.interval.high == pytest.approx(0.5 + stats.t.ppf(0.975, 4.1016) * error, rel=1e-4)


def test_single_answers_about_dishes_are_the_t_test() -> None:
    values = np.random.default_rng(3).normal(0.3, 1, 14)
    found = mean_test(values, np.ones(14), np.arange(14), None)
    theirs = stats.ttest_1samp(values, 0)
    assert found.p == pytest.approx(theirs.pvalue)
    low, high = theirs.confidence_interval()
    assert (found.interval.low, found.interval.high) == pytest.approx((low, high))


def test_parts_of_the_variance_agree_with_statsmodels() -> None:
    """Where all clusters of a kind are of one size, raising them is k ÷ (k − 1)."""
    rng = np.random.default_rng(4)
    dish, person = crossed(12, 6)
    values = rng.normal(size=72) + rng.normal(size=12)[dish] + rng.normal(size=6)[person]
    model = sm.OLS(values, np.ones(72))

    def theirs(groups: Ints) -> float:
        options = {"groups": groups, "use_correction": False}
        return float(model.fit(cov_type="cluster", cov_kwds=options).cov_params()[0, 0])

    parts = theirs(dish) * 12 / 11, theirs(person) * 6 / 5
    wanted = max(sum(parts) - theirs(dish * 6 + person), *parts)
    assert of_one(values, dish, person).covariance[0, 0] == pytest.approx(wanted)


@pytest.mark.parametrize("freedom", [1.0, 1.7, 4.0, 23.5, 900.0])
def test_students_t_agrees_with_scipy(freedom: float) -> None:
    for t in (-2.5, 0.0, 0.4, 3.0, 40.0):
        assert student_t.student_t_survival(t, freedom) == pytest.approx(stats.t.sf(t, freedom), rel=1e-9)
    for share in (0.01, 0.5, 0.975, 0.9999):
        assert student_t.student_t_quantile(share, freedom) == pytest.approx(
            stats.t.ppf(share, freedom), rel=1e-7, abs=1e-9
        )
    with pytest.raises(ValueError, match="between 0 and 1"):
        student_t.student_t_quantile(1.0, freedom)


def test_clusters_of_one_size_have_one_degree_of_freedom_less_and_a_large_one_has_few() -> None:
    even = np.full(7, 1 / 7)
    assert freedom_of(even, raised_by(even)) == pytest.approx(6)
    uneven = np.array([150, 2, 2, 2, 2]) / 158
    assert freedom_of(uneven, raised_by(uneven)) == pytest.approx(1, abs=0.05)


def test_the_range_of_equal_groups_agrees_with_tukeys() -> None:
    """Four groups of 300 dishes: the p of Tukey's studentised range."""
    rng = np.random.default_rng(9)
    values = rng.normal(size=1200)
    group = np.repeat(np.arange(4), 300)
    values[group == 3] += 0.18
    found = range_test(estimate_clustered_means(values, group, np.eye(4), np.arange(1200), None))
    theirs = stats.tukey_hsd(*(values[group == g] for g in range(4)))
    assert found.p == pytest.approx(theirs.pvalue.min(), abs=0.02)
    reach = theirs.confidence_interval().high - theirs.statistic
    assert found.interval.high is not None
    assert found.interval.high - found.difference == pytest.approx(reach[0, 3], rel=0.05)


def test_groups_that_share_dishes_and_people_move_together() -> None:
    """Where all dishes lie in both groups their means are one, and so is what moves them."""
    dish, person = crossed(12, 6)
    values = np.random.default_rng(2).normal(size=72)
    both = estimate_clustered_means(values, np.zeros(72, dtype=np.intp), np.full((1, 2), 0.5), dish, person)
    assert both.covariance == pytest.approx(np.full((2, 2), both.covariance[0, 0]))
    assert range_test(both).difference == pytest.approx(0)
    apart = estimate_clustered_means(
        values, (dish >= 6).astype(np.intp), np.eye(2), dish, np.where(dish >= 6, person + 6, person)
    )
    assert apart.covariance[0, 1] == 0


def sample(seed: int, groups: int, uneven: bool) -> Means:
    rng = np.random.default_rng(seed)
    held = rng.random((12, 7)) < (0.6 if uneven else 1.1)
    dish, person = np.nonzero(held)
    parts = []
    for group in range(groups):
        values = rng.integers(0, 2, len(dish)) + rng.normal(0, 0.3, 7)[person] + rng.normal(0, 0.3 * group)
        parts.append((values, np.full(len(dish), group), dish + 12 * group, person + 7 * group))
    values, member, dishes, people = (np.concatenate(column) for column in zip(*parts, strict=True))
    return estimate_clustered_means(values, member, np.eye(groups), dishes, people)


def agree(found: Inference) -> bool:
    """Whether p and the interval say the same."""
    low, high = found.interval.low, found.interval.high
    if low is None or high is None:
        return found.p is None
    assert found.p is not None
    return (found.p <= 0.05) == (low > 0 or high < 0)


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 10**6), st.integers(2, 5), st.booleans())
def test_a_gap_is_significant_where_its_interval_leaves_out_nothing_and_only_there(
    seed: int, groups: int, uneven: bool
) -> None:
    assert agree(range_test(sample(seed, groups, uneven)))


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 10**6))
def test_a_difference_is_significant_where_its_interval_leaves_out_nothing_and_only_there(seed: int) -> None:
    rng = np.random.default_rng(seed)
    dish, person = crossed(10, 5)
    values = rng.normal(rng.normal(), 1, 50) + rng.normal(0, 1, 5)[person]
    assert agree(mean_test(values, rng.choice([0.5, 1.0], 10)[dish], dish, person))


def test_the_order_of_answers_and_the_names_of_groups_change_no_digit() -> None:
    rng = np.random.default_rng(6)
    dish, person = crossed(24, 6)
    group = dish % 3
    values = np.sort(rng.normal(size=len(dish)) + group)
    other = np.array([2, 0, 1])
    one = range_test(estimate_clustered_means(values, group, np.eye(3), dish, person))
    renamed = range_test(estimate_clustered_means(values, other[group], np.eye(3), dish, person))
    assert (one.p, one.interval) == (renamed.p, renamed.interval)


@pytest.mark.parametrize(
    ("dish", "person", "reason"),
    [
        (crossed(9, 5)[0], crossed(9, 5)[1], "fewer than 10 dishes"),
        (crossed(10, 4)[0], crossed(10, 4)[1], "fewer than 5 reviewers"),
        (np.repeat(np.arange(15), 10), np.r_[np.zeros(146, dtype=np.intp), 1:5], "a few reviewers hold most"),
        (np.r_[np.zeros(100, dtype=np.intp), 1:11], np.arange(110) % 6, "a few dishes hold most"),
    ],
)
def test_of_too_few_dishes_or_people_nothing_is_claimed(dish: Ints, person: Ints, reason: str) -> None:
    values = np.random.default_rng(1).normal(size=len(dish))
    found = mean_test(values, np.ones(len(dish)), dish, person)
    assert (found.p, found.interval.low) == (None, None)
    assert reason in found.interval.reason


def test_where_all_values_of_a_group_are_equal_nothing_is_claimed() -> None:
    dish, person = crossed(20, 6)
    group = (dish >= 10).astype(np.intp)
    values = np.where(group, np.random.default_rng(1).normal(size=120), 0.0)
    found = range_test(estimate_clustered_means(values, group, np.eye(2), dish, person))
    assert (found.p, found.expected, found.interval.low) == (None, None, None)
    assert "all values of a group are equal" in found.interval.reason
    assert "all values are equal" in mean_test(np.zeros(120), np.ones(120), dish, person).interval.reason


def test_the_bench_of_p_values_runs_in_little_time() -> None:
    made = subprocess.run(
        [sys.executable, "-m", "bench.coverage_pvalues", "--quick"], capture_output=True, text=True, check=False
    )
    assert (made.returncode, made.stderr) == (0, "")
    assert made.stdout.count("p ≤ .05") == 2
