"""The journey in real Chromium: JavaScript off, cookies blocked; accessible, in one column, nothing sideways."""

from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.browser.server import Server
from tests.collection.make import picture

pytestmark = pytest.mark.browser

ARABIC = "ثريد اللحم"
TARGETS = "button, .button, label.choice, input:not([type=hidden], .choice input), textarea, .top a"
SMALL_TARGETS = """selector => [...document.querySelectorAll(selector)]
  .filter(element => element.offsetParent && element.getBoundingClientRect().height < 43.9)
  .map(element => element.outerHTML.slice(0, 80))"""
SIDEWAYS = "() => document.documentElement.scrollWidth - window.innerWidth"


def agree(page: Page, server: Server) -> None:
    page.goto(server.url)
    page.get_by_role("link", name="Describe a dish").click()
    page.get_by_label("I am 18 years old").check()
    page.get_by_label("I have read this").check()
    page.get_by_role("button", name="Describe a dish").click()


def tell(page: Page, name: str) -> None:
    page.get_by_label("What is the dish called?").fill(name)
    page.get_by_label("Which language").fill("Arabic")
    page.get_by_label("Which country").fill("Iraq")
    page.get_by_label("What is in it?").fill("bread, meat")
    page.get_by_role("button", name="Save the dish").click()


def photo_file(folder: Path) -> Path:
    path = folder / "photo.heic"
    path.write_bytes(picture((800, 600), kind="HEIF"))
    return path


def test_whole_journey_without_javascript_and_cookies_ends_in_a_receipt(
    plain_context: BrowserContext, server: Server, tmp_path: Path
) -> None:
    page = plain_context.new_page()
    agree(page, server)
    tell(page, ARABIC)
    receipt = page.locator(".code").inner_text()
    page.get_by_label("What do people drink with it?").fill("tea")
    page.get_by_label("Lunch").check()
    page.get_by_role("button", name="Save and go on").click()
    page.get_by_label("The photo").set_input_files(photo_file(tmp_path))
    page.get_by_role("button", name="Send the photo").click()
    page.get_by_label("What does the photo show?").fill("A bowl of bread and meat")
    for sentence in ("I took this photo", "It may be used", "Nobody can be", "It is a photograph"):
        page.get_by_label(sentence).check()
    page.get_by_role("button", name="Keep the photo").click()
    expect(page.get_by_role("heading", name="Thank you")).to_be_visible()
    expect(page.locator("bdi.dish-name")).to_have_text(ARABIC)
    assert page.locator(".code").inner_text() == receipt
    assert plain_context.cookies() == []
    stored = (
        f"dish = Dish.objects.get(local_name='{ARABIC}'); print(dish.drink, dish.time_of_day, dish.photos.get().state)"
    )
    assert server.ask(stored) == "tea ['lunch'] waiting"


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
    page.get_by_role("button", name="It is another dish").click()
    expect(page.locator("bdi.dish-name")).to_have_text("Bamia two")
    assert server.ask("print(Dish.objects.filter(local_name__startswith='Bamia').count())") == "2"


def test_after_finish_nothing_of_the_person_is_left(browser: Browser, server: Server) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    agree(page, server)
    tell(page, "Masgouf")
    assert [cookie["name"] for cookie in context.cookies()] == ["turn"]
    page.get_by_role("button", name="Finish").click()
    assert context.cookies() == []
    for address in ("/", "/describe/", "/mine/"):
        page.goto(server.url + address)
        assert "Masgouf" not in page.content()
    context.close()


def each_page(page: Page, server: Server, photo: Path) -> list[str]:
    """Walks the whole journey and gathers the problems of every page on the way."""
    seen: list[str] = []

    def look() -> None:
        seen.extend(problems(page))

    for address in ("/", "/leaderboard/", "/mine/", "/describe/"):
        page.goto(server.url + address)
        look()
    agree(page, server)
    look()
    tell(page, "---")
    look()
    tell(page, "खिचड़ी")
    look()
    page.get_by_role("button", name="Skip this").click()
    page.get_by_role("button", name="Send the photo").click()
    look()
    page.get_by_label("The photo").set_input_files(photo)
    page.get_by_role("button", name="Send the photo").click()
    look()
    page.get_by_role("button", name="Go on without the photo").click()
    look()
    page.get_by_role("button", name="Show my dishes").click()
    look()
    page.get_by_role("button", name="Finish").click()
    look()
    return seen


def problems(page: Page) -> list[str]:
    """What is wrong with the page that is open: axe-core's findings, something sideways, targets that are too small."""
    found = Axe().run(page)
    named = [f"{page.title()}: {violation['id']} {violation['help']}" for violation in found.response["violations"]]
    if page.evaluate(SIDEWAYS) > 0:
        named.append(f"{page.title()}: sideways at {page.viewport_size}")
    return named + [f"{page.title()}: small target {target}" for target in page.evaluate(SMALL_TARGETS, TARGETS)]


@pytest.mark.parametrize(("width", "scheme"), [(320, "light"), (1280, "dark")])
def test_every_page_is_accessible_and_fits(
    browser: Browser, server: Server, tmp_path: Path, width: int, scheme: str
) -> None:
    context = browser.new_context(viewport={"width": width, "height": 640}, color_scheme=scheme)  # type: ignore[arg-type]
    assert each_page(context.new_page(), server, photo_file(tmp_path)) == []
    context.close()
