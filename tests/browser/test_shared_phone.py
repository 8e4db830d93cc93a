"""One phone for a family: after *Finish*, and after Back, nothing of the person before is left on it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect
from playwright.sync_api import Error as BrowserError

from tests.browser.dish_steps import agree, confirm, photo_file, press, receipt_on, tell
from tests.browser.server import Server
from tests.conftest import chromium

pytestmark = [pytest.mark.browser]
STEPS_BACK = 9
ARGUMENTS = ["--no-sandbox", "--disable-quic", "--disable-background-networking", "--disable-sync"]
TYPED = (None, "text", "email", "number", "hidden")


@pytest.fixture(scope="module")
def phone(browser: Browser) -> Iterator[Browser]:
    """Chromium as people have it: pages left by a link are stored alive for the Back button."""
    kept = ["--disable-back-forward-cache"]
    started = browser.browser_type.launch(executable_path=chromium(), args=ARGUMENTS, ignore_default_args=kept)
    yield started
    started.close()


@pytest.fixture(params=[True, False], ids=["with scripts", "without scripts"])
def context(phone: Browser, request: pytest.FixtureRequest) -> Iterator[BrowserContext]:
    opened = phone.new_context(java_script_enabled=request.param, viewport={"width": 360, "height": 640})
    yield opened
    opened.close()


def first_person(page: Page, server: Server, folder: Path) -> list[str]:
    """Amina walks the whole journey and finishes. Returns what was hers: words, numbers, her code."""
    agree(page, server)
    tell(page, "Masgouf of Amina")
    receipt = receipt_on(page)
    page.get_by_label("What do people drink with it?").fill("cardamom coffee")
    press(page, "Save and go on")
    page.get_by_label("The photo").set_input_files(photo_file(folder, "JPEG"))
    press(page, "Send the photo")
    page.get_by_label("What does the photo show?").fill("A carp at the river")
    confirm(page)
    code = page.locator(".code.big").inner_text()
    page.get_by_label("Your name", exact=False).last.fill("Amina Secret")
    page.get_by_label("I agree that the project keeps this").check()
    press(page, "Keep this about me")
    page.get_by_role("button", name="Show my dishes").click()
    expect(page.get_by_text("Masgouf of Amina")).to_be_visible()
    person = server.ask("print(Dish.objects.filter(local_name='Masgouf of Amina').latest('pk').contributor_id.hex)")
    press(page, "Finish, or somebody else’s turn")
    return [
        "Masgouf",
        "cardamom",
        "carp",
        "Amina",
        receipt,
        receipt.replace(" ", ""),
        code,
        code.replace(" ", ""),
        person,
    ]


def seen(page: Page) -> str:
    """All that the page holds, what is in its fields too."""
    fields = [field for field in page.locator("input, textarea").all() if field.get_attribute("type") in TYPED]
    return "\n".join([page.url, page.content(), *(field.input_value() for field in fields)])


def left_on(page: Page, hers: list[str]) -> list[str]:
    """Which of her words the open page still shows."""
    text = seen(page)
    return [f"{word} on {page.url}" for word in hers if word in text]


def go_back(page: Page) -> None:
    try:
        page.go_back()
    except BrowserError as error:
        # The browser holds the page no more; it asks whether to send the form again.
        assert "ERR_CACHE_MISS" in str(error)


def test_after_finish_and_back_nothing_of_the_first_person_is_on_the_phone(
    context: BrowserContext, server: Server, tmp_path: Path
) -> None:
    page = context.new_page()
    hers = first_person(page, server, tmp_path)
    found = left_on(page, hers)
    for _step in range(STEPS_BACK):
        go_back(page)
        found += left_on(page, hers)
    assert found == [] and context.cookies() == []
    assert page.url.startswith(server.url)


def test_second_person_meets_nothing_of_the_first(context: BrowserContext, server: Server, tmp_path: Path) -> None:
    page = context.new_page()
    hers = first_person(page, server, tmp_path)
    found: list[str] = []
    page.get_by_role("link", name="Somebody else describes a dish").click()
    page.get_by_label("I am 18 years old").check()
    page.get_by_label("I have read this").check()
    press(page, "Describe a dish")
    found += left_on(page, hers)
    tell(page, "Kubba of Basma")
    found += left_on(page, hers)
    for button in ("Skip this", "Go on without a photo", "Show my dishes"):
        press(page, button)
        found += left_on(page, hers)
    page.goto(server.url + "/describe/")
    found += left_on(page, hers)
    assert found == []
    assert [word for word in hers if word in str(context.storage_state(indexed_db=True))] == []
