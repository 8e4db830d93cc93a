"""Metrics against hand-worked numbers, reference values and properties that always hold."""

from itertools import product
from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.metrics import association, bootstrap
from evaluation.metrics.proportion import WILSON, Z, share, wilson
from evaluation.metrics.sem import SEM, population_sem, sem_interval
from evaluation.metrics.tidy import Estimate

scores = st.lists(st.floats(-1, 1, allow_nan=False, width=32), min_size=1, max_size=40)


def test_share_by_hand() -> None:
    assert share(82, 431) == 82 / 431


def test_share_of_nothing_is_not_measured_rather_than_zero() -> None:
    assert share(0, 0) is None


@pytest.mark.parametrize(("yes", "n"), [(-1, 3), (4, 3)])
def test_more_yes_than_answers_is_refused(yes: int, n: int) -> None:
    with pytest.raises(ValueError, match="no share"):
        share(yes, n)


def test_wilson_by_hand() -> None:
    # 8 of 10, z² = 3.841459. middle = 0.8 + 3.841459/20 = 0.992073;
    # half = 1.959964·√(0.8·0.2/10 + 3.841459/400) = 1.959964·√0.02560365 = 0.313614; scale = 1.3841459.
    # (0.992073 − 0.313614)/1.3841459 = 0.490162 and (0.992073 + 0.313614)/1.3841459 = 0.943316.
    found = wilson(8, 10)
    assert found.low == pytest.approx(0.490162, abs=1e-6)
    assert found.high == pytest.approx(0.943318, abs=3e-6)
    assert found.method == WILSON


def test_wilson_solves_its_own_equation() -> None:
    # The limits are the p for which |p̂ − p| = z √(p(1−p)/n): an independent way to the same numbers.
    found = wilson(82, 431)
    for limit in (found.low, found.high):
        assert limit is not None
        assert abs(82 / 431 - limit) == pytest.approx(Z * sqrt(limit * (1 - limit) / 431), abs=1e-12)


