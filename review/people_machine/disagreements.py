"""`agreement.disagreements`: the images about which people and machine are furthest apart."""

from collections.abc import Iterator

import numpy as np

from evaluation.contracts.table import Filters, TableSpec
from evaluation.metrics.tidy import Estimate, TidyRow, TidyTable
from review.people_machine.labels import AGREEMENT_INPUTS, CHOICES, FILTERS
from review.people_machine.opinions import Floats
from review.people_machine.pairing import Cell, Common, Pairing, gather_agreement_data

EXTREMES = 10  # images at either end
FAR = 0.5  # half of the scale: nearer ones do not disagree strongly
MACHINE_MORE, PEOPLE_MORE = "machine says yes", "people say yes"
METRICS = {
    "machine": "What the machine says of the image: 1 or 0, a probability, or a score as it is.",
    "people": "Mean of people’s opinions: the share of yes, the mean rating, the mean closeness of the match.",
    "distance": (
        "Machine minus people. Scores and levels have other scales: there it is the distance of their ranks among the "
        "images in common, from −1 to 1."
    ),
}
SINGLE = "a single image: no interval is claimed"
ILLUSTRATION = (
    f"Images at a distance of {FAR} or more, the ten furthest at either end. Single images illustrate; they are no "
    "finding. An image's number is that of its row."
)


def build_disagreements_table(filters: Filters) -> TidyTable:
    """`agreement.disagreements`: up to ten images at either end of each pair, among those that `filters` choose.

    The furthest apart first; among equals those that more people judged.
    """
    common = gather_agreement_data(filters)
    rows = [row for pairing in common.pairings for row in rows_of(common, pairing)]
    return common.table(DISAGREEMENTS, rows, ILLUSTRATION)


def rows_of(common: Common, pairing: Pairing) -> Iterator[TidyRow]:
    values = pairing.score if pairing.score is not None else pairing.chosen
    if values is None or not common.places:
        return
    where, units = list(common.places.items())[-1]
    cell = common.cell(pairing, values, where, units)
    apart = compute_signed_differences(cell, pairing)
    for end, sign in ((MACHINE_MORE, 1), (PEOPLE_MORE, -1)):
        far = np.flatnonzero(sign * apart >= FAR)
        # Among equals the image's number decides, never the order in which a database gave its rows.
        judged = cell.units[far]
        ties = (common.people.countries[judged], common.people.images[judged], -cell.count[far])
        order = far[np.lexsort((*ties, -sign * apart[far]))]
        for place, at in enumerate(order[:EXTREMES], 1):
            groups = {**pairing.groups, "end": end, "place": f"{place:02d}", **build_image_groups(common, cell, at)}
            shown = {"machine": as_given(cell.machine[at], pairing), "people": cell.mean[at], "distance": apart[at]}
            for metric, value in shown.items():
                many = int(cell.count[at])
                yield TidyRow(groups, metric, Estimate(float(value), many, 1, reason=SINGLE, people=many))


def build_image_groups(common: Common, cell: Cell, at: int) -> dict[str, str]:
    unit = cell.units[at]
    return {"picture": str(common.people.images[unit]), "judged_for": str(common.people.countries[unit])}


def as_given(value: float, pairing: Pairing) -> float:
    """The machine's value as the machine gave it."""
    return -value if pairing.low else value


def compute_signed_differences(cell: Cell, pairing: Pairing) -> Floats:
    """Machine minus people (k,): of shares as they are, else of ranks."""
    comparable = pairing.reading.probability or pairing.score is None
    if comparable and pairing.said.question.is_share:
        return cell.machine - cell.mean
    return compute_midrank_shares(cell.machine) - compute_midrank_shares(cell.mean)


def compute_midrank_shares(values: Floats) -> Floats:
    """Middle ranks (k,) as shares of their number."""
    _distinct, place, held = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray(((np.cumsum(held) - held / 2) / max(len(values), 1))[place])


DISAGREEMENTS = TableSpec(
    name="agreement.disagreements",
    title="People and machine: strongest disagreement",
    source="Own",
    version="2",
    columns=("question", "reading", "run", "end", "place", "picture", "judged_for"),
    metrics=METRICS,
    inputs=AGREEMENT_INPUTS,
    filters=(*FILTERS, "end"),
    choices={**CHOICES, "end": (MACHINE_MORE, PEOPLE_MORE)},
    compute=build_disagreements_table,
    figure=False,
)
