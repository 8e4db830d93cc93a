"""Reports on public dishes and images. The first three reasons hide at once; a steward decides about all of them.

Anyone who reports stays unknown. How much may be hidden at once is decided by `hiding`; what comes beyond waits, shown,
for a steward. After `MOST_OPEN` open reports of one network about one thing another one adds nothing, and what a
steward has looked at and kept is not hidden again by the same reason.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from collection.dishes import report_limits
from collection.dishes.curation import decide_dishes, decide_photos
from collection.models import Dish, Photo, Report, Withdrawal
from collection.withdrawal import withdraw

HIDING = (Report.Reason.PERSON, Report.Reason.MINE, Report.Reason.OUTSIDERS)
MOST_OPEN = 10


@dataclass(frozen=True)
class Target:
    """What a report is about: a dish, or one image of it."""

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
def file_report(target: Target, reason: str, words: str, network: str = "") -> Report | None:
    """Enters a report and hides its target where the reason asks for it and the brake lets it.

    None where this network has enough open ones about it.
    """
    Dish.objects.select_for_update().get(pk=target.dish.pk)
    asks = reason in HIDING and not was_dismissed_before(target, reason)
    hid = asks and report_limits.may_hide_at_once(network) and hide_reported_target(target)
    mine = target.reports.filter(state=Report.State.OPEN, network=network)
    if not hid and mine.count() >= MOST_OPEN:
        return None
    return Report.objects.create(
        dish=target.dish,
        photo=target.photo,
        reason=reason,
        words=words,
        hid=hid,
        queued=asks and not hid,
        network=network,
    )


def was_dismissed_before(target: Target, reason: str) -> bool:
    """A steward looked at this reason before and decided that it stays."""
    return target.reports.filter(reason=reason, state=Report.State.DISMISSED).exists()


def hide_reported_target(target: Target, steward: Any = None) -> bool:
    """Takes the target out of public view; False where it was not public."""
    if target.photo:
        return (
            decide_photos(Photo.objects.filter(pk=target.photo.pk, state=Photo.State.ACCEPTED), Photo.State.HIDDEN) > 0
        )
    shown = Dish.objects.filter(pk=target.dish.pk, state=Dish.State.ACCEPTED)
    return decide_dishes(shown, Dish.State.HIDDEN, steward) > 0


def restore_reported_target(target: Target, steward: Any) -> None:
    """Brings back what a report had hidden, and nothing that was hidden or withdrawn for another reason."""
    if target.photo:
        decide_photos(Photo.objects.filter(pk=target.photo.pk, state=Photo.State.HIDDEN), Photo.State.ACCEPTED)
    else:
        hidden = Dish.objects.filter(pk=target.dish.pk, state=Dish.State.HIDDEN)
        decide_dishes(hidden, Dish.State.ACCEPTED, steward)


@transaction.atomic
def decide_reports(reports: Iterable[Report], steward: Any, *, uphold: bool) -> int:
    """A steward's decision; open reports on the same target are decided with it. Returns how many were decided."""
    decided = 0
    for target in {(row.dish_id, row.photo_id): Target(row.dish, row.photo) for row in reports}.values():
        waiting = target.reports.filter(state=Report.State.OPEN)
        if uphold and waiting.filter(reason=Report.Reason.LOST).exists():
            withdraw_lost(target)
        elif uphold:
            hide_reported_target(target, steward)
        elif waiting.filter(hid=True).exists():
            restore_reported_target(target, steward)
        decided += waiting.update(
            state=Report.State.UPHELD if uphold else Report.State.DISMISSED,
            decided_by=steward,
            decided_at=timezone.now(),
        )
    return decided


def withdraw_lost(target: Target) -> None:
    """The dish goes, as if its contributor had the code."""
    row = withdraw.withdraw_dish(target.dish, Withdrawal.Reason.LOST_CODE)
    withdraw.confirm_withdrawals(Withdrawal.objects.filter(pk=row.pk))


def open_of_network(network: str) -> QuerySet[Report]:
    """Reports of one network that nobody has decided about."""
    return Report.objects.filter(network=network, state=Report.State.OPEN).exclude(network="")


def lost_of_network(network: str) -> QuerySet[Withdrawal]:
    """Dishes that this network hid with receipt number and name, and that nobody has decided about."""
    rows = Withdrawal.objects.filter(network=network, reason=Withdrawal.Reason.LOST_CODE).exclude(network="")
    return rows.filter(undone_at=None, erased_at=None, erase_after=None)


@transaction.atomic
def undo_network(network: str, steward: Any) -> int:
    """Everything is as if this network had reported nothing; returns how many reports and withdrawals were undone.

    Reports of others stay as they are. Nobody has looked at each, so the same reason may hide again.
    """
    rows = list(open_of_network(network).select_related("dish", "photo").select_for_update(of=("self",)))
    for target in {(row.dish_id, row.photo_id): Target(row.dish, row.photo) for row in rows if row.hid}.values():
        others = target.reports.filter(state=Report.State.OPEN, hid=True).exclude(network=network)
        if not others.exists():
            restore_reported_target(target, steward)
    done = {"state": Report.State.UNDONE, "decided_by": steward, "decided_at": timezone.now()}
    number = Report.objects.filter(pk__in=[row.pk for row in rows]).update(**done)
    return number + sum(withdraw.restore_withdrawn_dish(row) for row in list(lost_of_network(network)))
