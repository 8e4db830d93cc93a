"""Subjects: what models are asked about, made from accepted dishes and from the places that people named."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from django.db.models import Q, QuerySet

from collection.models import Continent, Country, Dish, Source
from evaluation.contracts.study import ConfigError
from evaluation.contracts.subjects import parse_selection
from evaluation.models import Subject
from evaluation.suggestions import describe_unknown_name

WRITTEN = "written_country"


def select_subjects(selection: Mapping[str, Any]) -> list[Subject]:
    """The subjects that a configuration asks for, made where they do not exist yet.

    {"kind": "dish", "countries": ["Ghana"], "demonstration": false, "limit": 30}: released dishes, or accepted
    demonstration dishes. {"kind": "place", "level": "country" | "continent" | "world"}. Raises ConfigError.
    """
    checked = parse_selection(selection)
    countries = checked.countries or ()
    if checked.kind == Subject.Kind.PLACE:
        return select_place_subjects(checked.level, countries)
    return select_dish_subjects(countries, checked.demonstration, checked.limit)


def select_dish_subjects(countries: Iterable[str], demonstration: bool, limit: int | None) -> list[Subject]:
    """One subject per dish, in the order of dish numbers."""
    rows = Dish.objects.accepted().filter(source=Source.DEMONSTRATION) if demonstration else Dish.objects.released()
    if countries:
        rows = rows.filter(in_countries(countries)).distinct()
    rows = rows.prefetch_related("places__country", "continents", "languages").order_by("number")
    return list(store_dish_subjects(rows[:limit]))


def in_countries(names: Iterable[str]) -> Q:
    """Dishes of these countries, by the name as written or the country's usual name. Raises ConfigError."""
    known = set(Country.objects.values_list("name", flat=True))
    known |= set(Dish.objects.accepted().exclude(places__name=None).values_list("places__name", flat=True))
    for name in names:
        if name not in known:
            raise ConfigError("subjects: " + describe_unknown_name("country", name, known))
    return Q(places__name__in=list(names)) | Q(places__country__name__in=list(names))


def store_dish_subjects(rows: QuerySet[Dish]) -> Iterator[Subject]:
    """The subjects of these dishes; their labels follow the dish."""
    existing = find_subjects(dish_key(dish) for dish in rows)
    new = [dish for dish in rows if dish_key(dish) not in existing]
    if new:
        made = [Subject(source_key=dish_key(dish), **subject_values(dish)) for dish in new]
        Subject.objects.bulk_create(made, ignore_conflicts=True)
        existing |= find_subjects(dish_key(dish) for dish in new)
    for dish in rows:
        yield subject_for(dish, existing.get(dish_key(dish)))


def find_subjects(keys: Iterable[str]) -> dict[str, Subject]:
    """The subjects that exist, by their keys."""
    return {row.source_key: row for row in Subject.objects.filter(source_key__in=list(keys))}


def dish_key(dish: Dish) -> str:
    return f"dish:{dish.number}"


def subject_for(dish: Dish, existing: Subject | None = None) -> Subject:
    """The subject of an accepted dish, made or brought up to date."""
    values = subject_values(dish)
    if existing and all(getattr(existing, name) == value for name, value in values.items()):
        return existing
    return Subject.objects.update_or_create(source_key=dish_key(dish), defaults=values)[0]


def subject_values(dish: Dish) -> dict[str, Any]:
    """What the subject of a dish holds."""
    return {
        "kind": Subject.Kind.DISH,
        "name": dish.local_name,
        "dish_id": dish.pk,
        "labels": dish_labels(dish),
        "demonstration": dish.source == Source.DEMONSTRATION,
    }


def dish_labels(dish: Dish) -> dict[str, list[str]]:
    """Labels of a dish. `country` is the country's usual name where it is known, `written_country` as written;

    `language` is the ISO 639-3 code, or the contributor's word where the code is `mis`; `kind` as in B.4.
    """
    places = list(dish.places.all())
    return {
        "country": remove_duplicates(place.country.name if place.country else place.name for place in places),
        WRITTEN: remove_duplicates(place.name for place in places),
        "continent": sorted(row.continent for row in dish.continents.all()),
        "language": remove_duplicates(row.name if row.code == "mis" else row.code for row in dish.languages.all()),
        "kind": remove_duplicates(dish.kinds),
    }


def remove_duplicates(values: Iterable[str]) -> list[str]:
    """Values in their order, each once."""
    return list(dict.fromkeys(values))


def select_place_subjects(level: str, countries: Iterable[str]) -> list[Subject]:
    """Places to ask about without naming a dish: countries with accepted dishes, continents, or the world."""
    if level == "world":
        return [store_place_subject("world", "the world", {})]
    if level == "continent":
        inhabited = [name for name in Continent.values if name != Continent.ANTARCTICA]
        return [store_place_subject(f"continent:{name}", name, {"continent": [name]}) for name in inhabited]
    rows = Country.objects.filter(dishcountry__dish__in=Dish.objects.accepted()).distinct().order_by("code")
    return [place_of_country(row) for row in find_named_countries(rows, countries)]


def find_named_countries(rows: QuerySet[Country], names: Iterable[str]) -> list[Country]:
    """The countries of these names, or all `rows` without names. Raises ConfigError."""
    if not names:
        return list(rows)
    known = {row.name: row for row in Country.objects.order_by("code")}
    for name in names:
        if name not in known:
            raise ConfigError("subjects: " + describe_unknown_name("country", name, known))
    return [known[name] for name in remove_duplicates(names)]


def place_of_country(country: Country) -> Subject:
    labels = {"country": [country.name], "continent": sorted(country.continents)}
    return store_place_subject(f"country:{country.code}", country.name, labels)


def store_place_subject(key: str, name: str, labels: dict[str, list[str]]) -> Subject:
    values = {"kind": Subject.Kind.PLACE, "name": name, "labels": labels}
    return Subject.objects.update_or_create(source_key=f"place:{key}", defaults=values)[0]
