"""Looks tables and their filters up by name."""

from django.utils.module_loading import import_string

from evaluation.contracts.table import Filters, TableSpec, with_narrowing
from evaluation.registry import derived
from evaluation.registry.model_names import normalise_model_filter
from evaluation.registry.names import TABLES
from evaluation.suggestions import describe_unknown_name

LONGEST_FILTER = 120


class TableNotFound(KeyError):
    """No table has this name; the text lists the near ones."""

    def __str__(self) -> str:
        return str(self.args[0])


class FilterNotFound(ValueError):
    """The table has no such filter; the text lists those it has."""


def find_table_spec(name: str) -> TableSpec:
    """The table named `name`. Raises TableNotFound."""
    if name not in TABLES:
        if found := derived.find_derived_table(name, find_table_spec):
            return found
        raise TableNotFound(describe_unknown_name("table", name, list_table_names()))
    found = import_string(TABLES[name].replace(":", "."))
    assert isinstance(found, TableSpec)
    return with_narrowing(found)


def list_table_names() -> list[str]:
    """All names of tables, those derived from a table after it."""
    return [name for base in sorted(TABLES) for name in (base, *derived.names_of(base, find_table_spec))]


def checked_filters(table: TableSpec, filters: Filters) -> dict[str, str]:
    """`filters` in one order and spelling, empty ones dropped. Raises FilterNotFound."""
    for name, value in filters.items():
        if name not in table.filters:
            raise FilterNotFound(describe_unknown_name("filter", name, table.filters))
        if value and name in table.choices and value not in table.choices[name]:
            raise FilterNotFound(describe_unknown_name(f"value of the filter {name} named", value, table.choices[name]))
        if len(value) > LONGEST_FILTER or "\x00" in value:
            raise FilterNotFound(f"The value of the filter {name} is too long or holds signs that no value has.")
    return normalise_model_filter(table, {name: value for name, value in sorted(filters.items()) if value})
