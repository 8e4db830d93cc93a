"""Dishes told at once: what one costs, that nobody waits for somebody else's, and what happens beyond what is taken."""

import threading
import uuid
from collections import Counter as Count
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any

import pytest
from django.apps import apps
from django.db import connection, connections, transaction
from django.http import HttpRequest, HttpResponse
from django.test import Client, RequestFactory
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from collection.access.form_tokens import Proof
from collection.consent.record import consent_for
from collection.dishes.numbers import next_number
from collection.dishes.receipts import format_receipt
from collection.models import Contributor, Counter, Dish, Submission
from collection.views import open_collection as open_collection_views
from collection.views.dish import DishPage
from collection.views.more import MorePage
from tests.collection.make import (
    ANSWERS,
    CONSENT,
    dish_form,
    make_contributor,
    make_dish,
    open_collection,
    page,
    stranger,
)
from wwd.base import prepared_pages
from wwd.base.admission import LATEST, SOONEST, Gate, TooManyWaitingError
from wwd.base.languages import LanguageMiddleware

pytestmark = pytest.mark.embedded

# On SQLite a number takes one question more: a row of its own instead of a sequence.
MOST_QUERIES, MOST_QUERIES_OF_CONSENT = 16 if connection.vendor == "postgresql" else 17, 8
postgres = pytest.mark.postgres


def asked_by(act: Callable[[], Any]) -> list[str]:
    """Everything that the database is asked, savepoints and the ends of transactions too."""
    with CaptureQueriesContext(connection) as asked:
        act()
    return [query["sql"] for query in asked.captured_queries]


@pytest.mark.django_db
class TestWhatOneDishCosts:
    def test_telling_a_dish_asks_at_most_sixteen_things(self) -> None:
        first, form = (dish_form(make_contributor()) for _ in range(2))
        page(stranger(), "/dish/", first)
        assert len(asked_by(lambda: page(stranger(), "/dish/", form))) <= MOST_QUERIES
        assert Dish.objects.count() == 2

    def test_agreeing_asks_at_most_eight_things(self) -> None:
        first, sent = ({**CONSENT, "proof": Proof.new("consent", target=consent_for().mark).token} for _ in range(2))
        # Makes what a process asks for once: the key of the month.
        page(stranger(), "/describe/", first)
        assert len(asked_by(lambda: page(stranger(), "/describe/", sent))) <= MOST_QUERIES_OF_CONSENT

    @postgres
    def test_nothing_that_others_need_is_changed_or_held(self) -> None:
        """Only what is new is written, and only one's own row is held: the kind of every counter in a row."""
        form = dish_form(make_contributor())
        asked = asked_by(lambda: page(stranger(), "/dish/", form))
        assert not [sql for sql in asked if sql.startswith(("UPDATE", "DELETE"))]
        [held] = [sql for sql in asked if "FOR UPDATE" in sql]
        assert 'FROM "collection_contributor"' in held


@pytest.mark.django_db(transaction=True)
@postgres
def test_a_dish_whose_storing_takes_long_keeps_no_other_one_waiting() -> None:
    open_collection()
    stored, go_on = threading.Event(), threading.Event()

    def slow() -> None:
        try:
            with transaction.atomic():
                make_dish()
                stored.set()
                go_on.wait(30)
        finally:
            connections.close_all()

    other = threading.Thread(target=slow)
    other.start()
    try:
        assert stored.wait(30)
        with connection.cursor() as cursor:
            # Ends a wait that would otherwise last until the other one is ready.
            cursor.execute("SET lock_timeout = '5s'")
        page(stranger(), "/dish/", dish_form(make_contributor()))
        assert Dish.objects.count() == 1
    finally:
        go_on.set()
        other.join()
        with connection.cursor() as cursor:
            cursor.execute("RESET lock_timeout")
    numbers = list(Dish.objects.values_list("number", flat=True))
    assert len(set(numbers)) == 2


