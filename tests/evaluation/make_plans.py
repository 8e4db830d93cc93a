"""Builders of plans: `make_plan(tables=[listed("review.quality")])`, `make_frozen(...)`."""

from typing import Any

from django.contrib.auth.models import Permission, User

from evaluation.models import Plan
from evaluation.plans.freezing import freeze_plan
from evaluation.registry import lookup
from tests.evaluation.make import numbers

PERMISSIONS = ("view_storedtable", "view_plan", "add_plan", "change_plan", "unmask_plan")


def make_planner(name: str = "planner") -> User:
    """Somebody on the staff who may see tables and write, freeze and unmask plans."""
    user, new = User.objects.get_or_create(username=name, defaults={"is_staff": True})
    if new:
        user.user_permissions.set(Permission.objects.filter(codename__in=PERMISSIONS))
    return user


def listed(table: str = "association.scores", *metrics: str, **filters: str) -> dict[str, Any]:
    """A table as a plan lists it, by default with all its metrics."""
    spec = lookup.find_table_spec(table)
    return {"table": table, "version": spec.version, "filters": filters, "metrics": list(metrics or spec.metrics)}


def make_plan(**values: Any) -> Plan:
    number = next(numbers)
    lines = values.setdefault("tables", [listed()])
    defaults = {
        "slug": f"plan-{number}",
        "title": f"Plan {number}",
        "hypotheses": "Pictures of dishes of Africa lie further from praise.",
        "primary_table": lines[0]["table"],
        "primary_metric": lines[0]["metrics"][0],
        "groups": "Continents; small groups are left out.",
        "exclusions": "None.",
        "stopping": "When the run is done.",
    }
    return Plan.objects.create(**{**defaults, "created_by": make_planner(), **values})


def make_frozen(**values: Any) -> Plan:
    return freeze_plan(make_plan(**values), make_planner())


def form_of(plan: Plan, **changed: Any) -> dict[str, Any]:
    """What a browser sends for a plan of one line."""
    line = plan.tables[0]
    return {
        "title": plan.title,
        "hypotheses": plan.hypotheses,
        "primary_table": plan.primary_table,
        "primary_metric": plan.primary_metric,
        "groups": plan.groups,
        "exclusions": plan.exclusions,
        "family": plan.family,
        "stopping": plan.stopping,
        "lines-TOTAL_FORMS": "3",
        "lines-INITIAL_FORMS": "0",
        "lines-0-table": line["table"],
        "lines-0-filters": " ".join(f"{name}={value}" for name, value in line["filters"].items()),
        "lines-0-metrics": ", ".join(line["metrics"]),
        **changed,
    }
