"""What of a table was planned before the data, and what is exploratory. Pure: a bundle marks its tables with it too."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from evaluation.metrics.tidy import TidyRow, TidyTable

PLANNED, EXPLORATORY = "planned", "exploratory"
NO_PLAN = "Exploratory: no plan was made before the data."


@dataclass(frozen=True)
class Listed:
    """A table as a frozen plan lists it. `before`: the plan was frozen before the data, and says what was hashed."""

    title: str
    slug: str
    frozen: str
    sha256: str
    before: bool
    version: str
    filters: Mapping[str, str]
    metrics: tuple[str, ...]

    @property
    def named(self) -> str:
        return f"“{self.title}” (frozen {self.frozen}, SHA-256 {self.sha256[:12]})"

    def holds(self, table: TidyTable, filters: Mapping[str, str], row: TidyRow) -> bool:
        """Whether it lists this row. A filter that is a column keeps rows; any other one chooses what is counted."""
        chosen = {name: value for name, value in self.filters.items() if name not in table.columns}
        same = chosen == {name: value for name, value in filters.items() if name not in table.columns}
        kept = all(row.groups[name] == value for name, value in self.filters.items() if name in table.columns)
        return same and kept and row.metric in self.metrics and self.version == table.version


@dataclass(frozen=True)
class PlanStatus:
    """How a table stands to the plans about its data: `planned` of `total` numbers.

    `plans` list some of them, `others` are about the same data and list none, `late` list it but were frozen too late.
    """

    planned: int
    total: int
    plans: tuple[Listed, ...] = ()
    late: tuple[Listed, ...] = ()
    others: tuple[str, ...] = ()

    @property
    def kind(self) -> Literal["planned", "part", "late", "outside", "none"]:
        if self.planned:
            return "planned" if self.planned == self.total else "part"
        if self.late:
            return "late"
        return "outside" if self.others else "none"

    @property
    def named(self) -> tuple[Listed, ...]:
        """One entry for each plan that lists it, or that lists it too late."""
        return tuple({one.slug: one for one in (self.plans or self.late)}.values())

    @property
    def sentence(self) -> str:
        """What files say of it, in English."""
        names = ", ".join(plan.named for plan in self.named)
        texts = {
            "planned": f"Planned before the data: {names}.",
            "part": f"In part exploratory: {self.planned} of {self.total} numbers planned before the data: {names}.",
            "late": f"Exploratory: the plan {names} lists it, and was not frozen before the data.",
            "outside": f"Exploratory: outside the plan {', '.join(f'“{title}”' for title in self.others)}.",
            "none": NO_PLAN,
        }
        return texts[self.kind]


def in_short(rows: Sequence[TidyRow]) -> str:
    """The sentence under a figure of these rows."""
    planned = sum(row.planned for row in rows)
    if planned == len(rows):
        return "Planned before the data."
    return f"In part exploratory: {planned} of {len(rows)} numbers were planned." if planned else "Exploratory."


def mark_planned_rows(
    table: TidyTable, filters: Mapping[str, str], listed: Sequence[Listed], others: Sequence[str] = ()
) -> tuple[TidyTable, PlanStatus]:
    """`table` with its planned rows marked and a note that says how it stands, and the standing itself.

    `listed`: what frozen plans list of this table's name; `others`: titles of plans about the same data.
    """
    before = [one for one in listed if one.before]
    rows = tuple(replace(row, planned=any(one.holds(table, filters, row) for one in before)) for row in table.rows)
    plans = [one for one in before if any(one.holds(table, filters, row) for row in rows)]
    late = [one for one in listed if not one.before and any(one.holds(table, filters, row) for row in rows)]
    status = PlanStatus(sum(row.planned for row in rows), len(rows), tuple(plans), tuple(late), tuple(others))
    notes = (status.sentence, *table.notes) if rows else table.notes
    return replace(table, rows=rows, notes=notes), status
