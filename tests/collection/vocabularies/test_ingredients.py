"""Ingredients: one under its spellings, suggested from accepted dishes, quick among fifty thousand."""

import html
import re
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from collection.access.form_tokens import Proof
from collection.dishes.curation import decide_dishes
from collection.models import Dish, DishIngredient, Ingredient, IngredientSpelling, Submission
from collection.vocabularies import ingredients
from collection.vocabularies.ingredients import (
    beginning_with,
    complete_ingredient_list,
    drop_unused,
    index_ingredients,
    merge_ingredients,
    named_in,
    rebuild_ingredient_index,
    suggest_ingredients,
)
from tests.collection.make import ANSWERS, dish_form, make_contributor, make_dish, page, stranger, tokens
from tests.wwd.processes import environment, snippet

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]


def accepted(ingredients: str) -> Dish:
    dish = make_dish(state=Dish.State.ACCEPTED, ingredients=ingredients)
    index_ingredients(dish)
    return dish


def ask(client: Client, q: str) -> list[str]:
    names = client.get("/ingredients/", {"q": q}).json()["names"]
    assert isinstance(names, list)
    return names


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Rice, tomatoes; onions", ["rice", "tomatoes", "onions"]),
        ("rice\nRice\n RICE ", ["rice"]),
        ("أرز، بصل", ["ارز", "بصل"]),
        ("चावल، प्याज", None),
        ("米、醤油", ["米", "醤油"]),
        ("🍅, ---, ,", []),
        ("x" * 121, []),
        ("", []),
    ],
)
def test_text_becomes_its_ingredients(text: str, names: list[str] | None) -> None:
    found = list(named_in(text))
    assert len(found) == 2 if names is None else found == names


def test_suggestions_come_from_accepted_dishes_and_the_most_used_come_first(client: Client) -> None:
    for text in ("tomatoes", "Tomatoes, tomato paste", "tomatoes"):
        accepted(text)
    make_dish(ingredients="tomatillo")
    assert ask(client, "tom") == ["tomatoes", "tomato paste"]
    assert ask(client, "TÓM") == ["tomatoes", "tomato paste"]
    assert ask(client, "tomatoes") == ["tomatoes"]
    assert ask(client, "zz") == ask(client, "") == ask(client, "---") == []


def test_spellings_that_differ_in_case_and_accents_are_one_ingredient() -> None:
    for text in ("Piment", "piment", "PIMENT", "pimént"):
        accepted(text)
    ingredient = Ingredient.objects.get()
    assert (ingredient.name, ingredient.dishes) == ("Piment", 4)


def test_joined_ingredients_are_one_under_all_their_spellings(client: Client) -> None:
    accepted("aubergine")
    accepted("aubergine, eggplant")
    accepted("eggplant")
    merge_ingredients(Ingredient.objects.all())
    ingredient = Ingredient.objects.get()
    assert ingredient.dishes == 3 and ingredient.spellings.count() == 2
    assert ask(client, "egg") == ask(client, "aub") == [ingredient.name]
    rebuild_ingredient_index()
    assert Ingredient.objects.get().dishes == 3


def test_joining_nothing_does_nothing() -> None:
    assert merge_ingredients(Ingredient.objects.none()) is None


@pytest.mark.parametrize("state", [Dish.State.HIDDEN, Dish.State.REJECTED, Dish.State.WITHDRAWN])
def test_ingredients_that_only_a_dish_taken_away_had_are_gone(client: Client, state: str) -> None:
    dish = accepted("rice, grains of selim")
    accepted("rice")
    Dish.objects.filter(pk=dish.pk).update(state=state)
    index_ingredients(dish)
    assert ask(client, "grains") == [] and ask(client, "rice") == ["rice"]
    assert not IngredientSpelling.objects.filter(folded__contains="selim").exists()
    assert Ingredient.objects.get().dishes == 1


def test_correcting_a_dish_moves_its_ingredients(client: Client) -> None:
    dish = accepted("rise")
    dish.ingredients = "rice"
    dish.save()
    index_ingredients(dish)
    assert ask(client, "ri") == ["rice"]


def test_indexing_twice_counts_once() -> None:
    dish = accepted("rice, rice")
    index_ingredients(dish)
    assert DishIngredient.objects.count() == 1 and Ingredient.objects.get().dishes == 1


def test_rebuild_finds_everything_anew_and_drops_what_is_gone() -> None:
    for number in range(3):
        make_dish(state=Dish.State.ACCEPTED, ingredients=f"rice, herb {number}")
    accepted("old herb").delete()
    call_command("ingredients")
    assert set(Ingredient.objects.values_list("name", "dishes")) == {("rice", 3), *((f"herb {n}", 1) for n in range(3))}
    Dish.objects.all().delete()
    drop_unused()
    assert Ingredient.objects.count() == 0


def test_rebuild_takes_dishes_in_portions_and_loses_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ingredients, "CHUNK", 2)
    for number in range(5):
        make_dish(state=Dish.State.ACCEPTED, ingredients=f"rice, herb {number}")
    assert rebuild_ingredient_index() == 5
    assert set(Ingredient.objects.values_list("name", "dishes")) == {("rice", 5), *((f"herb {n}", 1) for n in range(5))}


