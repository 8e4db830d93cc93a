"""Photographs of dishes whose contributors share them."""

from django.db.models import QuerySet

from collection.models import Dish, Photo, Source


def shared_photos(*, demonstration: bool = False) -> QuerySet[Photo]:
    """Accepted photos of accepted dishes that may be shared, by people whose consent covers photos."""
    dishes = Dish.objects.accepted().filter(source=Source.DEMONSTRATION) if demonstration else Dish.objects.released()
    shared = Photo.objects.filter(state=Photo.State.ACCEPTED, may_be_shared=True, dish__in=dishes)
    agreed = shared.exclude(dish__contributor__consent=None).exclude(dish__contributor__consent__licence_photos="")
    return agreed.exclude(file="").select_related("dish").order_by("dish__number", "created_at", "pk")
