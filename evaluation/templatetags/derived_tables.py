"""Tables made of another one, and the one that a table is made of, for links between their pages."""

from django import template

from evaluation.contracts.table import TableSpec
from evaluation.registry import derived, lookup

register = template.Library()


@register.filter
def derived_of(name: str) -> list[TableSpec]:
    """The tables derived from the table `name`."""
    return [lookup.find_table_spec(other) for other in derived.names_of(name, lookup.find_table_spec)]


@register.filter
def base_of(name: str) -> TableSpec | None:
    """The table that the table `name` is derived from; None where it is derived from none."""
    base = derived.base_of(name)
    return lookup.find_table_spec(base) if base else None
