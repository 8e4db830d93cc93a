"""What follows when dishes become public, change, or are public no longer: called by whatever decided it."""

from collections.abc import Sequence

from django.db import transaction

from collection.leaderboard.counters import update_leaderboard_counters
from collection.models import Dish
from collection.signals import dishes_changed
from collection.vocabularies.ingredients import index_dishes


@transaction.atomic
def propagate_dish_changes(pks: Sequence[int]) -> None:
    """Ingredients, counters, and anyone who listens, in the transaction of the change itself."""
    index_dishes(list(Dish.objects.filter(pk__in=pks)))
    update_leaderboard_counters(pks)
    dishes_changed.send(Dish, dishes=list(pks))
