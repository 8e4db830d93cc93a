"""Which data a table is computed from, and how much of it there is: what a plan has to be made before."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from django.utils.module_loading import import_string

from evaluation.contracts.table import TableSpec
from evaluation.models import Plan, Run, Unit
from evaluation.registry.lookup import find_table_spec
from evaluation.registry.names import EVIDENCE

RUNS = "runs."


@dataclass(frozen=True, order=True)
class Data:
    """`kind` "reviews" (`part` a campaign) or "units" (`part` a study, `run` one of its runs); "" stands for all."""

    kind: str
    part: str = ""
    run: str = ""

    def meets(self, other: "Data") -> bool:
        """Whether one may hold something that the other holds."""
        parts = ((self.part, other.part), (self.run, other.run))
        return self.kind == other.kind and all(mine == theirs or "" in (mine, theirs) for mine, theirs in parts)

    def count(self) -> int | None:
        """How much there is now; None where there is no such campaign or run yet."""
        found = import_string(EVIDENCE[self.kind].replace(":", "."))(self.part, self.run)
        assert found is None or isinstance(found, int)
        return found

    def __str__(self) -> str:
        names = [name for name in (self.part, self.run) if name]
        return f"{self.kind} of {', '.join(names) or 'everything'}"


def count_units(study: str, run: str) -> int | None:
    """All units of a run, of the runs of a study, or of all; None where there is no such run."""
    rows = Run.objects.filter(**{name: value for name, value in (("study", study), ("slug", run)) if value})
    if run and not rows.exists():
        return None
    return Unit.objects.filter(run__in=rows).count()


def of_table(spec: TableSpec, filters: Mapping[str, str]) -> set[Data]:
    """The data that a table is computed from, by its inputs and the filters that choose a campaign, a run, or two."""
    found = set()
    for name in spec.inputs:
        if name == "reviews":
            found.add(Data("reviews", filters.get("campaign", "")))
        elif name.startswith(RUNS):
            runs = {filters.get("run", ""), filters.get("with", filters.get("run", ""))}
            found |= {Data("units", name.removeprefix(RUNS), run) for run in runs}
    return found


def of_plan(plan: Plan) -> list[Data]:
    """The data of its tables, and of the campaigns, runs and studies that it names, in one order."""
    found = {Data("reviews", name) for name in plan.campaigns} | {Data("units", name) for name in plan.studies}
    studies = dict(Run.objects.filter(slug__in=plan.runs).values_list("slug", "study"))
    found |= {Data("units", studies.get(name, ""), name) for name in plan.runs}
    for listed in plan.tables:
        found |= of_table(find_table_spec(listed["table"]), listed["filters"])
    return sorted(found)


def has_overlapping_data(some: Iterable[Data], others: Iterable[Data]) -> bool:
    held = list(others)
    return any(one.meets(other) for one in some for other in held)


def count_existing_data(plan: Plan) -> list[dict[str, Any]]:
    """What exists now of the data of a plan: `asdict` of each Data with its count."""
    return [{**asdict(data), "count": data.count() or 0} for data in of_plan(plan)]


def data_of(evidence: Iterable[Mapping[str, Any]]) -> set[Data]:
    """The data that was counted when a plan was frozen."""
    return {Data(found["kind"], found["part"], found["run"]) for found in evidence}
