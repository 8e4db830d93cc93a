"""Stored tables stay when a dish is erased, but the words that only this dish had leave their cells."""

import re
from collections.abc import Iterable, Mapping
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
    """Takes these words out of stored tables; a table that was filtered by one of them goes, it is about this dish."""
    words = own_words(dish)
    if not words:
        return
    pattern = pattern_of(words)
    for row in StoredTable.objects.exclude(content=None).iterator(chunk_size=50):
        if words & set(row.filters.values()):
            row.delete()
        elif (content := scrub_content(row.content or {}, pattern)) != row.content:
            StoredTable.objects.filter(pk=row.pk).update(content=content)


def pattern_of(words: Iterable[str]) -> re.Pattern[str]:
    """Any of these as a whole word, the longest first."""
    return re.compile("|".join(rf"(?<!\w){re.escape(word)}(?!\w)" for word in sorted(words, key=len, reverse=True)))


def without_withdrawn(content: Mapping[str, Any]) -> Mapping[str, Any]:
    """A table that was stored before a dish was withdrawn, for those days in which it is not erased yet."""
    gone = Dish.objects.filter(state=Dish.State.WITHDRAWN).exclude(local_name="")
    words = {word for dish in gone for word in own_words(dish)}
    return scrub_content(content, pattern_of(words)) if words else content


def scrub_content(content: Mapping[str, Any], pattern: re.Pattern[str]) -> dict[str, Any]:
    """A stored table with the words gone from its groups, notes and further content; names of columns stay."""
    rows = [{**row, "groups": erase_words(row["groups"], pattern)} for row in content.get("rows", ())]
    more = {name: erase_words(value, pattern) for name, value in content.items() if name not in ("columns", "rows")}
    return {**content, **more, "rows": rows}


def erase_words(value: Any, pattern: re.Pattern[str]) -> Any:
    """`value` with the words replaced in every text, however deep it lies."""
    if isinstance(value, dict):
        return {name: erase_words(entry, pattern) for name, entry in value.items()}
    if isinstance(value, list):
        return [erase_words(entry, pattern) for entry in value]
    return pattern.sub(ERASED, value) if isinstance(value, str) else value
