"""A study of the shape of visual questions and a backend that does nothing: what is left is the runner."""

from collections.abc import Iterable, Iterator, MutableMapping, Sequence
from typing import Any, ClassVar, cast

from evaluation import studies
from evaluation.contracts import parameters
from evaluation.contracts.study import (
    Catalogue,
    ModelData,
    OutcomeData,
    Plan,
    Result,
    Study,
    StudyConfig,
    SubjectData,
    UnitPlan,
    Work,
)
from evaluation.metrics.tidy import TidyTable
from evaluation.registry import backend_table

QUESTIONS = 15
LETTERS = "ABCD"


class NothingConfig(StudyConfig):
    """So many units, 15 to each of the images that there could be; `name` tells runs apart."""

    units: int
    name: str = ""


class Nothing(Study):
    """15 units share an affinity; each outcome is a letter and four numbers."""

    slug: ClassVar[str] = "nothing"
    title: ClassVar[str] = "Nothing"
    source: ClassVar[str] = "bench"
    version: ClassVar[str] = "1"
    needs: ClassVar[tuple[str, ...]] = ("vqa",)
    Config: ClassVar[type[StudyConfig]] = NothingConfig
    tables: ClassVar[tuple[str, ...]] = ()

    def plan(self, config: NothingConfig, catalogue: Catalogue) -> Plan:
        model = catalogue.model("nothing")
        subjects = catalogue.subjects({"kind": "dish", "demonstration": True})
        return Plan(units(config.units, model, subjects), {"model": model.slug})

    def execute(self, units: Sequence[Work], backend: "Idle") -> Iterator[Result]:
        return (backend.answer(unit.key) for unit in units)

    def summarise(self, table: str, outcomes: Iterable[OutcomeData], config: Any) -> TidyTable:
        raise ValueError(f"nothing has no table {table!r}")


def units(number: int, model: ModelData, subjects: Sequence[SubjectData]) -> Iterator[UnitPlan]:
    for unit in range(number):
        image, question = divmod(unit, QUESTIONS)
        payload = {"question": f"Q{question}", "order": question % 4, "image_number": image}
        subject = subjects[image % len(subjects)]
        yield UnitPlan(f"{image:07}-{question:02}", model, subject, payload, affinity=f"{image:07}")


class Idle:
    """Answers at once, always the same."""

    def __init__(self, model: ModelData) -> None:
        self.circumstances = {"backend": model.backend, "precision": "fp32", "card": "none"}
        self.numbers = {letter: 1 / len(LETTERS) for letter in LETTERS}

    def answer(self, key: str) -> Result:
        return Result(key, text="A", numbers=self.numbers, circumstances=self.circumstances)


def register(batch: int = Study.batch_size) -> None:
    """Makes both known to this process, with batches of this size."""
    Nothing.batch_size = batch
    studies.STUDIES["nothing"] = "bench.no_op_study:Nothing"
    cast(MutableMapping[str, str], backend_table.BACKENDS["vqa"])["nothing"] = "bench.no_op_study:Idle"
    cast(MutableMapping[tuple[str, str], tuple[()]], parameters.DECLARED)["vqa", "nothing"] = ()
