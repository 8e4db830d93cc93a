"""What pages say of a plan."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from django.utils.http import urlencode

from evaluation.models import MaskedName, Model, Plan, PlanAct
from evaluation.plans.freezing import is_plan_intact
from evaluation.plans.mask import LIFTED
from evaluation.unmasking import Analysis, list_missing_data, list_plan_analyses


class Shown:
    """A plan with what follows from it; nothing is asked of the database before a page shows it."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan

    @cached_property
    def intact(self) -> bool:
        return is_plan_intact(self.plan)

    @cached_property
    def acts(self) -> list[PlanAct]:
        return list(self.plan.acts.all())

    @cached_property
    def masked(self) -> bool:
        """Whether names are hidden now."""
        plan = self.plan
        return bool(plan.masked and plan.frozen_at) and not any(act.kind in LIFTED for act in self.acts)

    @cached_property
    def names(self) -> list[tuple[str, str]]:
        """What models were called while they were masked, so that notes of that time can be read; empty meanwhile."""
        if self.masked or not self.acts:
            return []
        rows = MaskedName.objects.filter(plan=self.plan, kind=MaskedName.MODEL)
        given = sorted(rows.values_list("shown", "value"), key=lambda pair: (len(pair[0]), pair[0]))
        titles = dict(Model.objects.values_list("slug", "title"))
        return [(shown, titles.get(value, value)) for shown, value in given]

    @cached_property
    def analyses(self) -> list[Analysis]:
        return list_plan_analyses(self.plan)

    @cached_property
    def incomplete(self) -> list[str]:
        return list_missing_data(self.plan) if self.plan.frozen_at else []

    @property
    def ready(self) -> bool:
        return not self.incomplete and all(analysis.ran for analysis in self.analyses)

    @property
    def counts(self) -> list[tuple[str, int]]:
        """What data there was when it was frozen."""
        return [(data_named(found), found["count"]) for found in self.plan.evidence]

    @property
    def lines(self) -> list[tuple[Analysis, str, str]]:
        """Each listed table with the query of its page and its filters as words."""
        return [
            (one, f"?{urlencode(one.filters)}" if one.filters else "", named_filters(one.filters))
            for one in self.analyses
        ]


def named_filters(filters: Mapping[str, str]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in filters.items())


def data_named(found: Mapping[str, Any]) -> str:
    """Counted data in the reader's language."""
    name = " / ".join(part for part in (found["part"], found["run"]) if part)
    if found["kind"] == "reviews":
        return f"Reviews of the campaign {name}" if name else "Reviews of all campaigns"
    return f"Units of {name}" if name else "Units of all runs"
