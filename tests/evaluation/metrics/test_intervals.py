"""Intervals of clustered observations: by hand, by brute force, beside a reference, and what they promise."""

from itertools import product
from math import exp, log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import maximum_bipartite_matching

from evaluation.metrics.inference import student_t
from evaluation.metrics.inference.interval_reach import t_critical_value
from evaluation.metrics.inference.intervals import (
    AMOUNT,
    CAUTION,
    MOST_MOVED,
    SHARE,
    Interval,
    of_sums,
    one_way,
    two_way,
)
from evaluation.metrics.inference.proportion import wilson_interval
from evaluation.metrics.matching import most_pairs


def grid(dishes: int, reviewers: int) -> tuple[np.ndarray, np.ndarray]:
    """Every reviewer judges every dish once: labels (dishes · reviewers,) of both."""
    pairs = np.array(list(product(range(dishes), range(reviewers))))
    return pairs[:, 0], pairs[:, 1]


def limits(interval: Interval) -> tuple[float, float]:
    assert interval.low is not None and interval.high is not None, interval.reason
    return interval.low, interval.high


# One kind of clusters.


def test_a_mean_of_ten_clusters_by_hand() -> None:
    # 0 … 9, mean 4.5: without x it is (45 − x)/9, moved by (4.5 − x)/9. Σ(4.5 − x)² = 82.5, ÷ 81 = 1.018519, root
    # 1.009217; t(9) = 2.262157: ± 2.283007.
    [found] = one_way(np.arange(10.0)[:, None], np.arange(10))
    assert limits(found) == pytest.approx((4.5 - 2.283007, 4.5 + 2.283007), abs=1e-4)
    assert found.method.startswith("jackknife over dishes, Student’s t")


def test_a_share_of_ten_clusters_by_hand() -> None:
    # 4 of 10. Logit, ends kept off by 1/20: of .4 log(.45/.65) = −.367725. Without a yes 3/9: log(.383333/.716667) =
    # −.625709, moved −.257984; without a no 4/9: log(.494444/.605556) = −.202703, moved .165022. Their squares add up
    # to .429617; on the plain scale (6·.4² + 4·.6²)/81 ÷ (.4·.6)² = .514403 is the larger.
    # Centre log(.4/.6) + (1 − .8) · .35 = −.335465; ± 2.262157 · .717219 = 1.622462.
    [found] = one_way(np.array([1.0] * 4 + [0.0] * 6)[:, None], np.arange(10), bounds=SHARE)
    expected = (1 / (1 + exp(0.335465 + 1.622462)), 1 / (1 + exp(0.335465 - 1.622462)))
    assert limits(found) == pytest.approx(expected, abs=1e-5)


def test_many_clusters_give_the_interval_of_the_normal_limit() -> None:
    values = np.random.default_rng(2).normal(size=4000)
    [found] = one_way(values[:, None], np.arange(4000))
    expected = stats.t.interval(0.95, 3999, loc=values.mean(), scale=values.std(ddof=1) / sqrt(4000))
    assert limits(found) == pytest.approx(expected, abs=1e-4)


def test_clusters_have_the_error_of_a_cluster_robust_regression() -> None:
    import statsmodels.api as sm

    rng = np.random.default_rng(4)
    clusters = rng.integers(0, 300, 3000)
    values = rng.normal(size=300)[clusters] + rng.normal(size=3000)
    [found] = one_way(values[:, None], clusters)
    model = sm.OLS(values, np.ones(3000)).fit(cov_type="cluster", cov_kwds={"groups": clusters})
    low, high = limits(found)
    assert (high - low) / 2 / stats.t.ppf(0.975, 299) == pytest.approx(model.bse[0], rel=0.02)


def test_an_amount_is_measured_on_its_logarithm() -> None:
    values = np.random.default_rng(3).lognormal(3, 0.5, 400)
    [found] = one_way(values[:, None], np.arange(400), bounds=AMOUNT)
    [plain] = one_way(values[:, None], np.arange(400))
    assert limits(found) == pytest.approx(limits(plain), rel=0.02)
    [few] = one_way(np.array([[0.0]] * 9 + [[50.0]]), np.arange(10), bounds=AMOUNT)
    assert limits(few)[0] > 0


def test_equal_answers_within_a_dish_make_the_interval_wider_than_wilson() -> None:
    clusters = np.repeat(np.arange(20), 20)
    values = (clusters < 6).astype(float)
    low, high = limits(one_way(values[:, None], clusters, bounds=SHARE)[0])
    narrow = limits(wilson_interval(int(values.sum()), len(values)))
    assert high - low > 3 * (narrow[1] - narrow[0])


def test_one_large_cluster_beside_small_ones_counts_as_few_or_claims_nothing() -> None:
    values = np.random.default_rng(6).random(100)
    even = limits(one_way(values[:, None], np.repeat(np.arange(10), 10), bounds=SHARE)[0])
    uneven = limits(one_way(values[:, None], np.repeat(np.arange(10), [28, *[8] * 9]), bounds=SHARE)[0])
    assert uneven[1] - uneven[0] > 1.1 * (even[1] - even[0])
    [found] = one_way(values[:, None], np.repeat(np.arange(10), [91, *[1] * 9]), bounds=SHARE)
    assert (found.low, found.reason[:54]) == (None, "one of the dishes has so many of the answers that the ")


