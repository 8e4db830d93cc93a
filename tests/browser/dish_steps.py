"""The steps of somebody who describes a dish in a browser, and what is looked for on every page."""

import os
from pathlib import Path

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from tests.browser.server import Server
from tests.collection.make import make_photo_bytes

SHOTS = os.environ.get("WWD_SCREENSHOTS", "")
CONFIRMATIONS = ("I took this photo", "It may be used", "Nobody can be", "It is a photograph")
TARGETS = "button, .button, .row, label.choice, input:not([type=hidden], .choice input), textarea, .top a"
SMALL_TARGETS = """selector => [...document.querySelectorAll(selector)]
  .filter(element => !element.closest('.trap'))
  .filter(element => element.offsetParent && element.getBoundingClientRect().height < 43.9)
  .map(element => element.outerHTML.slice(0, 80))"""
SIDEWAYS = "() => document.documentElement.scrollWidth - window.innerWidth"
# Pairs of controls and texts of the main part that lie on top of each other; what is inside another is not counted.
OVERLAPS = """() => {
  const shown = [...document.querySelectorAll('main :is(h1,h2,p,label,legend,input,textarea,button,a.button,dt,dd)')]
    .filter(element => element.offsetParent && !element.closest('.choice > *'))
    .filter(element => !element.closest('details:not([open]) > :not(summary)'));
  const boxes = shown.map(element => [element, element.getBoundingClientRect()]);
  const found = [];
  for (const [index, [one, first]] of boxes.entries())
    for (const [other, second] of boxes.slice(index + 1))
      if (!one.contains(other) && !other.contains(one) &&
          Math.min(first.right, second.right) - Math.max(first.left, second.left) > 2 &&
          Math.min(first.bottom, second.bottom) - Math.max(first.top, second.top) > 2)
        found.push(one.outerHTML.slice(0, 60) + ' / ' + other.outerHTML.slice(0, 60));
  return found;
}"""
UNSEEN = """() => [...document.querySelectorAll('main :is(input:not([type=hidden]),textarea,button,a.button)')]
  .filter(element => !element.closest('.trap'))
  .filter(element => {
    const box = element.getBoundingClientRect();
    return box.width < 5 || box.height < 5 || box.left < -1 || box.right > window.innerWidth + 1 ||
      getComputedStyle(element).visibility === 'hidden';
  }).map(element => element.outerHTML.slice(0, 80))"""


def press(page: Page, name: str) -> None:
    """Presses a button and waits until the page that answers is complete."""
    with page.expect_navigation():
        page.get_by_role("button", name=name, exact=True).click()


def agree(page: Page, server: Server) -> None:
    page.goto(server.url)
    page.get_by_role("link", name="Describe a dish").click()
    page.get_by_label("I am 18 years old").check()
    page.get_by_label("I have read this").check()
    press(page, "Describe a dish")


def fill(page: Page, name: str, ingredients: str = "bread, meat") -> None:
    page.get_by_label("What is the dish called?").fill(name)
    page.get_by_label("Which language").fill("Arabic")
    page.get_by_label("Which country").fill("Iraq")
    page.get_by_label("What is in it?").fill(ingredients)


def tell(page: Page, name: str, ingredients: str = "bread, meat") -> None:
    fill(page, name, ingredients)
    press(page, "Save the dish")


def to_photo(page: Page, server: Server, name: str) -> str:
    """As far as the page of the photo; returns the receipt number."""
    agree(page, server)
    tell(page, name)
    receipt = receipt_on(page)
    press(page, "Skip this")
    return receipt


def receipt_on(page: Page) -> str:
    return page.locator(".received .code").first.inner_text()


def confirm(page: Page, caption: str = "A bowl of bread and meat") -> None:
    page.get_by_label("What does the photo show?").fill(caption)
    for sentence in CONFIRMATIONS:
        page.get_by_label(sentence).check()
    press(page, "Keep the photo")


def photo_file(folder: Path, kind: str = "HEIF") -> Path:
    path = folder / f"photo.{kind.lower()}"
    path.write_bytes(make_photo_bytes((800, 600), kind=kind))
    return path


def look(page: Page, name: str) -> None:
    """Keeps a screenshot where WWD_SCREENSHOTS names a folder."""
    if SHOTS and page.viewport_size:
        size = page.viewport_size
        page.screenshot(path=Path(SHOTS) / f"{name}-{size['width']}.png", full_page=True)


def misplaced(page: Page) -> list[str]:
    """Controls that cannot be seen, things on top of each other, anything sideways."""
    title = page.title()
    found = [f"{title}: unseen {element}" for element in page.evaluate(UNSEEN)]
    found += [f"{title}: overlap {pair}" for pair in page.evaluate(OVERLAPS)]
    return found + ([f"{title}: sideways"] if page.evaluate(SIDEWAYS) > 0 else [])


def problems(page: Page) -> list[str]:
    """What is wrong with the page that is open: axe-core's findings, misplaced things, targets that are too small."""
    found = Axe().run(page)
    named = [f"{page.title()}: {violation['id']} {violation['help']}" for violation in found.response["violations"]]
    named += misplaced(page)
    return named + [f"{page.title()}: small target {target}" for target in page.evaluate(SMALL_TARGETS, TARGETS)]
