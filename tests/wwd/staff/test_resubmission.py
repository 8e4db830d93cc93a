"""Forms of staff that are sent too late: shown again with the typing, to those alone who sent them from our pages."""

import html
import re

import pytest
from django.contrib.auth.models import User
from django.test import Client

from evaluation.models import PromptTemplate
from tests.collection.make import upload
from tests.wwd.staff_rows import make_member

pytestmark = pytest.mark.django_db
OWN = {"Origin": "http://testserver", "Sec-Fetch-Site": "same-origin"}
ADD = "/admin/evaluation/prompttemplate/add/"
WORDS = "A photo of <dish> & “rice”\nand more"
TYPED = {"slug": "mine", "version": "1", "text": WORDS, "csrfmiddlewaretoken": "x" * 64}
FIELD = re.compile(r'<input type="hidden" name="([^"]+)" value="([^"]*)"')


@pytest.fixture
def chief() -> User:
    return User.objects.create_superuser("chief", password="a long enough secret")


def strict(user: User | None = None) -> Client:
    client = Client(enforce_csrf_checks=True)
    if user:
        client.force_login(user)
    client.cookies["csrftoken"] = "b" * 32
    return client


def fields(text: str) -> dict[str, str]:
    """What the form on the page would send."""
    main = text[text.index('id="content"') :]
    return {html.unescape(name): html.unescape(value) for name, value in FIELD.findall(main)}


def test_form_of_an_earlier_log_in_comes_again_with_its_typing_and_is_taken_then(chief: User) -> None:
    client = strict(chief)
    response = client.post(ADD, TYPED, headers=OWN)
    text = response.content.decode()
    assert response.status_code == 403 and "You logged in again since this form was opened" in text
    assert "needs cookies" not in text and not PromptTemplate.objects.filter(slug="mine").exists()
    sent = fields(text)
    assert sent["text"] == WORDS
    assert sent["csrfmiddlewaretoken"] != TYPED["csrfmiddlewaretoken"]
    assert f'action="{ADD}"' in text
    again = client.post(ADD, sent, headers=OWN)
    assert again.status_code == 302 and PromptTemplate.objects.get(slug="mine").text == WORDS


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site", "Origin": "http://testserver"},
        {"Sec-Fetch-Site": "same-origin", "Origin": "https://evil.example"},
        {"Referer": "http://testserver.evil.example/"},
    ],
)
def test_what_another_site_sent_is_refused_and_not_shown(chief: User, headers: dict[str, str]) -> None:
    response = strict(chief).post(ADD, TYPED, headers=headers)
    assert response.status_code == 403 and "rice" not in response.content.decode()


def test_a_page_of_ours_is_known_by_its_referer_where_a_browser_says_nothing_else(chief: User) -> None:
    response = strict(chief).post(ADD, TYPED, headers={"Referer": f"http://testserver{ADD}"})
    assert "You logged in again" in response.content.decode()


def test_without_cookies_the_page_says_so(chief: User) -> None:
    client = Client(enforce_csrf_checks=True)
    text = client.post("/admin/login/", {"username": "chief", "password": "x"}, headers=OWN).content.decode()
    assert "needs cookies" in text


def test_an_old_page_of_the_log_in_is_opened_anew_and_shows_no_password(chief: User) -> None:
    data = {"username": "chief", "password": "a long enough secret", "csrfmiddlewaretoken": "x" * 64}
    response = strict().post("/admin/login/?next=/admin/takeback/", data, headers=OWN)
    assert response.headers["Location"] == "/admin/login/?next=/admin/takeback/"


def test_passwords_are_never_shown_again_and_files_are_asked_for(chief: User) -> None:
    data = {"password1": "hidden words", "old_password": "others", "note": "kept", "file": upload(b"bytes")}
    text = strict(chief).post("/admin/auth/user/add/?x=<y>", data, headers=OWN).content.decode()
    assert "kept" in text and "hidden words" not in text and "others" not in text
    assert 'type="file"' in text and "Choose the file of file again" in text and "<y>" not in text


def test_typing_of_somebody_who_was_logged_out_meanwhile_waits_for_the_next_log_in(chief: User) -> None:
    client = strict()
    response = client.post(ADD, TYPED, headers=OWN)
    text = response.content.decode()
    assert response.status_code == 403 and "You were logged out since this form was opened" in text
    assert fields(text)["slug"] == "mine"
    client.force_login(chief)
    assert client.post(ADD, fields(text), headers=OWN).status_code == 302
    assert PromptTemplate.objects.get(slug="mine").text == WORDS


def test_strangers_see_nothing_of_pages_for_staff_by_sending_to_them(client: Client) -> None:
    make_member("steward")
    response = client.post("/admin/collection/dish/1/change/", {"state": "accepted"})
    assert response.headers["Location"].startswith("/admin/login/")
    text = client.post("/admin/collection/dish/1/change/", {"state": "accepted"}, headers=OWN).content.decode()
    assert "You were logged out" in text and "Select" not in text and "Change dish" not in text


def test_staff_of_the_wrong_site_are_not_shown_forms(chief: User) -> None:
    person = User.objects.create_user("plain")
    response = strict(person).post(ADD, TYPED, headers=OWN)
    assert response.status_code == 403 and "rice" not in response.content.decode()
