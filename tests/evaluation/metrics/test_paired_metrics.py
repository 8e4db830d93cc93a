"""Paired differences: by hand and against scipy; and what has no partner. See also `test_cluster_tests.py`.

By hand: eleven dishes, under the first the values 0 and 1 (mean ½), under the second 1; a twelfth has the first only.
Difference ½ of 11 pairs, one dish without a partner. All differences are equal: no interval and no test.
"""

from typing import Any

import numpy as np
import pytest
from scipy import stats

from evaluation.metrics.paired import Paired, Pairs, compare_pairs

Row = tuple[float, str, str, bool]


def make_pairs(rows: list[Row], *, people: bool = False, weights: Any = None) -> Pairs:
    """Rows of value, dish, person, and whether it is under the second."""
    values, dishes, raters, second = (np.array(column) for column in zip(*rows, strict=True))
    return Pairs.of(values.astype(float), dishes, raters if people else None, second.astype(bool), weights)


def of_differences(differences: Any) -> Pairs:
    """One image of each dish under both: 0, and the difference."""
    rows = [(0.0, f"{n:03}", "", False) for n in range(len(differences))]
    return make_pairs([*rows, *((float(d), f"{n:03}", "", True) for n, d in enumerate(differences))])


def test_a_difference_by_hand() -> None:
    rows: list[Row] = []
    for number in range(11):
        rows += [(0.0, f"d{number:02}", "", False), (1.0, f"d{number:02}", "", False), (1.0, f"d{number:02}", "", True)]
    found = compare_pairs(make_pairs([*rows, (0.0, "d11", "", False)]))
    assert (found.first, found.second, found.difference) == (0.5, 1.0, 0.5)
    assert (found.n, found.dishes, found.alone) == (11, 11, 1)
    assert (found.interval.low, "equal" in found.interval.reason) == (None, True)
    assert found.p is None


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
    found = compare_pairs(make_pairs(rows, people=True))
    assert (found.difference, found.n, found.dishes, found.alone) == (0.25, 2, 2, 1)
    assert (found.people, found.p, found.interval.reason) == (2, None, "fewer than 10 dishes: no interval is claimed")


def test_p_and_interval_are_those_of_the_paired_t_test() -> None:
    rng = np.random.default_rng(6)
    first, second = rng.normal(0, 1, 60), rng.normal(0.25, 1, 60)
    found = compare_pairs(of_differences(second - first))
    t = stats.ttest_rel(second, first)
    assert found.p == pytest.approx(t.pvalue)
    low, high = t.confidence_interval()
    assert (found.interval.low, found.interval.high) == pytest.approx((low, high))


def of_people(differences: Any) -> Pairs:
    """(dishes, people) differences: everybody judged every dish under both."""
    rows: list[Row] = [
        (value, f"d{dish:02}", f"p{person:02}", second)
        for (dish, person), difference in np.ndenumerate(differences)
        for second, value in ((False, 0.0), (True, float(difference)))
    ]
    return make_pairs(rows, people=True)


def test_all_pairs_of_a_dish_are_one() -> None:
    """Twelve dishes of which twenty people say the same: there are twelve differences, not 240."""
    differences = np.random.default_rng(8).normal(0.3, 1, 12)
    found = compare_pairs(of_people(np.repeat(differences[:, None], 20, axis=1)))
    assert (found.n, found.people) == (240, 20)
    assert found.p == pytest.approx(stats.ttest_1samp(differences, 0).pvalue)


def test_all_pairs_of_a_person_are_one() -> None:
    """Six people who say the same of all forty dishes are six differences, not 240: their taste is no finding."""
    tastes = np.array([0.5, 0.6, -0.2, 0.9, 0.1, 0.7])
    found = compare_pairs(of_people(np.repeat(tastes[None], 40, axis=0)))
    assert found.p == pytest.approx(stats.ttest_1samp(tastes, 0).pvalue)
    assert compare_pairs(of_people(np.repeat(tastes[None, :4], 40, axis=0))).p is None


def test_a_dish_in_several_places_weighs_less() -> None:
    """Differences 1 at weight 1 and 0 at weight ½: 1 ÷ 1.5."""
    rows: list[Row] = [(0.0, "d1", "", False), (1.0, "d1", "", True), (0.0, "d2", "", False), (0.0, "d2", "", True)]
    found = compare_pairs(make_pairs(rows, weights=[1, 1, 0.5, 0.5]))
    assert found.difference == pytest.approx(2 / 3)


def test_weights_of_one_change_no_interval() -> None:
    differences = np.random.default_rng(2).normal(size=14)
    plain = of_differences(differences)
    doubled = Pairs(plain.first, plain.second, plain.dishes, None, plain.weights * 2, 0)
    assert compare_pairs(plain).interval == compare_pairs(doubled).interval


def test_the_order_of_the_observations_changes_nothing_to_the_last_digit() -> None:
    rng = np.random.default_rng(3)
    rows: list[Row] = [
        (float(rng.normal()), f"d{dish:02}", f"p{person}", second)
        for dish in range(12)
        for person in range(6)
        for second in (False, True)
    ]
    mixed = [rows[at] for at in rng.permutation(len(rows))]
    one, other = compare_pairs(make_pairs(rows, people=True)), compare_pairs(make_pairs(mixed, people=True))
    assert one == other


def test_without_pairs_there_is_no_number() -> None:
    rows: list[Row] = [(1.0, "d1", "Anna", False), (1.0, "d1", "Ben", True), (float("nan"), "d1", "Anna", True)]
    found = compare_pairs(make_pairs(rows, people=True))
    assert found == Paired(0, 0, 1, 0, reason="no dish was judged by the same person under both")
    assert compare_pairs(make_pairs([(1.0, "d1", "", True)])).reason == "no dish was measured under both"
    empty = np.empty(0)
    assert compare_pairs(Pairs.of(empty, empty, None, np.empty(0, dtype=np.bool_))).difference is None


def test_where_both_are_always_equal_the_difference_is_nothing_and_nothing_is_tested() -> None:
    found = compare_pairs(of_differences(np.zeros(12)))
    assert (found.difference, found.p, found.interval.low) == (0.0, None, None)
