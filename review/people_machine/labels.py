"""`agreement.labels`: labels of a machine beside those of people."""

from collections.abc import Iterator

import numpy as np

from evaluation.contracts.table import Filters, TableSpec
from evaluation.metrics import classification as metrics
from evaluation.metrics.human_ceiling import LABELS
from evaluation.metrics.thresholds import FOLDS, fitted_labels
from evaluation.metrics.tidy import Estimate, TidyRow, TidyTable
from review.people_machine.ceilings import Ceilings
from review.people_machine.estimates import ONE_ANSWER, build_estimate, estimate_dropped_ties, may_speak
from review.people_machine.opinions import Floats
from review.people_machine.pairing import UNREAD, Cell, Common, Pairing, gather_agreement_data
from review.tables.selection import EXCLUDED

AGREEMENT_INPUTS = ("reviews", "runs.association", "runs.colours", "runs.stereotypes", "withdrawals")
FILTERS = ("run", "question", "country", "model", "campaign", "questionnaire", "excluded", "label")
CHOICES = {"excluded": EXCLUDED, "label": LABELS}
SOURCE = "Cohen 1960; Gwet 2008; own"
NONE, FITTED = "none", "fitted on other dishes"
UNFITTED = (
    f"no threshold could be fitted on other dishes: fewer than {FOLDS} dishes, one answer by people, or one value by "
    "the machine"
)
INTERVALS = (
    "Clusters are dishes, over which intervals are. The ceiling is one person held out against the others, over the "
    "images in common with three opinions or more."
)
THRESHOLDS = (
    f"A fitted threshold has the highest kappa with people over the dishes of four of {FOLDS} folds, all countries "
    "together, and makes labels in the fifth; it is held fixed in the intervals."
)


def compute_human_label_table(filters: Filters) -> TidyTable:
    """`agreement.labels`: every pair and threshold, in every country and in all together.

    Thresholds are fitted on all countries, so that all are needed for one.
    """
    common = gather_agreement_data({name: value for name, value in filters.items() if name != "country"})
    ceilings = Ceilings(common)
    rows = [row for pairing in common.pairings for row in rows_of(common, ceilings, pairing)]
    return common.table(LABELS_TABLE, rows, INTERVALS, THRESHOLDS)


def rows_of(common: Common, ceilings: Ceilings, pairing: Pairing) -> Iterator[TidyRow]:
    for threshold, values, unread in machine_labels(common, pairing):
        for cell in common.cells(pairing, values, unread):
            groups = {**pairing.groups, "threshold": threshold, "country": cell.country}
            ceiling = ceilings.labels(pairing.said.question, cell)
            for metric, found in estimate_label_agreement(cell, ceiling).items():
                yield TidyRow(groups, metric, found)


def machine_labels(common: Common, pairing: Pairing) -> Iterator[tuple[str, Floats, str]]:
    """Threshold, labels (u,) and why there may be none: the option chosen, and the score beyond a fitted threshold."""
    if pairing.chosen is not None:
        yield NONE, pairing.chosen, UNREAD
    if pairing.score is not None:
        usable = np.flatnonzero((pairing.said.count > 0) & ~np.isnan(pairing.score))
        made = np.full(len(pairing.score), np.nan)
        yes, no = pairing.yes[usable], pairing.no[usable]
        made[usable] = fitted_labels(pairing.score[usable], yes, no, common.people.dishes[usable])
        yield FITTED, made, UNFITTED if len(usable) else UNREAD


def estimate_label_agreement(cell: Cell, ceiling: dict[str, Estimate]) -> dict[str, Estimate]:
    kept = cell.labelled
    table = metrics.two_by_two(kept.machine, kept.yes, kept.no)
    values, intervals = metrics.compute_label_agreement(table), metrics.agreement_intervals(table, kept.dishes)
    found = {
        name: build_estimate(value, interval, kept.n, kept.clusters, kept.people, kept.lacking or ONE_ANSWER)
        for name, value, interval in zip(values._fields, values, intervals, strict=True)
    }
    speaks = may_speak(cell.country, found["kappa"], ceiling["ceiling_kappa"])
    return {**found, **ceiling, "may_speak": speaks, "ties": estimate_dropped_ties(cell)}


AS_CEILING = "The same of one person against the others’ label: what a machine can hardly exceed."
METRICS = {
    "kappa": "Cohen’s kappa of the machine’s label with the people’s: 0 is what chance would give, 1 is always.",
    "raw_agreement": "Share of the images of which the machine says what people say.",
    "ac1": "Gwet’s AC1: agreement beyond chance that stays informative where one answer prevails.",
    "prevalence": "Share of yes among people.",
    "machine_yes": "Share of yes by the machine, of the same images.",
    "ceiling_kappa": AS_CEILING,
    "ceiling_raw_agreement": AS_CEILING,
    "ceiling_ac1": AS_CEILING,
    "may_speak": (
        "1: the lower bound of the machine’s kappa reaches the lower bound of the ceiling’s, so that it may speak "
        "for this community on this question. 0: it does not. Never said of small groups."
    ),
    "ties": "Images in common that were dropped because people are equally divided; n are all in common.",
    "ceiling_ties": "Opinions that were dropped from the ceiling because the others are equally divided.",
}
LABELS_TABLE = TableSpec(
    name="agreement.labels",
    title="People and machine: labels",
    source=SOURCE,
    version="2",
    columns=("question", "reading", "run", "threshold", "country"),
    metrics=METRICS,
    inputs=AGREEMENT_INPUTS,
    filters=FILTERS,
    choices=CHOICES,
    undrawn=tuple(metric for metric in METRICS if metric not in ("kappa", "ceiling_kappa")),
    compute=compute_human_label_table,
    unread=("country",),
)
