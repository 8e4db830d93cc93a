"""Whose dishes somebody of the staff may see: all with the permission, those of their own country as an ambassador.

An ambassador is a row of `Ambassador` with a staff account; the permission `see_own_country` alone shows nothing.
"""

from django.contrib.auth.models import AbstractUser, AnonymousUser
from django.db.models import Exists, OuterRef
from django.utils import timezone

from collection.models import Ambassador, Dish, DishCountry, DishQuerySet

User = AbstractUser | AnonymousUser


def sees_all(user: User) -> bool:
    return user.is_active and (user.has_perm("collection.view_dish") or user.has_perm("collection.change_dish"))


def country_of(user: User) -> str | None:
    """The code of the country whose dishes this account may see today; None for everybody else.

    Asked once for each request, kept with the account as Django keeps its permissions.
    """
    if not user.is_active or not user.has_perm("collection.see_own_country"):
        return None
    if not hasattr(user, "_own_country"):
        rows = Ambassador.objects.filter(account=user.pk, until__gte=timezone.localdate())
        setattr(user, "_own_country", rows.values_list("country_id", flat=True).first())  # noqa: B010
    found: str | None = getattr(user, "_own_country")  # noqa: B009
    return found


def sees_some(user: User) -> bool:
    """Whether there are dishes that this account may see, as far as permissions go."""
    return sees_all(user) or country_of(user) is not None


def dishes_for(user: User) -> DishQuerySet:
    """The dishes that this account may see: all, those of the own country that are not withdrawn, or none."""
    if sees_all(user):
        return Dish.objects.all()
    country = country_of(user)
    if country is None:
        return Dish.objects.none()
    theirs = DishCountry.objects.filter(dish=OuterRef("pk"), country=country)
    return Dish.objects.live().filter(Exists(theirs))
