"""A study of objects by region, whose numbers differ between the regions of one image; and its runs.

Each image is held against the photographs of its region: what it comes to there is told by its unit's numbers.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import pytest

from evaluation import studies
from evaluation.contracts.study import (
    Catalogue,
    OutcomeData,
    Plan,
    Result,
    Study,
    StudyConfig,
    SubjectData,
    UnitPlan,
    Work,
)
from evaluation.contracts.table import TableSpec
from evaluation.metrics.observations import Observations
from evaluation.metrics.tidy import Estimate, TidyRow, TidyTable
from evaluation.models import GeneratedImage, Run, Subject
from evaluation.registry import names
from evaluation.runner import import_run
from evaluation.runner.catalogue import subject_data
from evaluation.studies.observe import of_outcomes, of_outcomes_within
from tests.evaluation.make import make_image, make_model, numbers

NEAR = TableSpec(
    name="reach.near",
    title="How near images lie to photographs of their region",
    source="test",
    version="1",
    columns=("region", "model"),
    metrics={"near": "Mean nearness.", "photographs": "Photographs of the region."},
    filters=("run", "region", "model"),
    study="reach",
    observed=("near",),
    worse={"near": "low"},
)
SEEN = TableSpec(
    name="reach.seen",
    title="What models see",
    source="test",
    version="1",
    columns=("region", "model"),
    metrics={"seen": "Share of the images that were recognised."},
    filters=("run", "region", "model"),
    study="reach",
    observed=("seen",),
    instrument=("model", "revision"),
)


class ReachConfig(StudyConfig):
    """`least`: fewer photographs of a region are none."""

    images: str
    least: int = 2


class Reach(Study):
    slug: ClassVar[str] = "reach"
    title: ClassVar[str] = "Reach"
    source: ClassVar[str] = "tests"
    version: ClassVar[str] = "1"
    needs: ClassVar[tuple[str, ...]] = ("features",)
    Config: ClassVar[type[StudyConfig]] = ReachConfig
    tables: ClassVar[tuple[str, ...]] = ("near", "seen")

    def plan(self, config: ReachConfig, catalogue: Catalogue) -> Plan:
        return Plan([], {})

    def execute(self, units: Sequence[Work], backend: Any) -> Iterator[Result]:
        raise NotImplementedError

    def cluster_of(self, outcome: OutcomeData) -> str:
        return f"object:{outcome.labels['object'][0]}"

    def summarise(self, table: str, outcomes: Iterable[OutcomeData], config: ReachConfig) -> TidyTable:
        spec, found = {"near": NEAR, "seen": SEEN}[table], list(outcomes)
        taken = Counter(region for row in found if row.photograph for region in row.labels["region"])
        cells: dict[tuple[str, str], list[tuple[float, str]]] = defaultdict(list)
        for row in found:
            for region in row.labels["region"]:
                if table == "seen":
                    cells[region, row.model].append((row.numbers["seen"], row.cluster))
                elif not row.photograph:
                    cells[region, row.image_model].append((row.numbers[region], row.cluster))
        rows = []
        for (region, model), members in cells.items():
            groups, clusters = {"region": region, "model": model}, len({cluster for _, cluster in members})
            mean = float(np.mean([value for value, _ in members]))
            rows.append(TidyRow(groups, spec.observed[0], Estimate(mean, len(members), clusters, reason="a test")))
            if table == "near":
                held = taken[region] if taken[region] >= config.least else None
                rows.append(TidyRow(groups, "photographs", Estimate(held, taken[region], 1, method="count")))
        return TidyTable(spec.name, spec.version, spec.columns, tuple(rows))

    def observe(self, table: str, outcomes: Iterable[OutcomeData], config: ReachConfig) -> Observations:
        if table == "seen":
            return of_outcomes(outcomes, lambda row: {"seen": row.numbers["seen"]}, SEEN)
        made = (row for row in outcomes if not row.photograph)
        return of_outcomes_within(made, "region", lambda row, region: {"near": row.numbers[region]}, NEAR)


@pytest.fixture
def reach(monkeypatch: pytest.MonkeyPatch) -> None:
    """The study and its tables, known like any other."""
    monkeypatch.setitem(studies.STUDIES, "reach", "tests.evaluation.region_study:Reach")
    monkeypatch.setitem(names.TABLES, "reach.near", "tests.evaluation.region_study:NEAR")
    monkeypatch.setitem(names.TABLES, "reach.seen", "tests.evaluation.region_study:SEEN")


def make_object(name: str, *regions: str) -> SubjectData:
    """A thing that is no dish, of one or of several regions."""
    labels = {"object": [name], "region": list(regions)}
    row = Subject.objects.create(kind="object", name=name, source_key=f"test:object:{next(numbers)}", labels=labels)
    return subject_data(row)


Looked = tuple[GeneratedImage, SubjectData, Mapping[str, float]]


def look_at(name: str, regions: Mapping[str, float], maker: str = "painter", **image: Any) -> Looked:
    """An image of an object, and what it comes to in each of its regions."""
    subject = make_object(name, *regions)
    return make_image(subject, make_model(maker), **image), subject, regions


def make_reach(*looked: Looked, slug: str = "reach", models: Sequence[str] = ("eye",), **values: Any) -> Run:
    """A finished run in which each of `models` looked at all images; the first saw them all, others none."""
    given = []
    for model in models:
        eye = make_model(model, role="features", backend="pixels")
        for image, subject, regions in looked:
            key = f"image:{image.pk}:{model}"
            told = {**regions, "seen": float(model == models[0])}
            given.append((UnitPlan(key, eye, subject, {"image": image.pk}, key), Result(key, numbers=told)))
    return import_run("reach", slug, {"images": "x"}, given, **values)[0]