# Dishes and people.


def by_hand(values: np.ndarray, dishes: np.ndarray, people: np.ndarray) -> tuple[float, float]:
    """The two-way interval of a share, one cluster after the other, with the formulas of the module's text."""
    n, mean = len(values), values.mean()

    def kind(labels: np.ndarray) -> tuple[float, float]:
        linked = plain = 0.0
        off = 0.5 / len(np.unique(labels))

        def link(share: float) -> float:
            return log((share + off) / (1 - share + off))

        shares = np.array([(labels == label).mean() for label in np.unique(labels)])
        for label in np.unique(labels):
            without = values[labels != label].mean()
            linked += (link(without) - link(mean)) ** 2
            plain += ((without - mean) / (mean * (1 - mean))) ** 2
        centring = np.eye(len(shares)) - np.outer(np.ones(len(shares)), shares)
        form = centring.T @ np.diag(shares**2 / (1 - shares)) @ centring
        return max(linked, plain), np.trace(form) ** 2 / np.trace(form @ form)

    cells = dishes * 1000 + people
    names = np.unique(cells)
    pairs = sum((values[cells == name] - mean).sum() ** 2 for name in names) / n**2 * len(names) / (len(names) - 1)
    pairs /= (mean * (1 - mean)) ** 2
    (scarce, few), (other, many) = sorted((kind(people), kind(dishes)), key=lambda pair: pair[1])
    variance = max(scarce + other - pairs, scarce, other, pairs)
    part = CAUTION * max(scarce - pairs, 0)
    weight = part / (part + other)
    freedom = max(few, 1 / (weight**2 / few + (1 - weight) ** 2 / many))
    centre = log(mean / (1 - mean)) + (1 - 2 * mean) * min(variance, MOST_MOVED)
    half = stats.t.ppf(0.975, freedom) * sqrt(variance)
    return 1 / (1 + exp(half - centre)), 1 / (1 + exp(-half - centre))


@pytest.mark.parametrize("seed", range(6))
def test_two_way_interval_agrees_with_leaving_each_cluster_out(seed: int) -> None:
    rng = np.random.default_rng(seed)
    dishes, people = grid(14, 7)
    likely = 0.2 + 0.5 * (dishes % 2) * (people % 3) / 2
    kept = rng.random(len(dishes)) < 0.8
    repeated = np.repeat(np.flatnonzero(kept), rng.integers(1, 4, kept.sum()))
    dishes, people = dishes[repeated], people[repeated]
    values = (rng.random(len(repeated)) < likely[repeated]).astype(float)
    [found] = two_way(values[:, None], dishes, people)
    assert limits(found) == pytest.approx(by_hand(values, dishes, people), abs=2e-5)


def test_people_who_differ_make_the_interval_wider() -> None:
    dishes, people = grid(20, 6)
    alike = limits(two_way((dishes * 7 + people * 5)[:, None] % 3 == 0, dishes, people)[0])
    apart = limits(two_way((people % 2)[:, None], dishes, people)[0])
    assert apart[1] - apart[0] > 2 * (alike[1] - alike[0])


def test_each_mean_counts_only_its_own_answers() -> None:
    dishes, reviewers = grid(12, 5)
    first = (np.arange(60) % 3 == 0).astype(float)
    second = np.where(reviewers == 0, np.nan, first)
    together = two_way(np.column_stack([first, second]), dishes, reviewers)
    [alone] = two_way(first[:, None], dishes, reviewers)
    assert together[0] == alone
    assert together[1].reason == "fewer than 5 reviewers: no interval is claimed"


# Where nothing varies.


@pytest.mark.parametrize(("answer", "expected"), [(0.0, (0, 1 - 0.025 ** (1 / 6))), (1.0, (0.025 ** (1 / 6), 1))])
def test_equal_answers_have_the_exact_limit_of_as_many_independent_ones(
    answer: float, expected: tuple[float, float]
) -> None:
    # 12 dishes, 6 people: at most six reviews share neither; .025^(1/6) = .5407.
    dishes, people = grid(12, 6)
    [found] = two_way(np.full((72, 1), answer), dishes, people)
    assert limits(found) == pytest.approx(expected)
    theirs = stats.binomtest(int(6 * answer), 6).proportion_ci(0.95, method="exact")
    assert limits(found) == pytest.approx((theirs.low, theirs.high))


