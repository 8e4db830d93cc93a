"""Agreement of labels, AUC, Spearman, calibration, thresholds and the ceiling: by hand, and against other libraries."""

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr, t
from sklearn.calibration import calibration_curve
from sklearn.metrics import brier_score_loss, cohen_kappa_score, roc_auc_score

from evaluation.metrics import agreement as coefficients
from evaluation.metrics import calibration, human_ceiling, thresholds
from evaluation.metrics import classification as metrics
from evaluation.metrics.inference.intervals import MOST_MOVED, Interval

RNG = np.random.default_rng(4)
N = 300
PEOPLE = RNG.random(N) < 0.4
SCORES = np.round(RNG.normal(size=N) + PEOPLE, 1)
CHANCES = 1 / (1 + np.exp(-SCORES))
MACHINE = SCORES > 0.6
DISHES = RNG.integers(0, 25, N)
YES, NO = PEOPLE.astype(float), (~PEOPLE).astype(float)


def weights(labels: Any) -> tuple[np.ndarray, np.ndarray]:
    yes = np.asarray(labels, dtype=float)
    return yes, 1 - yes


# Labels.


def test_by_hand_two_by_two() -> None:
    # 10 images: both yes 4, machine alone 1, people alone 2, neither 3. Raw .7; yes .6 by people, .5 by the machine.
    # Chance of kappa .6 × .5 + .4 × .5 = .5 → .4; of AC1 2 × .55 × .45 = .495 → .205 / .505.
    machine = np.array([1, 1, 1, 1, 1, 0, 0, 0, 0, 0])
    yes, no = weights([1, 1, 1, 1, 0, 1, 1, 0, 0, 0])
    found = metrics.compute_label_agreement(metrics.two_by_two(machine, yes, no))
    assert found == pytest.approx((0.4, 0.7, 0.205 / 0.505, 0.6, 0.5))


def test_kappa_equals_scikit_learn() -> None:
    found = metrics.compute_label_agreement(metrics.two_by_two(MACHINE, YES, NO))
    assert found.kappa == pytest.approx(cohen_kappa_score(PEOPLE, MACHINE), abs=1e-12)


def test_ac1_and_raw_agreement_are_those_of_two_raters_among_people() -> None:
    counts = np.column_stack([MACHINE.astype(int) + PEOPLE, 2 - MACHINE.astype(int) - PEOPLE])
    theirs = coefficients.agreement_coefficients(counts, "nominal")
    found = metrics.compute_label_agreement(metrics.two_by_two(MACHINE, YES, NO))
    assert (found.raw_agreement, found.ac1) == pytest.approx((theirs.raw_agreement, theirs.ac1))


def test_weights_are_repetitions() -> None:
    yes, no = RNG.integers(0, 4, N).astype(float), RNG.integers(0, 4, N).astype(float)
    labels = np.concatenate([np.repeat([True, False], (int(y), int(n))) for y, n in zip(yes, no, strict=True)])
    many = (yes + no).astype(int)
    found = metrics.compute_label_agreement(metrics.two_by_two(MACHINE, yes, no))
    assert found.kappa == pytest.approx(cohen_kappa_score(labels, np.repeat(MACHINE, many)))
    assert metrics.auc(SCORES, yes, no) == pytest.approx(roc_auc_score(labels, np.repeat(SCORES, many)))


def test_one_answer_by_people_has_no_kappa_and_no_auc_but_agreement() -> None:
    found = metrics.compute_label_agreement(metrics.two_by_two(MACHINE, np.ones(N), np.zeros(N)))
    assert found.kappa is None
    assert found.raw_agreement == pytest.approx(MACHINE.mean())
    assert metrics.auc(SCORES, np.ones(N), np.zeros(N)) is None


def test_a_machine_that_always_says_the_same_agrees_by_chance() -> None:
    assert metrics.compute_label_agreement(metrics.two_by_two(np.ones(N), YES, NO)).kappa == pytest.approx(0)


def test_nothing_has_no_value_anywhere() -> None:
    none = np.empty(0)
    assert set(metrics.compute_label_agreement(metrics.two_by_two(none, none, none))) == {None}
    assert metrics.auc(none, none, none) is None
    assert metrics.weighted_spearman(none, none, none) is None
    assert calibration.compute_calibration(none, none, none) == (None, None)
    assert calibration.reliability_bins(none, none, none, none) == []
    assert thresholds.best_threshold(none, none, none) is None
    assert metrics.auc_interval(none, none, none, none).low is None


