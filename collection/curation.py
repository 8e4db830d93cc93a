"""What stewards decide about dishes and photos, with a history of who decided."""

from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from collection.ingredients import index_dishes
from collection.models import Dish, DishChange, Photo
from collection.signals import dishes_changed


@transaction.atomic
def decide_dishes(dishes: QuerySet[Dish], state: str, steward: Any) -> int:
    """Moves dishes to `state`, withdrawn ones excepted; returns how many changed."""
    rows = list(
        Dish.objects.live()
        .filter(pk__in=dishes.values("pk"))
        .exclude(state=state)
        .select_for_update()
        .values_list("pk", "state")
    )
    DishChange.objects.bulk_create(
        DishChange(dish_id=pk, by_steward=steward, before={"state": before}) for pk, before in rows
    )
    changed = Dish.objects.filter(pk__in=[pk for pk, _before in rows])
    number = changed.update(state=state)
    index_dishes(list(changed))
    if Dish.State.ACCEPTED in {state, *(before for _pk, before in rows)}:
        dishes_changed.send(Dish, dishes=[pk for pk, _before in rows])
    return number


@transaction.atomic
def decide_photos(photos: QuerySet[Photo], state: str) -> int:
    """Moves photos to `state` and says how many; drafts stay, because nobody has confirmed them."""
    rows = photos.exclude(state__in=[Photo.State.DRAFT, state])
    dishes = list(rows.values_list("dish", flat=True).distinct().order_by())
    if dishes:
        dishes_changed.send(Photo, dishes=dishes)
    return rows.update(state=state)