@pytest.mark.django_db
@postgres
class TestNumbers:
    def test_they_go_on_where_the_row_of_the_former_version_stands(self) -> None:
        last = next_number()
        Counter.objects.update_or_create(name="dish", defaults={"value": last + 40})
        assert next_number() == last + 41
        assert next_number() == last + 42

    def test_an_upgrade_goes_on_after_the_last_number_and_a_step_back_too(self) -> None:
        Counter.objects.update_or_create(name="dish", defaults={"value": next_number()})
        before = next_number()
        migration = import_module("collection.migrations.0008_dish_numbers")
        with connection.schema_editor() as editor:
            migration.go_back(apps, editor)
        counted = Counter.objects.get(name="dish").value
        assert counted >= before
        with connection.schema_editor() as editor:
            migration.begin(apps, editor)
        assert next_number() == counted + 1


def in_threads(acts: list[Callable[[], None]]) -> None:
    def one(act: Callable[[], None]) -> None:
        try:
            act()
        finally:
            connections.close_all()

    threads = [threading.Thread(target=one, args=(act,)) for act in acts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)


@pytest.mark.django_db(transaction=True)
def test_beyond_what_is_taken_forms_are_sent_back_and_none_is_lost_or_doubled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight people send at once, each form twice, to a site that takes one and lets one wait; until all are there."""
    open_collection()
    monkeypatch.setattr(open_collection_views, "storing", Gate(1, 1, patience=30))
    forms = [dish_form(make_contributor(), local_name=f"Dish {number}") for number in range(8)]
    answered: Count[int] = Count()
    receipts: dict[str, set[str]] = {form["proof"]: set() for form in forms}

    def send(form: dict[str, str]) -> None:
        for _try in range(500):
            response = Client().post("/fr/dish/", form)
            answered[response.status_code] += 1
            if response.status_code == 200:
                receipts[form["proof"]].add(response.content.decode().split('<span class="code">')[1].split("<")[0])
                return
            assert SOONEST <= int(response.headers["Retry-After"]) <= LATEST
            threading.Event().wait(0.01)

    in_threads([lambda form=form: send(form) for form in forms * 2])  # type: ignore[misc]
    assert answered[200] == 16 and set(answered) <= {200, 503}
    assert sorted(Dish.objects.values_list("local_name", flat=True)) == [f"Dish {number}" for number in range(8)]
    stored = {format_receipt(receipt) for receipt in Submission.objects.values_list("receipt", flat=True)}
    assert all(len(shown) == 1 for shown in receipts.values())
    assert stored == {next(iter(shown)) for shown in receipts.values()}


@pytest.mark.django_db
class TestFull:
    @pytest.fixture(autouse=True)
    def full(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(open_collection_views, "storing", Gate(0, 0, patience=0))

    def test_the_answer_says_in_the_visitors_language_when_to_come_back_and_keeps_the_typing(self) -> None:
        form = dish_form(make_contributor())
        response = stranger().post("/ar/dish/", form)
        assert response.status_code == 503
        assert SOONEST <= int(response.headers["Retry-After"]) <= LATEST
        assert response.headers["Content-Language"] == "ar"
        text = response.content.decode()
        assert 'dir="rtl"' in text and ANSWERS["ingredients"] in text and form["proof"] in text
        assert not Dish.objects.exists() and not Submission.objects.exists()

    @pytest.mark.parametrize("path", ["/", "/describe/", "/leaderboard/", "/dishes/"])
    def test_who_only_reads_is_not_sent_away(self, client: Client, path: str) -> None:
        assert client.get(path).status_code == 200

    def test_agreeing_and_dishes_of_a_phone_are_sent_back_too(self) -> None:
        people = Contributor.objects.count()
        agreed = {**CONSENT, "proof": Proof.new("consent", target=consent_for().mark).token}
        assert stranger().post("/describe/", agreed).status_code == 503
        kept = {**ANSWERS, "form": str(uuid.uuid4()), "proof": Proof.new("queue", make_contributor().pk).token}
        assert stranger().post("/phone/send/", kept).status_code == 503
        assert Contributor.objects.count() == people + 1 and not Dish.objects.exists()


def test_a_gate_lets_some_through_some_wait_and_sends_the_rest_away() -> None:
    gate = Gate(1, 1, patience=30)
    through: list[str] = []
    waits = threading.Event()

    def second() -> None:
        waits.set()
        with gate.place():
            through.append("second")

    with gate.place():
        other = threading.Thread(target=second)
        other.start()
        waits.wait(30)
        while gate.room._value:
            threading.Event().wait(0.001)
        with pytest.raises(TooManyWaitingError), gate.place():
            through.append("third")
        through.append("first")
    other.join(30)
    assert through == ["first", "second"]
    with pytest.raises(ZeroDivisionError), gate.place():
        raise ZeroDivisionError
    with gate.place(), pytest.raises(TooManyWaitingError), Gate(0, 1, patience=0).place():
        pass


NAMES = ("Jollof", "<b>&amp;'\"", "ሽሮ ወጥ", "mark")


@pytest.mark.django_db
class TestPreparedPages:
    @pytest.mark.parametrize("language", ["en", "ar", "hi"])
    def test_they_are_what_their_templates_make_sign_for_sign(
        self, language: str, settings: Settings, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(Proof, "token", property(lambda proof: f"{proof.form}:<&"))
        contributor = make_contributor()
        told = [(make_dish(name, contributor=contributor), Proof.new("dish", contributor.pk)) for name in NAMES]
        written = []
        for by_template in (False, True):
            settings.DEBUG = by_template
            for dish, proof in told:
                monkeypatch.setattr(Proof, "new", partial(itself, proof))
                written.append(in_language(language, MorePage(contributor, dish).render))
                written.append(in_language(language, DishPage(Proof.new("dish", contributor.pk)).render))
        assert written[: 2 * len(told)] == written[2 * len(told) :]
        assert len(set(written)) == 2 * len(told)

    def test_after_the_first_one_no_template_is_rendered(self, monkeypatch: pytest.MonkeyPatch) -> None:
        first, second = (dish_form(make_contributor()) for _ in range(2))
        agreed = {**CONSENT, "proof": Proof.new("consent", target=consent_for().mark).token}
        pages = [page(stranger(), *sent) for sent in (("/dish/", first), ("/describe/", agreed))]
        monkeypatch.setattr(prepared_pages, "render", None)
        monkeypatch.setattr(prepared_pages, "render_to_string", None)
        again = [page(stranger(), *sent) for sent in (("/dish/", second), ("/describe/", agreed))]
        assert [len(text) for text in again] == [len(text) for text in pages]

    def test_they_are_made_for_nobody(self, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
        """The person whose request is the first one: nothing of it can be in the page of the next."""
        seen = []
        made = prepared_pages.render_to_string

        def watched(template: str, context: dict[str, Any], request: HttpRequest) -> str:
            seen.append(
                (dict(request.COOKIES), list(request.META), hasattr(request, "session"), hasattr(request, "user"))
            )
            return made(template, context, request)

        monkeypatch.setattr(prepared_pages, "render_to_string", watched)
        prepared_pages._pages.clear()
        client.cookies["turn"] = "somebody"
        client.post("/dish/", dish_form(make_contributor()))
        assert seen == [({}, ["HTTP_HOST"], False, False)]

    def test_an_attribute_that_a_template_asks_for_besides_makes_a_page_of_its_own(self) -> None:
        @dataclass
        class Asked:
            token: str
            named: bool

        part = prepared_pages.Part(Asked("secret", True), {"token": "mark"})
        assert (part.token, part.named) == ("mark", True)
        page = prepared_pages.Page(["<", "proof.token", ">"], [("proof", "named", True)])
        assert page.filled({"proof.token": "x"}) == "<x>"
        request = RequestFactory().get("/")
        request.COOKIES = {"turn": "x"}
        assert page.serves(request, {"proof": Asked("other", True)})
        assert not page.serves(request, {"proof": Asked("other", False)})
        assert not prepared_pages.Page(["<>"], [], for_strangers=True).serves(request, {})
        with pytest.raises(prepared_pages.UnpreparablePageError):
            _ = prepared_pages.Part(consent_for(), {}).text

    @pytest.mark.parametrize(
        ("look", "seen"),
        [
            (lambda cookies: "turn" in cookies, False),
            (len, 0),
            (bool, False),
            (list, []),
            (lambda cookies: cookies.get("turn", "none"), "none"),
            (lambda cookies: list(cookies.items()), []),
        ],
    )
    def test_whoever_looks_at_the_cookies_of_nobody_finds_none_and_is_noticed(
        self, look: Callable[[prepared_pages.NoCookies], Any], seen: Any
    ) -> None:
        cookies = prepared_pages.NoCookies()
        assert not cookies.looked
        assert (look(cookies), cookies.looked) == (seen, True)
        with pytest.raises(KeyError):
            _ = prepared_pages.NoCookies()["turn"]

    def test_a_page_that_depends_on_a_row_is_rendered_each_time(self) -> None:
        @dataclass
        class Asked:
            token: str
            label: Any

        context = {"field": Asked("secret", make_dish())}
        request = RequestFactory().get("/")
        request.LANGUAGE_CODE = "en"
        assert prepared_pages.prepare_page(request, "collection/field.html", context, ["field.token"]) is None
        part = prepared_pages.Part(Asked("secret", "word"), {})
        assert not hasattr(part, "nothing") and part.noted == {"nothing": prepared_pages.UnpreparablePageError}

    def test_of_very_many_kinds_of_pages_none_is_kept_for_ever(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(prepared_pages, "MOST_KINDS", 2)
        kept = [prepared_pages.get_prepared_variants(key) for key in ("a", "b")]
        assert prepared_pages.get_prepared_variants("a") is kept[0]
        prepared_pages.get_prepared_variants("c")
        assert set(prepared_pages._pages) == {"c"}

    def test_a_page_that_looks_at_cookies_serves_only_who_has_none(self, client: Client, settings: Settings) -> None:
        """And what was left on the request for the middleware is left on each."""
        first = settings.TEMPLATES[0]
        options = first["OPTIONS"]
        processors = [*options["context_processors"], f"{__name__}.looks_at_cookies"]
        settings.TEMPLATES = [{**first, "OPTIONS": {**options, "context_processors": processors}}]
        prepared_pages._pages.clear()
        ways = [client.get("/").wsgi_request for _ in range(2)]
        client.cookies["turn"] = "somebody"
        ways.append(client.get("/").wsgi_request)
        assert [request.looked for request in ways] == [False, False, True]  # type: ignore[attr-defined]

    def test_the_start_page_shows_what_is_counted_now(self, client: Client) -> None:
        seen = []
        for number in (1, 2, 3):
            make_dish(country="Ghana", state="accepted")
            seen.append(f"{number} dish{'es' if number > 1 else ''}" in client.get("/").content.decode())
        assert seen == [True] * 3


def itself(proof: Proof, *_about: object) -> Proof:
    return proof


def looks_at_cookies(request: HttpRequest) -> dict[str, Any]:
    request.looked = any(name.startswith("turn") for name in request.COOKIES)  # type: ignore[attr-defined]
    return {}


def in_language(language: str, view: Callable[[HttpRequest], HttpResponse]) -> str:
    request = RequestFactory().post(f"/{language}/dish/")
    found = LanguageMiddleware(view)(request)
    assert isinstance(found, HttpResponse)
    return found.content.decode()
