"""Stored tables stay when a dish is erased, but the words that only this dish had leave their cells."""

from typing import Any

from django.db.models import Q

from collection.models import Country, Dish, DishCountry, DishLanguage
from evaluation.models import StoredTable

ERASED = "withdrawn"


def own_words(dish: Dish) -> set[str]:
    """Names, places and languages that no other dish and no list of ours has: what could tell of this dish."""
    places = dish.places.filter(country=None).values_list("name", flat=True)
    languages = dish.languages.filter(code="mis").values_list("name", flat=True)
    words = {dish.local_name, dish.english_name, *places, *languages} - {""}
    return {word for word in words if not used_elsewhere(word, dish)}


def used_elsewhere(word: str, dish: Dish) -> bool:
    others = Dish.objects.live().exclude(pk=dish.pk)
    return (
        Country.objects.filter(name=word).exists()
        or others.filter(Q(local_name=word) | Q(english_name=word)).exists()
        or DishCountry.objects.filter(name=word, dish__in=others).exists()
        or DishLanguage.objects.filter(name=word, dish__in=others).exists()
    )


def scrub_tables(dish: Dish) -> None:
    """Replaces these words in stored tables; a table that was filtered by one of them goes, it is about this dish."""
    words = own_words(dish)
    if not words:
        return
    for row in StoredTable.objects.iterator(chunk_size=50):
        if words & set(row.filters.values()):
            row.delete()
        elif (content := scrubbed(row.content, words)) != row.content:
            StoredTable.objects.filter(pk=row.pk).update(content=content)


def scrubbed(value: Any, words: set[str]) -> Any:
    """`value` with every text that is one of `words` replaced, however deep it lies."""
    if isinstance(value, dict):
        return {scrubbed(name, words): scrubbed(entry, words) for name, entry in value.items()}
    if isinstance(value, list):
        return [scrubbed(entry, words) for entry in value]
    return ERASED if isinstance(value, str) and value in words else value
