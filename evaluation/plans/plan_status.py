"""How stored tables stand to the frozen plans of this installation."""

from collections.abc import Iterable, Mapping

from evaluation.contracts.table import TableSpec
from evaluation.metrics.tidy import TidyTable
from evaluation.models import Plan
from evaluation.plans.evidence import data_of, has_overlapping_data, of_table
from evaluation.plans.freezing import is_plan_intact
from evaluation.plans.marks import Listed, PlanStatus, mark_planned_rows


def frozen_plans() -> list[Plan]:
    """All frozen plans, the oldest first, in one query: there are few, and none is ever removed."""
    return list(Plan.objects.exclude(frozen_at=None).select_related("amends").order_by("frozen_at", "pk"))


def list_planned_analyses(plan: Plan, table: str) -> list[Listed]:
    """What a frozen plan lists of the table named `table`."""
    counts = plan.before_data and is_plan_intact(plan)
    frozen = f"{plan.frozen_at:%Y-%m-%d %H:%M} UTC"
    return [
        Listed(
            plan.title, plan.slug, frozen, plan.sha256, counts, one["version"], one["filters"], tuple(one["metrics"])
        )
        for one in plan.tables
        if one["table"] == table
    ]


def mark_registered_rows(
    spec: TableSpec, filters: Mapping[str, str], table: TidyTable, plans: Iterable[Plan]
) -> tuple[TidyTable, PlanStatus]:
    """`table` of `filters` with what `plans` planned of it."""
    held = list(plans)
    data = of_table(spec, filters)
    about = [plan.title for plan in held if plan.before_data and has_overlapping_data(data, data_of(plan.evidence))]
    return mark_planned_rows(
        table, filters, [one for plan in held for one in list_planned_analyses(plan, spec.name)], about
    )
