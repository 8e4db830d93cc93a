"""Values of filters: one spelling of a model for all tables, and a sentence about a value that nothing has.

Known values are those in the metadata of the stored table (`evaluation/tables/metadata.py`), or of the table without
filters; names of runs are those of finished runs.
"""

from collections.abc import Collection, Iterator, Mapping

from evaluation.contracts.table import MOST_OPTIONS, PROMPT, Filters, TableSpec
from evaluation.metrics.dimensions import SUBJECT_DIMENSIONS
from evaluation.metrics.tidy import TidyTable
from evaluation.models import PromptTemplate, Run, Subject
from evaluation.plans.mask import Mask
from evaluation.suggestions import describe_unknown_name

RUNS = ("run", "with")
OF_RUNS = "runs."


def describe_wrong_value(
    table: TableSpec, filters: Filters, made: TidyTable | None, whole: TidyTable | None, mask: Mask
) -> str:
    """The sentence about the first value that nothing has, with the near ones; empty where there is none.

    `made`: the table of these filters, `whole`: that without any; None where it is not stored. What is not known is
    not judged, and nothing is told of names that `mask` hides.
    """
    for name, value in filters.items():
        if mask.hides(name) or name in table.choices:
            continue
        found = run_names(table) if name in RUNS else list_filter_values(table, name, filters, made, whole)
        if found is not None and value not in found:
            return describe_unknown_name(f"value of the filter {name} named", value, mask.plain(found))
    return ""


def list_filter_values(
    table: TableSpec, name: str, filters: Filters, made: TidyTable | None, whole: TidyTable | None
) -> Collection[str] | None:
    """All values that the filter `name` may have; None where they are not known."""
    others = {other for other in filters if other != name and not table.only_selects_rows(other)}
    if (made is None and whole is None) or (others and whole is None and name in table.columns):
        return None
    found = {value for each in (made, whole) if each for value in options_of(each).get(name, ())}
    if not found and made is not None and not made.rows:
        found = set(list_label_values(name))
    return found if 0 < len(found) < MOST_OPTIONS else None


def options_of(made: TidyTable) -> Mapping[str, list[str]]:
    """Values to choose from, as a stored table keeps them."""
    found: Mapping[str, list[str]] = made.about.get("options", {})
    return found


def list_label_values(name: str) -> Iterator[str]:
    """The values of a label of subjects, or of a prompt: where a table of nothing knows none."""
    if name == PROMPT:
        yield from PromptTemplate.objects.values_list("slug", flat=True).distinct()
    elif name in SUBJECT_DIMENSIONS:
        for labels in Subject.objects.values_list("labels", flat=True).iterator():
            yield from labels.get(name, ())


def run_names(table: TableSpec) -> list[str]:
    """Names of the finished runs that the table can be made from, the latest first."""
    studies = [table.study] if table.study else [name.removeprefix(OF_RUNS) for name in table.inputs if OF_RUNS in name]
    rows = Run.objects.filter(study__in=studies, state=Run.State.DONE).order_by("-finished_at", "-pk")
    return list(rows.values_list("slug", flat=True))
