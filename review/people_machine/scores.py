"""`agreement.scores`: how well scores and probabilities of a machine tell what people say."""

from collections.abc import Iterator

import numpy as np

from evaluation.contracts.table import Filters, TableSpec
from evaluation.metrics import classification as metrics
from evaluation.metrics.inference.intervals import build_empty_interval
from evaluation.metrics.tidy import Estimate, TidyRow, TidyTable
from review.people_machine.ceilings import Ceilings
from review.people_machine.estimates import (
    ONE_ANSWER,
    build_estimate,
    estimate_dropped_ties,
    explain_missing_correlation,
    may_speak,
)
from review.people_machine.labels import AGREEMENT_INPUTS, CHOICES, FILTERS, INTERVALS
from review.people_machine.pairing import Cell, Common, Pairing, gather_agreement_data

LEVELS = (
    "Spearman’s rho takes the mean of people’s opinions (the share of yes, the mean rating, the mean closeness of the "
    "match), images of ties included."
)
TURNED = "“low” after a reading: its values are turned round, since a low one is expected to mean yes."


def compute_score_agreement(filters: Filters) -> TidyTable:
    """`agreement.scores`: every pair whose machine gives scores, in every country and in all together."""
    common = gather_agreement_data(filters)
    ceilings = Ceilings(common)
    rows = [row for pairing in common.pairings for row in rows_of(common, ceilings, pairing)]
    return common.table(SCORES, rows, INTERVALS, LEVELS, TURNED)


def rows_of(common: Common, ceilings: Ceilings, pairing: Pairing) -> Iterator[TidyRow]:
    if pairing.score is None:
        return
    for cell in common.cells(pairing, pairing.score):
        ceiling = ceilings.scores(pairing.said.question, cell)
        for metric, found in estimate_score_agreement(cell, ceiling).items():
            yield TidyRow({**pairing.groups, "country": cell.country}, metric, found)


def estimate_score_agreement(cell: Cell, ceiling: dict[str, Estimate]) -> dict[str, Estimate]:
    kept = cell.labelled
    counted = (kept.n, kept.clusters, kept.people)
    sizes = (len(cell.machine), cell.clusters, cell.people)
    area = build_estimate(
        metrics.auc(kept.machine, kept.yes, kept.no),
        metrics.auc_interval(kept.machine, kept.yes, kept.no, kept.dishes),
        *counted,
        kept.lacking or ONE_ANSWER,
    )
    each = np.ones(len(cell.machine))
    rho = build_estimate(
        metrics.weighted_spearman(cell.machine, cell.mean, each),
        build_empty_interval(metrics.RANKS_BIASED),
        *sizes,
        cell.lacking or explain_missing_correlation(cell.machine, cell.mean),
    )
    return {
        "auc": area,
        "spearman": rho,
        "prevalence": estimate_prevalence(kept),
        **ceiling,
        "may_speak": may_speak(cell.country, area, ceiling["ceiling_auc"]),
        "ties": estimate_dropped_ties(cell),
    }


def estimate_prevalence(kept: Cell) -> Estimate:
    """The share of yes among the labels."""
    table = metrics.two_by_two(np.zeros(len(kept.machine)), kept.yes, kept.no)
    value = metrics.compute_label_agreement(table).prevalence
    interval = metrics.agreement_intervals(table, kept.dishes).prevalence
    return build_estimate(value, interval, kept.n, kept.clusters, kept.people, kept.lacking)


SCORES = TableSpec(
    name="agreement.scores",
    title="People and machine: scores",
    source="Hanley & McNeil 1982; Spearman 1904; own",
    version="2",
    columns=("question", "reading", "run", "country"),
    metrics={
        "auc": (
            "Chance that of two images, one of which people call yes and one no, the machine gives the yes the "
            "higher value: 0.5 is guessing, 1 always right. No threshold is needed."
        ),
        "spearman": "Rank correlation of the machine’s values with the mean of people’s opinions.",
        "prevalence": "Share of yes among people.",
        "ceiling_auc": "The AUC of one person’s answer for the others’ label: what a machine can hardly exceed.",
        "ceiling_spearman": "Rank correlation of one person’s answer with the mean of the others’.",
        "may_speak": (
            "1: the lower bound of the machine’s AUC reaches the lower bound of the ceiling’s, so that it may speak "
            "for this community on this question. 0: it does not. Never said of small groups."
        ),
        "ties": "Images in common that were dropped because people are equally divided; n are all in common.",
        "ceiling_ties": "Opinions that were dropped from the ceiling because the others are equally divided.",
    },
    inputs=AGREEMENT_INPUTS,
    filters=FILTERS,
    choices=CHOICES,
    undrawn=("spearman", "prevalence", "ceiling_spearman", "may_speak", "ties", "ceiling_ties"),
    compute=compute_score_agreement,
)
