"""Every page of staff, walked as each group, as staff of no group, and as a stranger."""

from collections.abc import Iterator, Mapping

import pytest
from django.contrib import admin
from django.contrib.auth.models import Group, Permission, User
from django.core.management import call_command
from django.db.models import Model
from django.test import Client
from django.urls import URLPattern, reverse

from collection.models import Ambassador, Dish, Photo
from evaluation import urls
from tests.collection.make import make_dish, make_photo
from tests.wwd import staff_rows
from wwd.groups import GROUPS, iterate_permission_keys

pytestmark = pytest.mark.django_db

# What each group sees as a list; everything else is refused.
LISTS: Mapping[str, set[str]] = {
    "researcher": {
        "evaluation.run",
        "evaluation.unit",
        "evaluation.subject",
        "evaluation.model",
        "evaluation.prompttemplate",
        "evaluation.questionset",
        "evaluation.descriptorset",
        "evaluation.referencelist",
        "evaluation.plan",
        "review.questionnaire",
    },
    "steward": {
        "collection.dish",
        "collection.photo",
        "collection.report",
        "collection.ingredient",
        "collection.withdrawal",
        "collection.contributor",
        "collection.aboutyou",
        "collection.country",
        "collection.ambassador",
        "collection.consenttext",
        "collection.opening",
        "review.campaign",
        "review.invitation",
        "review.campaignimage",
        "review.reviewer",
        "review.reviewerbackground",
        "review.note",
        "review.assignment",
        "review.review",
        "review.exclusion",
        "review.questionnaire",
        "review.reviewerconsent",
    },
    "operator": {
        "evaluation.run",
        "evaluation.unit",
        "evaluation.subject",
        "evaluation.model",
        "evaluation.prompttemplate",
        "evaluation.questionset",
        "evaluation.descriptorset",
        "evaluation.referencelist",
        "evaluation.plan",
        "evaluation.imagedownload",
        "evaluation.workertoken",
        "collection.consenttext",
        "collection.opening",
        "collection.country",
        "review.questionnaire",
        "review.reviewerconsent",
    },
    "ambassador": {"collection.dish", "collection.photo"},
}
# Researchers' pages, by name, that a group may open; the rest is refused.
RUNNING = {"start", "steer"}
TAKING = {"take-cell", "take-image"}
PAGES = {str(pattern.name) for pattern in urls.urlpatterns if isinstance(pattern, URLPattern)}
OPEN: Mapping[str, set[str]] = {
    "researcher": PAGES - RUNNING,
    "operator": PAGES - TAKING,
    "steward": {"overview"} & PAGES,
    "ambassador": {"overview"} & PAGES,
}


def member(group: str) -> Client:
    client = Client()
    account = staff_rows.make_member(group)
    if group == "ambassador":
        staff_rows.name_ambassador(account)
    client.force_login(account)
    return client


def lists() -> Iterator[tuple[str, type[Model], str]]:
    for model in admin.site._registry:
        meta = model._meta
        yield meta.label_lower, model, f"admin:{meta.app_label}_{meta.model_name}"


def page_of(pattern: URLPattern) -> str:
    """An address of the page: permissions are asked before anything is looked up, so any value does."""
    values = {name: value_for(converter) for name, converter in pattern.pattern.converters.items()}
    return reverse(f"evaluation:{pattern.name}", kwargs=values)


def value_for(converter: object) -> str:
    kind = type(converter).__name__.removesuffix("Converter").lower()
    known = {"slug": "no-such", "string": "no.such", "int": "1", "path": "no/such"}
    return known.get(kind, "00000000-0000-0000-0000-000000000000")


def test_groups_hold_what_they_say_and_a_second_migration_sets_them_back() -> None:
    researcher = Group.objects.get(name="researcher")
    researcher.permissions.add(Permission.objects.get(codename="view_aboutyou"))
    call_command("migrate", verbosity=0)
    for name, apps in GROUPS.items():
        held = Group.objects.get(name=name).permissions
        assert set(held.values_list("content_type__app_label", "codename")) == set(iterate_permission_keys(apps)), name


@pytest.mark.parametrize("group", LISTS)
def test_lists_and_rows_open_for_the_group_and_nothing_else_does(group: str) -> None:
    staff_rows.make_world()
    client = member(group)
    for label, model, name in lists():
        allowed = label in LISTS[group]
        assert client.get(reverse(f"{name}_changelist")).status_code == (200 if allowed else 403), label
        row = model._default_manager.first()
        if row is None or model is User:
            continue
        change = client.get(reverse(f"{name}_change", args=[row.pk]), follow=True)
        assert (change.status_code == 200) == allowed, label
        assert client.post(reverse(f"{name}_delete", args=[row.pk]), {"post": "yes"}).status_code == 403, label


@pytest.mark.parametrize("group", OPEN)
def test_researchers_pages_open_for_the_group_and_nothing_else_does(group: str) -> None:
    client = member(group)
    for pattern in urls.urlpatterns:
        if isinstance(pattern, URLPattern):
            refused = client.get(page_of(pattern)).status_code == 403
            assert refused == (pattern.name not in OPEN[group]), pattern.name


