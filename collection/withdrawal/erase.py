"""Erasing what was withdrawn once it can no longer be undone: text, photos and everything derived from them.

Ids, numbers and receipts stay, so that nothing is ever counted or numbered twice. New tables and new columns are
erased unless they are named here as kept.
"""

import logging
from collections.abc import Callable
from typing import Any

from django.contrib.admin.models import LogEntry
from django.contrib.contenttypes.models import ContentType
from django.db import transaction
from django.db.models import Field, Model
from django.utils import timezone

from collection.access import return_codes
from collection.models import AboutYou, Contributor, Dish, FinishedTurn, Photo, Submission, Withdrawal
from collection.photos import process
from collection.signals import dish_erased
from collection.withdrawal.withdraw import UNDO, list_undoable_withdrawals

logger = logging.getLogger(__name__)
RETAINED_COLUMNS = {"id", "number", "contributor", "source", "source_key", "state", "merged_into", "created_at"}
RETAINED_TABLES = (Dish, Submission, Withdrawal)


def erase_due() -> dict[str, int]:
    """Erases every withdrawal whose time has come; returns how many dishes and persons went."""
    due = list_undoable_withdrawals().filter(erase_after__lte=timezone.now()).order_by("pk")
    dishes = sum(erase_dish(withdrawal) for withdrawal in due.exclude(dish=None).select_related("dish"))
    persons = sum(erase_person(withdrawal) for withdrawal in due.filter(dish=None))
    if dishes or persons:
        logger.info("Erased %d withdrawn dishes and %d persons.", dishes, persons)
    return {"dishes": dishes, "persons": persons}


def erase_dish(withdrawal: Withdrawal) -> bool:
    """Files go first: a photo whose row is left is found again the next time, a file without a row is not."""
    dish = withdrawal.dish
    assert dish is not None
    if not list_undoable_withdrawals().filter(pk=withdrawal.pk).exists():
        return False
    removals: list[Callable[[], None]] = []
    pairs = Photo.objects.filter(dish=dish).values_list("file", "thumbnail")
    process.delete_stored_files(*[path for pair in pairs for path in pair], *dish.parts.values_list("file", flat=True))
    with transaction.atomic():
        if not list_undoable_withdrawals().filter(pk=withdrawal.pk).update(erased_at=timezone.now()):
            return False
        dish_erased.send(sender=Dish, dishes=[dish.pk], removals=removals)
        erase_rows(dish)
        blank_dish_columns(dish)
    for remove in removals:
        remove()
    return True


def erase_rows(dish: Dish) -> None:
    """All rows of the collection that hang on a dish, but for those that hold ids only."""
    for relation in Dish._meta.related_objects:
        model = relation.field.model
        if model._meta.app_label == "collection" and model not in RETAINED_TABLES:
            model._base_manager.filter(**{relation.field.name: dish}).delete()
    Submission.objects.filter(dish=dish).update(content_hash="")
    forget_in_admin(Dish, [dish.pk], str(dish.number))


def blank_dish_columns(dish: Dish) -> None:
    """Every column that is not named as kept gets its empty value."""
    fields = [field for field in Dish._meta.concrete_fields if field.name not in RETAINED_COLUMNS]
    Dish.objects.filter(pk=dish.pk).update(**{field.name: get_empty_value(field) for field in fields})


def get_empty_value(field: "Field[Any, Any]") -> Any:
    if field.has_default():
        return field.get_default()
    if getattr(field, "auto_now", False):
        return timezone.now()
    return None if field.null else ""


def forget_in_admin(model: type[Model], pks: list[Any], name: str) -> None:
    """The admin's log keeps that somebody did something, without the name of what it was done to."""
    entries = LogEntry.objects.filter(
        content_type=ContentType.objects.get_for_model(model), object_id__in=[str(pk) for pk in pks]
    )
    entries.update(object_repr=name, change_message="")


@transaction.atomic
def erase_person(withdrawal: Withdrawal) -> bool:
    """Everything about a person who withdrew everything. A dish that came after that is withdrawn first."""
    person = withdrawal.person
    left = Dish.objects.filter(contributor=person).live()
    if left.exists():
        withdrawal.erase_after = timezone.now() + UNDO
        withdrawal.save(update_fields=["erase_after"])
        return False
    if not list_undoable_withdrawals().filter(pk=withdrawal.pk).update(erased_at=timezone.now()):
        return False
    assert person is not None
    return_codes.revoke_return_codes(person)
    FinishedTurn.objects.filter(person=person).delete()
    AboutYou.objects.filter(contributor=person).delete()
    Dish.objects.filter(contributor=person).update(contributor=None)
    Contributor.objects.filter(pk=person).delete()
    forget_in_admin(Contributor, [person], "")
    return True
