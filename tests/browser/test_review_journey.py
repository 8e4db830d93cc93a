"""The whole way of a reviewer without scripts, in English and Arabic: axe on every page, nothing sideways, shots."""

from collections.abc import Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.utils.translation import gettext as _
from django.utils.translation import override
from playwright.sync_api import Browser, Page
from pytest_django.live_server_helper import LiveServer

from review.models import ContentTag, Review, SupportContact
from tests.browser.test_review import PHONE, SIZES, shot
from tests.review.make import make_campaign, make_invitation

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture(params=["phone", "phone without scripts", "desk without scripts"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=["en", "ar"])
def page(browser: Browser, kind: str, request: pytest.FixtureRequest) -> Iterator[Page]:
    scripts = "without" not in kind
    context = browser.new_context(viewport=SIZES[kind.split()[0]], locale=request.param, java_script_enabled=scripts)
    with override(request.param):
        yield context.new_page()
    context.close()


def sound(page: Page, name: str) -> None:
    """Nothing sideways, no fault for axe (itself a script); a screenshot where one is asked for."""
    language = page.locator("html").get_attribute("lang")
    viewport = page.viewport_size
    assert viewport
    shot(page, f"walk-{name}-{language}")
    assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]
    if page.locator("html").evaluate("() => matchMedia('(scripting: enabled)').matches"):
        results = Axe().run(page)
        assert results.violations_count == 0, results.generate_report()


def press(page: Page, name: str) -> None:
    with page.expect_navigation():
        page.get_by_role("button", name=_(name), exact=True).first.click()


def begin(page: Page, live_server: LiveServer) -> None:
    campaign = make_campaign(images=6)
    SupportContact.objects.create(campaign=campaign, country="Nigeria", name="Dr. Ada", phone="+234 800 000")
    tagged = campaign.images.last()
    assert tagged
    ContentTag.objects.create(image=tagged, kind="insects")
    page.goto(f"{live_server.url}{make_invitation(campaign).get_absolute_url()}")
    sound(page, "warning")
    for name, value in (("country", "Nigeria"), ("role", "volunteer")):
        page.locator(f"[name={name}][value={value}]").check()
    page.locator("[name=adult]").check()
    page.locator("[name=agree]").check()
    press(page, "Begin")


def show(page: Page) -> None:
    """Shows the image; where scripts run the page stays."""
    page.get_by_role("button", name=_("Show"), exact=True).click()
    page.locator(".frame img").wait_for()


def answer_first(page: Page, food: str) -> None:
    for code, value in (("associates", "yes"), ("familiarity", "very"), ("quality", "3"), ("food", food)):
        page.locator(f"[name=q-{code}][value='{value}']").check()
    press(page, "Next")


def test_way_of_a_reviewer_is_readable_for_everybody(page: Page, live_server: LiveServer) -> None:
    begin(page, live_server)
    sound(page, "frame")
    show(page)
    sound(page, "revealed")
    page.get_by_role("button", name=_("Larger"), exact=True).click()
    page.locator(".large img").wait_for()
    sound(page, "larger")
    answer_first(page, "yes")
    sound(page, "branch")
    for code, value in (("correct_dish", "no"), ("match", "none")):
        page.locator(f"[name=q-{code}][value={value}]").check()
    page.locator("[name=q-checks][value=disturbing]").check()
    press(page, "Keep my answers")
    press(page, "Skip")
    sound(page, "skip")
    page.locator("summary").click()
    press(page, "It upsets me")
    sound(page, "rest")
    press(page, "Go on")
    press(page, "My own page")
    sound(page, "mine")
    press(page, "Go on")
    for _image in range(4):
        press(page, "Skip")
    sound(page, "done")
    assert Review.objects.get().disturbing


def test_showing_with_a_script_keeps_the_page_its_typing_and_the_focus(
    browser: Browser, live_server: LiveServer
) -> None:
    context = browser.new_context(viewport=PHONE)
    page = context.new_page()
    begin(page, live_server)
    page.locator("[name=q-quality][value='2']").check()
    page.evaluate("window.same = true")
    show(page)
    assert page.evaluate("window.same") is True
    assert page.locator("[name=q-quality][value='2']").is_checked()
    assert page.evaluate("document.activeElement.value") == "hide"
    page.keyboard.press("Enter")
    page.get_by_text("The picture is covered.").wait_for()
    assert page.locator(".frame img").count() == 0
    assert page.evaluate("document.activeElement.value") == "show"
    context.close()


def test_showing_falls_back_to_a_whole_page_where_the_small_request_fails(
    browser: Browser, live_server: LiveServer
) -> None:
    context = browser.new_context(viewport=PHONE)
    page = context.new_page()
    page.add_init_script("window.fetch = () => Promise.reject(new Error('none'))")
    begin(page, live_server)
    page.evaluate("window.same = true")
    with page.expect_navigation():
        page.get_by_role("button", name="Show", exact=True).click()
    assert page.locator(".frame img").is_visible()
    assert page.evaluate("window.same") is None
    context.close()
