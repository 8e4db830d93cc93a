"""The second factor: required by group, set up and asked for without scripts; until then nothing else opens."""

import re
import time
from base64 import b32decode
from collections.abc import Iterator
from datetime import timedelta
from io import StringIO

import pytest
from django.contrib import admin
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import URLPattern, reverse
from django.utils import timezone
from django_otp.oath import TOTP
from django_otp.plugins.otp_static.models import StaticDevice
from django_otp.plugins.otp_totp.models import TOTPDevice
from pytest_django import Settings

from collection.models import Photo
from evaluation import urls
from tests.collection.make import make_dish, make_photo
from tests.wwd.staff_rows import make_member
from tests.wwd.test_groups import lists, page_of
from wwd.staff.second_factor import RECOVERY_CODES

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]
ASK, SET_UP = "/admin/second-factor/", "/admin/second-factor/set-up/"
KEY = re.compile(r'Key: <code dir="ltr">([A-Z2-7 ]+)</code>')
CODE = re.compile(r'<li><code dir="ltr">([a-z0-9]{5} [a-z0-9]{5})</code></li>')


@pytest.fixture(autouse=True)
def moments(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[float]]:
    """A clock for codes that a test sets on, so that none is used twice."""
    at = [1_800_000_000.0]
    monkeypatch.setattr("django_otp.plugins.otp_totp.models.time.time", lambda: at[0])
    yield at


def app(key: bytes, at: float) -> str:
    code = TOTP(key)
    code.time = at
    return f"{code.token():06d}"


def logged_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def set_up(client: Client, moments: list[float]) -> tuple[bytes, list[str]]:
    """The key and the recovery codes of an account that sets the second factor up."""
    found = KEY.search(client.get(SET_UP).content.decode())
    assert found
    key = b32decode(found[1].replace(" ", ""))
    codes = CODE.findall(client.post(SET_UP, {"token": app(key, moments[0])}).content.decode())
    moments[0] += 60
    return key, codes


def all_pages() -> list[str]:
    pages = [page_of(pattern) for pattern in urls.urlpatterns if isinstance(pattern, URLPattern)]
    pages += [reverse(f"{name}_changelist") for _, _, name in lists()]
    return [
        *pages,
        "/admin/",
        "/admin/takeback/",
        "/admin/undo-reports/",
        "/admin/translations/",
        "/admin/password_change/",
    ]


@pytest.mark.parametrize("wanted", [["steward"], ["superuser"], ["all"], ["operator", "steward"]])
def test_required_and_not_set_up_leads_to_set_up_and_nothing_else(settings: Settings, wanted: list[str]) -> None:
    settings.SECOND_FACTOR = wanted
    person = make_member("steward")
    User.objects.filter(pk=person.pk).update(is_superuser="superuser" in wanted)
    client = logged_in(person)
    for address in all_pages():
        response = client.get(address)
        assert response.status_code == 302 and response.headers["Location"].startswith(f"{SET_UP}?next="), address
        assert client.post(address, {"x": "y"}).headers["Location"].startswith(SET_UP), address
    assert client.get(ASK).headers["Location"].startswith(SET_UP)


def test_who_is_in_no_such_group_goes_on_as_before(settings: Settings) -> None:
    settings.SECOND_FACTOR = ["operator", "superuser"]
    assert logged_in(make_member("steward")).get("/admin/").status_code == 200


def test_such_a_session_sees_nothing_on_other_pages_either(settings: Settings) -> None:
    photo = make_photo(make_dish(), Photo.State.WAITING)
    client = logged_in(make_member("steward"))
    assert client.get(f"/{photo.file}").status_code == 200
    settings.SECOND_FACTOR = ["steward"]
    assert client.get(f"/{photo.file}").status_code == 404


def test_the_way_from_set_up_to_the_next_log_in(settings: Settings, moments: list[float]) -> None:
    settings.SECOND_FACTOR = ["steward"]
    person = make_member("steward")
    client = logged_in(person)
    text = client.get(SET_UP).content.decode()
    assert "<svg" in text and "<script" not in text.partition("<main")[2]
    assert KEY.findall(text) == KEY.findall(client.get(SET_UP).content.decode()), "the same key when loaded again"
    assert "This code is not right" in client.post(SET_UP, {"token": "000000"}).content.decode()
    TOTPDevice.objects.update(throttling_failure_count=0)
    key, codes = set_up(client, moments)
    assert len(codes) == RECOVERY_CODES and client.get("/admin/").status_code == 200
    again = logged_in(person)
    response = again.get("/admin/collection/dish/?q=x")
    assert response.headers["Location"] == f"{ASK}?next=/admin/collection/dish/%3Fq%3Dx"
    assert again.get(SET_UP).headers["Location"].startswith(ASK), "no second key before the first one was shown"
    done = again.post(ASK, {"token": app(key, moments[0]), "next": "/admin/collection/dish/?q=x"})
    assert done.headers["Location"] == "/admin/collection/dish/?q=x"
    assert again.get("/admin/collection/dish/").status_code == 200


def test_set_up_freely_it_is_asked_for_at_the_next_log_in(moments: list[float]) -> None:
    person = make_member("researcher")
    set_up(logged_in(person), moments)
    again = logged_in(person)
    for address in all_pages():
        assert again.get(address).headers["Location"].startswith(ASK), address


def test_a_code_works_once_and_wrong_ones_are_slowed(moments: list[float]) -> None:
    person = make_member("steward")
    key, _codes = set_up(logged_in(person), moments)
    first, second = logged_in(person), logged_in(person)
    code = app(key, moments[0])
    assert first.post(ASK, {"token": code}).status_code == 302
    assert "This code is not right" in second.post(ASK, {"token": code}).content.decode()
    moments[0] += 60
    response = second.post(ASK, {"token": app(key, moments[0])})
    assert response.status_code == 429 and "Wait 1 seconds" in response.content.decode()
    assert second.get("/admin/").status_code == 302