def brute(statistic: Any, low: float, high: float, dishes: np.ndarray = DISHES) -> tuple[float, float]:
    """The interval by really leaving out the rows of each dish."""
    names = np.unique(dishes)
    count, off = len(names), 0.5 / len(names)
    without = np.array([statistic(np.flatnonzero(dishes != name)) for name in names])

    def link(value: Any) -> Any:
        share = (np.asarray(value) - low) / (high - low)
        return np.log((share + off) / (1 - share + off))

    whole = link(statistic(np.arange(len(dishes))))
    moved = link(without) - whole
    centre = whole - np.clip((count - 1) * moved.mean(), -MOST_MOVED, MOST_MOVED)
    half = t.ppf(0.975, count - 1) * np.sqrt((moved**2).sum())
    shares = 1 / (1 + np.exp(-np.array([centre - half, centre + half])))
    first, last = low + (high - low) * np.clip(shares * (1 + 2 * off) - off, 0, 1)
    return float(first), float(last)


def bounds(interval: Any) -> tuple[float, float]:
    assert isinstance(interval, Interval)
    assert interval.low is not None
    assert interval.high is not None
    return interval.low, interval.high


def test_interval_of_kappa_leaves_out_whole_dishes() -> None:
    table = metrics.two_by_two(MACHINE, YES, NO)
    found = metrics.agreement_intervals(table, DISHES)
    theirs = brute(lambda rows: metrics.compute_label_agreement(table[rows]).kappa, -1, 1)
    assert bounds(found.kappa) == pytest.approx(theirs, abs=1e-5)


