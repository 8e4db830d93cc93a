"""The content of a plan as one JSON text that anybody can hash again, and the act of freezing it."""

import hashlib
import json
from datetime import UTC
from typing import Any

from django.contrib.auth.base_user import AbstractBaseUser
from django.db import transaction
from django.db.models.functions import Now

from evaluation.models import Plan
from evaluation.models.plans import FROZEN, PlanFrozenError
from evaluation.plans.evidence import count_existing_data
from evaluation.registry.lookup import find_table_spec

FORMAT = "world-wide-dishes-plan/1"
FIELDS = (
    "slug",
    "title",
    "hypotheses",
    "tables",
    "primary_table",
    "primary_metric",
    "groups",
    "exclusions",
    "family",
    "stopping",
    "stop_reviews",
    "campaigns",
    "runs",
    "studies",
    "masked",
    "mask_places",
    "evidence",
)


def build_plan_content(plan: Plan) -> dict[str, Any]:
    """What a plan says, when it was frozen, and what there was then. Plain values only."""
    return {
        "format": FORMAT,
        **{name: getattr(plan, name) for name in FIELDS},
        "stop_on": plan.stop_on.isoformat() if plan.stop_on else None,
        "amends": plan.amends.sha256 if plan.amends else None,
        "frozen_at": plan.frozen_at.astimezone(UTC).isoformat() if plan.frozen_at else None,
    }


def encode_canonical_json(document: dict[str, Any]) -> str:
    """One text for one content: keys sorted, no spaces, letters as they are. Its UTF-8 bytes are what is hashed."""
    return json.dumps(document, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def compute_plan_hash(plan: Plan) -> str:
    """SHA-256 (64 hex digits) of the canonical content."""
    return hashlib.sha256(encode_canonical_json(build_plan_content(plan)).encode()).hexdigest()


def is_plan_intact(plan: Plan) -> bool:
    """Whether a frozen plan still says what was hashed when it was frozen."""
    return plan.frozen_at is not None and plan.sha256 == compute_plan_hash(plan)


def freeze_plan(plan: Plan, by: AbstractBaseUser) -> Plan:
    """Freezes a draft: the time of the database, what data there is at that moment, the hash. Raises
    PlanFrozenError.
    """
    with transaction.atomic():
        held = Plan.objects.select_for_update().get(pk=plan.pk)
        if held.frozen_at:
            raise PlanFrozenError(str(FROZEN))
        held.tables = [{**listed, "version": get_table_version(listed["table"])} for listed in held.tables]
        held.frozen_at = Plan.objects.filter(pk=held.pk).values_list(Now(), flat=True).get()
        held.evidence = count_existing_data(held)
        held.frozen_by_id = by.pk
        held.sha256 = compute_plan_hash(held)
        held.save()
    return held


def get_table_version(table: str) -> str:
    """The version of a table's definition: a later one is not what was planned."""
    return find_table_spec(table).version


def build_published_plan(plan: Plan) -> dict[str, Any]:
    """The plan as a file: its content, the hash, and how to compute it again."""
    return {
        "plan": build_plan_content(plan),
        "sha256": plan.sha256,
        "how": "SHA-256 of the UTF-8 bytes of `plan` as JSON with sorted keys, without spaces, letters not escaped: "
        "Python's json.dumps(plan, ensure_ascii=False, sort_keys=True, separators=(',', ':')).",
    }
