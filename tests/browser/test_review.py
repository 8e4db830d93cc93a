"""The review in a real browser: without JavaScript and cookies, light enough for a 2G phone, usable by everybody."""

import gzip
import os
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Page, Response, ViewportSize
from pytest_django.live_server_helper import LiveServer

from review.models import Invitation, Review, Reviewer
from tests.review.make import make_campaign, make_invitation

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

BUDGET = 14_600
PHONE: ViewportSize = {"width": 360, "height": 640}
SIZES: dict[str, ViewportSize] = {"phone": PHONE, "desk": {"width": 1280, "height": 800}}
SHOTS = os.environ.get("WWD_SCREENSHOTS", "")


def context_of(browser: Browser, **more: Any) -> BrowserContext:
    """A browser that runs no script and whose cookies never reach the server."""
    context = browser.new_context(**{"java_script_enabled": False, "viewport": PHONE, **more})

    def without_cookies(route: Any) -> None:
        headers = {name: value for name, value in route.request.headers.items() if name != "cookie"}
        route.continue_(headers=headers)

    context.route("**/*", without_cookies)
    return context


@pytest.fixture(params=SIZES)
def page(browser: Browser, request: pytest.FixtureRequest) -> Iterator[Page]:
    context = context_of(browser, viewport=SIZES[request.param])
    yield context.new_page()
    context.close()


def shot(page: Page, name: str) -> None:
    """Keeps a screenshot where WWD_SCREENSHOTS names a folder."""
    if SHOTS and page.viewport_size:
        page.screenshot(path=Path(SHOTS) / f"review-{name}-{page.viewport_size['width']}.png", full_page=True)


def press(page: Page, name: str) -> None:
    """Presses a button and waits until the page that answers is complete."""
    with page.expect_navigation():
        page.get_by_role("button", name=name).click()


def begin(page: Page, live_server: LiveServer, invitation: Invitation) -> None:
    page.goto(f"{live_server.url}{invitation.get_absolute_url()}")
    for label in ("Nigeria", "I was asked to help", "I am 18", "I have read this"):
        page.get_by_label(label).check()
    press(page, "Begin")


def choose(page: Page, question: str, answer: str) -> None:
    page.get_by_role("group", name=question).get_by_label(answer, exact=True).check()


def first_questions(page: Page, food: str) -> None:
    choose(page, "Is Àmàlà a dish of your country", "Yes")
    choose(page, "How well do you know", "Very well: I eat it regularly")
    choose(page, "How good is the picture itself", "3")
    choose(page, "Does the picture show food", food)


def test_whole_review_without_script_and_cookies(page: Page, live_server: LiveServer) -> None:
    invitation = make_invitation(make_campaign(images=3))
    page.goto(f"{live_server.url}{invitation.get_absolute_url()}")
    shot(page, "warning")
    begin(page, live_server, invitation)
    assert page.get_by_text("The picture is covered.").is_visible()
    assert page.locator("img").count() == 0
    covered = page.locator(".frame").bounding_box()
    shot(page, "covered")
    first_questions(page, "Yes")
    press(page, "Show")
    assert page.locator(".frame img").bounding_box() == page.locator(".frame").bounding_box() == covered
    assert page.get_by_label("3", exact=True).is_checked()
    shot(page, "shown")
    press(page, "Next")
    choose(page, "Does the picture show Àmàlà", "No")
    choose(page, "How close is the picture", "Not at all similar, or completely different")
    page.get_by_label("Why?").fill("Kò jọ àmàlà rárá")
    page.get_by_label("The picture looks disturbing").check()
    shot(page, "food")
    press(page, "Keep my answers")
    assert page.get_by_text("Picture 2 of 3").is_visible()
    shot(page, "next")
    press(page, "Show")
    first_questions(page, "No")
    press(page, "Next")
    page.get_by_label("What do you see in the picture?").fill("A wall")
    shot(page, "not-food")
    press(page, "Keep my answers")
    press(page, "Stop here")
    shot(page, "stop")
    with page.expect_navigation():
        page.locator(".address a").click()
    press(page, "Go on")
    press(page, "Skip")
    assert page.get_by_role("heading", name="Thank you. You have seen every picture").is_visible()
    shot(page, "done")
    assert Reviewer.objects.count() == 1
    said = {review.food: review.answers for review in Review.objects.all()}
    assert said[True]["checks"] == ["disturbing"]
    assert said[True]["explanation"] == "Kò jọ àmàlà rárá"
    assert said[False]["seen"] == "A wall"


