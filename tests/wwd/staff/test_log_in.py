"""The log-in of staff: failures are slowed, recorded, logged and told; nobody locks anybody out."""

import logging
from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from collection.access.alarms import MANY_FAILURES
from collection.models import Tries
from tests.collection.make import make_steward
from tests.wwd.staff_rows import make_member
from wwd.staff import log_in
from wwd.staff.log_in import FREE

pytestmark = pytest.mark.django_db
ADDRESS = "/admin/login/"
RIGHT, WRONG = "a long enough secret", "wrong"


@pytest.fixture
def steward(settings: Settings) -> User:
    """A member of the staff whose password is compared quickly."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    return make_member("steward", "esi")


def try_(client: Client, name: str = "esi", password: str = WRONG, **more: str) -> int:
    return client.post(ADDRESS, {"username": name, "password": password, **more}).status_code


@pytest.fixture
def at(monkeypatch: pytest.MonkeyPatch) -> list[datetime]:
    """A clock that stands still until a test sets it on."""
    held = [datetime(2026, 11, 28, 12, tzinfo=UTC)]
    monkeypatch.setattr(timezone, "now", lambda: held[0])
    return held


def test_twenty_five_wrong_passwords_are_slowed_after_ten(steward: User, at: list[datetime]) -> None:
    answers = [try_(Client()) for _ in range(25)]
    assert answers == [200] * (FREE + 1) + [429] * (24 - FREE)
    response = Client().post(ADDRESS, {"username": "esi", "password": RIGHT})
    assert response.status_code == 429 and int(response.headers["Retry-After"]) <= 2
    text = response.content.decode()
    assert "Wait 2 seconds" in text and "esi" in text and RIGHT not in text


def test_the_wait_ends_and_the_right_password_is_taken(steward: User, at: list[datetime]) -> None:
    assert [try_(Client()) for _ in range(FREE + 2)][-1] == 429
    at[0] += timedelta(seconds=3)
    assert try_(Client(), password=RIGHT) == 302


def test_a_device_that_is_known_waits_for_nobody_else(steward: User, at: list[datetime]) -> None:
    own = Client()
    assert try_(own, password=RIGHT) == 302
    own.cookies.pop("sessionid")
    for _ in range(FREE + 5):
        try_(Client())
    assert try_(Client(), password=RIGHT) == 429
    assert try_(own, password=RIGHT) == 302


def test_a_known_device_is_known_for_its_account_only_and_has_its_own_brake(steward: User, at: list[datetime]) -> None:
    make_member("operator", "kofi")
    own = Client()
    try_(own, password=RIGHT)
    own.cookies.pop("sessionid")
    assert [try_(own) for _ in range(FREE + 2)][-1] == 429
    for _ in range(FREE + 2):
        try_(Client())
    assert try_(own, name="kofi", password=RIGHT) == 429


@pytest.mark.parametrize("value", ["", "forged", "abc.1:x:y"])
def test_a_forged_cookie_makes_no_device_known(steward: User, at: list[datetime], value: str) -> None:
    for _ in range(FREE + 2):
        client = Client()
        client.cookies["known"] = value
        last = try_(client)
    assert last == 429


def test_another_network_does_not_wait(steward: User, at: list[datetime]) -> None:
    for _ in range(FREE + 5):
        try_(Client())
    assert try_(Client(REMOTE_ADDR="41.202.10.7"), password=RIGHT) == 302


def test_right_passwords_are_no_failures(steward: User) -> None:
    for _ in range(FREE + 5):
        assert try_(Client(), password=RIGHT) == 302
    assert sum(Tries.objects.values_list("number", flat=True)) == 0


def test_failures_are_logged_and_stored_without_names_passwords_or_addresses(
    steward: User, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO):
        try_(Client(REMOTE_ADDR="41.202.10.7"), password="hunter2hunter2")
    assert "A log-in of staff failed: number 1 of its network or device" in caplog.text
    stored = caplog.text + str(list(Tries.objects.values_list()))
    assert [word for word in ("esi", "hunter2", "41.202.10") if word in stored] == []


def test_stewards_are_told_of_many_failures(steward: User, client: Client) -> None:
    for number in range(MANY_FAILURES):
        try_(Client(REMOTE_ADDR=f"41.{number}.10.7"))
    said = "20 log-ins of staff failed within 24 hours"
    client.force_login(steward)
    assert said in client.get("/admin/").content.decode()
    assert said in client.get("/admin/evaluation/overview/").content.decode()
    client.force_login(make_steward("view_dish"))
    assert said not in client.get("/admin/").content.decode()


@pytest.mark.parametrize("foreign", ["https://evil.example/", "//evil.example", "http:///x", "javascript:alert(1)", ""])
def test_a_log_in_with_a_foreign_next_leads_to_the_desk(steward: User, foreign: str) -> None:
    client = Client()
    data = {"username": "esi", "password": RIGHT, "next": foreign}
    response = client.post(f"{ADDRESS}?next={foreign}", data, follow=True)
    assert response.redirect_chain == [("/admin/", 302)] and response.status_code == 200


def test_every_page_that_needs_a_log_in_leads_to_the_one_of_the_admin(client: Client) -> None:
    for address in ("/admin/takeback/", "/admin/undo-reports/", "/admin/evaluation/tables/", "/admin/second-factor/"):
        response = client.get(address)
        assert response.headers["Location"].startswith(f"{ADDRESS}?next=/admin/"), address


def test_many_at_once_do_not_all_find_the_counter_as_it_was(
    steward: User, at: list[datetime], monkeypatch: pytest.MonkeyPatch
) -> None:
    count = log_in.count_try

    def meanwhile(key: str) -> int:
        """Others of this network are quicker."""
        monkeypatch.setattr(log_in, "count_try", count)
        for _ in range(FREE):
            count(key)
        return count(key)

    monkeypatch.setattr(log_in, "count_try", meanwhile)
    response = Client().post(ADDRESS, {"username": "esi", "password": RIGHT})
    assert response.status_code == 429 and "Wait 2 seconds" in response.content.decode()


def test_a_log_in_without_a_request_is_counted_for_all_of_them_together(steward: User) -> None:
    assert log_in.EntryForm(None, {"username": "esi", "password": RIGHT}).is_valid()
    assert not log_in.EntryForm(None, {"username": "esi", "password": WRONG}).is_valid()
    assert log_in.count_attempts("staff") == 1
