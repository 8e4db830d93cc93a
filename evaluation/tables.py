"""Stored tables: computed by a worker or the command line, read by pages and the command line alike."""

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from django.utils.module_loading import import_string

from evaluation.metrics.tidy import TidyTable
from wwd.tables import TABLES

Filters = Mapping[str, str]


class UnknownTable(KeyError):
    """No table has this name; the text lists the near ones."""


@dataclass(frozen=True)
class TableSpec:
    """A named table. `inputs` are the counters that make it stale; `filters` the accepted filter names."""

    name: str
    title: str
    source: str
    version: str
    columns: tuple[str, ...]
    metrics: Mapping[str, str]
    inputs: tuple[str, ...]
    filters: tuple[str, ...]
    compute: Callable[[Filters], TidyTable]


def spec(name: str) -> TableSpec:
    """The table named `name`. Raises UnknownTable."""
    if name not in TABLES:
        near = difflib.get_close_matches(name, TABLES, n=3, cutoff=0.3)
        raise UnknownTable(f"There is no table {name!r}. Near: {', '.join(near) or ', '.join(TABLES)}.")
    found = import_string(TABLES[name].replace(":", "."))
    assert isinstance(found, TableSpec)
    return found
