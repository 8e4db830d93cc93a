"""Which kind of device a dish came from: a word is stored, never what the browser said."""

import pytest
from django.test import Client

from collection.access.request_info import device_class
from collection.models import Submission
from tests.collection.make import CONSENT, dish_form, make_contributor, open_collection, page

ANDROID = "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0 Mobile Safari/537.36"
WINDOWS = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0 Safari/537.36"
MINI = "Opera/9.80 (J2ME/MIDP; Opera Mini/9.80 (S60; SymbOS) Version/12.16"
CLASSES = {
    ANDROID: "mobile",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) AppleWebKit/605.1.15": "mobile",
    MINI: "mobile",
    "Mozilla/5.0 (Mobile; Nokia 2780; rv:84.0) Gecko/84.0 Firefox/84.0 KAIOS/3.1": "mobile",
    WINDOWS: "desktop",
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15": "desktop",
    "Mozilla/5.0 (X11; Linux x86_64; rv:127.0) Gecko/20100101 Firefox/127.0": "desktop",
    "Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) AppleWebKit/537.36": "desktop",
    "curl/8.5": "unknown",
    "": "unknown",
    "\x00\uffff" * 5000: "unknown",
}


@pytest.mark.parametrize(("agent", "expected"), CLASSES.items(), ids=[name[:40] for name in CLASSES])
def test_browsers_are_told_apart_by_the_name_that_they_give(agent: str, expected: str) -> None:
    assert device_class({"User-Agent": agent}) == expected


def test_the_hint_of_the_browser_counts_before_its_name() -> None:
    assert device_class({"Sec-CH-UA-Mobile": "?1", "User-Agent": WINDOWS}) == "mobile"
    assert device_class({"Sec-CH-UA-Mobile": "?0", "User-Agent": ANDROID}) == "desktop"
    assert device_class({"Sec-CH-UA-Mobile": "perhaps", "User-Agent": ANDROID}) == "mobile"


@pytest.mark.django_db
def test_a_dish_keeps_the_class_and_nothing_of_the_name(client: Client) -> None:
    open_collection()
    form = dish_form(make_contributor())
    page(client, "/dish/", {**form, **CONSENT}, **{"User-Agent": ANDROID})
    row = Submission.objects.values().get()
    assert row["device"] == "mobile"
    assert not any("Chrome" in str(value) for value in row.values())
    page(client, "/dish/", {**form, **CONSENT}, **{"User-Agent": WINDOWS})
    assert Submission.objects.get().device == "mobile"
