"""Looks tables and their filters up by name."""

from django.utils.module_loading import import_string

from evaluation.contracts.table import Filters, TableSpec, with_narrowing
from evaluation.registry import derived
from evaluation.registry.model_names import canonical
from evaluation.registry.names import TABLES
from evaluation.suggestions import unknown

LONGEST_FILTER = 120


class UnknownTable(KeyError):
    """No table has this name; the text lists the near ones."""

    def __str__(self) -> str:
        return str(self.args[0])


class UnknownFilter(ValueError):
    """The table has no such filter; the text lists those it has."""


def spec(name: str) -> TableSpec:
    """The table named `name`. Raises UnknownTable."""
    if name not in TABLES:
        if found := derived.derived(name, spec):
            return found
        raise UnknownTable(unknown("table", name, names()))
    found = import_string(TABLES[name].replace(":", "."))
    assert isinstance(found, TableSpec)
    return with_narrowing(found)


def names() -> list[str]:
    """All names of tables, those derived from a table after it."""
    return [name for base in sorted(TABLES) for name in (base, *derived.names_of(base, spec))]


def checked_filters(table: TableSpec, filters: Filters) -> dict[str, str]:
    """`filters` in one order and spelling, empty ones dropped. Raises UnknownFilter."""
    for name, value in filters.items():
        if name not in table.filters:
            raise UnknownFilter(unknown("filter", name, table.filters))
        if value and name in table.choices and value not in table.choices[name]:
            raise UnknownFilter(unknown(f"value of the filter {name} named", value, table.choices[name]))
        if len(value) > LONGEST_FILTER or "\x00" in value:
            raise UnknownFilter(f"The value of the filter {name} is too long or holds signs that no value has.")
    return canonical(table, {name: value for name, value in sorted(filters.items()) if value})
