"""Rankings of the study *association*: whose images lie nearest to each descriptor, and the extreme images."""

from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt

from evaluation.contracts.study import OutcomeData
from evaluation.contracts.table import TableSpec
from evaluation.metrics import association as metrics
from evaluation.metrics.arrays import Floats
from evaluation.metrics.inference.intervals import SHARE, one_way
from evaluation.metrics.ordering import sort_group_values
from evaluation.metrics.tidy import Estimate, TidyRow, TidyTable
from evaluation.studies.association.tables import (
    COUNTED,
    Scored,
    compute_sign_cosines,
    estimate_of,
    gather_association_data,
    left_out,
)

NEAREST = 50  # images of a model that count as near to a text, as published
EXTREMES = 5  # images at either end

DESCRIPTORS = TableSpec(
    name="association.descriptors",
    title="Whose images lie nearest to a descriptor",
    source="World Wide recipe App. G; comparison_results.csv of the release",
    version="2",
    columns=("descriptor", "continent", "model"),
    metrics={
        "share": (
            "Share of the continent among the 50 images of the model with the highest cosine with the words; "
            "n are these images."
        )
    },
    filters=("run", "model", "continent", "descriptor"),
    study="association",
)
TOP = TableSpec(
    name="association.top",
    title="Images at either end of a descriptor group",
    source="World Wide recipe App. G",
    version="1",
    columns=("group", "model", "end", "place", "picture"),
    metrics={"net": "Mean cosine with the positive words minus mean cosine with the negative words; one image."},
    filters=("run", "model", "group", "end"),
    choices={"end": ("top", "bottom")},
    study="association",
    figure=False,
)
OVER = "Intervals are over the dishes of the 50 images, or these where no dish is known."
TOO_FEW = f"the model has no more than {NEAREST} images: all of them would be among the nearest"


def build_association_descriptors(outcomes: Iterable[OutcomeData]) -> TidyTable:
    """`association.descriptors`: the share of each continent among the images nearest to each descriptor text."""
    found = gather_association_data(outcomes)
    rows: list[TidyRow] = []
    extra: dict[str, float | str] = {}
    for text, vector in found.texts.items():
        near = (
            metrics.cosine_similarity(found.scored.vectors, vector[None])[:, 0]
            if len(found.scored.vectors)
            else np.empty(0)
        )
        for model in found.scored.names():
            order = nearest_first(model, found.scored, near)
            rows += nearest_rows(text, model, found.scored, order)
            if len(order) > NEAREST:
                extra[f"{text}/{model} nearest"] = " ".join(map(str, found.scored.images[order[:NEAREST]]))
    notes = (COUNTED, OVER, *left_out(found))
    return TidyTable(DESCRIPTORS.name, DESCRIPTORS.version, DESCRIPTORS.columns, tuple(rows), notes, extra=extra)


def nearest_first(model: str, scored: Scored, near: Floats) -> npt.NDArray[np.intp]:
    """The model's images from the nearest on; `near` (n,) cosines of all images with the text."""
    mine = np.flatnonzero(scored.models == model)
    return mine[np.argsort(-near[mine], kind="stable")]


def nearest_rows(text: str, model: str, scored: Scored, order: npt.NDArray[np.intp]) -> Iterator[TidyRow]:
    """One row per continent of the model's images, which come in `order`."""
    places = sort_group_values((name for image in order for name in scored.continents[image]), "continent")
    estimates = (
        estimate_place_shares(scored, order, places)
        if len(order) > NEAREST
        else [Estimate(None, 0, 0, reason=TOO_FEW)] * len(places)
    )
    for place, estimate in zip(places, estimates, strict=True):
        yield TidyRow({"descriptor": text, "continent": place, "model": model}, "share", estimate)


def estimate_place_shares(scored: Scored, order: npt.NDArray[np.intp], places: list[str]) -> list[Estimate]:
    """The share of each place among the first 50 of `order`, images from the nearest on.

    Images nearer than the next one are a sample of all that are so near: no rank is made anew.
    """
    nearest = order[:NEAREST]
    inside = np.column_stack([scored.within(place)[nearest] for place in places]).astype(np.float64)
    clusters = scored.clusters[nearest]
    held, values = len(set(clusters.tolist())), inside.mean(axis=0)
    intervals = one_way(inside, clusters, bounds=SHARE)
    return [
        estimate_of(float(value), NEAREST, held, interval) for value, interval in zip(values, intervals, strict=True)
    ]


def build_association_top(outcomes: Iterable[OutcomeData]) -> TidyTable:
    """`association.top`: the images with the highest and the lowest score of each group and model."""
    found = gather_association_data(outcomes)
    rows: list[TidyRow] = []
    for group, signs in found.groups().items():
        net = metrics.net_association(*compute_sign_cosines(found.scored, signs))
        for model in found.scored.names():
            rows += extreme_rows(group, model, found.scored, net)
    notes = ("An image's number is that of its row; place 1 is the outermost.", *left_out(found))
    return TidyTable(TOP.name, TOP.version, TOP.columns, tuple(rows), notes)


def extreme_rows(group: str, model: str, scored: Scored, net: Floats) -> Iterator[TidyRow]:
    """Five images of either end, fewer where the model has fewer than ten."""
    mine = np.flatnonzero(scored.models == model)
    upwards = mine[np.argsort(net[mine], kind="stable")]
    most = min(EXTREMES, len(mine) // 2)
    for end, order in (("top", upwards[::-1]), ("bottom", upwards)):
        for place, image in enumerate(order[:most], 1):
            groups = {"group": group, "model": model, "end": end, "place": str(place)}
            value = Estimate(float(net[image]), 1, 1, reason="a single image: no interval is claimed")
            yield TidyRow({**groups, "picture": str(scored.images[image])}, "net", value)
