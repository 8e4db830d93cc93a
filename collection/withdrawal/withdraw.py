"""Withdrawing: a dish is hidden at once everywhere; seven days later `collection.withdrawal.erase` removes it."""

import uuid
from collections.abc import Sequence
from datetime import timedelta

from django.contrib.auth.models import AbstractUser, AnonymousUser
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from collection.access.attempt_limits import count_attempts, count_try
from collection.dishes import report_limits
from collection.dishes.events import propagate_dish_changes
from collection.dishes.receipts import read_receipt
from collection.leaderboard.counters import update_leaderboard_counters
from collection.models import AboutYou, Contributor, Dish, Report, Submission, Withdrawal
from collection.signals import dish_restored, dish_withdrawn
from collection.text import fold_spelling

UNDO = timedelta(days=7)
# Anyone who decides about withdrawals sees the dishes; nobody else on the staff does until they are erased.
MAY_WITHDRAW = "collection.change_withdrawal"
# So many wrong answers about one receipt, or of one network, within an hour: after them even a right answer waits for a
# steward, since names can be guessed. It is never refused.
WRONG_OF_A_RECEIPT = 5
WRONG_OF_A_NETWORK = 20


def sees_withdrawn(user: AbstractUser | AnonymousUser) -> bool:
    """Whether somebody of the staff may see what was withdrawn."""
    return user.is_active and user.has_perm(MAY_WITHDRAW)


def list_active_withdrawals() -> QuerySet[Withdrawal]:
    """Withdrawals that were not taken back."""
    return Withdrawal.objects.filter(undone_at=None)


def list_undoable_withdrawals() -> QuerySet[Withdrawal]:
    return list_active_withdrawals().filter(erased_at=None)


@transaction.atomic
def withdraw_dish(dish: Dish, reason: str, person: uuid.UUID | None = None) -> Withdrawal:
    """Hides a dish at once and plans its erasure; a second call finds the first. A lost code waits for a steward."""
    dish = Dish.objects.select_for_update().get(pk=dish.pk)
    if known := list_active_withdrawals().filter(dish=dish).first():
        return known
    now = timezone.now()
    withdrawal = Withdrawal.objects.create(
        dish=dish,
        person=person,
        reason=reason,
        former_state=dish.state,
        merged=list(dish.merged.order_by("pk").values_list("pk", flat=True)),
        at=now,
        erase_after=None if reason == Withdrawal.Reason.LOST_CODE else now + UNDO,
    )
    set_state(dish, Dish.State.WITHDRAWN)
    restore_merged_dishes(withdrawal.merged)
    propagate_dish_changes([dish.pk, *withdrawal.merged])
    dish_withdrawn.send(sender=Dish, dishes=[dish.pk])
    return withdrawal


def withdraw_for_contributors(dishes: QuerySet[Dish]) -> int:
    """For a steward who was asked by letter or telephone; returns how many dishes were live until now."""
    rows = list(Dish.objects.live().filter(pk__in=dishes.values("pk")))
    for dish in rows:
        withdraw_dish(dish, Withdrawal.Reason.STEWARD)
    return len(rows)


def set_state(dish: Dish, state: str) -> None:
    dish.state = state
    dish.save(update_fields=["state", "changed_at"])


def restore_merged_dishes(merged: Sequence[int]) -> None:
    """Dishes that were merged into a withdrawn one come back: the first of them for itself, the others with it."""
    if merged:
        Dish.objects.filter(pk=merged[0]).update(merged_into=None)
        Dish.objects.filter(pk__in=merged[1:]).update(merged_into=merged[0])


def heir_of(dish: Dish) -> Dish | None:
    """Another contributor's dish that a steward found to be the same one as this withdrawn dish."""
    withdrawal = list_active_withdrawals().filter(dish=dish).first()
    merged = withdrawal.merged if withdrawal else []
    same = Dish.objects.live().filter(Q(pk__in=merged, merged_into=None) | Q(pk=dish.merged_into_id))
    return same.order_by("pk").first()


@transaction.atomic
def restore_withdrawn_dish(withdrawal: Withdrawal) -> bool:
    """The dish is again what it was before; False where it is too late or was done before."""
    undone = list_undoable_withdrawals().filter(pk=withdrawal.pk).update(undone_at=timezone.now())
    if not undone or withdrawal.dish_id is None:
        return bool(undone)
    dish = Dish.objects.select_for_update().get(pk=withdrawal.dish_id)
    merged = Q(merged_into=None) | Q(merged_into__in=withdrawal.merged)
    Dish.objects.filter(merged, pk__in=withdrawal.merged).update(merged_into=dish)
    set_state(dish, withdrawal.former_state)
    propagate_dish_changes([dish.pk, *withdrawal.merged])
    dish_restored.send(sender=Dish, dishes=[dish.pk])
    return True


