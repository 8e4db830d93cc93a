"""Paired differences: by hand, against every flip of signs, against scipy; and what has no partner.

By hand: eleven dishes, under the first the values 0 and 1 (mean ½), under the second 1; a twelfth has the first only.
Difference ½ of 11 pairs, one dish without a partner. All differences are equal: no interval. Flips: only all signs
alike reach ½, 2 of 2,048.
"""

from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy import stats

from evaluation.metrics.paired import FLIPS, Paired, Pairs, flipped_p, paired

ERROR = 4 * 0.5 / np.sqrt(FLIPS)
Row = tuple[float, str, str, bool]


def make_pairs(rows: list[Row], *, people: bool = False, weights: Any = None) -> Pairs:
    """Rows of value, dish, person, and whether it is under the second."""
    values, dishes, raters, second = (np.array(column) for column in zip(*rows, strict=True))
    return Pairs.of(values.astype(float), dishes, raters if people else None, second.astype(bool), weights)


def of_differences(differences: Any) -> Pairs:
    """One picture of each dish under both: 0, and the difference."""
    rows = [(0.0, f"{n:03}", "", False) for n in range(len(differences))]
    return make_pairs([*rows, *((float(d), f"{n:03}", "", True) for n, d in enumerate(differences))])


def test_a_difference_by_hand() -> None:
    rows: list[Row] = []
    for number in range(11):
        rows += [(0.0, f"d{number:02}", "", False), (1.0, f"d{number:02}", "", False), (1.0, f"d{number:02}", "", True)]
    found = paired(make_pairs([*rows, (0.0, "d11", "", False)]))
    assert (found.first, found.second, found.difference) == (0.5, 1.0, 0.5)
    assert (found.n, found.dishes, found.alone) == (11, 11, 1)
    assert (found.interval.low, "equal" in found.interval.reason) == (None, True)
    assert found.p == pytest.approx(2 / 2048, abs=ERROR / 5)


def test_people_are_paired_with_themselves() -> None:
    """Anna saw d1 under both (1 − 0), Ben only under the first, Cy d2 under both twice (½ − 1): mean ¼ of 2 pairs."""
    rows = [
        (0.0, "d1", "Anna", False),
        (1.0, "d1", "Anna", True),
        (1.0, "d1", "Ben", False),
        (1.0, "d2", "Cy", False),
        (1.0, "d2", "Cy", True),
        (0.0, "d2", "Cy", True),
        (1.0, "d3", "Ben", True),
        (1.0, "d3", "Anna", False),
    ]
    found = paired(make_pairs(rows, people=True))
    assert (found.difference, found.n, found.dishes, found.alone) == (0.25, 2, 2, 1)
    assert (found.p, found.untested) == (None, "fewer than 10 dishes with a pair: no test is made")


def test_flips_agree_with_every_flip_of_a_small_case() -> None:
    rng = np.random.default_rng(4)
    differences = rng.normal(0.4, 1, 11)
    every = [abs(np.dot(signs, differences)) for signs in product((-1, 1), repeat=11)]
    exact = np.mean(np.array(every) >= abs(differences.sum()) - 1e-12)
    assert flipped_p(of_differences(differences)) == pytest.approx(exact, abs=ERROR)


def test_flips_agree_with_scipy_and_the_interval_with_the_t_test() -> None:
    rng = np.random.default_rng(6)
    first, second = rng.normal(0, 1, 60), rng.normal(0.25, 1, 60)
    found = paired(of_differences(second - first))
    theirs = stats.permutation_test(
        (first, second),
        lambda a, b: np.mean(a - b),
        permutation_type="samples",
        n_resamples=4000,
        rng=rng,
        vectorized=False,
    )
    assert found.p == pytest.approx(theirs.pvalue, abs=ERROR)
    t = stats.ttest_rel(second, first)
    assert found.p == pytest.approx(t.pvalue, abs=ERROR)
    low, high = t.confidence_interval()
    assert (found.interval.low, found.interval.high) == pytest.approx((low, high), abs=0.08)


def test_all_pairs_of_a_dish_flip_together() -> None:
    """Twelve dishes with twenty people each say the same: there are twelve differences, not 240."""
    rng = np.random.default_rng(8)
    differences = rng.normal(0.3, 1, 12)
    rows: list[Row] = [
        (value, f"d{dish:02}", f"p{person:02}", second)
        for dish, difference in enumerate(differences)
        for person in range(20)
        for second, value in ((False, 0.0), (True, float(difference)))
    ]
    found = paired(make_pairs(rows, people=True))
    assert found.n == 240
    assert found.p == flipped_p(of_differences(differences))


def test_where_nothing_differs_p_is_spread_evenly() -> None:
    rng = np.random.default_rng(9)
    p = [flipped_p(of_differences(rng.normal(size=15))) for _ in range(120)]
    assert stats.kstest(p, "uniform").pvalue > 0.01


def test_a_dish_in_several_places_weighs_less() -> None:
    """Differences 1 at weight 1 and 0 at weight ½: 1 ÷ 1.5."""
    rows: list[Row] = [(0.0, "d1", "", False), (1.0, "d1", "", True), (0.0, "d2", "", False), (0.0, "d2", "", True)]
    found = paired(make_pairs(rows, weights=[1, 1, 0.5, 0.5]))
    assert found.difference == pytest.approx(2 / 3)


def test_weights_of_one_change_no_interval() -> None:
    differences = np.random.default_rng(2).normal(size=14)
    plain = of_differences(differences)
    doubled = Pairs(plain.first, plain.second, plain.dishes, None, plain.weights * 2, 0)
    assert paired(plain).interval == paired(doubled).interval


def test_the_order_of_the_observations_changes_nothing_to_the_last_digit() -> None:
    rng = np.random.default_rng(3)
    rows: list[Row] = [
        (float(rng.normal()), f"d{dish:02}", f"p{person}", second)
        for dish in range(12)
        for person in range(6)
        for second in (False, True)
    ]
    mixed = [rows[at] for at in rng.permutation(len(rows))]
    one, other = paired(make_pairs(rows, people=True)), paired(make_pairs(mixed, people=True))
    assert one == other


def test_without_pairs_there_is_no_number() -> None:
    rows: list[Row] = [(1.0, "d1", "Anna", False), (1.0, "d1", "Ben", True), (float("nan"), "d1", "Anna", True)]
    found = paired(make_pairs(rows, people=True))
    assert found == Paired(
        0,
        0,
        1,
        reason="no dish was judged by the same person under both",
        untested="no dish was judged by the same person under both",
    )
    assert paired(make_pairs([(1.0, "d1", "", True)])).reason == "no dish was measured under both"
    empty = np.empty(0)
    assert paired(Pairs.of(empty, empty, None, np.empty(0, dtype=np.bool_))).difference is None


def test_where_both_are_always_equal_the_difference_is_nothing_and_p_is_one() -> None:
    found = paired(of_differences(np.zeros(12)))
    assert (found.difference, found.p, found.interval.low) == (0.0, 1.0, None)
