"""Lifting the mask of a plan: after its analyses ran, or before with a reason that stays; and looking once."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.base_user import AbstractBaseUser
from django.db import transaction
from django.utils import timezone

from evaluation.contracts import table as contracts_table
from evaluation.models import InputCounter, Plan, PlanAct, Run
from evaluation.plans.evidence import Data, data_of
from evaluation.plans.mask import LIFTED, plans_over
from evaluation.plans.plan_status import frozen_plans
from evaluation.registry import lookup
from evaluation.tables import store


class ReasonMissingError(ValueError):
    """The mask is not lifted before the analyses ran without a reason; the text says what is missing."""


@dataclass(frozen=True)
class Analysis:
    """One table that a plan lists: `ran` once it was computed after the plan was frozen, on the data as it is now."""

    table: str
    filters: Mapping[str, str]
    metrics: tuple[str, ...]
    ran: bool
    why_not: str = ""


def list_missing_data(plan: Plan) -> list[str]:
    """Why the data of a frozen plan is not complete yet, as far as its stopping rule can be checked."""
    data = data_of(plan.evidence)
    missing = []
    if plan.stop_on and timezone.now().date() < plan.stop_on:
        missing.append(f"The data is not complete before {plan.stop_on.isoformat()}.")
    reviews = sum(one.count() or 0 for one in data if one.kind == "reviews") if plan.stop_reviews else 0
    if plan.stop_reviews and reviews < plan.stop_reviews:
        missing.append(f"There are {reviews} of {plan.stop_reviews} reviews.")
    missing += [f"{one}: no run is done." for one in sorted(data) if is_run_unfinished(one)]
    return missing


def is_run_unfinished(data: Data) -> bool:
    """Whether these units wait for a run to be done."""
    if data.kind != "units":
        return False
    names = {name: value for name, value in (("study", data.part), ("slug", data.run)) if value}
    return not Run.objects.filter(**names, state=Run.State.DONE).exists()


def list_plan_analyses(plan: Plan) -> list[Analysis]:
    """What a plan lists, and whether it ran; two queries however many tables it lists."""
    listed = [(find_current_spec(one["table"]), one) for one in plan.tables]
    rows = store.rows_of((spec, one["filters"]) for spec, one in listed if spec)
    counts = dict(InputCounter.objects.values_list("name", "value"))
    found = []
    for spec, one in listed:
        if spec is None or (plan.frozen_at and spec.version != one["version"]):
            why = "the definition of this table changed since the plan was frozen"
        else:
            row = rows.get((spec.name, store.filters_hash(one["filters"])))
            why = why_not(plan, row, store.compute_table_fingerprint(spec, counts))
        found.append(Analysis(one["table"], one["filters"], tuple(one["metrics"]), not why, why))
    return found


def find_current_spec(name: str) -> contracts_table.TableSpec | None:
    """The table as it is defined now; a plan outlives its tables."""
    try:
        return lookup.find_table_spec(name)
    except lookup.TableNotFound:
        return None


def why_not(plan: Plan, row: Any, present: str) -> str:
    """Why a stored table does not count as computed on the complete data; empty where it does."""
    if row is None or row.computed_at is None:
        return "not computed yet"
    if row.fingerprint != present:
        return "something changed since it was computed"
    if plan.frozen_at is None or row.computed_at <= plan.frozen_at:
        return "computed before the plan was frozen"
    return "it holds no numbers yet" if row.empty else ""


def is_ready_to_unmask(plan: Plan) -> bool:
    """Whether the mask may be lifted without a reason: the data is complete and the analyses ran."""
    return not list_missing_data(plan) and all(analysis.ran for analysis in list_plan_analyses(plan))


def lift_mask(plan: Plan, by: AbstractBaseUser, reason: str, *, complete: bool) -> PlanAct:
    """Lifts the mask for everybody, once. `complete`: the person says that the stopping rule is met.

    Raises ReasonMissingError where the analyses did not run on complete data and no reason is given.
    """
    with transaction.atomic():
        Plan.objects.select_for_update().get(pk=plan.pk)
        if found := plan.acts.filter(kind__in=LIFTED).first():
            return found
        on_time = complete and is_ready_to_unmask(plan)
        if not on_time and not reason.strip():
            raise ReasonMissingError(
                "The analyses of the plan did not run on complete data yet. Say why names are shown before that."
            )
        kind = PlanAct.Kind.UNMASKED if on_time else PlanAct.Kind.EARLY
        return PlanAct.objects.create(plan=plan, kind=kind, by_id=by.pk, name=by.get_username(), reason=reason.strip())


def record_unmasked_view(table: str, filters: Mapping[str, str], name: str, reason: str) -> int:
    """Records that `name` looks once at a table without its mask; returns how many plans this concerns.

    Raises TableNotFound, and ReasonMissingError for an empty reason.
    """
    if not reason.strip():
        raise ReasonMissingError("Say why the names are shown: --unmask REASON.")
    plans = plans_over(lookup.find_table_spec(table), filters, frozen_plans())
    for plan in plans:
        PlanAct.objects.create(plan=plan, kind=PlanAct.Kind.LOOKED, name=name[:150], reason=reason.strip())
    return len(plans)