@transaction.atomic
def withdraw_everything(contributor: Contributor) -> Withdrawal:
    """All dishes and whatever is known about this person: hidden at once, erased after the same seven days."""
    known = list_active_withdrawals().filter(person=contributor.pk, dish=None).first()
    for dish in Dish.objects.filter(contributor=contributor).live():
        withdraw_dish(dish, Withdrawal.Reason.EVERYTHING, contributor.pk)
    now = timezone.now()
    list_active_withdrawals().filter(dish__contributor=contributor, erase_after=None).update(erase_after=now + UNDO)
    return known or Withdrawal.objects.create(
        person=contributor.pk, reason=Withdrawal.Reason.EVERYTHING, at=now, erase_after=now + UNDO
    )


@transaction.atomic
def undo_everything(person: uuid.UUID) -> bool:
    """Takes back `withdraw_everything`; dishes that were withdrawn one by one before stay withdrawn."""
    mine = list_undoable_withdrawals().filter(person=person, reason=Withdrawal.Reason.EVERYTHING)
    return sum(restore_withdrawn_dish(withdrawal) for withdrawal in list(mine)) > 0


def forget_name(contributors: QuerySet[Contributor]) -> None:
    """Their public names are shown and counted nowhere any more."""
    named = list(contributors.exclude(alias="").values_list("pk", flat=True))
    Contributor.objects.filter(pk__in=named).update(alias="", alias_key=None)
    update_leaderboard_counters(Dish.objects.filter(contributor__in=named).values_list("pk", flat=True))


@transaction.atomic
def remove_details(contributor: Contributor) -> None:
    """Personal details and the public name go at once; nothing of them is stored."""
    AboutYou.objects.filter(contributor=contributor).delete()
    forget_name(Contributor.objects.filter(pk=contributor.pk))


def hide_by_receipt(receipt_text: str, name: str, network: str = "") -> bool:
    """For somebody without the code: receipt number and name hide that dish, and a steward decides.

    Where too much was wrong before, or the brake on hiding holds, the dish stays as it is until the steward decides.
    False where the answers are wrong. Call it outside a transaction.
    """
    receipt = read_receipt(receipt_text)
    dish = named_by(receipt, name) if receipt else None
    keys = {f"receipt of {network}": WRONG_OF_A_NETWORK, f"receipt {receipt}": WRONG_OF_A_RECEIPT}
    if dish is None:
        for key in keys:
            count_try(key)
        return False
    guessed = any(count_attempts(key) >= most for key, most in keys.items())
    hide_or_ask(dish, network, at_once=not guessed)
    return True


def named_by(receipt: str, name: str) -> Dish | None:
    """The live dish with this receipt number and name."""
    submission = Submission.objects.filter(receipt=receipt).exclude(dish=None).select_related("dish").first()
    dish = submission.dish if submission else None
    if dish is None or dish.state == Dish.State.WITHDRAWN or not name.strip():
        return None
    return dish if fold_spelling(dish.local_name) == fold_spelling(name) else None


@transaction.atomic
def hide_or_ask(dish: Dish, network: str, *, at_once: bool) -> None:
    """Hides the dish, or enters the wish among the reports, once, for a steward."""
    Dish.objects.select_for_update().get(pk=dish.pk)
    if at_once and report_limits.may_hide_at_once(network):
        row = withdraw_dish(dish, Withdrawal.Reason.LOST_CODE)
        Withdrawal.objects.filter(pk=row.pk, reason=Withdrawal.Reason.LOST_CODE, network="").update(network=network)
        return
    Report.objects.get_or_create(
        dish=dish,
        photo=None,
        reason=Report.Reason.LOST,
        state=Report.State.OPEN,
        defaults={"queued": True, "network": network},
    )


def confirm_withdrawals(withdrawals: QuerySet[Withdrawal]) -> int:
    """A steward says that a dish hidden without a code shall go: it is erased after the usual days."""
    waiting = withdrawals.filter(undone_at=None, erased_at=None, erase_after=None)
    return waiting.update(erase_after=timezone.now() + UNDO)


def withdrawn_publicly() -> QuerySet[Withdrawal]:
    """Withdrawals of dishes that anybody may have seen, in the order of their numbers; nothing but ids is told."""
    shown = list_active_withdrawals().exclude(erase_after=None).exclude(dish=None)
    return (
        shown.filter(former_state__in=[Dish.State.ACCEPTED, Dish.State.HIDDEN])
        .exclude(dish__source="demonstration")
        .select_related("dish")
        .order_by("dish__number")
    )
