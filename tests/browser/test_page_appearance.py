"""How every page looks: accessible, in one column, whole on old browsers; screenshots where WWD_SCREENSHOTS is set."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route, ViewportSize

from tests.browser.dish_steps import (
    agree,
    confirm,
    fill,
    look,
    misplaced,
    photo_file,
    press,
    problems,
    receipt_on,
    tell,
)
from tests.browser.server import Server

pytestmark = [pytest.mark.browser]

DEVANAGARI = "खिचड़ी"
ARABIC = "ثريد اللحم بالخبز"
LONG = "A" * 60 + " " + "ا" * 60
SIZES: dict[str, ViewportSize] = {
    "narrow": {"width": 320, "height": 640},
    "phone": {"width": 360, "height": 640},
    "desk": {"width": 1280, "height": 800},
}
# What browsers of ten years ago do not know: a rule with one of these is dropped, as they drop it.
MODERN = re.compile(
    r"var\(|(?:^|[;{])\s*(?:--|gap|row-gap|column-gap|filter|backdrop-filter|aspect-ratio|field-sizing|accent-color|color-scheme"
    r"|(?:margin|padding|border|inset)-(?:inline|block)|(?:min|max)?-?(?:inline|block)-size)|:\s*(?:grid|inline-grid)\b"
    r"|(?:clamp|min|max)\("
)


def as_old_browsers_read_it(css: str) -> str:
    """The stylesheet without declarations that an old browser does not know."""
    kept = re.sub(r"/\*.*?\*/", "", css, flags=re.S)
    kept = re.sub(r"@media[^{]*prefers-color-scheme[^{]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}", "", kept)

    def rule(match: re.Match[str]) -> str:
        selector, body = match[1], match[2]
        if ":focus-visible" in selector or "::file-selector-button" in selector or ":is(" in selector:
            return ""
        known = [part for part in body.split(";") if part.strip() and not MODERN.search(";" + part)]
        return f"{selector}{{{';'.join(known)}}}"

    return re.sub(r"([^{}]+)\{([^{}]*)\}", rule, kept)


def each_page(page: Page, server: Server, photo: Path, name: str) -> Iterator[str]:
    """Walks the whole journey and the public pages; names each page that is open."""
    page.set_default_timeout(15_000)
    for title, address in (("start", "/"), ("leaderboard", "/leaderboard/"), ("mine", "/mine/")):
        page.goto(server.url + address)
        yield title
    page.goto(f"{server.url}/describe/")
    yield "consent"
    agree(page, server)
    yield "dish"
    tell(page, "---")
    yield "dish-error"
    fill(page, name, "bread, s")
    press(page, "Suggest ingredients")
    yield "dish-suggested"
    press(page, "Save the dish")
    assert receipt_on(page)
    yield "more"
    press(page, "Skip this")
    yield "photo"
    press(page, "Send the photo")
    yield "photo-error"
    page.get_by_label("The photo").set_input_files(photo)
    press(page, "Send the photo")
    yield "caption"
    confirm(page, " ")
    yield "caption-error"
    press(page, "Go on without the photo")
    yield "thanks"
    press(page, "Show my dishes")
    yield "own"
    yield from public_pages(page, server, name)
    page.goto(server.url)
    press(page, "Finish, or somebody else’s turn")
    yield "finished"


SHOWN = """
from collection.vocabularies.ingredients import index_ingredients
dish = make_dish({name!r}, country='Iraq', language='العربية', state='accepted', ingredients='sumac, salt', drink='شاي',
    kinds=['soup'], more_details='For guests. Cooked for many hours.')
index_ingredients(dish)
photo = make_photo(dish, 'accepted')
print(dish.number, photo.pk)
"""


def public_pages(page: Page, server: Server, name: str) -> Iterator[str]:
    number, photo = server.ask(SHOWN.format(name=name)).split()
    addresses = {
        "dishes": "/dishes/",
        "dishes-of-place": "/dishes/?place=Iraq",
        "public-dish": f"/dishes/{number}/",
        "report-dish": f"/dishes/{number}/report/",
        "report-picture": f"/pictures/{photo}/report/",
    }
    for title, address in addresses.items():
        page.goto(server.url + address)
        yield title
    page.get_by_label("It is wrong").check()
    press(page, "Send the report")
    yield "report-thanks"


@pytest.mark.parametrize(
    ("size", "scheme", "name"),
    [("narrow", "light", DEVANAGARI), ("desk", "dark", ARABIC), ("phone", "dark", LONG)],
)
def test_every_page_is_accessible_and_fits(
    browser: Browser, server: Server, tmp_path: Path, size: str, scheme: str, name: str
) -> None:
    context = browser.new_context(viewport=SIZES[size], color_scheme=scheme)  # type: ignore[arg-type]
    page = context.new_page()
    found = []
    for title in each_page(page, server, photo_file(tmp_path), name):
        look(page, f"{scheme}-{title}")
        found += problems(page)
    assert found == []
    context.close()


@pytest.mark.parametrize("size", ["phone", "desk"])
def test_every_step_without_javascript_is_whole(browser: Browser, server: Server, tmp_path: Path, size: str) -> None:
    context = browser.new_context(viewport=SIZES[size], java_script_enabled=False)
    page = context.new_page()
    for title in each_page(page, server, photo_file(tmp_path), ARABIC if size == "desk" else DEVANAGARI):
        look(page, f"plain-{title}")
        assert page.get_by_role("heading", level=1).count() == 1, title
    context.close()


def old(route: Route) -> None:
    answer = route.fetch()
    route.fulfill(response=answer, body=as_old_browsers_read_it(answer.text()))


@pytest.mark.parametrize(("size", "direction"), [("narrow", "ltr"), ("phone", "rtl"), ("desk", "ltr")])
def test_every_page_is_whole_on_old_browsers(
    browser: Browser, server: Server, tmp_path: Path, size: str, direction: str
) -> None:
    context = browser.new_context(viewport=SIZES[size])
    context.route("**/static/*.css", old)
    page = context.new_page()
    found = []
    for title in each_page(page, server, photo_file(tmp_path), ARABIC):
        page.evaluate("direction => { document.documentElement.dir = direction }", direction)
        look(page, f"old-{direction}-{title}")
        found += misplaced(page)
    assert found == []
    context.close()


def test_old_browsers_are_imitated_by_dropping_what_they_do_not_know() -> None:
    dark = "@media (prefers-color-scheme:dark){:root{--ink:#fff}}"
    css = f"/* a */a{{color:#111;color:var(--ink);gap:1rem}}{dark}b{{display:grid}}"
    assert as_old_browsers_read_it(css) == "a{color:#111}b{}"


def test_pages_turned_from_right_to_left_are_accessible(browser: Browser, server: Server, tmp_path: Path) -> None:
    context = browser.new_context(viewport=SIZES["narrow"])
    page = context.new_page()
    found = []
    for title in each_page(page, server, photo_file(tmp_path), ARABIC):
        page.evaluate("() => { document.documentElement.dir = 'rtl' }")
        look(page, f"rtl-{title}")
        found += problems(page)
    assert found == []
    context.close()