def test_recovery_codes_work_once_each_and_are_not_slowed_by_wrong_codes_of_the_app(moments: list[float]) -> None:
    person = make_member("steward")
    _key, codes = set_up(logged_in(person), moments)
    for _ in range(5):
        logged_in(person).post(ASK, {"token": "111111"})
    assert logged_in(person).post(ASK, {"token": codes[0].upper()}).status_code == 302
    assert logged_in(person).post(ASK, {"token": codes[0]}).status_code == 200
    StaticDevice.objects.update(throttling_failure_count=0)
    client = logged_in(person)
    assert client.post(ASK, {"token": codes[1].replace(" ", "-")}).status_code == 302
    assert "8 recovery codes left" in client.get(ASK).content.decode()


def test_recovery_codes_are_renewed_and_the_factor_removed_only_where_it_is_not_required(
    settings: Settings, moments: list[float]
) -> None:
    person = make_member("steward")
    client = logged_in(person)
    _key, codes = set_up(client, moments)
    renewed = CODE.findall(client.post(ASK, {"do": "codes"}).content.decode())
    assert len(renewed) == RECOVERY_CODES and not set(renewed) & set(codes)
    settings.SECOND_FACTOR = ["steward"]
    client.post(ASK, {"do": "remove"})
    assert TOTPDevice.objects.count() == 1
    settings.SECOND_FACTOR = []
    assert "is removed" in client.post(ASK, {"do": "remove"}, follow=True).content.decode()
    assert not TOTPDevice.objects.exists() and not StaticDevice.objects.exists()


def test_another_phone_takes_the_place_of_the_first(moments: list[float]) -> None:
    person = make_member("steward")
    client = logged_in(person)
    first, _codes = set_up(client, moments)
    second, _codes = set_up(client, moments)
    assert first != second and TOTPDevice.objects.count() == 1
    assert logged_in(person).post(ASK, {"token": app(first, moments[0])}).status_code == 200


def test_a_foreign_next_leads_to_the_desk(moments: list[float]) -> None:
    person = make_member("steward")
    key, _codes = set_up(logged_in(person), moments)
    response = logged_in(person).post(ASK, {"token": app(key, moments[0]), "next": "https://evil.example/"})
    assert response.headers["Location"] == "/admin/"


@pytest.mark.parametrize("token", ["", "12345", "x" * 41, "\x00", "１２３４５６", "١٢٣٤٥٦"])
def test_nonsense_gets_a_sentence(moments: list[float], token: str) -> None:
    person = make_member("steward")
    set_up(logged_in(person), moments)
    response = logged_in(person).post(ASK, {"token": token})
    text = response.content.decode()
    assert response.status_code == 200 and "errornote" in text
    assert not token.strip("\0") or f'value="{token}"' not in text


def test_no_page_of_the_admin_shows_keys_or_codes() -> None:
    assert not {TOTPDevice, StaticDevice} & set(admin.site._registry)


def test_pages_of_the_second_factor_are_kept_and_compressed_by_nobody(moments: list[float]) -> None:
    client = logged_in(make_member("steward"))
    response = client.get(SET_UP, headers={"Accept-Encoding": "gzip"})
    assert "no-store" in response.headers["Cache-Control"] and "Content-Encoding" not in response.headers


def test_a_command_takes_it_away_and_names_near_accounts(settings: Settings, moments: list[float]) -> None:
    settings.SECOND_FACTOR = ["steward"]
    person = make_member("steward", "adwoa")
    client = logged_in(person)
    set_up(client, moments)
    with pytest.raises(CommandError, match=r"There is no account adwo\. Near: adwoa"):
        call_command("reset_second_factor", "adwo")
    said = StringIO()
    call_command("reset_second_factor", "adwoa", stdout=said)
    assert "taken away. It is required" in said.getvalue()
    assert client.get("/admin/").headers["Location"].startswith(SET_UP), "sessions that had shown it too"
    call_command("reset_second_factor", "adwoa", stdout=said)
    assert "has no second factor" in said.getvalue()


def test_idle_staff_log_in_again_and_active_ones_do_not(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.STAFF_IDLE_MINUTES = 30
    photo = make_photo(make_dish(), Photo.State.WAITING)
    client = logged_in(make_member("steward"))
    start = time.time()
    for minutes in (0, 29, 58):
        monkeypatch.setattr("wwd.staff.middleware.time.time", lambda passed=minutes: start + passed * 60)
        assert client.get("/admin/").status_code == 200
    monkeypatch.setattr("wwd.staff.middleware.time.time", lambda: start - 7200)
    assert client.get("/admin/").status_code == 200, "a clock that was set back logs nobody out"
    monkeypatch.setattr("wwd.staff.middleware.time.time", lambda: start + 95 * 60)
    assert client.get(f"/{photo.file}").status_code == 404
    response = client.get("/admin/", follow=True)
    assert response.redirect_chain[0][0].startswith("/admin/login/")
    assert "Nothing came from you for 30 minutes" in response.content.decode()


def test_a_wait_that_began_in_the_future_does_not_outlast_the_clock(moments: list[float]) -> None:
    """Where the clock of the server was set back, what was noted before lies ahead."""
    user = make_member("steward", "esi")
    set_up(logged_in(user), moments)
    ahead = timezone.now() + timedelta(days=365)
    TOTPDevice.objects.update(throttling_failure_timestamp=ahead, throttling_failure_count=1)
    assert logged_in(user).post(ASK, {"token": "000000"}).status_code != 302
    began = TOTPDevice.objects.get(user=user).throttling_failure_timestamp
    assert began is not None and began <= timezone.now()
