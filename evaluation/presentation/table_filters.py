"""Filters of a table on its page: selects with the values that occur, and what is chosen as removable chips."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.utils.http import urlencode

from evaluation.contracts.table import Filters, TableSpec
from evaluation.metrics.dimensions import DIMENSIONS
from evaluation.models import Run

MOST_RUNS = 200
# In this order, others after them.
NAMES = {
    "run": "Run",
    "model": "Model",
    **{each.name: each.title for each in DIMENSIONS},
    "prompt": "Prompt",
    "campaign": "Campaign",
    "questionnaire": "Questionnaire",
    "excluded": "People who were left out",
    "interval": "Interval",
    "measure": "Measure",
    "by": "Groups by",
    "with": "Compared with the run",
}


@dataclass(frozen=True)
class Field:
    """A select: `value` is what is chosen, empty for all."""

    name: str
    label: str
    value: str
    options: tuple[str, ...]


@dataclass(frozen=True)
class Chip:
    """A chosen filter, and the query of the page without it."""

    label: str
    value: str
    without: str


def get_filter_label(name: str) -> str:
    return NAMES[name] if name in NAMES else name.replace("_", " ").capitalize()


def in_order(names: Iterable[str]) -> list[str]:
    order = list(NAMES)
    return sorted(names, key=lambda name: order.index(name) if name in order else len(order))


def build_filter_fields(spec: TableSpec, filters: Filters, options: Mapping[str, Sequence[str]]) -> list[Field]:
    """The selects of a table; one that leaves no choice is left out."""
    found = []
    for name in in_order(spec.filters):
        value = filters.get(name, "")
        held = list(options.get("run" if name == "with" else name, spec.choices.get(name, ())))
        if value and value not in held:
            held.append(value)
        if len(held) > 1 or value:
            found.append(Field(name, get_filter_label(name), value, tuple(held)))
    return found


def build_filter_chips(filters: Filters) -> list[Chip]:
    """What is chosen, each with the way to take it back."""
    return [
        Chip(get_filter_label(name), filters[name], build_filter_query(filters, without=name))
        for name in in_order(filters)
    ]


def build_filter_query(filters: Filters, *, without: str = "") -> str:
    """`?name=value…`, a lone question mark where nothing is left: an address that forgets the present query."""
    return f"?{urlencode({name: value for name, value in filters.items() if name != without})}"


def list_finished_runs(spec: TableSpec) -> list[str]:
    """Names of the finished runs that the table can be made from, the latest first."""
    if not spec.study or "run" not in spec.filters:
        return []
    rows = Run.objects.filter(study=spec.study, state=Run.State.DONE).order_by("-finished_at", "-pk")
    return list(rows.values_list("slug", flat=True)[:MOST_RUNS])
