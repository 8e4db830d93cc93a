"""Ingredients of accepted dishes, one under its spellings, and what to suggest while somebody writes.

Spellings that differ in case, accents or punctuation only are one from the start (`words.fold`); a steward may join
others ("aubergine" and "eggplant") with `join`. What a contributor wrote is never changed.
"""

from collections.abc import Iterable, Sequence

from django.db import connection, transaction
from django.db.models import Count, F, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from collection.models import Dish, DishIngredient, Ingredient, IngredientSpelling
from collection.text import fold_spelling, has_letter, split_list

LONGEST = 120
LONGEST_FOLDED = 240
MOST_SUGGESTED = 10
MOST_PER_DISH = 60
CHUNK = 500
SEPARATORS = " ,;\n\r،؛、，；፣၊"
PAST_EVERY_SIGN = "\U0010ffff"


def named_in(text: str) -> dict[str, str]:
    """Folded form → as written, of the ingredients in a dish's text; sentences and signs alone are none."""
    entries = [entry for entry in split_list(text) if len(entry) <= LONGEST and has_letter(entry)]
    found: dict[str, str] = {}
    for entry in entries[:MOST_PER_DISH]:
        found.setdefault(fold_spelling(entry)[:LONGEST_FOLDED], entry)
    found.pop("", None)
    return found


def index_ingredients(dish: Dish) -> None:
    """Brings the index in line with a dish that was accepted, changed, hidden or withdrawn. Call it as often as you
    like; curation calls it in the transaction of its decision."""
    index_dishes([dish])


@transaction.atomic
def index_dishes(dishes: Sequence[Dish]) -> None:
    """`index_ingredients` for many dishes with a fixed number of queries."""
    pks = [dish.pk for dish in dishes]
    shown = set(Dish.objects.accepted().filter(pk__in=pks).values_list("pk", flat=True))
    named = {dish.pk: named_in(dish.ingredients) for dish in dishes if dish.pk in shown}
    old = DishIngredient.objects.filter(dish__in=pks)
    touched = set(old.values_list("spelling__ingredient", flat=True))
    old.delete()
    spellings = spellings_for({folded: name for words in named.values() for folded, name in words.items()})
    uses = [DishIngredient(dish_id=pk, spelling=spellings[folded]) for pk, words in named.items() for folded in words]
    DishIngredient.objects.bulk_create(uses, ignore_conflicts=True)
    recount_ingredients(touched | {spelling.ingredient_id for spelling in spellings.values()})


def spellings_for(names: dict[str, str]) -> dict[str, IngredientSpelling]:
    """The rows of these folded forms; what is new becomes an ingredient of its own."""
    known = IngredientSpelling.objects.in_bulk(names, field_name="folded")
    new = {folded: name for folded, name in names.items() if folded not in known}
    made = Ingredient.objects.bulk_create(Ingredient(name=name) for name in new.values())
    IngredientSpelling.objects.bulk_create(
        (
            IngredientSpelling(folded=folded, name=name, ingredient=ingredient)
            for (folded, name), ingredient in zip(new.items(), made, strict=True)
        ),
        ignore_conflicts=True,
    )
    return known | IngredientSpelling.objects.in_bulk(list(new), field_name="folded")


def recount_ingredients(pks: Iterable[int]) -> None:
    """Counts these ingredients again; spellings and ingredients that no accepted dish holds any more go away."""
    touched = Ingredient.objects.filter(pk__in=list(pks))
    IngredientSpelling.objects.filter(ingredient__in=touched, uses=None).delete()
    touched.filter(spellings=None).delete()
    uses = DishIngredient.objects.filter(spelling__ingredient=OuterRef("pk")).order_by().values("spelling__ingredient")
    number = Subquery(uses.annotate(number=Count("dish", distinct=True)).values("number"))
    touched.update(dishes=Coalesce(number, 0))


