"""What is not kept for ever: drafts that nobody touched, and what is known about people after the agreed time.

A dish and the way to withdraw it (its receipt, the return code, whose it is) stay.
"""

import logging
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from collection.access.attempt_limits import forget_old_tries
from collection.access.request_info import forget_networks
from collection.access.turns import forget_old_turns
from collection.models import AboutYou, Contributor, Dish, PhoneCode, Photo, ReturnCode, Submission, Withdrawal
from collection.photos import process
from collection.withdrawal.withdraw import forget_name

DRAFTS = timedelta(days=30)
logger = logging.getLogger(__name__)


def apply_retention_rules() -> dict[str, int]:
    """Does all of it and logs how much there was."""
    found = {**remove_drafts(), **remove_personal(), "networks": forget_networks()}
    if any(found.values()):
        logger.info("Retention removed %s.", ", ".join(f"{number} {what}" for what, number in found.items() if number))
    return found


def remove_drafts() -> dict[str, int]:
    """Drafts that nobody touched for 30 days, and rows that only served for a while."""
    before = timezone.now() - DRAFTS
    drafts = list(Photo.objects.filter(state=Photo.State.DRAFT, created_at__lt=before))
    process.delete_stored_files(*[path for draft in drafts for path in (draft.file, draft.thumbnail)])
    Photo.objects.filter(pk__in=[draft.pk for draft in drafts], state=Photo.State.DRAFT).delete()
    return {
        "photo drafts": len(drafts),
        "persons without a dish": remove_silent(before),
        "finished turns": forget_old_turns(),
        "counted tries": forget_old_tries(),
    }


def remove_silent(before: datetime) -> int:
    """Persons who agreed and never sent anything, with their return codes."""
    silent = list(silent_since(before).values_list("pk", flat=True))
    ReturnCode.objects.filter(person__in=silent).delete()
    PhoneCode.objects.filter(person__in=silent).delete()
    Contributor.objects.filter(pk__in=silent).delete()
    return len(silent)


def silent_since(before: datetime) -> QuerySet[Contributor]:
    """Persons of the form who agreed before, have no dish and entered nobody else."""
    mine = OuterRef("pk")
    return Contributor.objects.filter(
        ~Exists(Dish.objects.filter(contributor=mine)),
        ~Exists(Submission.objects.filter(contributor=mine)),
        ~Exists(Contributor.objects.filter(entered_by=mine)),
        ~Exists(Withdrawal.objects.filter(person=mine)),
        created_at__lt=before,
        source="form",
    )


def remove_personal() -> dict[str, int]:
    """Personal details after `WWD_RETENTION_DAYS`, names to show with them; hashes of what was sent."""
    before = timezone.now() - timedelta(days=settings.RETENTION_DAYS)
    old = AboutYou.objects.filter(agreed_at__lt=before)
    forget_name(Contributor.objects.filter(pk__in=old.values("pk")))
    sent = Submission.objects.filter(created_at__lt=before).exclude(content_hash="")
    return {"personal details": old.delete()[1].get("collection.AboutYou", 0), "hashes": sent.update(content_hash="")}
