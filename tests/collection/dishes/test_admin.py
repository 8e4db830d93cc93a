"""What stewards do in the lists of the admin: each action, and the sentence that says what became of it."""

import pytest
from django.test import Client
from django.utils import timezone

from collection.access.form_tokens import Proof
from collection.access.request_info import Circumstances
from collection.dishes.curation import DishMergeError, decide_dishes, merge_dishes
from collection.dishes.submit import submit_dish
from collection.models import Ambassador, Contributor, Country, Dish, Ingredient, Photo, Withdrawal
from collection.withdrawal.withdraw import withdraw_dish
from tests.collection.access.test_takeback import CONTENT
from tests.collection.make import make_contributor, make_dish, make_photo, make_steward

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]
EVERYTHING = [
    f"{verb}_{name}"
    for verb in ("view", "change")
    for name in ("dish", "photo", "contributor", "ingredient", "withdrawal", "ambassador", "country")
]


@pytest.fixture(autouse=True)
def steward(client: Client) -> None:
    client.force_login(make_steward(*EVERYTHING))


def act(client: Client, name: str, action: str, *rows: Dish | Photo | Contributor | Ingredient) -> str:
    """The list after an action on these rows."""
    data = {"action": action, "_selected_action": [str(row.pk) for row in rows]}
    return client.post(f"/admin/collection/{name}/", data, follow=True).content.decode()


@pytest.mark.parametrize(
    ("action", "state"), [("accept", "accepted"), ("reject", "rejected"), ("hide", "hidden"), ("withdraw", "withdrawn")]
)
def test_dishes_are_decided_together(client: Client, action: str, state: str) -> None:
    chosen, other = [make_dish("Fufu"), make_dish("Banku")], make_dish()
    assert "2 dishes changed." in act(client, "dish", action, *chosen)
    assert {dish.state for dish in Dish.objects.exclude(pk=other.pk)} == {state}
    assert Dish.objects.get(pk=other.pk).state == "waiting"


@pytest.mark.parametrize(("action", "state"), [("accept", "accepted"), ("reject", "rejected"), ("hide", "hidden")])
def test_photos_are_decided_apart_from_their_dishes(client: Client, action: str, state: str) -> None:
    photo, draft = make_photo(make_dish()), make_photo(make_dish(), Photo.State.DRAFT)
    assert "1 photo changed." in act(client, "photo", action, photo, draft)
    assert (Photo.objects.get(pk=photo.pk).state, Photo.objects.get(pk=draft.pk).state) == (state, "draft")
    assert photo.dish.state == "waiting"


def test_photo_without_a_thumbnail_is_listed_without_an_image(client: Client) -> None:
    shown, bare = make_photo(make_dish()), make_photo(make_dish("Banku"))
    Photo.objects.filter(pk=bare.pk).update(thumbnail="")
    listed = client.get("/admin/collection/photo/").content.decode()
    assert listed.count('height="80"') == 1 and f'src="/{shown.thumbnail}"' in listed


def test_dishes_that_are_one_are_merged_into_the_lowest_number_and_parted_again(client: Client) -> None:
    first, second = make_dish(state=Dish.State.ACCEPTED), make_dish(state=Dish.State.ACCEPTED)
    assert "1 dish changed." in act(client, "dish", "merge", second, first)
    assert Dish.objects.get(pk=second.pk).merged_into == first
    assert "1 dish changed." in act(client, "dish", "unmerge", first, second)
    assert not Dish.objects.exclude(merged_into=None).exists()


def test_dishes_that_cannot_be_one_stay_apart_and_the_reason_is_shown(client: Client) -> None:
    first, second = make_dish(), make_dish(state=Dish.State.ACCEPTED)
    assert "The dish that stays must be accepted" in act(client, "dish", "merge", first, second)
    assert not Dish.objects.exclude(merged_into=None).exists()


def test_dish_shows_what_looked_odd_and_leads_to_everything_of_its_network(client: Client) -> None:
    how = Circumstances("mobile", "a" * 24, ("quick", "trap"))
    sent = submit_dish(Proof.new("dish", make_contributor().pk), CONTENT, how).submission.dish
    assert sent is not None
    page = client.get(f"/admin/collection/dish/{sent.pk}/change/").content.decode()
    assert "quick, trap" in page and f"?network={'a' * 24}" in page
    other = client.get(f"/admin/collection/dish/{make_dish().pk}/change/").content.decode()
    assert "?network=" not in other


def test_public_name_is_hidden_and_shown_again(client: Client) -> None:
    contributor = make_contributor()
    Contributor.objects.update(alias="Mama Esi", alias_key="mama esi")
    dish = make_dish(contributor=contributor)
    decide_dishes(Dish.objects.all(), Dish.State.ACCEPTED, None)
    public = f"/dishes/{dish.number}/"
    assert "Mama Esi" in Client().get(public).content.decode()
    for action, hidden in (("hide_name", True), ("show_name", False)):
        act(client, "contributor", action, contributor)
        assert Contributor.objects.get().alias_hidden is hidden
        assert ("Mama Esi" in Client().get(public).content.decode()) is not hidden


def test_ingredients_that_are_one_are_joined_and_one_alone_stays(client: Client) -> None:
    for text in ("aubergine, salt", "aubergine", "eggplant"):
        make_dish(ingredients=text)
    decide_dishes(Dish.objects.all(), Dish.State.ACCEPTED, None)
    named = {row.name: row for row in Ingredient.objects.all()}
    said = act(client, "ingredient", "join", named["aubergine"], named["eggplant"])
    assert "They are now “aubergine”." in said
    assert set(Ingredient.objects.values_list("name", "dishes")) == {("aubergine", 3), ("salt", 1)}


def test_no_dish_is_merged_into_one_that_is_not_accepted() -> None:
    waiting, other = make_dish(), make_dish()
    with pytest.raises(DishMergeError, match="must be accepted"):
        merge_dishes(Dish.objects.filter(pk=other.pk), waiting, None)
    assert not Dish.objects.exclude(merged_into=None).exists()


def test_withdrawal_is_shown_and_cannot_be_rewritten(client: Client) -> None:
    row = withdraw_dish(make_dish(), Withdrawal.Reason.LOST_CODE)
    address = f"/admin/collection/withdrawal/{row.pk}/change/"
    page = client.get(address).content.decode()
    assert 'class="readonly"' in page and 'name="reason"' not in page
    client.post(address, {"reason": "own", "former_state": "accepted"})
    row.refresh_from_db()
    assert (row.reason, row.former_state) == ("lost_code", "waiting")


def test_who_named_an_ambassador_stays_when_somebody_else_changes_the_day(client: Client) -> None:
    named_by = make_steward()
    ghana = Country.objects.get(pk="GHA")
    row = Ambassador.objects.create(label="Kofi", country=ghana, until=timezone.localdate(), named_by=named_by)
    data = {"label": "Kofi", "country": "GHA", "until": "2030-01-01", "account": ""}
    client.post(f"/admin/collection/ambassador/{row.pk}/change/", data)
    row.refresh_from_db()
    assert (row.named_by, str(row.until)) == (named_by, "2030-01-01")
