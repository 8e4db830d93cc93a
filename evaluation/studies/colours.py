"""Colours: are the images of a country as different from one another in their colours as its photographs are?

A small study, and the example of docs/adding-a-study.md. Units are images; an outcome holds `colourfulness` and the
shares of 27 boxes of colours, `"0"` to `"26"`, as numbers.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, ClassVar

import numpy as np

from evaluation.contracts.backend import PixelSource
from evaluation.contracts.study import (
    Catalogue,
    ConfigError,
    OutcomeData,
    Plan,
    Result,
    RunOf,
    Study,
    StudyConfig,
    UnitPlan,
    Work,
)
from evaluation.contracts.table import TableSpec
from evaluation.metrics import colours as metrics
from evaluation.metrics.entropy import entropy
from evaluation.metrics.inference.intervals import AMOUNT, one_way
from evaluation.metrics.observations import Observations
from evaluation.metrics.tidy import Estimate, TidyRow, TidyTable
from evaluation.studies.observe import of_outcomes

DIVERSITY = TableSpec(
    name="colours.diversity",
    title="How different in colour the images of a country are",
    source="Own study; Hasler & Süsstrunk 2003; Lin 1991",
    version="2",
    columns=("country", "model"),
    metrics={
        "divergence": (
            "Jensen–Shannon divergence of the images' colours, in bits: entropy of their mean minus mean of their "
            "entropies. 0 where all images have the same colours. The fewer the images the lower by chance: "
            "compare cells with equally many; no interval is claimed."
        ),
        "colourfulness": "Mean colourfulness of the images, 0 for grey ones.",
    },
    filters=("run", "country", "model"),
    study="colours",
    observed=("colourfulness",),
)

TOP = TableSpec(
    name="colours.top",
    title="The most and the least colourful images",
    source=DIVERSITY.source,
    version="1",
    columns=("model", "end", "place", "picture"),
    metrics={"colourfulness": "Colourfulness of one image, 0 for a grey one."},
    filters=("run", "model", "end"),
    choices={"end": ("top", "bottom")},
    study="colours",
    figure=False,
)
EXTREMES = 5  # images at either end
BIASED = "it is the lower by chance the fewer the images: no interval is claimed"
SINGLE = "a single image: no interval is claimed"


class ColoursConfig(StudyConfig):
    """`images`: slug of the run whose images are measured; `beside`: another one, such as real photographs."""

    images: Annotated[str, RunOf(("generation",))]
    model: str = "pixels"
    beside: Annotated[str, RunOf(("generation",))] = ""


class Colours(Study):
    slug: ClassVar[str] = "colours"
    title: ClassVar[str] = "Colours of images"
    source: ClassVar[str] = DIVERSITY.source
    version: ClassVar[str] = "1"
    needs: ClassVar[tuple[str, ...]] = ("features",)
    Config: ClassVar[type[StudyConfig]] = ColoursConfig
    tables: ClassVar[tuple[str, ...]] = ("diversity", "top")
    batch_size: ClassVar[int] = 64

    def plan(self, config: ColoursConfig, catalogue: Catalogue) -> Plan:
        model = catalogue.model(config.model)
        if model.role not in self.needs:
            raise ConfigError(f"model: {model.slug} gives no features; it has the role {model.role}.")
        images = [*catalogue.images(config.images), *(catalogue.images(config.beside) if config.beside else ())]
        units = [
            UnitPlan(f"image:{image.id}", model, image.subject, {"image": image.id}, f"image:{image.id}")
            for image in images
        ]
        return Plan(
            units, {"model": model.identifier, "revision": model.revision, "edge": model.parameters.get("edge")}
        )

    def execute(self, units: Sequence[Work], backend: PixelSource) -> Iterator[Result]:
        for unit in units:
            if unit.image_bytes is None:
                yield Result(unit.key, "failed", reason="The image is not held.", asked=False)
        held = [unit for unit in units if unit.image_bytes is not None]
        for unit, pixels in zip(held, backend.pixels([unit.image_bytes or b"" for unit in held]), strict=True):
            shares = {str(box): float(share) for box, share in enumerate(metrics.colour_histogram(pixels))}
            yield Result(unit.key, numbers={"colourfulness": metrics.colourfulness(pixels), **shares})

    def summarise(self, table: str, outcomes: Iterable[OutcomeData], config: object) -> TidyTable:
        if table not in self.tables:
            raise ValueError(f"colours has no table {table!r}")
        if table == "top":
            return build_colours_top(outcomes)
        cells: dict[tuple[str, str], list[OutcomeData]] = defaultdict(list)
        for outcome in outcomes:
            for country in outcome.labels.get("country", ()) if outcome.state == "done" else ():
                cells[country, outcome.image_model].append(outcome)
        rows = [
            TidyRow({"country": country, "model": model}, metric, estimate)
            for (country, model), members in sorted(cells.items())
            for metric, estimate in estimate_colour_metrics(members).items()
        ]
        notes = ("An image of several countries counts in each. Intervals are over dishes.",)
        return TidyTable(DIVERSITY.name, DIVERSITY.version, DIVERSITY.columns, tuple(rows), notes)

    def observe(self, table: str, outcomes: Iterable[OutcomeData], config: object) -> Observations | None:
        """How colourful single images are; their divergence is that of a set."""
        if table == "top":
            return None
        return of_outcomes(
            [row for row in outcomes if row.state == "done"],
            lambda row: {"colourfulness": row.numbers["colourfulness"]},
            DIVERSITY,
        )


def build_colours_top(outcomes: Iterable[OutcomeData]) -> TidyTable:
    """`colours.top`: five images at either end of each model, fewer where it has fewer than ten."""
    found: dict[str, list[tuple[float, int]]] = defaultdict(list)
    for row in outcomes:
        if row.state == "done" and row.image_id:
            found[row.image_model].append((row.numbers["colourfulness"], row.image_id))
    rows = []
    for model, images in sorted(found.items()):
        upwards, most = sorted(images), min(EXTREMES, len(images) // 2)
        for end, order in (("top", upwards[::-1]), ("bottom", upwards)):
            for place, (value, image) in enumerate(order[:most], 1):
                groups = {"model": model, "end": end, "place": str(place), "picture": str(image)}
                rows.append(TidyRow(groups, "colourfulness", Estimate(value, 1, 1, reason=SINGLE)))
    notes = ("An image's number is that of its row; place 1 is the outermost.",)
    return TidyTable(TOP.name, TOP.version, TOP.columns, tuple(rows), notes)


def estimate_colour_metrics(members: Sequence[OutcomeData]) -> dict[str, Estimate]:
    """Both metrics of the images of one country and model; colourfulness with an interval over dishes."""
    clusters = np.array([row.cluster for row in members])
    shares = np.array([[row.numbers[str(box)] for box in range(metrics.BINS)] for row in members])
    parts = np.column_stack([shares, entropy(shares), np.ones(len(members))])
    value = float(metrics.jensen_shannon_divergence(parts.sum(axis=0, keepdims=True))[0, 0])
    colourful = np.array([[row.numbers["colourfulness"]] for row in members])
    [beside] = one_way(colourful, clusters, bounds=AMOUNT)
    n, many = len(members), len(np.unique(clusters))
    return {
        "divergence": Estimate(value, n, many, reason=BIASED),
        "colourfulness": Estimate(
            float(colourful.mean()), n, many, beside.low, beside.high, beside.method, beside.reason
        ),
    }
