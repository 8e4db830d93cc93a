"""A study whose units do what their payload says: answer, raise, stay silent, be refused, kill the worker."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from django.db import OperationalError

from evaluation.contracts.backend import BackendError, DeviceMemoryError
from evaluation.contracts.study import Catalogue, OutcomeData, Plan, Result, Study, StudyConfig, UnitPlan, Work
from evaluation.metrics.tidy import TidyTable


class WorkerKilled(BaseException):
    """Stands for a process that ends in the middle of a batch."""


class FragileConfig(StudyConfig):
    """`acts`: one per unit; `together`: how many units share an affinity."""

    acts: tuple[str, ...]
    together: int = 1
    model: str = "sketch"


class Fragile(Study):
    slug: ClassVar[str] = "fragile"
    title: ClassVar[str] = "Fragile"
    source: ClassVar[str] = "tests"
    version: ClassVar[str] = "1"
    needs: ClassVar[tuple[str, ...]] = ("image_generator",)
    Config: ClassVar[type[StudyConfig]] = FragileConfig
    tables: ClassVar[tuple[str, ...]] = ()
    batch_size: ClassVar[int] = 4
    executed: ClassVar[list[str]] = []
    most: ClassVar[int] = 1000
    room: ClassVar[Callable[[], bool]] = staticmethod(lambda: True)

    def plan(self, config: FragileConfig, catalogue: Catalogue) -> Plan:
        model = catalogue.model(config.model)
        return Plan(
            [
                UnitPlan(f"{number:04}", model, None, {"act": act}, affinity=f"{number // config.together:04}")
                for number, act in enumerate(config.acts)
            ],
            {},
        )

    def execute(self, units: Sequence[Work], backend: Any) -> Iterator[Result]:
        if len(units) > Fragile.most or not Fragile.room():
            raise DeviceMemoryError("The card is full.")
        for unit in units:
            Fragile.executed.append(unit.key)
            yield from perform(unit)

    def summarise(self, table: str, outcomes: Iterable[OutcomeData], config: Mapping[str, Any]) -> TidyTable:
        raise NotImplementedError


def perform(unit: Work) -> Iterator[Result]:
    act = unit.payload["act"]
    if act == "raise":
        raise RuntimeError("the card fell out")
    if act == "kill":
        raise WorkerKilled
    if act == "too much":
        raise DeviceMemoryError("The card is full.")
    if act == "swap":
        raise MemoryError
    if act == "empty":
        yield Result(unit.key, "empty", reason="Nothing came.")
        return
    if act == "lost":
        raise OperationalError("server closed the connection unexpectedly")
    if act == "foreign":
        yield Result("of another unit", text=act)
    if act == "unusable":
        raise BackendError("This machine has no card.")
    if act == "refuse":
        yield Result(unit.key, "refused", reason="Against the rules.")
    elif act != "silent":
        yield Result(unit.key, text=act, circumstances={"together": True})


class Doubled(Fragile):
    """A plan that names its first unit twice."""

    def plan(self, config: FragileConfig, catalogue: Catalogue) -> Plan:
        units = list(super().plan(config, catalogue).units)
        return Plan([*units, units[0]], {})
