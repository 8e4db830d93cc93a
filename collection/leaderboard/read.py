"""How many dishes were heard from where, and what was heard for the first time. Reads what `counters` keeps."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple

from django.db.models import Count, Exists, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone

from collection.leaderboard.counters import EVER, CountKind, Period
from collection.models import BoardName, Contributor, Dish, DishCountry, DishQuerySet, Heard, Opening, Source, Tally
from collection.vocabularies.languages import translate_language_name as language_named
from collection.vocabularies.places import code_for, translate_place_name

STEPS = 20
MOST_FIRST = 12
MOST_NAMES = 100
# A country told by fewer people is shown without their number: it would point at them.
LEAST_PEOPLE = 5
PERIODS = {"": Period.EVER, "month": Period.MONTH, "today": Period.DAY}


@dataclass(frozen=True)
class Row:
    """A place with its number of dishes, named in the language of the page or in `language`. `width` is the bar's
    length in steps from 1 to `STEPS`; `people` None where their number is not shown."""

    rank: int
    place: str
    dishes: int
    width: int
    people: int | None = None
    language: str = ""


class First(NamedTuple):
    """A language or region that was heard for the first time, as the page calls it."""

    kind: str
    label: str


@dataclass(frozen=True)
class Leaderboard:
    """Places with most dishes first; equal numbers share a rank.

    `first`: languages and regions that were heard for the first time in this period, the newest first. `names`: the
    campaign also shows public names. `demonstration`: nothing real is there yet.
    """

    rows: tuple[Row, ...]
    demonstration: bool = False
    first: tuple[First, ...] = ()
    names: bool = False


def compute_period_start(period: str, now: datetime) -> datetime:
    """When the period that `now` lies in began (UTC)."""
    day = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    if period == Period.EVER:
        return datetime.combine(EVER, datetime.min.time(), UTC)
    return day.replace(day=1) if period == Period.MONTH else day


def build_leaderboard(when: str = "", kind: str = CountKind.COUNTRY, limit: int | None = None) -> Leaderboard:
    """The leaderboard of a period (a key of `PERIODS`), by country or by public names. Two queries, and two more only
    while nothing real is there. Countries without dishes have no rank."""
    period = PERIODS[when]
    since = compute_period_start(period, timezone.now())
    tallies = Tally.objects.filter(kind=kind, period=period, start=since.date(), dishes__gt=0).select_related("name")
    # With the rows themselves: a query of its own would be a third of all that this page asks.
    tallies = tallies.annotate(names=Subquery(Opening.objects.order_by("-pk").values("aliases")[:1]))
    rows = list(
        tallies.order_by("-dishes", "name__label")[: limit or (MOST_NAMES if kind == CountKind.ALIAS else None)]
    )
    if not rows and not when and kind == CountKind.COUNTRY:
        return build_demo_leaderboard(limit)
    return Leaderboard(
        build_leaderboard_rows(rows), first=heard_first(period, since), names=any(row.names for row in rows[:1])
    )


def heard_first(period: str, since: datetime) -> tuple[First, ...]:
    """Languages, as the page calls them, and regions whose first dish was told since then, the newest first.

    What an imported dish brought first was heard elsewhere: in no month and on no day.
    """
    rows = BoardName.objects.filter(kind__in=(CountKind.LANGUAGE, CountKind.REGION), first_at__gte=since)
    if period != Period.EVER:
        rows = rows.exclude(Exists(Heard.objects.filter(name=OuterRef("pk"), at=OuterRef("first_at"), imported=True)))
    names = rows.order_by("-first_at", "-pk").values_list("kind", "key", "label")[:MOST_FIRST]
    return tuple(
        First(kind, language_named(key, label).text if kind == CountKind.LANGUAGE else label)
        for kind, key, label in names
    )


def build_leaderboard_rows(tallies: Sequence[Tally]) -> tuple[Row, ...]:
    return tuple(
        Row(
            rank=rank,
            place=shown.text,
            dishes=tally.dishes,
            width=max(1, round(STEPS * tally.dishes / tallies[0].dishes)),
            people=tally.people if tally.people >= LEAST_PEOPLE else None,
            language=shown.language,
        )
        for tally, rank in zip(tallies, compute_ranks([tally.dishes for tally in tallies]), strict=True)
        for shown in (translate_place_name(tally.name.key, tally.name.label),)
    )


def compute_ranks(numbers: Sequence[int]) -> list[int]:
    """Ranks from 1 of falling numbers; equal ones share theirs, and the next one counts all before it."""
    found: list[int] = []
    for place, number in enumerate(numbers, 1):
        found.append(found[-1] if place > 1 and number == numbers[place - 2] else place)
    return found


def build_demo_leaderboard(limit: int | None = None) -> Leaderboard:
    """The demonstration's dishes by country: shown where nobody has told anything yet, and never counted."""
    found = list(count_dishes_by_country(Dish.objects.accepted().filter(source=Source.DEMONSTRATION))[:limit])
    numbers = [number for _place, number in found]
    rows = [
        Row(rank, shown.text, number, max(1, round(STEPS * number / numbers[0])), language=shown.language)
        for (place, number), rank in zip(found, compute_ranks(numbers), strict=True)
        for shown in (translate_place_name(code_for(place), place),)
    ]
    return Leaderboard(tuple(rows), demonstration=True)


def count_dishes_by_country(dishes: DishQuerySet) -> QuerySet[DishCountry, tuple[str, int]]:
    return (
        DishCountry.objects.filter(dish__in=dishes)
        .order_by()
        .annotate(place=Coalesce("country__name", "name"))
        .values("place")
        .annotate(dishes=Count("dish", distinct=True))
        .order_by("-dishes", "place")
        .values_list("place", "dishes")
    )


def count_pending_dishes(contributor: Contributor) -> int:
    """How many of somebody's dishes nobody has read yet: shown to themselves alone."""
    return Dish.objects.filter(contributor=contributor, state=Dish.State.WAITING).count()