def test_strangers_sign_in_first_and_staff_of_no_group_see_nothing() -> None:
    stranger, plain = Client(), Client()
    plain.force_login(User.objects.create_user("plain", is_staff=True))
    pages = [page_of(pattern) for pattern in urls.urlpatterns if isinstance(pattern, URLPattern)]
    pages += [reverse(f"{name}_changelist") for _, _, name in lists()]
    for address in pages:
        assert stranger.get(address).headers["Location"].startswith("/admin/login/"), address
        assert plain.get(address).status_code == 403, address


def test_researchers_read_nothing_about_people() -> None:
    run = staff_rows.make_world()
    client = member("researcher")
    pages = [reverse("admin:index"), reverse("evaluation:run", args=[run.slug])]
    pages += [reverse("evaluation:table", args=["association.scores"])]
    for label, model, name in lists():
        if label in LISTS["researcher"]:
            pages += [reverse(f"{name}_changelist")]
            pages += [reverse(f"{name}_change", args=[row.pk]) for row in model._default_manager.all()[:3]]
    private = (staff_rows.PERSONAL, staff_rows.BACKGROUND, staff_rows.NOTE, staff_rows.PHONE, staff_rows.OWN_WORDS)
    for address in pages:
        text = client.get(address, follow=True).text
        assert [words for words in private if words in text] == [], address


def test_ambassadors_see_dishes_and_photos_of_their_own_country_alone() -> None:
    own = make_dish("Kenkey", "Ghana", contributor=None)
    other = make_dish("Thieboudienne", "Senegal")
    photos = make_photo(own), make_photo(other), make_photo(own, Photo.State.DRAFT)
    client = member("ambassador")
    page = client.get("/admin/collection/dish/").text
    assert ("Kenkey" in page, "Thieboudienne" in page) == (True, False)
    assert client.get("/admin/collection/dish/?q=Thieb").text.count("Thieboudienne") == 0
    assert client.get(f"/admin/collection/dish/{own.pk}/change/").status_code == 200
    assert client.get(f"/admin/collection/dish/{other.pk}/change/").status_code == 302
    assert client.get(f"/admin/collection/dish/{other.pk}/history/").status_code == 302
    found = [client.get(f"/admin/collection/photo/{photo.pk}/change/").status_code for photo in photos]
    assert found == [200, 302, 302]
    addresses = [reverse("collection:photo-file", args=[photo.file.removeprefix("photos/")]) for photo in photos]
    files = [client.get(address).status_code for address in addresses]
    assert files == [200, 404, 404]


def test_ambassadors_change_nothing_and_read_no_contributor() -> None:
    staff_rows.make_world()
    client, dish = member("ambassador"), Dish.objects.get(local_name="Kenkey")
    page = client.get(f"/admin/collection/dish/{dish.pk}/change/").text
    assert str(dish.contributor_id) not in page
    assert "Ghana" in page
    client.post("/admin/collection/dish/", {"action": "accept", "_selected_action": dish.pk})
    client.post(f"/admin/collection/dish/{dish.pk}/change/", {"state": "accepted"})
    dish.refresh_from_db()
    assert dish.state == Dish.State.WAITING


@pytest.mark.parametrize("what", ["no row", "over", "left the group", "inactive"])
def test_an_account_that_is_no_ambassador_today_sees_no_dish(what: str) -> None:
    dish, account = make_dish("Kenkey", "Ghana"), staff_rows.make_member("ambassador")
    staff_rows.name_ambassador(account, days=-1 if what == "over" else 30)
    if what == "no row":
        Ambassador.objects.all().delete()
    if what == "left the group":
        account.groups.clear()
    User.objects.filter(pk=account.pk).update(is_active=what != "inactive")
    client = Client()
    client.force_login(account)
    assert client.get("/admin/collection/dish/").status_code in (302, 403)
    assert client.get(f"/admin/collection/dish/{dish.pk}/change/").status_code in (302, 403)


def test_withdrawn_dishes_are_gone_for_ambassadors_too() -> None:
    make_dish("Kenkey", "Ghana", state=Dish.State.WITHDRAWN)
    assert "Kenkey" not in member("ambassador").get("/admin/collection/dish/").text


def test_staff_without_rights_are_told_no_name_of_a_row_by_where_they_are_sent() -> None:
    staff_rows.make_world()
    plain = Client()
    plain.force_login(User.objects.create_user("plain", is_staff=True))
    for label, model, name in lists():
        row = model._default_manager.first()
        if row is None or model is User:
            continue
        for page in ("change", "history", "delete"):
            response = plain.get(reverse(f"{name}_{page}", args=[row.pk]))
            # A row outside of what an account may see is answered like one that does not exist.
            assert response.status_code == 403 or response.headers["Location"] == "/admin/", f"{label} {page}"
