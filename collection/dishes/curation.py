"""What stewards decide about dishes and photos, with a history of who decided."""

from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from collection.dishes.events import propagate_dish_changes
from collection.leaderboard.counters import update_leaderboard_counters
from collection.models import Contributor, Dish, DishChange, Photo
from collection.signals import dishes_changed


@transaction.atomic
def decide_dishes(dishes: QuerySet[Dish], state: str, steward: Any) -> int:
    """Moves dishes to `state`, withdrawn ones excepted; returns how many changed."""
    rows = list(
        Dish.objects.live()
        .filter(pk__in=dishes.values("pk"))
        .exclude(state=state)
        .order_by("pk")
        .select_for_update(no_key=True)
        .values_list("pk", "state")
    )
    DishChange.objects.bulk_create(
        DishChange(dish_id=pk, by_steward=steward, before={"state": before}) for pk, before in rows
    )
    changed = Dish.objects.filter(pk__in=[pk for pk, _before in rows])
    number = changed.update(state=state)
    if Dish.State.ACCEPTED in {state, *(before for _pk, before in rows)}:
        propagate_dish_changes([pk for pk, _before in rows])
    return number


@transaction.atomic
def decide_photos(photos: QuerySet[Photo], state: str) -> int:
    """Moves photos to `state` and says how many; drafts stay, because nobody has confirmed them."""
    rows = photos.exclude(state__in=[Photo.State.DRAFT, state])
    dishes = list(rows.values_list("dish", flat=True).distinct().order_by())
    if dishes:
        dishes_changed.send(Photo, dishes=dishes)
    return rows.update(state=state)


class DishMergeError(ValueError):
    """These dishes cannot become one; the text says why."""


@transaction.atomic
def merge_dishes(dishes: QuerySet[Dish], into: Dish, steward: Any) -> int:
    """Dishes that are the same one: from now on only `into` is shown and counted. Returns how many were merged.

    Nobody's words are touched, and `unmerge_dishes` takes it back. Raises DishMergeError.
    """
    pks = set(dishes.values_list("pk", flat=True)) - {into.pk}
    rows = {dish.pk: dish for dish in Dish.objects.filter(pk__in={*pks, into.pk}).order_by("pk").select_for_update()}
    into = rows.pop(into.pk)
    if into.state != Dish.State.ACCEPTED or into.merged_into_id:
        raise DishMergeError("The dish that stays must be accepted, and merged into no other one.")
    if any(dish.state == Dish.State.WITHDRAWN or dish.source != into.source for dish in rows.values()):
        raise DishMergeError("Withdrawn dishes and dishes of another origin cannot be merged.")
    changed = [dish for dish in rows.values() if dish.merged_into_id != into.pk]
    DishChange.objects.bulk_create(
        DishChange(dish=dish, by_steward=steward, before={"merged_into": dish.merged_into_id}) for dish in changed
    )
    behind = Dish.objects.filter(merged_into__in=[dish.pk for dish in changed])
    followers = list(behind.values_list("pk", flat=True))
    Dish.objects.filter(pk__in=[*(dish.pk for dish in changed), *followers]).update(merged_into=into)
    propagate_dish_changes([into.pk, *(dish.pk for dish in changed), *followers])
    return len(changed)


@transaction.atomic
def unmerge_dishes(dishes: QuerySet[Dish], steward: Any) -> int:
    """Takes merging back: each of these dishes stands for itself again. Returns how many there were."""
    rows = list(dishes.exclude(merged_into=None).order_by("pk").select_for_update())
    DishChange.objects.bulk_create(
        DishChange(dish=dish, by_steward=steward, before={"merged_into": dish.merged_into_id}) for dish in rows
    )
    pks = [dish.pk for dish in rows]
    Dish.objects.filter(pk__in=pks).update(merged_into=None)
    propagate_dish_changes(pks)
    return len(rows)


@transaction.atomic
def show_names(contributors: QuerySet[Contributor], *, shown: bool) -> None:
    """Hides public names of contributors everywhere, or shows them again."""
    pks = list(contributors.values_list("pk", flat=True))
    Contributor.objects.filter(pk__in=pks).update(alias_hidden=not shown)
    update_leaderboard_counters(Dish.objects.filter(contributor__in=pks).values_list("pk", flat=True))
