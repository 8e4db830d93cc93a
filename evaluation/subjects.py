"""Subjects: what models are asked about, made from accepted dishes and from the places that people named."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from django.db.models import Q, QuerySet

from collection.models import Continent, Country, Dish, Source
from evaluation.contracts.study import ConfigError
from evaluation.models import Subject
from evaluation.suggestions import unknown

FIELDS = {
    Subject.Kind.DISH: ("kind", "countries", "demonstration", "limit"),
    Subject.Kind.PLACE: ("kind", "level", "countries"),
}
LEVELS = ("country", "continent", "world")
WRITTEN = "written_country"


def select(selection: Mapping[str, Any]) -> list[Subject]:
    """The subjects that a configuration asks for, made where they do not exist yet.

    {"kind": "dish", "countries": ["Ghana"], "demonstration": false, "limit": 30}: released dishes, or accepted
    demonstration dishes. {"kind": "place", "level": "country" | "continent" | "world"}. Raises ConfigError.
    """
    kind = selection.get("kind", Subject.Kind.DISH)
    if kind not in FIELDS:
        raise ConfigError("subjects: " + unknown("kind", str(kind), FIELDS))
    for name in selection:
        if name not in FIELDS[kind]:
            raise ConfigError("subjects: " + unknown("field", name, FIELDS[kind]))
    countries = selection.get("countries") or []
    if not isinstance(countries, list | tuple) or not all(isinstance(name, str) for name in countries):
        raise ConfigError("subjects: countries is a list of names.")
    if kind == Subject.Kind.PLACE:
        return places(str(selection.get("level", "country")), countries)
    return dishes(countries, selection.get("demonstration", False), selection.get("limit"))


def dishes(countries: Iterable[str], demonstration: bool, limit: int | None) -> list[Subject]:
    """One subject per dish, in the order of dish numbers."""
    if not isinstance(demonstration, bool):
        raise ConfigError("subjects: demonstration is true or false.")
    if limit is not None and (not isinstance(limit, int) or isinstance(limit, bool) or limit < 1):
        raise ConfigError("subjects: limit is a whole number of at least 1.")
    rows = Dish.objects.accepted().filter(source=Source.DEMONSTRATION) if demonstration else Dish.objects.released()
    if countries:
        rows = rows.filter(in_countries(countries)).distinct()
    rows = rows.prefetch_related("places__country", "continents", "languages").order_by("number")
    return list(kept(rows[:limit]))


def in_countries(names: Iterable[str]) -> Q:
    """Dishes of these countries, by the name as written or the country's usual name. Raises ConfigError."""
    known = set(Country.objects.values_list("name", flat=True))
    known |= set(Dish.objects.accepted().exclude(places__name=None).values_list("places__name", flat=True))
    for name in names:
        if name not in known:
            raise ConfigError("subjects: " + unknown("country", name, known))
    return Q(places__name__in=list(names)) | Q(places__country__name__in=list(names))


def kept(rows: QuerySet[Dish]) -> Iterator[Subject]:
    """The subjects of these dishes; their labels follow the dish."""
    existing = {row.source_key: row for row in Subject.objects.filter(dish__in=[row.pk for row in rows])}
    for dish in rows:
        yield subject_for(dish, existing.get(dish_key(dish)))


def dish_key(dish: Dish) -> str:
    return f"dish:{dish.number}"


def subject_for(dish: Dish, existing: Subject | None = None) -> Subject:
    """The subject of an accepted dish, made or brought up to date."""
    values = {
        "kind": Subject.Kind.DISH,
        "name": dish.local_name,
        "dish": dish,
        "labels": dish_labels(dish),
        "demonstration": dish.source == Source.DEMONSTRATION,
    }
    if existing and all(getattr(existing, name) == value for name, value in values.items()):
        return existing
    return Subject.objects.update_or_create(source_key=dish_key(dish), defaults=values)[0]


def dish_labels(dish: Dish) -> dict[str, list[str]]:
    """Labels of a dish. `country` is the country's usual name where it is known, `written_country` as written;

    `language` is the ISO 639-3 code, or the contributor's word where the code is `mis`; `kind` as in B.4.
    """
    places = list(dish.places.all())
    return {
        "country": unique(place.country.name if place.country else place.name for place in places),
        WRITTEN: unique(place.name for place in places),
        "continent": sorted(row.continent for row in dish.continents.all()),
        "language": unique(row.name if row.code == "mis" else row.code for row in dish.languages.all()),
        "kind": unique(dish.kinds),
    }


def unique(values: Iterable[str]) -> list[str]:
    """Values in their order, each once."""
    return list(dict.fromkeys(values))


def places(level: str, countries: Iterable[str]) -> list[Subject]:
    """Places to ask about without naming a dish: countries with accepted dishes, continents, or the world."""
    if level not in LEVELS:
        raise ConfigError("subjects: " + unknown("level", level, LEVELS))
    if countries and level != "country":
        raise ConfigError("subjects: countries go with the level country only.")
    if level == "world":
        return [place("world", "the world", {})]
    if level == "continent":
        inhabited = [name for name in Continent.values if name != Continent.ANTARCTICA]
        return [place(f"continent:{name}", name, {"continent": [name]}) for name in inhabited]
    rows = Country.objects.filter(dishcountry__dish__in=Dish.objects.accepted()).distinct().order_by("code")
    return [place_of_country(row) for row in named(rows, countries)]


def named(rows: QuerySet[Country], names: Iterable[str]) -> list[Country]:
    """The countries of these names, or all `rows` without names. Raises ConfigError."""
    if not names:
        return list(rows)
    known = {row.name: row for row in Country.objects.order_by("code")}
    for name in names:
        if name not in known:
            raise ConfigError("subjects: " + unknown("country", name, known))
    return [known[name] for name in unique(names)]


def place_of_country(country: Country) -> Subject:
    labels = {"country": [country.name], "continent": sorted(country.continents)}
    return place(f"country:{country.code}", country.name, labels)


def place(key: str, name: str, labels: dict[str, list[str]]) -> Subject:
    values = {"kind": Subject.Kind.PLACE, "name": name, "labels": labels}
    return Subject.objects.update_or_create(source_key=f"place:{key}", defaults=values)[0]