def test_sqlite_looks_for_spellings_by_a_range_because_its_like_uses_no_index(tmp_path: Path) -> None:
    asked = "from collection.vocabularies.ingredients import beginning_with; print(beginning_with('ri').query)"
    found = snippet(environment(tmp_path), asked)
    assert ">= ri" in found and f"< ri{ingredients.PAST_EVERY_SIGN}" in found and "LIKE" not in found


def test_accepting_a_dish_brings_its_ingredients(client: Client) -> None:
    make_dish(ingredients="njangsa")
    decide_dishes(Dish.objects.all(), Dish.State.ACCEPTED, User.objects.create_user("steward"))
    assert ask(client, "njan") == ["njangsa"]
    decide_dishes(Dish.objects.all(), Dish.State.HIDDEN, None)
    assert ask(client, "njan") == []


@pytest.mark.parametrize("q", ["\0", "%", "_", "' OR 1=1 --", "x" * 100_000, "\ud7ff", "💥", "\\", "*"])
def test_odd_questions_find_nothing_and_do_no_harm(client: Client, q: str) -> None:
    accepted("rice")
    assert ask(client, q) == []


def test_asking_changes_nothing_and_may_be_kept_by_phones(client: Client) -> None:
    response = client.get("/ingredients/", {"q": "ri"})
    assert "max-age" in response["Cache-Control"] and not response.cookies
    assert client.post("/ingredients/", {"q": "ri"}).status_code == 405
    assert Ingredient.objects.count() == 0


def test_suggestion_among_fifty_thousand_is_one_query_by_an_index() -> None:
    made = Ingredient.objects.bulk_create(
        [Ingredient(name=f"leaf {number:05d}", dishes=number % 7) for number in range(50_000)], batch_size=5_000
    )
    IngredientSpelling.objects.bulk_create(
        [IngredientSpelling(folded=row.name, name=row.name, ingredient=row) for row in made], batch_size=5_000
    )
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    with CaptureQueriesContext(
        connection,
    ) as queries:
        assert len(suggest_ingredients("leaf 0001")) == 10
    assert len(queries) == 1
    plan = beginning_with("leaf 0001").explain()
    assert re.search(r"using (index|covering index)|index scan", plan, re.IGNORECASE), plan


def form_page(**changes: str) -> str:
    return page(stranger(), "/dish/", dish_form(make_contributor(), **changes))


def test_suggest_button_shows_ingredients_to_tick_and_keeps_the_typing() -> None:
    accepted("tomatoes")
    text = form_page(ingredients="rice, tom", local_name="---", suggest="new")
    assert '<input type="checkbox" name="also" value="tomatoes">' in text
    assert 'value="---"' in text and "rice, tom</textarea>" in text and 'class="errors"' not in text
    assert Dish.objects.count() == 1 and Submission.objects.count() == 0


def test_suggest_button_says_where_nothing_begins_like_this() -> None:
    text = form_page(ingredients="zzz", suggest="new")
    assert "Yours is welcome" in text


def test_suggest_button_without_any_typing_shows_the_most_used_ones() -> None:
    accepted("salt")
    assert 'value="salt"' in form_page(ingredients="", suggest="new")


def test_ticked_suggestion_takes_the_place_of_the_word_it_completes() -> None:
    accepted("tomatoes")
    page(stranger(), "/dish/", dish_form(make_contributor(), ingredients="my own leaf,\ntom", also="tomatoes"))
    assert Dish.objects.get(source="form", state="waiting").ingredients == "my own leaf, tomatoes"


@pytest.mark.parametrize(
    ("typed", "chosen", "kept"),
    [
        ("rice", ["rice flour"], "rice, rice flour"),
        ("ric", ["rice", "rice flour"], "rice, rice flour"),
        ("", ["rice"], "rice"),
        ("salt,", ["rice"], "salt, rice"),
        ("Rice", ["rice"], "Rice"),
        ("salt\npepper", [], "salt\npepper"),
        ("بصل،", ["أرز"], "بصل, أرز"),
    ],
)
def test_chosen_suggestions_never_swallow_a_word(typed: str, chosen: list[str], kept: str) -> None:
    accepted("rice")
    assert complete_ingredient_list(typed, chosen) == kept


def test_correcting_with_suggestions_stays_a_correction() -> None:
    contributor = make_contributor()
    dish = make_dish(contributor=contributor)
    proof = Proof.new("dish", contributor.pk, dish.pk).token
    text = page(stranger(), "/dish/", {**ANSWERS, "proof": proof, "suggest": "correct"})
    assert "Save the correction" in text
    page(stranger(), "/dish/", {**ANSWERS, "proof": tokens(text)["/dish/"], "choice": "correction"})
    assert Dish.objects.get().ingredients == ANSWERS["ingredients"]


def test_hostile_suggestions_are_only_text() -> None:
    text = form_page(ingredients="rice", also="<script>alert(1)</script>\x00", local_name="x")
    assert "a sign that cannot be shown" in html.unescape(text) and "<script>alert" not in text
    assert Dish.objects.count() == 0
