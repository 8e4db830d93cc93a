"""The journey in real Chromium, whatever the browser lacks: scripts, cookies, fetch, storage, luck."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Route, expect

from tests.browser.dish_steps import agree, confirm, fill, photo_file, press, receipt_on, tell, to_photo
from tests.browser.server import Server

pytestmark = pytest.mark.browser

ARABIC = "ثريد اللحم"
WITHOUT_FETCH = """
delete window.fetch; delete window.indexedDB; delete Window.prototype.indexedDB;
Object.defineProperty(window, 'fetch', {value: undefined});
Object.defineProperty(window, 'indexedDB', {value: undefined});
"""
WITHOUT_STORAGE = """
Object.defineProperty(window, 'localStorage', {get() { throw new DOMException('blocked', 'SecurityError'); }});
"""


def test_whole_journey_without_javascript_and_cookies_ends_in_a_receipt(
    plain_context: BrowserContext, server: Server, tmp_path: Path
) -> None:
    page = plain_context.new_page()
    agree(page, server)
    tell(page, ARABIC)
    receipt = receipt_on(page)
    page.get_by_label("What do people drink with it?").fill("tea")
    page.get_by_label("Lunch").check()
    press(page, "Save and go on")
    page.get_by_label("The photo").set_input_files(photo_file(tmp_path))
    press(page, "Send the photo")
    confirm(page)
    expect(page.get_by_role("heading", name="Thank you")).to_be_visible()
    expect(page.locator("bdi.dish-name")).to_have_text(ARABIC)
    assert receipt_on(page) == receipt
    assert plain_context.cookies() == []
    stored = (
        f"dish = Dish.objects.get(local_name='{ARABIC}'); print(dish.drink, dish.time_of_day, dish.photos.get().state)"
    )
    assert server.ask(stored) == "tea ['lunch'] waiting"


def throw_first(route: Route) -> None:
    """Our module as a broken line or an odd browser would have it: it throws in its first line."""
    route.fulfill(body="throw new Error('broken');", content_type="text/javascript")


def prepared(context: BrowserContext, kind: str) -> Page:
    page = context.new_page()
    if kind == "throws":
        context.route("**/static/*.js", throw_first)
    elif kind == "lost":
        context.route("**/static/*.js", lambda route: route.abort())
    else:
        page.add_init_script({"no fetch": WITHOUT_FETCH, "no storage": WITHOUT_STORAGE}.get(kind, ""))
    return page


@pytest.mark.parametrize("kind", ["throws", "lost", "no fetch", "no storage", "everything there"])
def test_whole_journey_with_broken_scripts_ends_in_a_receipt(
    browser: Browser, server: Server, tmp_path: Path, kind: str
) -> None:
    context = browser.new_context()
    page = prepared(context, kind)
    receipt = to_photo(page, server, f"Bamia {kind}")
    page.get_by_label("The photo").set_input_files(photo_file(tmp_path, "JPEG"))
    press(page, "Send the photo")
    confirm(page)
    assert receipt_on(page) == receipt
    assert server.ask(f"print(Photo.objects.filter(dish__local_name='Bamia {kind}', state='waiting').count())") == "1"
    context.close()


@pytest.mark.parametrize("javascript", [True, False])
def test_tab_that_was_reloaded_after_the_file_chooser_still_ends_in_a_receipt(
    browser: Browser, server: Server, tmp_path: Path, javascript: bool
) -> None:
    context = browser.new_context(java_script_enabled=javascript)
    page = context.new_page()
    name = f"Dolma {javascript}"
    receipt = to_photo(page, server, name)
    page.get_by_label("The photo").set_input_files(photo_file(tmp_path, "JPEG"))
    page.reload()
    page.get_by_label("The photo").set_input_files(photo_file(tmp_path, "JPEG"))
    press(page, "Send the photo")
    confirm(page)
    assert receipt_on(page) == receipt
    assert server.ask(f"print(Dish.objects.filter(local_name='{name}').count(), Photo.objects.count() > 0)") == "1 True"
    context.close()


def test_error_keeps_the_typing_and_leads_to_the_field(plain_context: BrowserContext, server: Server) -> None:
    page = plain_context.new_page()
    agree(page, server)
    tell(page, "---")
    page.locator(".errors a").click()
    assert page.url.endswith("#id_local_name")
    expect(page.get_by_label("What is the dish called?")).to_have_value("---")
    expect(page.get_by_label("What is in it?")).to_have_value("bread, meat")


def test_back_and_another_name_asks_instead_of_swallowing(plain_context: BrowserContext, server: Server) -> None:
    page = plain_context.new_page()
    agree(page, server)
    tell(page, "Bamia one")
    page.go_back()
    tell(page, "Bamia two")
    expect(page.get_by_label("What is the dish called?")).to_have_value("Bamia two")
    press(page, "It is another dish")
    expect(page.locator("bdi.dish-name")).to_have_text("Bamia two")
    assert server.ask("print(Dish.objects.filter(local_name__in=['Bamia one', 'Bamia two']).count())") == "2"


def test_double_click_makes_one_dish(browser: Browser, server: Server) -> None:
    context = browser.new_context()
    page = context.new_page()
    agree(page, server)
    fill(page, "Twice")
    page.get_by_role("button", name="Save the dish").dblclick()
    expect(page.get_by_role("heading", name="Your dish is saved")).to_be_visible()
    assert server.ask("print(Dish.objects.filter(local_name='Twice').count())") == "1"
    context.close()


def test_after_finish_nothing_of_the_person_is_left(browser: Browser, server: Server) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    agree(page, server)
    tell(page, "Masgouf")
    assert [cookie["name"] for cookie in context.cookies()] == ["turn"]
    press(page, "Finish, or somebody else’s turn")
    assert context.cookies() == []
    for address in ("/", "/describe/", "/mine/"):
        page.goto(server.url + address)
        assert "Masgouf" not in page.content()
    context.close()


INDEXED = """
from collection.vocabularies.ingredients import index_ingredients
index_ingredients(make_dish('Kashk', state='accepted', ingredients='dried limes, sumac'))
"""


def test_ingredients_are_suggested_and_ticked_without_javascript(plain_context: BrowserContext, server: Server) -> None:
    server.ask(INDEXED)
    page = plain_context.new_page()
    agree(page, server)
    fill(page, "Ghormeh", "herbs, dried")
    press(page, "Suggest ingredients")
    assert page.url.endswith("#suggested")
    page.get_by_label("dried limes").check()
    press(page, "Save the dish")
    assert server.ask("print(Dish.objects.get(local_name='Ghormeh').ingredients)") == "herbs, dried limes"


def test_ingredients_are_suggested_while_writing(browser: Browser, server: Server) -> None:
    server.ask(INDEXED)
    context = browser.new_context()
    page = context.new_page()
    agree(page, server)
    plain = page.get_by_role("button", name="Suggest ingredients")
    expect(plain).to_be_visible()
    fill(page, "Sabzi", "herbs")
    page.get_by_label("What is in it?").press_sequentially(", sum")
    page.get_by_role("button", name="sumac").click()
    expect(page.get_by_label("What is in it?")).to_have_value("herbs, sumac, ")
    expect(plain).to_be_hidden()
    press(page, "Save the dish")
    assert server.ask("print(Dish.objects.get(local_name='Sabzi').ingredients)") == "herbs, sumac,"
    context.close()


def test_suggestions_that_cannot_be_fetched_leave_the_plain_button(browser: Browser, server: Server) -> None:
    context = browser.new_context()
    page = context.new_page()
    context.route("**/ingredients/*", lambda route: route.abort())
    agree(page, server)
    with page.expect_event("requestfailed"):
        page.get_by_label("What is in it?").press_sequentially("sumac")
    expect(page.get_by_role("button", name="Suggest ingredients")).to_be_visible()
    context.close()


def test_image_is_reported_without_javascript(plain_context: BrowserContext, server: Server) -> None:
    number = server.ask(
        "photo = make_photo(make_dish('Tepsi', country='Iraq', state='accepted'), 'accepted'); print(photo.dish.number)"
    )
    page = plain_context.new_page()
    page.goto(f"{server.url}/dishes/{number}/")
    expect(page.locator(".shown img")).to_be_visible()
    page.get_by_role("link", name="Report this picture").click()
    page.get_by_label("I am, or a child is, in it").check()
    press(page, "Send the report")
    expect(page.get_by_role("heading", name="Your report arrived")).to_be_visible()
    page.goto(f"{server.url}/dishes/{number}/")
    expect(page.locator(".shown img")).to_have_count(0)