@given(st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_holds_the_share_and_stays_between_zero_and_one(counts: tuple[int, int]) -> None:
    yes, n = counts
    found = wilson(yes, n)
    assert found.low is not None
    assert found.high is not None
    assert 0 <= found.low <= yes / n <= found.high <= 1


def test_wilson_of_nothing_gives_its_reason() -> None:
    assert wilson(0, 0).low is None
    assert wilson(0, 0).reason == "nothing observed"


def test_population_sem_by_hand() -> None:
    # 1, 3: mean 2, population variance 1, √1 ÷ √2.
    assert population_sem([1, 3]) == pytest.approx(1 / sqrt(2))


def test_sem_interval_is_mean_and_196_sem() -> None:
    found = sem_interval([1.0, 3.0])
    assert (found.low, found.high) == (pytest.approx(2 - Z / sqrt(2)), pytest.approx(2 + Z / sqrt(2)))
    assert found.method == SEM


@pytest.mark.parametrize("values", [[], [4.0]])
def test_sem_claims_nothing_for_fewer_than_two_values(values: list[float]) -> None:
    assert sem_interval(values).low is None
    assert "fewer than two" in sem_interval(values).reason


def test_sem_of_nothing_is_not_measured() -> None:
    assert population_sem([]) is None


def test_cosine_by_hand() -> None:
    # (3, 4) and (4, 3): 24 ÷ (5·5); (3, 4) and (−4, 3): 0. Lengths do not matter.
    found = association.cosine([[3, 4], [6, 8]], [[4, 3], [-4, 3]])
    assert found == pytest.approx(np.array([[0.96, 0.0], [0.96, 0.0]]))


def test_cosine_with_a_vector_of_no_length_is_not_a_number() -> None:
    assert np.isnan(association.cosine([[0, 0]], [[1, 0]])).all()


def test_net_subtracts_and_the_printed_variant_adds() -> None:
    # positive mean (0.3 + 0.5)/2 = 0.4, negative 0.1: 0.4 − 0.1 and, as App. G.1 is typed, 0.4 − (−0.1).
    assert association.net([[0.3, 0.5]], [[0.1]]) == pytest.approx([0.3])
    assert association.as_printed([[0.3, 0.5]], [[0.1]]) == pytest.approx([0.5])


def test_scores_are_rescaled_within_each_model() -> None:
    models = np.array(["a", "a", "a", "b", "b"])
    found = association.normalised_within([0.0, 1.0, 4.0, 10.0, 20.0], models)
    assert found == pytest.approx([-1.0, -0.5, 1.0, -1.0, 1.0])


def test_scores_are_rescaled_over_all_models_under_another_name() -> None:
    assert association.normalised_over_all([0.0, 10.0, 20.0]) == pytest.approx([-1.0, 0.0, 1.0])


def test_equal_scores_have_no_range_to_rescale_to() -> None:
    assert np.isnan(association.normalised_over_all([0.2, 0.2])).all()
    assert association.normalised_over_all([]).shape == (0,)


@given(scores, st.floats(0.1, 10), st.floats(-5, 5))
def test_rescaled_scores_do_not_depend_on_unit_or_origin(values: list[float], unit: float, origin: float) -> None:
    before = association.normalised_over_all(values)
    after = association.normalised_over_all(np.array(values, dtype=np.float64) * unit + origin)
    if np.ptp(values) > 1e-3:
        assert after == pytest.approx(before, abs=1e-6)
        assert (before.min(), before.max()) == (-1, 1)


def test_adding_one_extreme_picture_moves_every_rescaled_score_and_no_net() -> None:
    before, after = [0.1, 0.2, 0.3], [0.1, 0.2, 0.3, 0.9]
    positive = np.array(after)[:, None]
    assert association.net(positive, np.zeros((4, 1)))[:3] == pytest.approx(before)
    moved = association.normalised_over_all(after)[:3] - association.normalised_over_all(before)
    assert (np.abs(moved[1:]) > 0.1).all()


@pytest.mark.parametrize(
    ("n", "clusters", "small"), [(30, 10, False), (29, 10, True), (30, 9, True), (5982, 181, False)]
)
def test_a_group_is_small_under_30_observations_or_10_clusters(n: int, clusters: int, small: bool) -> None:
    assert Estimate(0.5, n, clusters).small is small


# The bootstrap.


def labels(count: int, size: int) -> np.ndarray:
    return np.repeat(np.arange(count), size)


def grid(dishes: int, reviewers: int) -> tuple[np.ndarray, np.ndarray]:
    """Every reviewer judges every dish once: labels (dishes · reviewers,) of both."""
    pairs = np.array(list(product(range(dishes), range(reviewers))))
    return pairs[:, 0], pairs[:, 1]


def by_brute_force(values: np.ndarray, dishes: np.ndarray, reviewers: np.ndarray) -> np.ndarray:
    """2,000 two-way resamples in which every drawn pair's reviews are really written down again and again."""
    random = np.random.default_rng(1)
    means = []
    for _draw in range(2000):
        drawn_dishes = random.choice(np.unique(dishes), len(np.unique(dishes)))
        drawn_reviewers = random.choice(np.unique(reviewers), len(np.unique(reviewers)))
        held = [
            value
            for dish in drawn_dishes
            for reviewer in drawn_reviewers
            for value in values[(dishes == dish) & (reviewers == reviewer)]
        ]
        if held:
            means.append(np.mean(held))
    return np.percentile(means, [2.5, 97.5])


def test_two_way_interval_agrees_with_writing_every_resample_down() -> None:
    random = np.random.default_rng(5)
    dishes, reviewers = grid(12, 6)
    likely = 0.2 + 0.5 * (dishes % 2) * (reviewers % 3) / 2
    values = (random.random(len(dishes)) < likely).astype(float)
    held = random.random(len(dishes)) < 0.8
    values, dishes, reviewers = values[held], dishes[held], reviewers[held]
    (found,) = bootstrap.two_way(values[:, None], dishes, reviewers)
    low, high = by_brute_force(values, dishes, reviewers)
    assert (found.low, found.high) == (pytest.approx(low, abs=0.02), pytest.approx(high, abs=0.02))


def test_countries_with_people_of_their_own_are_resampled_as_in_one_large_table() -> None:
    """Answers of nobody about the first dish tie all people together without changing a mean."""
    random = np.random.default_rng(7)
    dishes, reviewers = grid(30, 12)
    together = dishes // 10 == reviewers // 4
    dishes, reviewers = dishes[together], reviewers[together]
    values = np.column_stack([random.random(len(dishes)), np.where(dishes % 2, random.random(len(dishes)), np.nan)])
    apart = bootstrap.two_way(values, dishes, reviewers)
    tied = bootstrap.two_way(
        np.vstack([values, np.full((12, 2), np.nan)]), np.append(dishes, [0] * 12), np.append(reviewers, range(12))
    )
    for one, other in zip(apart, tied, strict=True):
        assert (one.low, one.high) == pytest.approx((other.low, other.high), abs=1e-12)
        assert one.low is not None


def test_one_way_interval_agrees_with_the_normal_limit() -> None:
    # 200 clusters of one value each: the bootstrap's deviation tends to σ ÷ √200, here √(0.3·0.7 ÷ 200) = 0.0324;
    # 0.3 ± 1.96·0.0324 = 0.2365 to 0.3635. Steps are 1/200, so 0.01 is two of them.
    values = np.array([1.0] * 60 + [0.0] * 140)
    (found,) = bootstrap.one_way(values[:, None], np.arange(200))
    assert (found.low, found.high) == (pytest.approx(0.2365, abs=0.01), pytest.approx(0.3635, abs=0.01))


def test_equal_answers_within_a_dish_make_the_interval_wider_than_wilson() -> None:
    # 20 dishes, 20 equal answers each: in truth 20 observations, not 400.
    values = (labels(20, 20) < 6).astype(float)
    (found,) = bootstrap.one_way(values[:, None], labels(20, 20))
    naive = wilson(int(values.sum()), len(values))
    assert found.low is not None
    assert found.high is not None
    assert naive.low is not None
    assert naive.high is not None
    assert found.high - found.low > 3 * (naive.high - naive.low)


def test_clusters_of_unequal_size_weigh_by_their_observations() -> None:
    # One dish holds 90 of 99 answers, all yes; nine dishes one no each. The mean of a resample is
    # 90a ÷ (90a + b) with a + b = 10 draws: 0 where a = 0, which has probability 0.9¹⁰ = 0.35 > 2.5 %.
    values = np.array([1.0] * 90 + [0.0] * 9)
    clusters = np.array([0] * 90 + list(range(1, 10)))
    (found,) = bootstrap.one_way(values[:, None], clusters)
    assert found.low == 0
    # The most that happens in 97.5 % is a = 3 (P(a ≤ 3) = 0.987): 270 ÷ 277.
    assert found.high == pytest.approx(270 / 277)


def test_same_observations_in_another_order_give_the_same_interval() -> None:
    random = np.random.default_rng(3)
    dishes, reviewers = grid(15, 7)
    values = (random.random((len(dishes), 2)) < 0.4).astype(float)
    shuffled = random.permutation(len(dishes))
    assert bootstrap.two_way(values, dishes, reviewers) == bootstrap.two_way(
        values[shuffled], dishes[shuffled], reviewers[shuffled]
    )


def test_each_mean_counts_only_its_own_answers() -> None:
    dishes, reviewers = grid(12, 5)
    first = (np.arange(60) % 3 == 0).astype(float)
    second = np.where(reviewers == 0, np.nan, first)
    together = bootstrap.two_way(np.column_stack([first, second]), dishes, reviewers)
    (alone,) = bootstrap.two_way(first[:, None], dishes, reviewers)
    assert together[0] == alone
    assert together[1].reason == "fewer than 5 reviewers: no interval is claimed"


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
    (found,) = bootstrap.two_way(((first + second) % 2).astype(float)[:, None], first, second)
    assert found.reason == reason
    assert (found.low is None) == bool(reason)


def test_few_clusters_claim_no_interval() -> None:
    (found,) = bootstrap.one_way(np.arange(9.0)[:, None], np.arange(9))
    assert found.reason == "fewer than 10 clusters: no interval is claimed"


def test_equal_answers_claim_no_interval_of_width_zero() -> None:
    dishes, reviewers = grid(12, 6)
    (found,) = bootstrap.two_way(np.ones((72, 1)), dishes, reviewers)
    assert found.low is None
    assert "all values are equal" in found.reason


def test_draws_without_any_observation_are_dropped() -> None:
    # Each reviewer saw one dish of their own: a resample of both can miss all twelve pairs.
    values = (np.arange(12) % 2).astype(float)
    (found,) = bootstrap.two_way(values[:, None], np.arange(12), np.arange(12))
    assert (found.low, found.high) == (0, 1)


def test_nothing_observed_claims_nothing() -> None:
    assert bootstrap.one_way(np.empty((0, 2)), np.empty(0, dtype=int))[1].low is None


def test_labels_that_do_not_fit_the_values_are_refused() -> None:
    with pytest.raises(ValueError, match="labels"):
        bootstrap.one_way(np.ones((3, 1)), np.arange(2))


@given(st.lists(st.booleans(), min_size=60, max_size=60))
def test_an_interval_of_shares_stays_between_zero_and_one(answers: list[bool]) -> None:
    dishes, reviewers = grid(12, 5)
    (found,) = bootstrap.two_way(np.array(answers, dtype=float)[:, None], dishes, reviewers)
    if found.low is not None and found.high is not None:
        assert 0 <= found.low < found.high <= 1
    else:
        assert len(set(answers)) == 1