def rebuild_ingredient_index() -> int:
    """The whole index anew from the accepted dishes, for imports and every night; returns how many dishes it holds.

    Joined spellings stay joined where a dish still uses them.
    """
    accepted = Dish.objects.accepted().only("pk", "ingredients").order_by("pk")
    DishIngredient.objects.exclude(dish__in=Dish.objects.accepted()).delete()
    chunk: list[Dish] = []
    for dish in accepted.iterator(CHUNK):
        chunk.append(dish)
        if len(chunk) == CHUNK:
            index_dishes(chunk)
            chunk = []
    index_dishes(chunk)
    drop_unused()
    return accepted.count()


def drop_unused() -> None:
    """Removes ingredients whose dishes are gone."""
    IngredientSpelling.objects.filter(uses=None).delete()
    Ingredient.objects.filter(spellings=None).delete()


@transaction.atomic
def merge_ingredients(ingredients: QuerySet[Ingredient]) -> Ingredient | None:
    """One ingredient out of several: the most used one keeps its name, the others become its spellings."""
    rows = list(ingredients.select_for_update().order_by("-dishes", "pk"))
    if not rows:
        return None
    IngredientSpelling.objects.filter(ingredient__in=rows[1:]).update(ingredient=rows[0])
    Ingredient.objects.filter(pk__in=[row.pk for row in rows[1:]]).delete()
    recount_ingredients([rows[0].pk])
    return rows[0]


def beginning_with(folded: str) -> QuerySet[IngredientSpelling]:
    """Spellings that begin so, by the index of `folded`. SQLite's LIKE uses no index, PostgreSQL's order of letters
    is not that of their codes: each gets the form that its index serves."""
    if connection.vendor == "postgresql":
        return IngredientSpelling.objects.filter(folded__startswith=folded)
    return IngredientSpelling.objects.filter(folded__gte=folded, folded__lt=folded + PAST_EVERY_SIGN)


def suggest_ingredients(beginning: str, limit: int = MOST_SUGGESTED) -> list[str]:
    """Ingredients of accepted dishes that begin so, the most used first, each in its usual spelling. One query."""
    folded = fold_spelling(beginning[:LONGEST])
    if not folded:
        return []
    rows = (
        beginning_with(folded)
        .order_by("-ingredient__dishes", F("folded").asc())
        .values_list("ingredient__name", flat=True)
    )
    return list(dict.fromkeys(rows[: limit * 3]))[:limit]


def suggest_for(text: str) -> list[str]:
    """What may be meant by the last entry of a list, and by earlier ones that no accepted dish holds."""
    entries = split_list(text)
    if not entries:
        return most_used()
    found = [name for entry in (entries[-1], *entries[:-1][-2:]) for name in suggest_ingredients(entry)]
    written = {fold_spelling(entry) for entry in entries}
    return [name for name in dict.fromkeys(found) if fold_spelling(name) not in written][:MOST_SUGGESTED]


def most_used() -> list[str]:
    return list(Ingredient.objects.filter(dishes__gt=0).values_list("name", flat=True)[:MOST_SUGGESTED])


def complete_ingredient_list(text: str, chosen: Sequence[str]) -> str:
    """`text` with the chosen suggestions: an unfinished last entry gives way to the one it begins, the rest follow."""
    entries = split_list(text)
    written = {fold_spelling(entry) for entry in entries}
    new = [name for name in chosen if fold_spelling(name) not in written]
    if not new:
        return text
    kept = text.rstrip()
    last = entries[-1] if entries else ""
    if begins_one(last, new) and kept.endswith(last):
        kept = kept[: -len(last)]
    return ", ".join([part for part in (kept.rstrip(SEPARATORS),) if part] + new)


def begins_one(entry: str, names: Sequence[str]) -> bool:
    """True for an entry that only begins one of `names`; an ingredient that some dish has is a whole one."""
    folded = fold_spelling(entry)
    return (
        bool(folded) and any(fold_spelling(name).startswith(folded) for name in names) and not is_known_spelling(folded)
    )


def is_known_spelling(folded: str) -> bool:
    return IngredientSpelling.objects.filter(folded=folded).exists()