def test_equal_answers_that_are_no_bound_claim_nothing_however_they_were_rounded() -> None:
    third = np.repeat([100 / 3, 33.333333333333336, 100 - 200 / 3], 40)[:, None]
    for found in (one_way(third, np.arange(120) // 10)[0], two_way(third, *grid(12, 10), bounds=None)[0]):
        assert (found.low, found.reason) == (None, "all values are equal: no interval is claimed")


def test_clusters_with_the_same_mean_claim_nothing() -> None:
    [found] = one_way((np.arange(40) % 2)[:, None], np.arange(40) // 2, bounds=SHARE)
    assert (found.low, "changes nothing" in found.reason) == (None, True)


@given(st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=30))
def test_the_most_pairs_are_those_of_a_maximum_matching(pairs: list[tuple[int, int]]) -> None:
    one, other = np.array(pairs, dtype=np.intp).reshape(-1, 2).T
    graph = np.zeros((8, 8), dtype=int)
    graph[one, other] = 1
    theirs = maximum_bipartite_matching(csr_matrix(graph))
    assert most_pairs(one, other) == np.count_nonzero(theirs >= 0)


# What is promised.


@pytest.mark.parametrize(
    ("dishes", "reviewers", "reason"),
    [
        (9, 5, "fewer than 10 dishes: no interval is claimed"),
        (10, 4, "fewer than 5 reviewers: no interval is claimed"),
        (10, 5, ""),
    ],
)
def test_few_dishes_or_reviewers_claim_no_interval(dishes: int, reviewers: int, reason: str) -> None:
    first, second = grid(dishes, reviewers)
    [found] = two_way((first * second % 2)[:, None], first, second)
    assert found.reason == reason
    assert (found.low is None) == bool(reason)


@given(st.integers(0, 10_000))
def test_the_order_of_names_and_of_observations_changes_nothing(seed: int) -> None:
    rng = np.random.default_rng(seed)
    dishes, people = grid(12, 6)
    values = rng.random((72, 2)).round(2)
    names = np.array([str(number) for number in rng.permutation(200)])
    found = two_way(values, dishes, people)
    assert two_way(values, names[dishes], names[100:][people]) == found
    assert one_way(values, names[dishes], bounds=SHARE) == one_way(values, dishes, bounds=SHARE)
    order = rng.permutation(72)
    for one, other in zip(two_way(values[order], dishes[order], people[order]), found, strict=True):
        assert limits(one) == pytest.approx(limits(other), rel=1e-11)


@given(st.lists(st.booleans(), min_size=60, max_size=60))
def test_an_interval_of_shares_holds_the_share_and_stays_between_zero_and_one(answers: list[bool]) -> None:
    dishes, reviewers = grid(12, 5)
    values = np.array(answers, dtype=float)
    [found] = two_way(values[:, None], dishes, reviewers)
    low, high = limits(found)
    assert 0 <= low < high <= 1
    assert low <= values.mean() <= high


@given(st.lists(st.floats(-1e6, 1e6), min_size=20, max_size=20), st.floats(0.01, 100), st.floats(-1e3, 1e3))
def test_means_without_bounds_move_with_unit_and_origin(values: list[float], unit: float, origin: float) -> None:
    table = np.array(values)[:, None]
    [found], [moved] = one_way(table, np.arange(20)), one_way(unit * table + origin, np.arange(20))
    if found.low is not None and moved.low is not None:
        scale = max(1.0, float(np.abs(table).max())) * unit + abs(origin)
        assert limits(moved) == pytest.approx(tuple(unit * end + origin for end in limits(found)), abs=1e-8 * scale)


def test_sums_over_clusters_give_the_interval_of_their_mean() -> None:
    values = np.random.default_rng(1).random(200)
    parts = np.column_stack([values, np.ones(200)])
    [found] = of_sums(parts, lambda sums: sums[:, :1] / sums[:, 1:], what="people")
    [known] = one_way(values[:, None], np.arange(200))
    assert limits(found) == pytest.approx(limits(known))
    assert "over people" in found.method


def test_a_statistic_that_is_unknown_without_a_cluster_claims_nothing() -> None:
    parts = np.column_stack([np.arange(12) == 3, np.ones(12)]).astype(float)
    [found] = of_sums(
        parts, lambda sums: np.divide(sums[:, 1:], sums[:, :1], where=sums[:, :1] > 0, out=sums[:, :1] * np.nan)
    )
    assert (found.low, found.reason) == (None, "without some of the dishes there is no value: no interval is claimed")


def test_the_reach_is_that_of_students_t() -> None:
    freedom = np.array([1, 1.37, 2, 2.5, 4, 9.99, 30, 500, 1e7])
    assert t_critical_value(freedom) == pytest.approx(stats.t.ppf(0.975, freedom), rel=2e-5)


def test_labels_and_values_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="label"):
        one_way(np.ones((3, 1)), np.arange(2))
    with pytest.raises(ValueError, match="between 0 and 1"):
        one_way(np.full((3, 1), 1.5), np.arange(3), bounds=SHARE)
    with pytest.raises(ValueError, match="a weight for each"):
        one_way(np.ones((3, 1)), np.arange(3), weights=np.ones(2))
    assert one_way(np.empty((0, 2)), np.empty(0, dtype=int))[1].low is None


def test_what_is_no_number_has_no_share_of_students_t() -> None:
    assert np.isnan(student_t.student_t_survival(float("nan"), 3))