def test_buttons_of_the_image_stay_in_the_same_place(page: Page, live_server: LiveServer) -> None:
    begin(page, live_server, make_invitation())
    names = ("Show", "Skip", "Report")
    before = [page.get_by_role("button", name=name).bounding_box() for name in names]
    press(page, "Show")
    names = ("Hide again", "Skip", "Report")
    after = [page.get_by_role("button", name=name).bounding_box() for name in names]
    assert before == after
    press(page, "Hide again")
    assert page.get_by_text("The picture is covered.").is_visible()


def test_missing_answers_are_said_on_top_with_links_and_the_rest_is_kept(page: Page, live_server: LiveServer) -> None:
    begin(page, live_server, make_invitation())
    press(page, "Show")
    choose(page, "Does the picture show food", "Yes")
    press(page, "Next")
    shot(page, "errors")
    assert page.get_by_role("alert").get_by_role("link").count() == 3
    page.get_by_role("alert").get_by_role("link").first.click()
    assert "#id_q-associates" in page.url
    assert page.get_by_role("group", name="Does the picture show food").get_by_label("Yes").is_checked()


@pytest.mark.parametrize("direction", ["ltr", "rtl"])
def test_pages_have_no_accessibility_fault_and_never_scroll_sideways(
    browser: Browser, live_server: LiveServer, direction: str
) -> None:
    context = browser.new_context(viewport=PHONE)
    page = context.new_page()
    invitation = make_invitation(make_campaign(images=2))

    def sound(name: str) -> None:
        page.evaluate("direction => { document.documentElement.dir = direction }", direction)
        shot(page, f"{name}-{direction}")
        results = Axe().run(page)
        assert results.violations_count == 0, results.generate_report()
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]

    page.goto(f"{live_server.url}{invitation.get_absolute_url()}")
    sound("warning")
    begin(page, live_server, invitation)
    sound("covered")
    press(page, "Next")
    sound("errors")
    page.get_by_role("button", name="Show").click()
    page.locator(".frame img").wait_for()
    sound("shown")
    first_questions(page, "Yes")
    press(page, "Next")
    sound("food")
    press(page, "Stop here")
    sound("stop")
    page.goto(f"{live_server.url}/review/no-such-code/")
    sound("refused")
    context.close()


def carried(response: Response) -> int:
    """Bytes of a body as a phone receives it, gzip."""
    request = urllib.request.Request(response.url, headers={"Accept-Encoding": "gzip"})
    with urllib.request.urlopen(request) as answer:
        body = answer.read()
    return len(body) if answer.headers.get("Content-Encoding") == "gzip" else len(gzip.compress(body))


def test_first_view_fits_one_window_and_two_requests(browser: Browser, live_server: LiveServer) -> None:
    context = browser.new_context(viewport=PHONE)
    page = context.new_page()
    responses: list[Response] = []
    page.on("response", lambda response: None if response.url.startswith("data:") else responses.append(response))
    page.goto(f"{live_server.url}{make_invitation().get_absolute_url()}", wait_until="networkidle")
    assert len(responses) <= 2
    assert all(response.url.startswith(live_server.url) for response in responses)
    assert sum(carried(response) for response in responses) <= BUDGET
    context.close()


def test_covered_image_page_fits_one_window_and_two_requests(browser: Browser, live_server: LiveServer) -> None:
    context = browser.new_context(viewport=PHONE)
    page = context.new_page()
    begin(page, live_server, make_invitation())
    responses: list[Response] = []
    page.on("response", lambda response: None if response.url.startswith("data:") else responses.append(response))
    page.reload(wait_until="networkidle")
    assert len([response for response in responses if not response.url.endswith(".js")]) <= 2
    bodies = [gzip.compress(response.body()) for response in responses]
    assert sum(len(body) for body in bodies) <= BUDGET
    context.close()
