"""Every page and action of staff, opened by somebody who has every permission but one."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.auth.models import Permission, User
from django.db.models import Model
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from collection.models import Withdrawal
from collection.withdrawal.withdraw import withdraw_dish
from tests.collection.make import make_dish
from tests.wwd import staff_rows
from tests.wwd.test_groups import value_for
from wwd.base.packages import list_models

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]
# Which pages of our own ask for a permission, by the names of their addresses. A page that is missing fails a test.
PAGES: Mapping[str, str] = {
    "evaluation.view_storedtable": """
        tables table csv spreadsheet json figure pdf png drilldown gallery image subject-images precision
        bundle reports read fetch
    """,
    "evaluation.view_generatedimage": "image-file take-cell take-image",
    "evaluation.add_imagedownload": "take-cell take-image",
    "evaluation.add_run": "start",
    "evaluation.view_run": "run",
    "evaluation.change_run": "steer",
    "evaluation.view_plan": "plans plan plan-json",
    "evaluation.add_plan": "plan-new plan-edit",
    "evaluation.change_plan": "plan-freeze",
    "evaluation.unmask_plan": "plan-unmask",
    "collection.change_dish": "takeback",
    "collection.change_report": "undo-reports",
    "collection.change_withdrawal": "undo-reports",
    "collection.change_consenttext": "collection_consenttext_recording",
    "review.change_campaign": "review_campaign_images review_campaign_look",
    "review.view_campaign": "review_campaign_preview",
    "review.view_reviewer": "review_reviewer_report",
    # Tables or dishes: each of two permissions is enough, and the page shows what each may see. How many texts are
    # translated is open to all of the staff.
    # The second factor is each person's own.
    "": "overview translations second-factor second-factor-set-up",
}
REQUIRED = {
    name: {permission for permission, names in PAGES.items() if permission and name in names.split()}
    for name in " ".join(PAGES.values()).split()
}
# Pages that take a POST only.
POSTED = ("steer", "collection_consenttext_recording")
# Of Django itself.
DJANGO = {"index", "login", "logout", "password_change", "password_change_done", "autocomplete", "jsi18n"}
DJANGO |= {"view_on_site", "app_list"}
EDITS = ("changelist", "add", "history", "delete", "change")


def addresses(resolver: Any = None, prefix: str = "") -> Iterator[tuple[str, str]]:
    """(name, address) of every page of our own under /admin/; any value stands for what an address names."""
    for found in (resolver or get_resolver()).url_patterns:
        if isinstance(found, URLResolver):
            yield from addresses(found, prefix + str(found.pattern))
        elif isinstance(found, URLPattern) and f"{prefix}{found.pattern}".startswith("admin/"):
            name = str(found.name)
            if found.name and name not in DJANGO and name.rpartition("_")[2] not in EDITS:
                yield name, "/" + prefix + filled(found)


def filled(pattern: URLPattern) -> str:
    text = str(pattern.pattern)
    for name, converter in pattern.pattern.converters.items():
        kind = type(converter).__name__.removesuffix("Converter").lower().replace("string", "str")
        text = text.replace(f"<{kind}:{name}>", value_for(converter))
    return text


def lacking(permission: str) -> Client:
    """Somebody of the staff with every permission but this one."""
    person = User.objects.create_user(f"no {permission}", is_staff=True)
    person.user_permissions.set(Permission.objects.all())
    app, codename = permission.split(".")
    missing = Permission.objects.get(content_type__app_label=app, codename=codename)
    person.user_permissions.remove(missing)
    client = Client()
    client.force_login(person)
    return client


def test_every_page_of_staff_says_what_it_asks_for() -> None:
    assert {name for name, _address in addresses()} == set(REQUIRED)


@pytest.mark.parametrize("permission", sorted(set().union(*REQUIRED.values())))
def test_a_page_opens_without_a_permission_exactly_where_it_does_not_ask_for_it(permission: str) -> None:
    client = lacking(permission)
    for name, address in addresses():
        send = client.post if name in POSTED else client.get
        assert (send(address).status_code == 403) == (permission in REQUIRED[name]), name


# Leaving somebody out and counting them again are one decision.
ACTS_BY = {"review_exclusion": "review.add_exclusion"}


def changing() -> list[type[Model]]:
    """Models whose list in the admin has actions of our own, beside Django's deletion."""
    return [model for model, shown in admin.site._registry.items() if shown.actions]


def dump() -> dict[str, list[dict[str, Any]]]:
    return {model.__name__: list(model._default_manager.order_by("pk").values()) for model in list_models()}


def make_withdrawal() -> None:
    """One that waits for a steward."""
    withdraw_dish(make_dish("Lost", "Ghana"), Withdrawal.Reason.LOST_CODE)


@pytest.mark.parametrize("model", changing(), ids=lambda model: model.__name__)
def test_an_action_changes_nothing_for_somebody_who_may_only_look(model: type[Model]) -> None:
    staff_rows.make_world()
    make_withdrawal()
    label = f"{model._meta.app_label}_{model._meta.model_name}"
    client = lacking(ACTS_BY.get(label, f"{model._meta.app_label}.change_{model._meta.model_name}"))
    before = dump()
    for action in admin.site._registry[model].actions or ():
        name = action if isinstance(action, str) else action.__name__
        rows = [str(row.pk) for row in model._default_manager.all()]
        assert rows, label
        posted = {"action": name, "_selected_action": rows, "post": "yes"}
        answer = client.post(f"/admin/{label.replace('_', '/', 1)}/", posted)
        assert answer.status_code in (200, 302, 403), name
        assert dump() == before, name
