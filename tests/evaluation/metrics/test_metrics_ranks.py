"""Spearman's ρ against scipy, by hand, and where it says nothing."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from evaluation.metrics.ranks import average_ranks, spearman, spearman_interval


def test_ties_share_the_mean_of_their_ranks() -> None:
    assert average_ranks([10, 20, 20, 5]).tolist() == [2.0, 3.5, 3.5, 1.0]


def test_rho_by_hand() -> None:
    """d = (0, 1, −1, 0): 1 − 6 · 2 ÷ (4 · 15) = 0.8."""
    assert spearman([1, 2, 3, 4], [1, 3, 2, 4]) == pytest.approx(0.8)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=3, max_size=40))
def test_rho_equals_scipy(pairs: list[tuple[int, int]]) -> None:
    one, other = zip(*pairs, strict=True)
    mine = spearman(one, other)
    if len(set(one)) == 1 or len(set(other)) == 1:
        assert mine is None
    else:
        assert mine is not None and -1 <= mine <= 1
        assert mine == pytest.approx(stats.spearmanr(one, other).statistic)


def test_the_interval_by_hand_and_for_few_none() -> None:
    one, other = np.arange(10.0), np.array([0, 1, 4, 2, 6, 3, 5, 9, 7, 8.0])
    # Fisher's scale, ± 1.96 √((1 + ρ²/2) ÷ (10 − 3)).
    rho = stats.spearmanr(one, other).statistic
    half = 1.959964 * ((1 + rho**2 / 2) / 7) ** 0.5
    interval = spearman_interval(one, other)
    assert (interval.low, interval.high) == pytest.approx(
        (np.tanh(np.arctanh(rho) - half), np.tanh(np.arctanh(rho) + half))
    )
    assert spearman_interval(one[:9], other[:9]).reason.startswith("fewer than 10")
    assert spearman_interval(one, np.ones(10)).low is None
    assert spearman_interval(one, one).reason.startswith("the ranks agree entirely")


def test_what_is_not_a_number_has_no_rank() -> None:
    assert spearman([1, np.nan, 3], [1, 2, 3]) is None
    assert spearman_interval([*range(11), np.nan], range(12)).low is None


@pytest.mark.parametrize("other", [[1, 2], [[1, 2, 3]]])
def test_ranks_of_arrays_of_different_shapes_are_not_compared(other: list[object]) -> None:
    with pytest.raises(ValueError, match="one length"):
        spearman([1, 2, 3], np.array(other))
