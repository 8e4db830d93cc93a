"""How much one person may send within a day, and how many photos one dish holds.

Counted in rows and per person, never by address: many share one. How many come from one network is only marked, for
stewards (`circumstances.in_a_crowd`).
"""

import uuid
from datetime import timedelta

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from collection.models import Ambassador, Contributor, Dish, Photo
from collection.photos.process import PhotoError

DAY = timedelta(hours=24)
DISHES, DISHES_OF_AMBASSADOR = 40, 200
PEOPLE, PEOPLE_OF_AMBASSADOR = 10, 100
PHOTOS_OF_A_DISH = 10


class QuotaReachedError(Exception):
    """Nothing more of this person today; the text says so."""


def is_ambassador(contributor: Contributor) -> bool:
    return Ambassador.objects.active().filter(contributor=contributor).exists()


def take_dish(contributor: Contributor, sent: int) -> None:
    """Raises QuotaReachedError where this person has described enough dishes: `sent` within a day.

    The caller holds the person's row while it counts and until its transaction ends, so that parallel requests do not
    overshoot.
    """
    if sent >= DISHES and (sent >= DISHES_OF_AMBASSADOR or not is_ambassador(contributor)):
        raise QuotaReachedError(
            _("You have described %(number)d dishes within a day. What you typed is still here: send it tomorrow.")
            % {"number": sent}
        )


@transaction.atomic
def take_person(helper: Contributor) -> None:
    """Raises QuotaReachedError where `helper` has written for enough people within a day; holds the helper's row."""
    lock_contributor(helper.pk)
    helped = Contributor.objects.filter(entered_by=helper, created_at__gte=timezone.now() - DAY).count()
    if helped >= (PEOPLE_OF_AMBASSADOR if is_ambassador(helper) else PEOPLE):
        raise QuotaReachedError(
            _("You have written for %(number)d people within a day. Go on tomorrow.") % {"number": helped}
        )


def take_photo(dish: Dish) -> None:
    """Raises PhotoError where the dish has enough photos; holds its row until the caller's transaction ends."""
    Dish.objects.select_for_update(no_key=True).get(pk=dish.pk)
    refuse_full(dish)


def refuse_full(dish: Dish) -> None:
    """Raises PhotoError where the dish has enough photos, whatever became of them."""
    if Photo.objects.filter(dish=dish).count() >= PHOTOS_OF_A_DISH:
        raise PhotoError(
            _("This dish has %(number)d photos, and that is all it can have. Go on without another one.")
            % {"number": PHOTOS_OF_A_DISH}
        )


def lock_contributor(person: uuid.UUID) -> Contributor:
    """A contributor whose row nobody else holds until this transaction ends."""
    return Contributor.objects.select_for_update().get(pk=person)
