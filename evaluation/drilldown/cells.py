"""From a number to what is behind it: which images and answers a cell of a table counted, page by page.

`evaluation/registry/names.py` names, by the beginning of a table's name, a function `(Cell) → Behind`. It gives the ids
of what the page lists as a queryset, in their order, and for the ids of one page what the cell counted of each. Nothing
here ever reads all observations of a cell. A test holds for every table whose numbers are means that what is counted on
all pages is as many as the cell's n, and that its mean is the cell's value.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from django.db.models import QuerySet
from django.http import QueryDict
from django.utils.http import urlencode
from django.utils.module_loading import import_string

from evaluation.contracts.table import Filters, TableSpec
from evaluation.metrics.tidy import TidyRow
from evaluation.plans.mask import Mask, MaskedNameNotFound, mask_of_models
from evaluation.plans.plan_status import frozen_plans
from evaluation.registry.names import DRILLDOWNS
from evaluation.suggestions import describe_unknown_name
from evaluation.tables import read, store

PREFIX = "cell."
OWN = ("metric", "after", "show")
PER_PAGE = 12
LONGEST = 300


class CellNotFound(LookupError):
    """The address names no cell of the table; the text says what is wrong with it."""


@dataclass(frozen=True)
class Cell:
    """One cell as its address names it. `shown`: its groups as the page names them; `groups`: their real names.

    `row` is None while the table is first being computed: then nothing can be listed yet. `mask`: for the names on the
    images' rows.
    """

    view: store.TableView
    shown: Mapping[str, str]
    groups: Mapping[str, str]
    metric: str
    row: TidyRow | None
    mask: Mask

    @property
    def spec(self) -> TableSpec:
        return self.view.spec

    @property
    def filters(self) -> Filters:
        """The filters by their real names."""
        return self.view.stored

    @property
    def extra(self) -> Mapping[str, float | str]:
        return self.view.table.extra if self.view.table else {}

    @property
    def query(self) -> str:
        """The cell's own part of its address."""
        return cell_query(self.view.filters, self.shown, self.metric)


@dataclass(frozen=True)
class Observed:
    """What the cell counted of one listed row. `value` None: not counted, and `why`; `said`: the value in words.

    `who` is an opaque label of anyone who answered, empty for machines.
    """

    of: int
    value: float | None
    why: str = ""
    said: str = ""
    who: str = ""

    @property
    def sentence(self) -> str:
        if self.value is None:
            told = f"not counted: {self.why}" if self.why else "not counted"
        else:
            told = f"counted: {self.said}"
        return f"reviewer {self.who}: {told}" if self.who else told


@dataclass(frozen=True)
class Drilldown:
    """What a page lists: `keys` gives the distinct values of `field`, ids of images or of units, in their order.

    `observed`: ids of one page → what the cell counted of each. `note`: how what is listed hangs together with the
    number. `by_people`: only those who may read answers see them one by one.
    """

    kind: Literal["images", "units"]
    keys: QuerySet[Any, Any]
    observed: Callable[[Sequence[int]], Iterable[Observed]]
    field: str = "pk"
    note: str = ""
    by_people: bool = False

    def page(self, after: int = 0, most: int = PER_PAGE) -> tuple[list[int], int | None]:
        """The ids after `after`, at most `most`, and the last of them where more follow."""
        rows = self.keys.filter(**{f"{self.field}__gt": after}).order_by(self.field)
        if self.field != "pk":
            rows = rows.distinct()
        ids = list(rows.values_list(self.field, flat=True)[: most + 1])
        return ids[:most], ids[most - 1] if len(ids) > most else None


def cell_query(filters: Filters, groups: Mapping[str, str], metric: str) -> str:
    """The query that names a cell, from the question mark on; the same in every database: some keep no order."""
    named = {f"{PREFIX}{name}": value for name, value in sorted(groups.items())}
    return "?" + urlencode({**filters, **named, "metric": metric})


def cell_of(name: str, query: QueryDict) -> Cell:
    """The cell that an address names. Raises TableNotFound, FilterNotFound, CellNotFound."""
    given = {key: str(query[key]) for key in query}
    shown = {key.removeprefix(PREFIX): value for key, value in given.items() if key.startswith(PREFIX)}
    rest = {key: value for key, value in given.items() if key not in OWN and not key.startswith(PREFIX)}
    plans = frozen_plans()
    view = read.read_stored_table(name, rest, frozen=plans)
    check_cell_groups(view.spec, shown)
    metric = given.get("metric") or next(iter(view.spec.metrics))
    if metric not in view.spec.metrics:
        raise CellNotFound(describe_unknown_name("metric", metric[:80], view.spec.metrics))
    row = None
    if view.table:
        rows = [row for row in view.table.rows if dict(row.groups) == shown]
        row = next((each for each in rows if each.metric == metric), None)
        if row is None:
            raise CellNotFound("The table has no such row.")
    mask = view.mask if view.mask.active else mask_of_models(plans)
    return Cell(view, shown, unmask_groups(view, shown), metric, row, mask)


def check_cell_groups(spec: TableSpec, shown: Mapping[str, str]) -> None:
    """Raises CellNotFound unless there is one sensible value for each column of the table."""
    for column, value in shown.items():
        if column not in spec.columns:
            raise CellNotFound(describe_unknown_name("column", column[:80], spec.columns))
        if len(value) > LONGEST or "\x00" in value:
            raise CellNotFound(f"The value of the column {column} is none that a table holds.")
    for column in spec.columns:
        if column not in shown:
            raise CellNotFound(f"The address says no value of the column {column}.")


def unmask_groups(view: store.TableView, shown: Mapping[str, str]) -> dict[str, str]:
    """The groups by their real names. Raises CellNotFound for a name that the mask does not know."""
    titles = "reviews" in view.spec.inputs
    try:
        return {column: view.mask.real(column, value, titles=titles) for column, value in shown.items()}
    except MaskedNameNotFound as error:
        raise CellNotFound(str(error)) from error


def load_drilldown(cell: Cell) -> Drilldown:
    """What is behind a cell; where its table has no way of its own to say it, the images of its groups."""
    best = max((start for start in DRILLDOWNS if cell.spec.name.startswith(start)), key=len)
    found: Drilldown = import_string(DRILLDOWNS[best].replace(":", "."))(cell)
    return found
