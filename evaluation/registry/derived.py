"""Tables of other tables' observations: `disparity.`, `compare.` and `variance.<table>`, named like any table."""

from collections.abc import Callable, Iterable, Mapping

from django.utils.module_loading import import_string

from evaluation.contracts.table import TableSpec
from evaluation.registry.names import TABLES

# Prefix → what makes the derived table of a table, None where it has none.
KINDS: Mapping[str, str] = {
    "disparity": "evaluation.derived.disparity:spec_of",
    "compare": "evaluation.derived.comparison:spec_of",
    "variance": "evaluation.derived.variance:spec_of",
}
# Columns of disparities that hold values of the dimension that the column `by` names.
BY = "by"
ENDS = ("lowest", "highest", "worse")


def base_of(name: str) -> str:
    """The table that a name of a derived table is about; empty where it is no such name."""
    kind, _dot, base = name.partition(".")
    return base if kind in KINDS and base in TABLES else ""


def find_derived_table(name: str, spec: Callable[[str], TableSpec]) -> TableSpec | None:
    """The derived table named `name`; None where it is no such name, or the table has none of this kind."""
    base = base_of(name)
    if not base:
        return None
    made = import_string(KINDS[name.partition(".")[0]].replace(":", "."))(spec(base))
    assert made is None or isinstance(made, TableSpec)
    return made


def names_of(base: str, spec: Callable[[str], TableSpec]) -> list[str]:
    """The derived tables of a table."""
    return [name for name in (f"{kind}.{base}" for kind in KINDS) if find_derived_table(name, spec)]


def describe_rescaled(base: TableSpec) -> Iterable[str]:
    """The sentence about scores that are for looking at only."""
    if base.rescaled:
        yield (
            f"Never compared: {', '.join(base.rescaled)}. A score rescaled by min–max moves with every image that is "
            "added; the unscaled ones are compared."
        )
