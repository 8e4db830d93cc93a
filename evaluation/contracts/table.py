"""What a named table is, without any database: studies and reviews declare theirs with it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from evaluation.metrics.dimensions import DIMENSION_NAMES
from evaluation.metrics.observations import Observations
from evaluation.metrics.tidy import TidyTable

Filters = Mapping[str, str]
# What a stored table says about itself beside its numbers: see `evaluation/tables/metadata.py`.
TableMetadata = Mapping[str, Any]


@dataclass(frozen=True)
class PValue:
    """A metric that is a p-value: `p`, the metric that it tests, and the metric that corrects it for all tests."""

    p: str
    tested: str
    holm: str = ""


def inputs_of_study(study: str) -> tuple[str, ...]:
    """What every table of a study is computed from."""
    return (f"runs.{study}", "withdrawals")


@dataclass(frozen=True)
class TableSpec:
    """A named table. `metrics`: metric → its definition. `version` changes with a definition.

    Texts are plain English, on pages and in files.

    `inputs` are the counters whose change makes it stale, of a study's table those of its runs and of withdrawals where
    none are named; `filters` the accepted filter names: one that is also a
    column keeps the rows with that value, any other is read by what computes the table; `choices` are the accepted
    values of those that have few. `figure`: whether bars of it say anything; `undrawn`: metrics of which they say
    nothing that another does not say. A table comes either from
    `compute`, or from `study`: then that study's `summarise` makes it from a run (filter `run`). `observe` gives the
    observations that its numbers are means of (a study's table: by `Study.observe`); None where they are no means.
    `observed`: for a study's table, the metrics that `Study.observe` gives. `worse`: which end of a metric is the worse
    one; metrics left out have none. `rescaled`: metrics that are for looking at only, never compared. `redrawn`: makes
    of the table the one that the figure shows, where bars of the table itself would say little. `unread`: filters on
    columns that `compute` never looks at, so that rows of the table without them are what it would make; of a study's
    table that is so for all of them. `tests`: its p-values; `ranks`: columns that name the worse or the lowest of
    several groups → the metric that they go by. What of both is left where no interval is claimed, says
    `evaluation/tables/claims.py`. `instrument`: where the column `model` names the model that looks at images, such as
    photographs, and not the one that made them: the parts of a run's definition that this model is, its name first.
    """

    name: str
    title: str
    source: str
    version: str
    columns: tuple[str, ...]
    metrics: Mapping[str, str]
    inputs: tuple[str, ...] = ()
    filters: tuple[str, ...] = ()
    compute: Callable[[Filters], TidyTable] | None = None
    observe: Callable[[Filters], Observations] | None = None
    study: str = ""
    choices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    figure: bool = True
    undrawn: tuple[str, ...] = ()
    observed: tuple[str, ...] = ()
    worse: Mapping[str, Literal["low", "high"]] = field(default_factory=dict)
    rescaled: tuple[str, ...] = ()
    redrawn: Callable[[TidyTable], TidyTable] | None = None
    unread: tuple[str, ...] = ()
    tests: tuple[PValue, ...] = ()
    ranks: Mapping[str, str] = field(default_factory=dict)
    instrument: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.study and not self.inputs:
            object.__setattr__(self, "inputs", inputs_of_study(self.study))

    def to_draw(self, table: TidyTable) -> TidyTable:
        """What the figure of this table shows."""
        return self.redrawn(table) if self.redrawn else table

    def only_selects_rows(self, name: str) -> bool:
        """Whether a filter does nothing but keep rows of the table without it."""
        return name in self.columns and (self.compute is None or name in self.unread)

    @property
    def drawn(self) -> list[str]:
        """The metrics that the figure shows."""
        return [metric for metric in self.metrics if metric not in self.undrawn]


# Filters that choose what is counted by the labels of a subject or of a unit, and by the prompt of an image.
PROMPT = "prompt"
NARROWING = (*DIMENSION_NAMES, PROMPT)
MOST_OPTIONS = 300


def with_narrowing(spec: TableSpec) -> TableSpec:
    """A study's table has all filters that choose outcomes: whatever computes it sees only those."""
    more = [name for name in NARROWING if name not in spec.filters]
    return replace(spec, filters=(*spec.filters, *more)) if spec.study else spec
