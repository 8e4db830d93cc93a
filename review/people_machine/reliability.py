"""`agreement.calibration`: whether a machine's probabilities come true, as people see it."""

from collections.abc import Iterator

from evaluation.contracts.table import Filters, TableSpec
from evaluation.metrics import calibration as metrics
from evaluation.metrics.calibration import BINS
from evaluation.metrics.tidy import SMALL_N, Estimate, TidyRow, TidyTable
from review.people_machine.estimates import build_estimate
from review.people_machine.labels import AGREEMENT_INPUTS, CHOICES, FILTERS
from review.people_machine.pairing import Cell, Common, Pairing, gather_agreement_data

WHOLE = "whole"
BIAS = (
    "In samples the calibration error lies above 0 also where the machine is calibrated, the more so the fewer the "
    "images: compare cells of the same size. Intervals are over dishes, the bins held fixed; the error claims "
    "none. Bins are listed "
    f"where there are {SMALL_N} labels or more."
)
NO_PROBABILITIES = "None of these runs gives probabilities, so that nothing can be calibrated."


def compute_human_calibration(filters: Filters) -> TidyTable:
    """`agreement.calibration`: every pair whose machine gives probabilities, in every country and in all together."""
    common = gather_agreement_data(filters)
    rows = [row for pairing in common.pairings for row in rows_of(common, pairing)]
    lacking = (NO_PROBABILITIES,) if common.pairings and not rows else ()
    return common.table(CALIBRATION, rows, BIAS, *lacking)


def rows_of(common: Common, pairing: Pairing) -> Iterator[TidyRow]:
    if pairing.score is None or not pairing.reading.probability:
        return
    for cell in common.cells(pairing, pairing.score):
        groups = {**pairing.groups, "country": cell.country}
        for metric, found in of_all(cell.labelled).items():
            yield TidyRow({**groups, "bin": WHOLE}, metric, found)
        for number, metric, found in of_bins(cell.labelled):
            yield TidyRow({**groups, "bin": f"{number:02d}"}, metric, found)


def of_all(kept: Cell) -> dict[str, Estimate]:
    """Calibration error and Brier score."""
    values = metrics.compute_calibration(kept.machine, kept.yes, kept.no)
    intervals = metrics.calibration_intervals(kept.machine, kept.yes, kept.no, kept.dishes)
    return {
        name: build_estimate(value, interval, kept.n, kept.clusters, kept.people, kept.lacking)
        for name, value, interval in zip(values._fields, values, intervals, strict=True)
    }


def of_bins(kept: Cell) -> Iterator[tuple[int, str, Estimate]]:
    """The bins from the lowest probabilities on: what was said, what came true. None of fewer than 30 labels."""
    if kept.n < SMALL_N:
        return
    for number, found in enumerate(metrics.reliability_bins(kept.machine, kept.yes, kept.no, kept.dishes), 1):
        inside = kept.picked(found.inside)
        yield (
            number,
            "predicted",
            Estimate(found.predicted, inside.n, inside.clusters, reason=NOT_ESTIMATED, people=inside.people),
        )
        yield (
            number,
            "observed",
            build_estimate(found.observed, found.interval, inside.n, inside.clusters, inside.people, kept.lacking),
        )


NOT_ESTIMATED = "what the machine said itself: no interval is claimed"
CALIBRATION = TableSpec(
    name="agreement.calibration",
    title="People and machine: calibration of probabilities",
    source="Brier 1950; Naeini, Cooper & Hauskrecht 2015",
    version="2",
    columns=("question", "reading", "run", "country", "bin"),
    metrics={
        "ece": (
            f"Expected calibration error: mean over {BINS} bins that hold equally many images of the distance "
            "between the mean probability and the share of yes among people. Row “whole”."
        ),
        "brier": "Brier score: mean squared distance of the probability from the people’s label. Row “whole”.",
        "predicted": "Mean probability that the machine gives in a bin; bin 01 has the lowest.",
        "observed": "Share of yes among people in the bin.",
    },
    inputs=AGREEMENT_INPUTS,
    filters=FILTERS,
    choices=CHOICES,
    undrawn=("ece", "brier"),
    compute=compute_human_calibration,
)
