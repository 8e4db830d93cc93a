"""Agreement coefficients against textbook values, a second implementation, hand calculations and what must hold."""

from collections.abc import Sequence
from math import exp, log
from typing import get_args

import krippendorff
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from evaluation.metrics.agreement import Coefficients, Level, agreement_coefficients, coefficient_intervals, tally_codes
from evaluation.metrics.inference.intervals import MOST_MOVED

# Krippendorff 2011, section C: 4 observers, 12 units, 5 categories, a dot for no answer.
TEXTBOOK = ("1 2 3 3 2 1 4 1 2 . . .", "1 2 3 3 2 2 4 1 2 5 . 3", ". 3 3 3 2 3 4 2 2 5 1 .", "1 2 3 3 2 4 4 1 2 5 1 .")
LEVELS: tuple[Level, ...] = get_args(Level)
answers = st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=5), min_size=2, max_size=12)


def counted(units: Sequence[Sequence[int]], categories: int) -> np.ndarray:
    """Counts of opinions given unit by unit."""
    labels = np.concatenate([np.full(len(codes), unit) for unit, codes in enumerate(units)])
    return tally_codes(labels, np.concatenate([np.array(codes) for codes in units]), categories)


def textbook() -> list[list[int]]:
    observers = [row.split() for row in TEXTBOOK]
    return [[int(row[unit]) - 1 for row in observers if row[unit] != "."] for unit in range(12)]


