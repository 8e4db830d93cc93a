"""Reports on public dishes and pictures. The first three reasons hide at once; a steward decides about all of them.

Whoever reports stays unknown, so limits are rows of what is reported: after `MOST_OPEN` open reports another one adds
nothing, and what a steward has looked at and kept is not hidden again by the same reason.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from collection.curation import decide_dishes, decide_photos
from collection.models import Dish, Photo, Report

HIDING = (Report.Reason.PERSON, Report.Reason.MINE, Report.Reason.OUTSIDERS)
MOST_OPEN = 10


@dataclass(frozen=True)
class Target:
    """What a report is about: a dish, or one picture of it."""

    dish: Dish
    photo: Photo | None = None

    @property
    def mark(self) -> str:
        """How a form's token names it."""
        return f"photo:{self.photo.pk}" if self.photo else f"dish:{self.dish.pk}"

    @property
    def reports(self) -> QuerySet[Report]:
        return Report.objects.filter(dish=self.dish, photo=self.photo)


@transaction.atomic
def report(target: Target, reason: str, words: str) -> Report | None:
    """Enters a report and hides its target where the reason asks for it; None where there are enough open ones."""
    Dish.objects.select_for_update().get(pk=target.dish.pk)
    hides = reason in HIDING and not kept_before(target, reason)
    hid = hides and hide(target)
    if target.reports.filter(state=Report.State.OPEN).count() >= MOST_OPEN and not hid:
        return None
    return Report.objects.create(dish=target.dish, photo=target.photo, reason=reason, words=words, hid=hid)


def kept_before(target: Target, reason: str) -> bool:
    """A steward looked at this reason before and decided that it stays."""
    return target.reports.filter(reason=reason, state=Report.State.DISMISSED).exists()


def hide(target: Target, steward: Any = None) -> bool:
    """Takes the target out of public view; False where it was not public."""
    if target.photo:
        return (
            decide_photos(Photo.objects.filter(pk=target.photo.pk, state=Photo.State.ACCEPTED), Photo.State.HIDDEN) > 0
        )
    shown = Dish.objects.filter(pk=target.dish.pk, state=Dish.State.ACCEPTED)
    return decide_dishes(shown, Dish.State.HIDDEN, steward) > 0


def show(target: Target, steward: Any) -> None:
    """Brings back what a report had hidden, and nothing that was hidden or withdrawn for another reason."""
    if target.photo:
        decide_photos(Photo.objects.filter(pk=target.photo.pk, state=Photo.State.HIDDEN), Photo.State.ACCEPTED)
    else:
        hidden = Dish.objects.filter(pk=target.dish.pk, state=Dish.State.HIDDEN)
        decide_dishes(hidden, Dish.State.ACCEPTED, steward)


@transaction.atomic
def decide(reports: Iterable[Report], steward: Any, *, uphold: bool) -> int:
    """A steward's decision; open reports on the same target are decided with it. Returns how many were decided."""
    decided = 0
    for target in {(row.dish_id, row.photo_id): Target(row.dish, row.photo) for row in reports}.values():
        waiting = target.reports.filter(state=Report.State.OPEN)
        if uphold:
            hide(target, steward)
        elif waiting.filter(hid=True).exists():
            show(target, steward)
        decided += waiting.update(
            state=Report.State.UPHELD if uphold else Report.State.DISMISSED,
            decided_by=steward,
            decided_at=timezone.now(),
        )
    return decided
