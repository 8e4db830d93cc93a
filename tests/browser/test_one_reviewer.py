"""A reviewer's way with or without scripts and cookies: begun once, in their language, and still there after Reload."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.dish_steps import look, press
from tests.browser.server import Server
from tests.browser.test_finish import page

__all__ = ["page"]

pytestmark = [pytest.mark.browser]
REVIEWERS = "from review.models import Reviewer\nprint(Reviewer.objects.exclude(invitation=None).count())"
INVITE = """
import itertools
from evaluation.models import Subject
from tests.review import make
make.numbers = itertools.count(10 * Subject.objects.count() + 1000)
print(make.make_invitation(make.make_campaign(images=3)).get_absolute_url())
"""
GO_ON = "Go on"
FIRST = (("associates", "yes"), ("familiarity", "very"), ("quality", "3"), ("food", "yes"))


def reviewers(server: Server) -> int:
    return int(server.ask(REVIEWERS))


def agree(page: Page) -> None:
    for name, value in (("country", "Nigeria"), ("role", "volunteer")):
        page.locator(f"[name={name}][value={value}]").check()
    for name in ("adult", "agree"):
        page.locator(f"[name={name}]").check()


def join(page: Page, address: str) -> str:
    """Begins; returns the return code that the first page shows."""
    page.goto(address)
    agree(page)
    if page.locator("[name=begun]").count():
        page.locator("[name=begun][value=no]").check()
    press(page, "Begin")
    return page.locator(".code").first.inner_text()


def test_two_tabs_of_one_browser_are_asked_and_one_person_stays_one_reviewer(page: Page, server: Server) -> None:
    address = server.url + server.ask(INVITE)
    other = page.context.new_page()
    other.goto(address)
    before = reviewers(server)
    code = join(page, address)
    agree(other)
    if other.locator("[name=begun]").count():
        other.locator("[name=begun][value=no]").check()
        other.reload()
        agree(other)
    press(other, "Begin")
    expect(other.locator(".errors")).to_contain_text("Say whether you have begun already.")
    look(other, "begun-already")
    if other.locator("form.known").count():
        press(other, GO_ON)
    else:
        other.locator("[name=begun][value=yes]").check()
        press(other, "Begin")
        look(other, "begun-code")
        other.get_by_label("Invitation code or return code").fill(code)
        press(other, GO_ON)
        expect(other.locator("h1")).to_have_text("My own page")
    assert reviewers(server) == before + 1


def test_language_is_chosen_on_the_first_page_and_amid_the_questions(page: Page, server: Server) -> None:
    address = server.url + server.ask(INVITE)
    page.goto(address)
    page.locator("#languages a[lang=ar]").click()
    expect(page.locator("html")).to_have_attribute("lang", "ar")
    look(page, "review-arabic")
    page.locator("#languages a[lang=en]").click()
    join(page, page.url)
    page.locator("[name=q-quality][value='3']").check()
    with page.expect_navigation():
        page.locator("#languages button[lang=ar]").click()
    expect(page.locator("html")).to_have_attribute("lang", "ar")
    expect(page.locator("[name=q-quality][value='3']")).to_be_checked()
    look(page, "picture-arabic")


def test_reload_amid_the_second_questions_asks_them_again(page: Page, server: Server) -> None:
    join(page, server.url + server.ask(INVITE))
    images = page.locator("form.judge").get_attribute("action")
    if page.evaluate("() => matchMedia('(scripting: enabled)').matches"):
        page.get_by_role("button", name="Show", exact=True).click()
        page.locator(".frame img").wait_for()
    else:
        press(page, "Show")
    for code, value in FIRST:
        page.locator(f"[name=q-{code}][value='{value}']").check()
    press(page, "Next")
    second = page.locator("input[name=page][value='2']")
    expect(second).to_have_count(1)
    page.reload()
    expect(second).to_have_count(1)
    page.goto(f"{server.url}{images}")
    if page.locator("form.judge").count():
        expect(second).to_have_count(1)
        expect(page.locator("input[name=q-familiarity][value=very]")).to_have_count(1)
        look(page, "second-again")
