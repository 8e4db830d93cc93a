"""How much one person may send within a day. Counted in rows and per person, never by address: many share one."""

from datetime import timedelta

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from collection.models import Ambassador, Contributor, Dish

DAY = timedelta(hours=24)
DISHES, DISHES_OF_AMBASSADOR = 40, 200
PEOPLE, PEOPLE_OF_AMBASSADOR = 10, 100


class QuotaReached(Exception):
    """Nothing more of this person today; the text says so."""


def is_ambassador(contributor: Contributor) -> bool:
    return Ambassador.objects.active().filter(contributor=contributor).exists()


@transaction.atomic
def take_dish(contributor: Contributor) -> None:
    """Raises QuotaReached where this person has described enough dishes within a day.

    Holds the person's row until the caller's transaction ends, so that parallel requests do not overshoot.
    """
    lock(contributor)
    sent = Dish.objects.filter(contributor=contributor, created_at__gte=timezone.now() - DAY).count()
    if sent >= (DISHES_OF_AMBASSADOR if is_ambassador(contributor) else DISHES):
        raise QuotaReached(
            _("You have described %(number)d dishes within a day. What you typed is still here: send it tomorrow.")
            % {"number": sent}
        )


@transaction.atomic
def take_person(helper: Contributor) -> None:
    """Raises QuotaReached where `helper` has written for enough people within a day; holds the row like `take_dish`."""
    lock(helper)
    helped = Contributor.objects.filter(entered_by=helper, created_at__gte=timezone.now() - DAY).count()
    if helped >= (PEOPLE_OF_AMBASSADOR if is_ambassador(helper) else PEOPLE):
        raise QuotaReached(
            _("You have written for %(number)d people within a day. Go on tomorrow.") % {"number": helped}
        )


def lock(contributor: Contributor) -> None:
    Contributor.objects.select_for_update().get(pk=contributor.pk)