@pytest.mark.parametrize(("level", "alpha"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
def test_alpha_of_the_textbook_example(level: Level, alpha: float) -> None:
    found = agreement_coefficients(counted(textbook(), 5), level).alpha
    assert found == pytest.approx(alpha, abs=5e-4)


def test_ac1_and_raw_agreement_of_the_textbook_example() -> None:
    # The same data in Gwet's irrCAC (cac.raw4raters): AC1 0.77544, percent agreement 0.81818.
    found = agreement_coefficients(counted(textbook(), 5), "nominal")
    assert found.ac1 == pytest.approx(0.77544, abs=5e-6)
    assert found.raw_agreement == pytest.approx(0.81818, abs=5e-6)


def test_all_three_by_hand() -> None:
    # Units yes yes | yes no | no no | yes (one opinion). Coincidences: yes–yes 2, no–no 2, yes–no 1 + 1; n = 6, three
    # of each. Observed disagreement 2 ÷ 6, expected 2·3·3 ÷ (6·5) = 0.6: alpha = 1 − (1/3) ÷ 0.6 = 4/9.
    # Raw: (1 + 0 + 1) ÷ 3. Prevalence of yes over all four units: (1 + 0.5 + 0 + 1) ÷ 4 = 0.625; chance
    # 2 · 0.625 · 0.375 = 0.46875; AC1 = (2/3 − 0.46875) ÷ 0.53125 = 0.372549.
    found = agreement_coefficients(counted([[1, 1], [1, 0], [0, 0], [1]], 2), "nominal")
    assert found == (pytest.approx(4 / 9), pytest.approx(2 / 3), pytest.approx(0.372549, abs=1e-6))


def test_interval_level_takes_the_numbers_behind_the_categories() -> None:
    # 0 0 | 0 10: coincidences 0–0 2, 0–10 1 + 1; margins 3 and 1, n = 4. Observed 2 · 100 ÷ 4, expected
    # 2 · 3 · 1 · 100 ÷ (4 · 3): 1 − 50 ÷ 50 = 0, whatever the distance is.
    counts = counted([[0, 0], [0, 1]], 2)
    assert agreement_coefficients(counts, "interval", [0, 10]).alpha == pytest.approx(0)
    far, near = counted([[0, 2], [1, 1], [2, 2]], 3), counted([[0, 1], [1, 1], [2, 2]], 3)
    assert (agreement_coefficients(far, "interval").alpha or 0) < (agreement_coefficients(near, "interval").alpha or 0)
    assert agreement_coefficients(near, "interval", [0, 1, 9]).alpha != agreement_coefficients(near, "interval").alpha


@pytest.mark.parametrize("level", LEVELS)
@given(units=answers)
def test_alpha_equals_a_second_implementation(level: Level, units: list[list[int]]) -> None:
    counts = counted(units, 4)
    assume((counts[counts.sum(axis=1) >= 2].sum(axis=0) > 0).sum() >= 2)
    theirs = krippendorff.alpha(value_counts=counts, value_domain=[0, 1, 2, 3], level_of_measurement=level)
    assert agreement_coefficients(counts, level).alpha == pytest.approx(theirs, abs=1e-9)


@given(units=answers)
def test_full_agreement_is_one_and_nothing_is_more(units: list[list[int]]) -> None:
    for value in agreement_coefficients(counted(units, 4), "ordinal"):
        assert value is None or value <= 1 + 1e-12
    agreed = counted([[codes[0]] * (len(codes) + 1) for codes in units], 4)
    found = agreement_coefficients(agreed, "ordinal")
    assert found.raw_agreement == pytest.approx(1)
    assert found.ac1 == pytest.approx(1)
    assert found.alpha is None or found.alpha == pytest.approx(1)


@given(units=answers)
def test_single_opinions_change_neither_alpha_nor_raw_agreement(units: list[list[int]]) -> None:
    more = agreement_coefficients(counted([*units, [0], [3]], 4), "ordinal")
    fewer = agreement_coefficients(counted(units, 4), "ordinal")
    assert more.alpha == pytest.approx(fewer.alpha)
    assert more.raw_agreement == pytest.approx(fewer.raw_agreement)


def test_everybody_alike_has_no_alpha_but_full_agreement() -> None:
    assert agreement_coefficients(counted([[0, 0], [0, 0, 0]], 2), "nominal") == (
        None,
        pytest.approx(1),
        pytest.approx(1),
    )


def test_without_a_unit_of_two_opinions_nothing_is_measured() -> None:
    assert agreement_coefficients(counted([[0], [1]], 2), "nominal") == Coefficients(None, None, None)


def test_rare_answers_pull_alpha_to_zero_and_leave_ac1() -> None:
    # 58 units of two no, two with one yes: nearly everybody agrees.
    found = agreement_coefficients(counted([[0, 0]] * 58 + [[0, 1]] * 2, 2), "nominal")
    assert found.alpha == pytest.approx(0, abs=0.02)
    assert (found.ac1 or 0) > 0.95


def many_units() -> tuple[np.ndarray, np.ndarray]:
    """60 units of 12 dishes with three opinions each, dishes differing in what is said of them."""
    random = np.random.default_rng(4)
    dishes = np.repeat(np.arange(12), 5)
    likely = (0.2 + 0.6 * (dishes % 3) / 2)[:, None]
    return counted((random.random((60, 3)) < likely).astype(int).tolist(), 2), dishes


def test_intervals_agree_with_leaving_every_dish_out_in_turn() -> None:
    counts, dishes = many_units()
    found = coefficient_intervals(counts, dishes, "nominal")
    whole = agreement_coefficients(counts, "nominal")
    without = [agreement_coefficients(counts[dishes != dish], "nominal") for dish in range(12)]
    for name, (low, high) in {"raw_agreement": (0.0, 1.0), "ac1": (-1.0, 1.0)}.items():
        expected = jackknife(getattr(whole, name), [getattr(one, name) for one in without], low, high)
        interval = getattr(found, name)
        assert (interval.low, interval.high) == pytest.approx(expected, abs=1e-5)
        assert interval.method.startswith("jackknife over dishes, Student’s t")


def jackknife(whole: float, without: list[float], low: float, high: float) -> tuple[float, float]:
    """The interval by the formulas of the module, one number at a time."""
    count, off = len(without), 0.5 / len(without)

    def link(value: float) -> float:
        share = (value - low) / (high - low)
        return log((share + off) / (1 - share + off))

    moved = [link(value) - link(whole) for value in without]
    centre = link(whole) - min(MOST_MOVED, max(-MOST_MOVED, (count - 1) * sum(moved) / count))
    half = stats.t.ppf(0.975, count - 1) * sum(move**2 for move in moved) ** 0.5
    shares = [1 / (1 + exp(-end)) * (1 + 2 * off) - off for end in (centre - half, centre + half)]
    first, last = (low + (high - low) * min(1, max(0, share)) for share in shares)
    return first, last


def test_intervals_do_not_depend_on_the_order_of_units() -> None:
    counts, dishes = many_units()
    shuffled = np.random.default_rng(2).permutation(len(counts))
    found, again = (
        coefficient_intervals(counts, dishes, "ordinal"),
        coefficient_intervals(counts[shuffled], dishes[shuffled], "ordinal"),
    )
    for one, other in zip(found, again, strict=True):
        assert (one.low, one.high) == (pytest.approx(other.low), pytest.approx(other.high))


def test_few_dishes_and_equal_answers_claim_no_interval() -> None:
    counts, dishes = many_units()
    few = coefficient_intervals(counts[:45], dishes[:45], "nominal").ac1
    assert (few.low, few.reason) == (None, "fewer than 10 dishes: no interval is claimed")
    alike = coefficient_intervals(counted([[0, 0]] * 12, 2), np.arange(12), "nominal")
    assert {alike.raw_agreement.low, alike.ac1.low, alike.alpha.low} == {None}


def test_alpha_claims_an_interval_from_50_dishes_on_and_where_no_answer_prevails() -> None:
    counts, dishes = many_units()
    assert (
        coefficient_intervals(counts, dishes, "nominal").alpha.reason
        == "fewer than 50 dishes: alpha claims no interval"
    )
    many = np.tile(counts, (5, 1)), np.repeat(np.arange(60), 5)
    assert coefficient_intervals(*many, "nominal").alpha.low is not None
    prevailing = counted([[0, 0]] * 55 + [[0, 1]] * 5, 2)
    reason = coefficient_intervals(prevailing, np.arange(60), "nominal").alpha.reason
    assert reason == "one answer prevails in over 75%: alpha claims no interval"
