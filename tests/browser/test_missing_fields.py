"""An empty field is explained by the page of the server; Back shows what was typed."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect
from playwright.sync_api import Error as BrowserError

from tests.browser.dish_steps import agree, fill, look, press
from tests.browser.server import Server
from tests.browser.test_offline_queue import PHONE

pytestmark = pytest.mark.browser


@pytest.fixture(params=[True, False], ids=["scripts", "no scripts"])
def page(browser: Browser, request: pytest.FixtureRequest) -> Iterator[Page]:
    context = browser.new_context(viewport=PHONE, java_script_enabled=request.param, service_workers="block")
    yield context.new_page()
    context.close()


def scripts_run(page: Page) -> bool:
    return bool(page.evaluate("() => matchMedia('(scripting: enabled)').matches"))


def test_missing_word_is_explained_by_the_page_and_the_rest_stays_there_and_behind_back(
    page: Page, server: Server
) -> None:
    agree(page, server)
    fill(page, "Fura")
    page.get_by_label("What is in it?").fill("")
    press(page, "Save the dish")
    expect(page.locator(".errors")).to_contain_text("Write what is in it.")
    expect(page.locator("#id_places")).not_to_have_value("")
    look(page, "missing-word")
    country = page.locator("#id_places").input_value()
    page.go_back()
    # Without scripts browsers bring back nothing of fields that they must not offer to the next person.
    if scripts_run(page):
        expect(page.locator("#id_places")).to_have_value(country)
        expect(page.locator("#id_local_name")).to_have_value("Fura")


def test_typing_does_not_come_back_for_whoever_has_the_phone_after_finish(page: Page, server: Server) -> None:
    agree(page, server)
    fill(page, "Of the first one")
    page.get_by_label("What is in it?").fill("")
    press(page, "Save the dish")
    press(page, "Finish, or somebody else’s turn")
    page.goto(f"{server.url}/describe/")
    for _step in range(4):
        try:
            page.go_back()
        except BrowserError as error:
            assert "ERR_CACHE_MISS" in str(error)
            page.wait_for_timeout(200)
        assert "Of the first one" not in page.locator("body").inner_text()
        names = page.locator("#id_local_name")
        assert names.count() == 0 or names.input_value() != "Of the first one"
