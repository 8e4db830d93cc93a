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


def test_the_interval_holds_the_value_and_is_not_claimed_for_few() -> None:
    rng = np.random.default_rng(1)
    one = rng.normal(size=60)
    other = one + rng.normal(size=60)
    interval = spearman_interval(one, other)
    assert interval.low is not None and interval.high is not None
    assert interval.low < (spearman(one, other) or 0) < interval.high
    assert spearman_interval(one[:9], other[:9]).reason.startswith("fewer than 10")
    assert spearman_interval(one, np.ones(60)).low is None
