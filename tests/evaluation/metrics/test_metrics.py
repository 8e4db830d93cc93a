"""Metrics against hand-worked numbers, reference values and properties that always hold."""

from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.metrics import association
from evaluation.metrics.inference.proportion import WILSON, Z, compute_share, wilson_interval
from evaluation.metrics.inference.sem import SEM, population_sem, sem_interval
from evaluation.metrics.tidy import Estimate

scores = st.lists(st.floats(-1, 1, allow_nan=False, width=32), min_size=1, max_size=40)


def test_share_by_hand() -> None:
    assert compute_share(82, 431) == 82 / 431


def test_share_of_nothing_is_not_measured_rather_than_zero() -> None:
    assert compute_share(0, 0) is None


@pytest.mark.parametrize(("yes", "n"), [(-1, 3), (4, 3)])
def test_more_yes_than_answers_is_refused(yes: int, n: int) -> None:
    with pytest.raises(ValueError, match="no share"):
        compute_share(yes, n)


def test_wilson_by_hand() -> None:
    # 8 of 10, z² = 3.841459. middle = 0.8 + 3.841459/20 = 0.992073;
    # half = 1.959964·√(0.8·0.2/10 + 3.841459/400) = 1.959964·√0.02560365 = 0.313614; scale = 1.3841459.
    # (0.992073 − 0.313614)/1.3841459 = 0.490162 and (0.992073 + 0.313614)/1.3841459 = 0.943316.
    found = wilson_interval(8, 10)
    assert found.low == pytest.approx(0.490162, abs=1e-6)
    assert found.high == pytest.approx(0.943318, abs=3e-6)
    assert found.method == WILSON


def test_wilson_solves_its_own_equation() -> None:
    # The limits are the p for which |p̂ − p| = z √(p(1−p)/n): an independent way to the same numbers.
    found = wilson_interval(82, 431)
    for limit in (found.low, found.high):
        assert limit is not None
        assert abs(82 / 431 - limit) == pytest.approx(Z * sqrt(limit * (1 - limit) / 431), abs=1e-12)


@given(st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_holds_the_share_and_stays_between_zero_and_one(counts: tuple[int, int]) -> None:
    yes, n = counts
    found = wilson_interval(yes, n)
    assert found.low is not None
    assert found.high is not None
    assert 0 <= found.low <= yes / n <= found.high <= 1


def test_wilson_of_nothing_gives_its_reason() -> None:
    assert wilson_interval(0, 0).low is None
    assert wilson_interval(0, 0).reason == "nothing observed"


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
    found = association.cosine_similarity([[3, 4], [6, 8]], [[4, 3], [-4, 3]])
    assert found == pytest.approx(np.array([[0.96, 0.0], [0.96, 0.0]]))


def test_cosine_with_a_vector_of_no_length_is_not_a_number() -> None:
    assert np.isnan(association.cosine_similarity([[0, 0]], [[1, 0]])).all()


def test_net_subtracts_and_the_printed_variant_adds() -> None:
    # positive mean (0.3 + 0.5)/2 = 0.4, negative 0.1: 0.4 − 0.1 and, as App. G.1 is typed, 0.4 − (−0.1).
    assert association.net_association([[0.3, 0.5]], [[0.1]]) == pytest.approx([0.3])
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


def test_adding_one_extreme_image_moves_every_rescaled_score_and_no_net() -> None:
    before, after = [0.1, 0.2, 0.3], [0.1, 0.2, 0.3, 0.9]
    positive = np.array(after)[:, None]
    assert association.net_association(positive, np.zeros((4, 1)))[:3] == pytest.approx(before)
    moved = association.normalised_over_all(after)[:3] - association.normalised_over_all(before)
    assert (np.abs(moved[1:]) > 0.1).all()


@pytest.mark.parametrize(
    ("n", "clusters", "small"), [(30, 10, False), (29, 10, True), (30, 9, True), (5982, 181, False)]
)
def test_a_group_is_small_under_30_observations_or_10_clusters(n: int, clusters: int, small: bool) -> None:
    assert Estimate(0.5, n, clusters).small is small
