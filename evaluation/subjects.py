"""Subjects: what models are asked about, made from accepted dishes and from the places that people named."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from django.db.models import Q, QuerySet

from collection.models import Continent, Country, Dish, Source
from evaluation.contracts.study import ConfigError
from evaluation.contracts.subjects import STORED, parse_selection
from evaluation.metrics.dimensions import SUBJECT_DIMENSIONS
from evaluation.models import Subject
from evaluation.suggestions import describe_unknown_name

WRITTEN = "written_country"
# As the columns hold them.
LONGEST_LABEL = 120
LONGEST_NAME = 200


def select_subjects(selection: Mapping[str, Any]) -> list[Subject]:
    """The subjects that a configuration asks for, made where they do not exist yet.

    {"kind": "dish", "countries": ["Ghana"], "demonstration": false, "limit": 30}: released dishes, or accepted
    demonstration dishes. {"kind": "place", "level": "country" | "continent" | "world"}. {"kind": "object", "labels":
    {"region": ["Africa"]}}: stored subjects of this kind. Raises ConfigError.
    """
    checked = parse_selection(selection)
    countries = checked.countries or ()
    if checked.kind == Subject.Kind.PLACE:
        return select_place_subjects(checked.level, countries)
    if checked.kind in STORED:
        wanted = {**(checked.labels or {}), **({"country": tuple(countries)} if countries else {})}
        return select_stored_subjects(checked.kind, wanted, checked.limit)
    return select_dish_subjects(countries, checked.demonstration, checked.limit)


def select_dish_subjects(countries: Iterable[str], demonstration: bool, limit: int | None) -> list[Subject]:
    """One subject per dish, in the order of dish numbers."""
    rows = Dish.objects.accepted().filter(source=Source.DEMONSTRATION) if demonstration else Dish.objects.released()
    if countries:
        rows = rows.filter(in_countries(countries)).distinct()
    rows = rows.prefetch_related("places__country", "continents", "languages").order_by("number")
    return list(store_dish_subjects(rows[:limit]))


def select_stored_subjects(kind: str, wanted: Mapping[str, Iterable[str]], limit: int | None) -> list[Subject]:
    """Subjects of a kind in the order of their keys; of each dimension in `wanted` they have one of the values.

    Raises ConfigError for a value that no subject of the kind has.
    """
    rows = list(Subject.objects.filter(kind=kind).order_by("source_key"))
    for dimension, values in wanted.items():
        known = {value for row in rows for value in row.labels.get(dimension, ())}
        for value in values:
            if value not in known:
                raise ConfigError("subjects: " + describe_unknown_name(f"{dimension} of stored {kind}s", value, known))
    found = [
        row
        for row in rows
        if all(set(values) & set(row.labels.get(dimension, ())) for dimension, values in wanted.items())
    ]
    return found[:limit]


def store_subject(kind: str, key: str, name: str, labels: Mapping[str, Iterable[str]]) -> Subject:
    """The subject of a kind that is no dish and no place, made or brought up to date.

    `key` is its name for ever within the kind, such as "geode/chair/Ghana"; `labels`: dimension → values. Raises
    ConfigError for a kind, a dimension, a value or a key that cannot be stored.
    """
    if kind not in STORED:
        raise ConfigError(describe_unknown_name("kind of stored subjects named", kind, STORED))
    held = {dimension: remove_duplicates(values) for dimension, values in labels.items()}
    for dimension, values in held.items():
        if dimension not in SUBJECT_DIMENSIONS:
            raise ConfigError(describe_unknown_name("dimension", dimension, SUBJECT_DIMENSIONS))
        if wrong := [value for value in values if not 0 < len(value) <= LONGEST_LABEL]:
            raise ConfigError(f"The {dimension} {wrong[0][:40]!r} is empty or longer than {LONGEST_LABEL} characters.")
    source_key = f"{kind}:{key}"
    if not name or len(name) > LONGEST_NAME or not key or len(source_key) > LONGEST_NAME:
        raise ConfigError(f"The name or key of the {kind} {name[:40]!r} is empty or longer than {LONGEST_NAME}.")
    defaults = {"kind": kind, "name": name, "labels": held}
    return Subject.objects.update_or_create(source_key=source_key, defaults=defaults)[0]


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
