"""Every public page in four languages on a small phone: accessible, nothing sideways; names of mixed directions."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.http import HttpResponse
from django.test import Client
from playwright.sync_api import Browser, Page, Route, ViewportSize

from collection.leaderboard.counters import update_leaderboard_counters
from collection.models import Dish
from tests.browser.dish_steps import look, problems
from tests.collection.make import make_dish, open_collection
from tests.public_pages import render_public_pages

pytestmark = [pytest.mark.browser, pytest.mark.django_db]

SITE = "http://faces.test"
STYLE = Path(__file__).resolve().parent.parent.parent / "static" / "site.css"
PARTS = 2
# The same templates, from left to right: with --long.
OTHERS = ("en", "hi", "ha")
PHONE = ViewportSize(width=360, height=640)


@pytest.fixture
def phone(browser: Browser) -> Iterator[Page]:
    """Shows answers of the test client as they are, with the stylesheet and without scripts of ours."""
    context = browser.new_context(viewport=PHONE)
    context.route("**/*", lambda route: route.abort())
    context.route("**/*.css", lambda route: route.fulfill(path=STYLE, content_type="text/css"))
    yield context.new_page()
    context.close()


def show(page: Page, response: HttpResponse | str) -> None:
    html = response if isinstance(response, str) else response.content.decode()

    def answer(route: Route) -> None:
        route.fulfill(body=html, content_type="text/html; charset=utf-8")

    page.route(f"{SITE}/", answer)
    page.goto(f"{SITE}/")
    page.unroute(f"{SITE}/", answer)


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("language", ["ar", *(pytest.param(code, marks=pytest.mark.long) for code in OTHERS)])
def test_every_face_is_accessible_and_fits_a_small_phone(language: str, part: int, phone: Page) -> None:
    found = {}
    for name, response in list(render_public_pages(language).items())[part::PARTS]:
        show(phone, response)
        look(phone, f"face-{language}-{name.replace('/', ' ')}")
        # The form of the page without a network is hidden where no script has shown it.
        wrong = [one for one in problems(phone) if name != "phone" or ": unseen " not in one]
        if wrong:
            found[name] = wrong
    assert json.dumps(found, ensure_ascii=False, indent=1) == "{}"


MIXED = (
    *("ثريد (اللحم) 2", "Thieb bu jën (3)", "m7ammara 3arabi", "ⵙⴽⵙⵓ", "خبز 100%", "(كبة)"),
    *("Ful مدمس", "مدمس Ful!", "खिचड़ी (2)", "1001 ليلة", "C’est bon…", "#7 كسكس-Couscous"),
)
# Each name with what is after it in its line, and where each of its signs stands from the edge of the name: on the
# page, and in a name that is alone.
LINES = """names => names.map(name => {
  const range = (node, start, end) => {
    const found = document.createRange();
    found.selectNodeContents(node);
    if (end !== undefined) { found.setStart(node, start); found.setEnd(node, end); }
    return found.getBoundingClientRect();
  };
  const signs = node => [...node.firstChild.data].map((sign, place) =>
    Math.round(range(node.firstChild, place, place + 1).left - range(node).left));
  const sides = element => [range(element).left, range(element).right];
  const shown = [...document.querySelectorAll('main bdi')].find(element => element.textContent === name);
  const after = shown.closest('li').querySelector('.n');
  const alone = document.createElement('p');
  alone.dir = 'auto';
  alone.textContent = name;
  alone.style.cssText = 'position:absolute;white-space:nowrap';
  document.body.append(alone);
  const found = {name, own: sides(shown), after: sides(after), signs: signs(shown), alone: signs(alone),
    down: range(after).top - range(shown).top};
  alone.remove();
  return found;
})"""


@pytest.mark.embedded
@pytest.mark.parametrize("address", ["/leaderboard/", "/dishes/"])
@pytest.mark.parametrize("language", ["en", "ar", "hi"])
def test_names_of_mixed_directions_keep_their_order_and_their_neighbours(
    language: str, address: str, phone: Page, client: Client
) -> None:
    open_collection()
    update_leaderboard_counters([make_dish(country=name, state=Dish.State.ACCEPTED).pk for name in MIXED])
    show(phone, client.get(f"/{language}{address}").content.decode())
    look(phone, f"mixed-{language}-{address.strip('/')}")
    forward = 1 if language != "ar" else -1
    lines = phone.evaluate(LINES, MIXED)
    assert [line["name"] for line in lines] == list(MIXED)
    for line in lines:
        assert line["signs"] == line["alone"], line
        assert follows(line["own"], line["after"], forward), line
        assert abs(line["down"]) < 12, line


def follows(first: list[float], second: list[float], forward: int) -> bool:
    """Whether `second` is behind `first` in the direction of the page."""
    return second[0] >= first[1] - 1 if forward > 0 else second[1] <= first[0] + 1
