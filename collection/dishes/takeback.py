"""Taking back the dishes of a person, of a helper, of a network or of a time at once: shown first, undone at any time.

Dishes that were accepted need a second steward. What is taken back is hidden, never erased.
"""

import uuid
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from collection.dishes.curation import decide_dishes
from collection.models import Dish, DishQuerySet, Submission, TakeBack

FIELDS = ("contributor", "helper", "network", "begin", "end")
MOST_DISHES = 5000
MOST_SHOWN = 200


class TakeBackError(ValueError):
    """This cannot be done; the text says why."""


@dataclass(frozen=True)
class Preview:
    """What a take-back would hide. `accepted`: how many of them the public sees now."""

    dishes: int
    people: int
    accepted: int
    shown: list[Dish]


def select_takeback_dishes(choice: Mapping[str, Any]) -> DishQuerySet:
    """The dishes of a choice that can be hidden. Raises TakeBackError where it chooses nothing, or everything."""
    given = {name: choice[name] for name in FIELDS if choice.get(name)}
    if not given:
        raise TakeBackError("Choose a person, a helper, a network or a time.")
    rows = Dish.objects.filter(state__in=[Dish.State.WAITING, Dish.State.ACCEPTED], source="form")
    if "contributor" in given:
        rows = rows.filter(contributor=as_uuid(given["contributor"]))
    if "helper" in given:
        helper = as_uuid(given["helper"])
        rows = rows.filter(Q(contributor__entered_by=helper) | Q(contributor=helper))
    if "network" in given:
        sent = Submission.objects.filter(network=given["network"], purpose=Submission.Purpose.DISH)
        rows = rows.filter(pk__in=sent.values("dish"))
    if "begin" in given:
        rows = rows.filter(created_at__gte=as_time(given["begin"]))
    if "end" in given:
        rows = rows.filter(created_at__lt=as_time(given["end"]))
    return rows


def as_uuid(text: Any) -> uuid.UUID:
    try:
        return uuid.UUID(str(text))
    except ValueError:
        raise TakeBackError("A person is named by the whole number that stands in the list of contributors.") from None


def as_time(text: Any) -> datetime:
    try:
        found = datetime.fromisoformat(str(text))
    except ValueError:
        raise TakeBackError("Write a time like 2026-11-28 18:00 (UTC).") from None
    return found if found.tzinfo else timezone.make_aware(found)


def preview_takeback(choice: Mapping[str, Any]) -> Preview:
    """What would be hidden. Raises TakeBackError."""
    rows = select_takeback_dishes(choice)
    counts = Counter(rows.values_list("state", flat=True)[: MOST_DISHES + 1])
    number = sum(counts.values())
    if number > MOST_DISHES:
        raise TakeBackError(f"These are more than {MOST_DISHES} dishes. Choose a shorter time.")
    people = rows.exclude(contributor=None).values("contributor").distinct().count()
    return Preview(number, people, counts[Dish.State.ACCEPTED], list(rows.order_by("created_at")[:MOST_SHOWN]))


@transaction.atomic
def request_takeback(choice: Mapping[str, Any], reason: str, steward: Any) -> TakeBack:
    """Hides the dishes at once where none of them is public, else waits for a second steward. Raises TakeBackError."""
    if not reason.strip():
        raise TakeBackError("Write why.")
    found = preview_takeback(choice)
    if not found.dishes:
        raise TakeBackError("No dish of this choice can be hidden.")
    kept = {name: str(choice[name]) for name in FIELDS if choice.get(name)}
    row = TakeBack(choice=kept, reason=reason.strip()[:1000], asked_by=steward, state=TakeBack.State.ASKED)
    row.save()
    if not found.accepted:
        hide_selected_dishes(row, steward, [Dish.State.WAITING])
    return row


@transaction.atomic
def confirm_takeback(row: TakeBack, steward: Any) -> None:
    """A second steward agrees. Raises TakeBackError for the first one, and where nothing waits."""
    row = TakeBack.objects.select_for_update().get(pk=row.pk)
    if row.state != TakeBack.State.ASKED:
        raise TakeBackError("This was decided already.")
    if row.asked_by_id == steward.pk:
        raise TakeBackError("Dishes that are public need a second steward: somebody else must agree.")
    # Meanwhile it may have become more than one take-back may hide.
    preview_takeback(row.choice)
    hide_selected_dishes(row, steward, [Dish.State.WAITING, Dish.State.ACCEPTED])


def hide_selected_dishes(row: TakeBack, steward: Any, states: Sequence[str]) -> None:
    """Hides what the choice finds now in these states, and remembers what each dish was."""
    locked = (
        select_takeback_dishes(row.choice)
        .filter(state__in=states)
        .order_by("pk")
        .select_for_update(no_key=True, of=("self",))
    )
    rows = list(locked.values_list("pk", "state"))
    decide_dishes(Dish.objects.filter(pk__in=[pk for pk, _state in rows]), Dish.State.HIDDEN, steward)
    row.former = {str(pk): state for pk, state in rows}
    row.state, row.done_by, row.done_at = TakeBack.State.DONE, steward, timezone.now()
    row.save()


@transaction.atomic
def undo_takeback(row: TakeBack, steward: Any) -> int:
    """Each dish that is still hidden gets its former state back; returns how many. Raises TakeBackError."""
    row = TakeBack.objects.select_for_update().get(pk=row.pk)
    if row.state == TakeBack.State.UNDONE:
        raise TakeBackError("This was decided already.")
    number = 0
    for state in (Dish.State.WAITING, Dish.State.ACCEPTED):
        pks = [int(pk) for pk, former in row.former.items() if former == state]
        number += decide_dishes(Dish.objects.filter(pk__in=pks, state=Dish.State.HIDDEN), state, steward)
    row.state, row.undone_by, row.undone_at = TakeBack.State.UNDONE, steward, timezone.now()
    row.save()
    return number
