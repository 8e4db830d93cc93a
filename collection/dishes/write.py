"""Writing dishes: places, languages, corrections. Used by the forms, the importer and the demonstration."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.db import transaction

from collection.dishes.events import propagate_dish_changes
from collection.dishes.numbers import next_number
from collection.models import (
    Contributor,
    Dish,
    DishChange,
    DishContinent,
    DishCountry,
    DishLanguage,
    Source,
)
from collection.vocabularies.languages import UNKNOWN
from collection.vocabularies.places import continents_of, countries_for

WORDS = (
    "local_name",
    "english_name",
    "ingredients",
    "regions",
    "cultures",
    "time_of_day",
    "time_of_day_more",
    "kinds",
    "kinds_more",
    "utensils",
    "drink",
    "occasions",
    "occasions_more",
    "recipe",
    "more_details",
)


@transaction.atomic(savepoint=False)
def save_dish(
    words: Mapping[str, Any],
    places: Sequence[str],
    languages: Sequence[tuple[str, str]],
    *,
    contributor: Contributor | None = None,
    number: int | None = None,
    source: str = Source.FORM,
    source_key: str | None = None,
    state: str = Dish.State.WAITING,
    continents: Iterable[str] | None = None,
) -> Dish:
    """A new dish. `words` has fields of `WORDS`; `languages` are (name, ISO 639-3 code); `continents`, where given,
    replaces those of the places (the published data states its own)."""
    dish = Dish.objects.create(
        number=next_number(source) if number is None else number,
        contributor=contributor,
        source=source,
        source_key=source_key,
        state=state,
        **{field: words[field] for field in WORDS if field in words},
    )
    add_places(dish, places, continents)
    add_languages(dish, languages)
    if state == Dish.State.ACCEPTED:
        propagate_dish_changes([dish.pk])
    return dish


@transaction.atomic(savepoint=False)
def set_places(dish: Dish, names: Sequence[str], continents: Iterable[str] | None = None) -> None:
    """Replaces the dish's places as written, and its continents by `continents` or those of the places."""
    dish.places.all().delete()
    dish.continents.all().delete()
    add_places(dish, names, continents)


def add_places(dish: Dish, names: Sequence[str], continents: Iterable[str] | None = None) -> None:
    """Places and continents of a dish that has none yet."""
    known = countries_for(names)
    DishCountry.objects.bulk_create(
        DishCountry(dish=dish, position=position, name=name, country=known.get(name))
        for position, name in enumerate(names)
    )
    found = continents_of(known.values()) if continents is None else tuple(dict.fromkeys(continents))
    DishContinent.objects.bulk_create(DishContinent(dish=dish, continent=continent) for continent in found)


@transaction.atomic(savepoint=False)
def set_languages(dish: Dish, languages: Sequence[tuple[str, str]]) -> None:
    """Replaces the dish's languages: (name as called by its contributor, ISO 639-3 code or "")."""
    dish.languages.all().delete()
    add_languages(dish, languages)


def add_languages(dish: Dish, languages: Sequence[tuple[str, str]]) -> None:
    """Languages of a dish that has none yet."""
    DishLanguage.objects.bulk_create(
        DishLanguage(dish=dish, position=position, name=name, code=code or UNKNOWN)
        for position, (name, code) in enumerate(languages)
    )


@transaction.atomic
def change_dish(
    dish: Dish,
    words: Mapping[str, Any],
    places: Sequence[str] | None = None,
    languages: Sequence[tuple[str, str]] | None = None,
    *,
    by_contributor: Contributor | None = None,
    by_steward: Any = None,
) -> DishChange | None:
    """Writes new words; what was there before is stored in a DishChange. None where nothing differs."""
    dish = Dish.objects.select_for_update().get(pk=dish.pk)
    before = {field: getattr(dish, field) for field in words if getattr(dish, field) != words[field]}
    old_places = [place.name for place in dish.places.all()]
    old_languages = [(language.name, language.code) for language in dish.languages.all()]
    if places is not None and list(places) != old_places:
        before["places"] = old_places
        set_places(dish, places)
    if languages is not None and list(languages) != old_languages:
        before["languages"] = old_languages
        set_languages(dish, languages)
    if not before:
        return None
    for field, value in words.items():
        setattr(dish, field, value)
    dish.save()
    if dish.state == Dish.State.ACCEPTED:
        propagate_dish_changes([dish.pk])
    return DishChange.objects.create(dish=dish, by_contributor=by_contributor, by_steward=by_steward, before=before)