def test_kappa_claims_an_interval_from_20_dishes_on_and_where_people_differ() -> None:
    table, dishes = metrics.two_by_two(MACHINE, YES, NO), np.arange(N) % 19
    assert metrics.agreement_intervals(table, dishes).kappa == Interval(None, None, reason=metrics.FEW_FOR_KAPPA)
    rare = metrics.two_by_two(MACHINE, *weights((np.arange(N) < N // 6).tolist()))
    assert metrics.agreement_intervals(rare, DISHES).kappa == Interval(None, None, reason=metrics.RARE)


def test_an_area_of_nearly_one_claims_no_interval() -> None:
    yes, no = weights([1] * 20 + [0] * 20)
    found = metrics.auc_interval(np.r_[np.arange(20.0) + 19, np.arange(20.0)], yes, no, np.arange(40))
    assert found == Interval(None, None, reason=metrics.PARTED)


# Scores.


def test_by_hand_auc() -> None:
    # yes: 3, 2; no: 2, 1. Pairs: 3>2, 3>1, 2=2 (half), 2>1: 3.5 of 4.
    assert metrics.auc(np.array([3.0, 2, 2, 1]), *weights([1, 1, 0, 0])) == 0.875


def test_auc_equals_scikit_learn_and_turns_round_with_its_scores() -> None:
    found = metrics.auc(SCORES, YES, NO)
    assert found == pytest.approx(roc_auc_score(PEOPLE, SCORES), abs=1e-12)
    assert metrics.auc(-SCORES, YES, NO) == pytest.approx(1 - roc_auc_score(PEOPLE, SCORES))


def test_spearman_equals_scipy_with_ties_too() -> None:
    levels = RNG.integers(0, 6, N).astype(float) + SCORES
    for other in (levels, np.round(levels), PEOPLE.astype(float)):
        theirs = spearmanr(SCORES, other).statistic
        assert metrics.weighted_spearman(SCORES, other, np.ones(N)) == pytest.approx(theirs, abs=1e-12)


def test_weights_of_spearman_are_repetitions() -> None:
    many = RNG.integers(1, 4, N)
    theirs = spearmanr(np.repeat(SCORES, many), np.repeat(CHANCES + PEOPLE, many)).statistic
    assert metrics.weighted_spearman(SCORES, CHANCES + PEOPLE, many.astype(float)) == pytest.approx(theirs)


def test_values_that_do_not_vary_have_no_rank_correlation() -> None:
    assert metrics.weighted_spearman(np.full(N, 0.1), SCORES, np.full(N, 1 / 3)) is None
    assert metrics.weighted_spearman(SCORES, np.full(N, 0.1), np.ones(N)) is None


def test_intervals_of_few_values_are_exact() -> None:
    ratings = np.clip(np.round(SCORES), -2, 3)
    exact = brute(lambda rows: metrics.auc(ratings[rows], YES[rows], NO[rows]), 0, 1)
    assert bounds(metrics.auc_interval(ratings, YES, NO, DISHES)) == pytest.approx(exact, abs=1e-5)


def test_intervals_of_many_values_lie_within_a_hundredth() -> None:
    finely = SCORES + RNG.random(N) / 10
    exact = brute(lambda rows: metrics.auc(finely[rows], YES[rows], NO[rows]), 0, 1)
    assert bounds(metrics.auc_interval(finely, YES, NO, DISHES)) == pytest.approx(exact, abs=0.01)


@given(st.lists(st.integers(0, 300), min_size=1, max_size=500), st.integers(1, 40))
def test_groups_keep_the_order_and_never_part_equals(values: list[int], most: int) -> None:
    given_values = np.array(values, dtype=float)
    codes, groups = metrics.group_values(given_values, most)
    assert set(codes.tolist()) == set(range(groups))
    assert groups <= most
    order = np.argsort(given_values, kind="stable")
    assert (np.diff(codes[order]) >= 0).all()
    assert all(len(set(codes[given_values == value].tolist())) == 1 for value in set(values))


# Calibration.


def test_by_hand_calibration() -> None:
    # Two bins' worth: .2 said of three, one is so (.333); .8 said of two, both so (1). ECE (3 × .1333 + 2 × .2) / 5.
    chances, (yes, no) = np.array([0.2, 0.2, 0.2, 0.8, 0.8]), weights([1, 0, 0, 1, 1])
    found = calibration.compute_calibration(chances, yes, no)
    assert found.ece == pytest.approx((3 * (1 / 3 - 0.2) + 2 * 0.2) / 5)
    assert found.brier == pytest.approx((0.64 + 2 * 0.04 + 2 * 0.04) / 5)
    low, high = calibration.reliability_bins(chances, yes, no, np.arange(5))
    assert (low.predicted, low.observed, high.predicted, high.observed) == pytest.approx((0.2, 1 / 3, 0.8, 1))


def test_brier_and_bins_equal_scikit_learn() -> None:
    chances = np.clip(CHANCES + RNG.random(N) * 1e-3, 0, 1)
    found = calibration.compute_calibration(chances, YES, NO)
    assert found.brier == pytest.approx(brier_score_loss(PEOPLE, chances), abs=1e-12)
    true, said = calibration_curve(PEOPLE, chances, n_bins=10, strategy="quantile")
    bins = calibration.reliability_bins(chances, YES, NO, DISHES)
    assert [each.observed for each in bins] == pytest.approx(true)
    assert [each.predicted for each in bins] == pytest.approx(said)
    assert [each.inside.sum() for each in bins] == [30] * 10
    assert found.ece == pytest.approx(np.abs(true - said).mean())


def test_the_brier_score_has_an_interval_and_the_calibration_error_none() -> None:
    chances = np.clip(CHANCES + RNG.random(N) * 1e-3, 0, 1)
    found = calibration.calibration_intervals(chances, YES, NO, DISHES)
    assert found.ece == Interval(None, None, reason=calibration.BIASED)
    assert bounds(found.brier) == pytest.approx(brute(lambda rows: ((chances - YES)[rows] ** 2).mean(), 0, 1), abs=1e-5)


# Thresholds.


def test_the_best_threshold_is_the_best_of_all() -> None:
    found = thresholds.best_threshold(SCORES, YES, NO)
    assert found is not None
    every = np.unique(SCORES)
    kappas = [cohen_kappa_score(PEOPLE, cut <= SCORES) for cut in (every[1:] + every[:-1]) / 2]
    assert cohen_kappa_score(PEOPLE, found <= SCORES) == pytest.approx(max(kappas))


def test_no_dish_helps_to_judge_itself() -> None:
    """A dish whose people answer the other way round gets the labels that it got before."""
    before = thresholds.fitted_labels(SCORES, YES, NO, DISHES)
    assert not np.isnan(before).any()
    mine = DISHES == 7
    yes = np.where(mine, NO, YES)
    after = thresholds.fitted_labels(SCORES, yes, 1 - yes, DISHES)
    assert (after[mine] == before[mine]).all()


def test_folds_are_whole_dishes_and_about_equal() -> None:
    fold = thresholds.assign_folds(DISHES)
    assert all(len(set(fold[dish == DISHES].tolist())) == 1 for dish in set(DISHES.tolist()))
    assert np.bincount([fold[dish == DISHES][0] for dish in range(25)]).tolist() == [5] * 5


def test_four_dishes_give_no_threshold() -> None:
    assert np.isnan(thresholds.fitted_labels(SCORES, YES, NO, DISHES % 4)).all()
    assert np.isnan(thresholds.fitted_labels(SCORES, np.ones(N), np.zeros(N), DISHES)).all()


# The ceiling.


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("majority", [(1, 0), (0, 0), (0, 1), (0, 0), (0, 1)]),
        ("any", [(1, 0), (1, 0), (1, 0), (0, 0), (0, 1)]),
        ("opinions", [(2, 1), (1, 1), (1, 2), (0, 0), (0, 3)]),
    ],
)
def test_what_a_community_says(label: human_ceiling.Label, expected: list[tuple[int, int]]) -> None:
    yes, no = human_ceiling.community_label_weights(np.array([2.0, 1, 1, 0, 0]), np.array([3.0, 2, 3, 0, 3]), label)
    assert list(zip(yes, no, strict=True)) == expected


def test_by_hand_one_person_held_out() -> None:
    # Three opinions yes yes no: whoever said yes sees the others tie, whoever said no sees … yes yes. Two opinions
    # are too few. Four, 3 of them yes: each yes sees yes (2 of 3), the no sees yes.
    unit = np.array([0, 0, 0, 1, 1, 2, 2, 2, 2])
    held = human_ceiling.held_out(unit, np.array([1.0, 1, 0, 1, 1, 1, 1, 1, 0]), 1, "majority")
    assert held.unit.tolist() == [0, 0, 0, 2, 2, 2, 2]
    assert held.tied.tolist() == [True, True, False, False, False, False, False]
    assert held.yes.tolist() == pytest.approx([0, 0, 1 / 3, 1 / 4, 1 / 4, 1 / 4, 1 / 4])
    assert held.others.tolist() == pytest.approx([0.5, 0.5, 1, 2 / 3, 2 / 3, 2 / 3, 1])


@pytest.mark.parametrize("label", human_ceiling.LABELS)
def test_the_ceiling_equals_brute_force(label: human_ceiling.Label) -> None:
    """Every person of every image against the others, one by one."""
    unit = RNG.integers(0, 40, 160)
    ratings = RNG.integers(0, 6, 160).astype(float)
    held = human_ceiling.held_out(unit, ratings, 3, label)
    given_tables = metrics.two_by_two(held.value >= 3, held.yes, held.no)
    table = np.zeros(4)
    for image in range(40):
        said = ratings[unit == image]
        for me in range(len(said)) if len(said) >= 3 else ():
            others = np.delete(said, me) >= 3
            for target, share in against(others, label):
                cell = (not said[me] >= 3) * 2 + (not target)
                table[cell] += share / len(said)
    assert given_tables.sum(axis=0) == pytest.approx(table)


def against(others: np.ndarray, label: str) -> list[tuple[bool, float]]:
    if label == "any":
        return [(bool(others.any()), 1.0)]
    if label == "opinions":
        return [(bool(other), 1 / len(others)) for other in others]
    yes, no = int(others.sum()), int((~others).sum())
    return [] if yes == no else [(yes > no, 1.0)]


def test_kappa_of_all_small_tables_equals_scikit_learn() -> None:
    for cells in itertools.product(range(3), repeat=4):
        people = np.repeat([1, 0, 1, 0], cells)
        machine = np.repeat([1, 1, 0, 0], cells)
        found = metrics.compute_label_agreement(metrics.two_by_two(machine, *weights(people))).kappa
        if len(set(people.tolist())) == 2:
            assert found == pytest.approx(cohen_kappa_score(people, machine))
        else:
            assert found is None
