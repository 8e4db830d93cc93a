"""While the database is away or a disk is full every page says so, in the visitor's language, and when to come back."""

import json
import re
from pathlib import Path

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import FileSystemStorage
from django.db import connection
from django.test import Client, RequestFactory
from pytest_django import Settings

from collection.access.form_tokens import Proof
from collection.models import Dish
from tests.collection.make import (
    ANSWERS,
    dish_form,
    make_contributor,
    make_dish,
    make_photo_bytes,
    open_collection,
    upload,
)
from tests.wwd.processes import environment, free_port, snippet
from wwd.base.unavailable import is_temporary, unavailable_response

pytestmark = pytest.mark.embedded

ASK = """
import json
from django.test import Client
from collection.access.form_tokens import Proof
found = {}
client = Client(raise_request_exception=False, headers={"host": "localhost"})
for path in %(paths)r:
    response = client.get(path, headers={"accept-language": "fr"})
    found[path] = [response.status_code, response.headers.get("Retry-After"), response.headers.get("Content-Language")]
client.cookies["sessionid"] = "somebodys"
response = client.get("/admin/")
found["staff"] = [response.status_code, response.headers.get("Retry-After"), response.headers.get("Content-Language")]
client.cookies.clear()
sent = {"local_name": "Ndolé <x>", "proof": Proof.new("dish").token, "ingredients": "a\\nb"}
response = client.post("/ar/dish/", sent)
found["sent"] = [response.status_code, response.headers.get("Retry-After"), response.headers.get("Content-Language")]
print(json.dumps({"found": found, "page": response.content.decode()}))
"""
PATHS = [
    "/",
    "/fr/",
    "/leaderboard/",
    "/dishes/",
    "/photos/x.jpg",
    "/recordings/x.mp3",
    "/withdrawn.json",
    "/review/a/",
]


def test_every_page_answers_503_in_the_visitors_language_while_the_database_is_away(tmp_path: Path) -> None:
    away = environment(
        tmp_path, DATABASE_URL=f"postgres://u:p@127.0.0.1:{free_port()}/n", SECRET_KEY="0123456789abcdef" * 3
    )
    told = json.loads(snippet(away, ASK % {"paths": PATHS}).splitlines()[-1])
    found = told["found"]
    assert {tuple(found[path]) for path in PATHS} == {(503, "30", "fr")}
    assert found["staff"] == [503, "30", "en"]
    assert found["sent"] == [503, "30", "ar"]
    assert 'action="/ar/dish/"' in told["page"]
    assert 'name="local_name" value="Ndolé &lt;x&gt;"' in told["page"]
    assert 'name="proof"' in told["page"]
    assert 'dir="rtl"' in told["page"]


def test_what_staff_type_is_never_repeated() -> None:
    """A page in some cache must not hold a password."""
    request = RequestFactory().post("/admin/login/", {"username": "ada", "password": "correct horse"})
    assert request.POST["password"]
    text = unavailable_response(request).content.decode()
    assert "correct horse" not in text
    assert "ada" not in text


class FullDisk(FileSystemStorage):
    """Keeps what was there before; whatever is written now finds no room."""

    def _save(self, name: str, content: ContentFile) -> str:
        with Path("/dev/full").open("wb") as file:
            file.write(content.read())
        return name


@pytest.mark.django_db
def test_a_photo_for_which_there_is_no_room_keeps_the_page_and_the_dish(settings: Settings) -> None:
    open_collection()
    person = make_contributor()
    dish = make_dish(contributor=person)
    settings.STORAGES = {**settings.STORAGES, "default": {"BACKEND": f"{__name__}.FullDisk"}}
    client = Client(raise_request_exception=False)
    token = Proof.new("photo", person.pk, dish.pk).token
    response = client.post("/fr/photo/", {"proof": token, "photo": upload(make_photo_bytes())})
    assert response.status_code == 503
    assert response.headers["Retry-After"] == "30"
    assert response.headers["Content-Language"] == "fr"
    assert token.split(":")[0] in response.content.decode()
    assert not dish.photos.exists()


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(connection.vendor != "sqlite", reason="makes SQLite itself full")
def test_a_full_database_keeps_the_typing_and_saves_nothing() -> None:
    open_collection()
    person = make_contributor()
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA page_count")
        cursor.execute(f"PRAGMA max_page_count = {cursor.fetchone()[0]}")
        try:
            client = Client(raise_request_exception=False)
            answers = []
            for number in range(40):
                sent = dish_form(person, local_name=f"Dish {number}", ingredients="x" * 3000)
                answers.append(client.post("/dish/", sent))
        finally:
            cursor.execute("PRAGMA max_page_count = 1073741823")
    refused = [answer for answer in answers if answer.status_code == 503]
    assert refused
    assert all("Send it again" in answer.content.decode() for answer in refused)
    assert {answer.status_code for answer in answers} <= {200, 503}
    assert Dish.objects.count() == sum(answer.status_code == 200 for answer in answers)


def test_a_fault_of_ours_is_not_called_temporary() -> None:
    assert not is_temporary(ZeroDivisionError())
    assert not is_temporary(OSError(2, "no such file"))
    assert not is_temporary(None)


def test_the_page_needs_no_more_than_what_is_in_memory() -> None:
    """No database mark: asking it would fail this test."""
    request = RequestFactory().get("/describe/", headers={"accept-language": "sw"})
    response = unavailable_response(request, seconds=7)
    assert (response.status_code, response.headers["Retry-After"]) == (503, "7")
    assert response.headers["Cache-Control"] == "no-store"
    assert re.search('<html lang="sw"', response.content.decode())
    assert ANSWERS["local_name"] not in response.content.decode()
