"""How many dishes were heard from where."""

from dataclasses import dataclass

from django.db.models import Count, QuerySet
from django.db.models.functions import Coalesce

from collection.models import Dish, DishCountry, DishQuerySet, Source

STEPS = 20


@dataclass(frozen=True)
class Row:
    """A place with its number of dishes. `width` is the bar's length in steps from 1 to `STEPS`."""

    rank: int
    place: str
    dishes: int
    width: int


@dataclass(frozen=True)
class Leaderboard:
    """Places with most dishes first; equal numbers share a rank. `demonstration`: nothing real is there yet."""

    rows: list[Row]
    demonstration: bool


def by_country(limit: int | None = None) -> Leaderboard:
    """Released dishes by country, a place outside the list under the name it was given. At most two queries."""
    counts = list(counted(Dish.objects.released())[:limit])
    if counts:
        return Leaderboard(ranked(counts), demonstration=False)
    shown = Dish.objects.accepted().filter(source=Source.DEMONSTRATION)
    return Leaderboard(ranked(list(counted(shown)[:limit])), demonstration=True)


def counted(dishes: DishQuerySet) -> QuerySet[DishCountry, tuple[str, int]]:
    return (
        DishCountry.objects.filter(dish__in=dishes)
        .order_by()
        .annotate(place=Coalesce("country__name", "name"))
        .values("place")
        .annotate(dishes=Count("dish", distinct=True))
        .order_by("-dishes", "place")
        .values_list("place", "dishes")
    )


def ranked(counts: list[tuple[str, int]]) -> list[Row]:
    numbers = [number for _place, number in counts]
    return [
        Row(
            rank=numbers.index(number) + 1,
            place=place,
            dishes=number,
            width=max(1, round(STEPS * number / numbers[0])),
        )
        for place, number in counts
    ]
