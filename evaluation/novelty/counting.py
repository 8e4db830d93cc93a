"""Which dishes are compared with which reference list, read once for all tables of novelty."""

from collections.abc import Mapping
from dataclasses import dataclass

from collection.models import Dish, Source
from evaluation.contracts.table import Filters
from evaluation.models import ReferenceDish, ReferenceList
from evaluation.novelty.matching import Entry, Match, create_searcher

INPUTS = ("dishes", "references", "withdrawals")
NO_LIST = "There is no reference list yet, or none with the chosen name: `manage.py import_reference` adds one."
NO_DISHES = "There are no dishes yet, or none for this choice."


@dataclass(frozen=True)
class Described:
    """One dish of ours as novelty sees it; `entry.countries` are codes, `places` the countries as written."""

    entry: Entry
    continents: tuple[str, ...]
    places: tuple[str, ...]

    @property
    def name(self) -> str:
        return self.entry.names[0]


@dataclass(frozen=True)
class Compared:
    """Dishes and the list that they are compared with; `notes` say which that is, and what is missing."""

    reference: ReferenceList | None
    dishes: tuple[Described, ...]
    demonstration: bool
    notes: tuple[str, ...]


def load_dishes_and_reference(filters: Filters) -> Compared:
    """The public dishes (demonstrations only where there are no others) and the list of the filter `reference`, else
    the newest that is no demonstration."""
    dishes, demonstration = describe_public_dishes()
    lists = ReferenceList.objects.order_by("demonstration", "-pk")
    if "reference" in filters:
        lists = lists.filter(slug=filters["reference"])
    reference = lists.first()
    notes = [f"Reference: {reference.title} ({reference.slug}). {reference.source}." if reference else NO_LIST]
    if not dishes:
        notes.append(NO_DISHES)
    return Compared(reference, dishes, demonstration or bool(reference and reference.demonstration), tuple(notes))


def describe_public_dishes() -> tuple[tuple[Described, ...], bool]:
    """Public dishes in the order of their numbers; where there are none, demonstration dishes, and True."""
    rows = Dish.objects.released()
    demonstration = not rows.exists()
    if demonstration:
        rows = Dish.objects.accepted().filter(source=Source.DEMONSTRATION)
    rows = rows.prefetch_related("places", "continents").order_by("number")
    found = tuple(describe_dish_names(dish) for dish in rows.iterator(chunk_size=2000))
    return found, demonstration and bool(found)


def describe_dish_names(dish: Dish) -> Described:
    places = list(dish.places.all())
    names = tuple(name for name in (dish.local_name, dish.english_name) if name)
    codes = frozenset(place.country_id for place in places if place.country_id)
    continents = tuple(sorted(row.continent for row in dish.continents.all()))
    return Described(Entry(str(dish.number), names, codes), continents, tuple(place.name for place in places))


def entries_of(reference: ReferenceList) -> list[Entry]:
    """The entries of a list, in the order of its file."""
    rows = ReferenceDish.objects.filter(reference=reference).order_by("position")
    fields = rows.values_list("position", "name", "aliases", "countries")
    return [
        Entry(str(position), (name, *aliases), frozenset(countries))
        for position, name, aliases, countries in fields.iterator(chunk_size=2000)
    ]


def match_dishes_by_rule(found: Compared, rules: tuple[str, ...]) -> dict[str, Mapping[str, list[Match]]]:
    """Rule → key of a dish → its matches."""
    if found.reference is None:
        return {}
    listed = entries_of(found.reference)
    searchers = {rule: create_searcher(rule, listed) for rule in rules}
    return {
        rule: {dish.entry.key: list(search.matches(dish.entry)) for dish in found.dishes}
        for rule, search in searchers.items()
    }
