"""The ceiling of a machine: how well one person agrees with the others about the same images."""

from collections.abc import Callable
from dataclasses import fields
from functools import cache
from typing import TypeVar

import numpy as np

from evaluation.metrics import classification as metrics
from evaluation.metrics.human_ceiling import HeldOut
from evaluation.metrics.inference.intervals import build_empty_interval
from evaluation.metrics.tidy import Estimate
from review.people_machine.estimates import ONE_ANSWER, build_estimate, explain_missing_correlation
from review.people_machine.opinions import Codes
from review.people_machine.pairing import Cell, Common
from review.people_machine.registry import PeopleQuestion

Made = TypeVar("Made")
TOO_FEW_OPINIONS = "no image in common has three opinions"
OTHERS_TIE = "the others tie about every image in common that has three opinions"


class Ceilings:
    """Of one table: the same images under several machines are computed once."""

    def __init__(self, common: Common) -> None:
        self.common = common
        self.held = cache(lambda question: Rows(common.people.held_out(question, common.label)))
        self.made: dict[tuple[str, bytes], dict[str, Estimate]] = {}

    def labels(self, question: PeopleQuestion, cell: Cell) -> dict[str, Estimate]:
        """Kappa, raw agreement and AC1 of one opinion against the others; how many opinions were dropped for ties."""
        return self._once("labels", question, cell, estimate_label_ceilings)

    def scores(self, question: PeopleQuestion, cell: Cell) -> dict[str, Estimate]:
        """AUC and Spearman's rho of one opinion's level against the others."""
        return self._once("scores", question, cell, estimate_score_ceilings)

    def _once(
        self, kind: str, question: PeopleQuestion, cell: Cell, make: Callable[..., dict[str, Estimate]]
    ) -> dict[str, Estimate]:
        key = (f"{kind} {question.name}", cell.units.tobytes())
        if key not in self.made:
            self.made[key] = make(self.held(question).of(cell.units), self.common.people.dishes, question.cut)
        return self.made[key]


class Rows:
    """Opinions that can be taken by image, quickly."""

    def __init__(self, held: HeldOut) -> None:
        order = np.argsort(held.unit, kind="stable")
        self.held = select_opinions(held, order)

    def of(self, units: Codes) -> HeldOut:
        """Those about `units`, which ascend."""
        first = np.searchsorted(self.held.unit, units)
        many = np.searchsorted(self.held.unit, units, side="right") - first
        before = np.cumsum(many) - many
        return select_opinions(self.held, np.arange(many.sum()) + np.repeat(first - before, many))


def select_opinions(held: HeldOut, rows: Codes) -> HeldOut:
    return HeldOut(*(getattr(held, part.name)[rows] for part in fields(held)))


def estimate_label_ceilings(held: HeldOut, dishes: Codes, cut: float) -> dict[str, Estimate]:
    kept, lacking = drop_tied_opinions(held)
    table = metrics.two_by_two(kept.value >= cut, kept.yes, kept.no)
    clusters = dishes[kept.unit]
    n, many, people = count_ceiling_samples(kept, clusters)
    values = metrics.compute_label_agreement(table)
    intervals = metrics.agreement_intervals(table, clusters)
    names = ("kappa", "raw_agreement", "ac1")
    found = {
        f"ceiling_{name}": build_estimate(
            getattr(values, name), getattr(intervals, name), n, many, people, lacking or ONE_ANSWER
        )
        for name in names
    }
    return {**found, "ceiling_ties": count_dropped_ties(held, dishes, lacking)}


def estimate_score_ceilings(held: HeldOut, dishes: Codes, cut: float) -> dict[str, Estimate]:
    kept, lacking = drop_tied_opinions(held)
    clusters, every = dishes[kept.unit], dishes[held.unit]
    found = {
        "ceiling_auc": build_estimate(
            metrics.auc(kept.value, kept.yes, kept.no),
            metrics.auc_interval(kept.value, kept.yes, kept.no, clusters),
            *count_ceiling_samples(kept, clusters),
            lacking or ONE_ANSWER,
        ),
        "ceiling_spearman": build_estimate(
            metrics.weighted_spearman(held.value, held.others, held.weight),
            build_empty_interval(metrics.RANKS_BIASED),
            *count_ceiling_samples(held, every),
            explain_missing_correlation(held.value, held.others) if len(held.unit) else TOO_FEW_OPINIONS,
        ),
    }
    return {**found, "ceiling_ties": count_dropped_ties(held, dishes, lacking)}


def drop_tied_opinions(held: HeldOut) -> tuple[HeldOut, str]:
    """The opinions whose others do not tie, and why there are none."""
    kept = select_opinions(held, np.flatnonzero(~held.tied))
    return kept, "" if len(kept.unit) else OTHERS_TIE if len(held.unit) else TOO_FEW_OPINIONS


def count_ceiling_samples(held: HeldOut, clusters: Codes) -> tuple[int, int, int]:
    """Images, their dishes, and the people whose opinions these are."""
    return len(np.unique(held.unit)), len(np.unique(clusters)), len(np.unique(held.rater))


def count_dropped_ties(held: HeldOut, dishes: Codes, lacking: str) -> Estimate:
    """How many opinions were dropped because the others tie; n are all opinions on images with three."""
    _images, many, people = count_ceiling_samples(held, dishes[held.unit])
    dropped = int(held.tied.sum()) if len(held.unit) else None
    return Estimate(dropped, len(held.unit), many, reason=lacking if dropped is None else "", people=people)
