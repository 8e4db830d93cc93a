"""A clock that is set back after *Finish*: what happened first stays first, and nobody is asked for a code again."""

import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime

import pytest
from django.http import HttpRequest
from django.test import Client, RequestFactory
from django.utils import timezone

from collection.access import form_tokens, return_codes
from collection.access.form_tokens import Proof
from collection.access.request_info import TOO_QUICK, collect_request_circumstances
from collection.access.turns import finish_turn, has_turn_ended
from review.signed_links import copy_of, image_address
from tests.collection.make import ANSWERS, make_contributor, make_dish, page, stranger, tokens
from tests.review.make import first_image, make_campaign

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]
HOURS = 3600.0
SetClock = Callable[[float], None]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[SetClock]:
    """Sets the server's clock, in seconds after noon; other processes have heard of nothing yet."""
    noon = datetime(2026, 11, 28, 12, tzinfo=UTC).timestamp()
    at = [noon]
    monkeypatch.setattr(time, "time", lambda: at[0])
    monkeypatch.setattr(time, "time_ns", lambda: int(at[0] * 1_000_000_000))
    monkeypatch.setattr(timezone, "now", lambda: datetime.fromtimestamp(at[0], UTC))
    if hasattr(form_tokens, "_latest"):
        monkeypatch.setattr(form_tokens, "_latest", 0)

    def set_to(seconds: float) -> None:
        at[0] = noon + seconds

    yield set_to


def forget_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    """As another process, or after a restart."""
    monkeypatch.setattr(form_tokens, "_latest", 0, raising=False)


@pytest.mark.parametrize("restarted", [False, True])
def test_who_comes_back_with_the_code_after_the_clock_was_set_back_can_do_everything(
    clock: SetClock, monkeypatch: pytest.MonkeyPatch, restarted: bool
) -> None:
    contributor = make_contributor()
    make_dish("Thieb", contributor=contributor)
    code = return_codes.issue_return_code(contributor.pk, "contributor")
    before = Proof.new("dish", contributor.pk)
    finish_turn(contributor.pk)
    clock(-2 * HOURS)
    if restarted:
        forget_everything(monkeypatch)
    form = tokens(page(stranger(), "/return/", {"code": code}))
    for number in range(3):
        if restarted:
            forget_everything(monkeypatch)
        response = stranger().post("/return/dishes/", {"proof": form["/return/dishes/"], "download": "words"})
        assert response.headers.get("Content-Disposition", "").startswith("attachment"), number
        clock(-2 * HOURS + number)
    assert has_turn_ended(before), "what was served before the finish stays spent"
    assert "The four questions" not in page(stranger(), "/dish/", {**ANSWERS, "proof": before.token})


def test_cookie_of_somebody_who_came_back_goes_on_after_the_clock_was_set_back(
    client: Client, clock: SetClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    contributor = make_contributor()
    make_dish("Thieb", contributor=contributor)
    code = return_codes.issue_return_code(contributor.pk, "contributor")
    finish_turn(contributor.pk)
    clock(-2 * HOURS)
    page(client, "/return/", {"code": code})
    forget_everything(monkeypatch)
    text = client.get("/describe/").content.decode()
    assert "/dish/" in tokens(text), "known, and not asked for consent anew"
    forget_everything(monkeypatch)
    assert "Your dish is saved" in page(client, "/dish/", {**ANSWERS, "proof": tokens(text)["/dish/"]})


def test_finish_after_the_clock_was_set_back_ends_the_turn_and_the_next_one_begins(clock: SetClock) -> None:
    person = make_contributor().pk
    for seconds in (0, -7200, -7200, -7200, 60):
        clock(seconds)
        before = Proof.new("dish", person)
        assert not has_turn_ended(before)
        finish_turn(person)
        assert has_turn_ended(before)


def test_a_dish_that_waits_longer_than_the_clock_goes_back_is_not_called_quick(clock: SetClock) -> None:
    served = Proof.new("dish", make_contributor().pk)
    clock(-2 * HOURS)
    request: HttpRequest = RequestFactory().post("/dish/", ANSWERS)
    assert TOO_QUICK not in collect_request_circumstances(request, served).flags


def test_an_image_whose_page_was_served_before_the_jump_is_still_served(clock: SetClock) -> None:
    image = first_image(make_campaign(images=1))
    address = image_address(image).rstrip("/").rpartition("/")[2]
    clock(-2 * HOURS)
    assert copy_of(address) == image.copy_sha256
    clock(1 * HOURS)
    assert copy_of(address) == image.copy_sha256
    clock(2.5 * HOURS)
    assert copy_of(address) is None
