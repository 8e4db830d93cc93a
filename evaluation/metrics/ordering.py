"""One order of continents, countries, models and groups everywhere: tables, figures, CSV."""

from collections.abc import Iterable, Mapping

from evaluation.metrics.dimensions import FIXED_VALUES
from evaluation.metrics.tidy import TidyRow

MODELS = ("dalle2", "dalle3", "sd21", "real")
GROUPS = ("presentation", "taste", "style")
_FIXED: Mapping[str, tuple[str, ...]] = {**FIXED_VALUES, "model": MODELS, "group": GROUPS}
_ALIASES = {"stablediffusion": "sd21", "stablediffusion21": "sd21"}


def model_key(name: str) -> str:
    """One key for the spellings of a model: `DALL·E 2`, `Dalle2 (May 2024)` and `dalle2` are the same."""
    plain = "".join(sign for sign in name.partition(" (")[0].casefold() if sign.isalnum())
    return _ALIASES.get(plain, plain)


def group_value_sort_key(column: str, value: str) -> tuple[int, str]:
    """Sort key of a group's value: the fixed order where there is one, then the alphabet."""
    known = _FIXED.get(column, ())
    key = model_key(value) if column == "model" else value
    return (known.index(key) if key in known else len(known), value.casefold())


def sort_group_values(values: Iterable[str], column: str) -> list[str]:
    """The distinct `values` of a column in their order."""
    return sorted(set(values), key=lambda value: group_value_sort_key(column, value))


def in_order(rows: Iterable[TidyRow], columns: Iterable[str], metrics: Iterable[str]) -> tuple[TidyRow, ...]:
    """Rows by group columns from left to right, then by metric as the table's definition lists them."""
    names, listed = tuple(columns), list(metrics)
    return tuple(
        sorted(
            rows,
            key=lambda row: (
                *(group_value_sort_key(name, row.groups[name]) for name in names),
                listed.index(row.metric),
            ),
        )
    )
