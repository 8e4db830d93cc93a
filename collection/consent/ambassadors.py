"""Ambassadors: whom staff named, and the invitation that is opened once."""

import uuid

from django.db import transaction
from django.utils import timezone

from collection.consent.record import Shown, register_contributor
from collection.models import Ambassador, Contributor


def find_invited_ambassador(code: str) -> Ambassador | None:
    """Whom this invitation was made for, as long as it lasts."""
    today = timezone.localdate()
    return Ambassador.objects.select_related("country").filter(invitation=code, until__gte=today).first()


@transaction.atomic
def open_invitation(ambassador: Ambassador, shown: Shown, person: uuid.UUID) -> Contributor | None:
    """The contributor that the invitation belongs to from now on; None where somebody else opened it before.

    Sent twice from the same page, it gives the same contributor.
    """
    held = Ambassador.objects.select_for_update().get(pk=ambassador.pk)
    if held.opened_at:
        return held.contributor if held.contributor_id == person else None
    held.contributor = register_contributor(shown, person)
    held.opened_at = timezone.now()
    held.save(update_fields=["contributor", "opened_at"])
    return held.contributor


def ambassador_of(contributor: Contributor) -> Ambassador | None:
    """What this person is ambassador for today."""
    return Ambassador.objects.active().select_related("country").filter(contributor=contributor).first()
