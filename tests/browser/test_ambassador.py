"""An ambassador's afternoon in real Chromium without JavaScript and cookies, and the pages of consent as they look."""

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.browser.dish_steps import look, press, problems, receipt_on
from tests.browser.server import Server
from tests.browser.test_real_server import FIRST_VIEW, fetch

pytestmark = pytest.mark.browser

ELDERS = ["Fufu", "ثريد", "खिचड़ी", "Ugali na sukuma", "Poi"]
SLIP_MILLIMETRES = 58
INVITE = """
from datetime import timedelta
from django.utils import timezone
until = timezone.localdate() + timedelta(days=9)
print(Ambassador.objects.create(label='Ama', country_id='GHA', until=until).invitation)
"""
CLOSE = "from datetime import date\nopen_collection(until=date(2026, 1, 31))"


def invitation(server: Server) -> str:
    return f"{server.url}/ambassador/{server.ask('from collection.models import Ambassador' + INVITE)}/"


@contextmanager
def state(server: Server, code: str) -> Iterator[None]:
    """The collection in another state, and open again afterwards."""
    server.ask(code)
    try:
        yield
    finally:
        server.ask("open_collection()")


def open_invitation(page: Page, address: str) -> str:
    """Opens it; the ambassador's own return code."""
    page.goto(address)
    page.get_by_label("I am 18 years old").check()
    page.get_by_label("I have read this").check()
    press(page, "Open the invitation")
    return page.locator(".received .code").inner_text()


def heard(page: Page) -> None:
    page.get_by_label("heard this and agreed").check()
    page.get_by_label("becomes public").check()
    press(page, "Describe their dish")


def tell(page: Page, name: str) -> None:
    """The dish, nothing more, no photo."""
    page.get_by_label("What is the dish called?").fill(name)
    page.get_by_label("Which language").fill("Twi")
    expect(page.get_by_label("Which country")).to_have_value("Ghana")
    page.get_by_label("What is in it?").fill("cassava")
    press(page, "Save the dish")
    press(page, "Skip this")
    press(page, "Go on without a photo")


def test_five_elders_in_one_session_and_one_of_them_withdraws(plain_context: BrowserContext, server: Server) -> None:
    page = plain_context.new_page()
    own = open_invitation(page, invitation(server))
    press(page, "Somebody beside me describes a dish")
    codes = []
    for name in ELDERS:
        heard(page)
        tell(page, name)
        receipt = receipt_on(page)
        press(page, "Show their paper slip")
        slip = page.locator(".slip")
        expect(slip).to_contain_text(name)
        expect(slip).to_contain_text(receipt)
        codes.append(slip.locator(".code").first.inner_text())
        others = [other for other in ELDERS if other != name]
        assert not any(other in page.content() for other in others)
        press(page, "The next person")
        assert name not in page.content()
    assert len({own, *codes}) == 6 and plain_context.cookies() == []
    withdraw(page, server, codes[1])
    told = "Dish.objects.live().exclude(contributor__entered_by=None).values_list('local_name', flat=True)"
    assert server.ask(f"print(sorted({told}))") == str(sorted(name for name in ELDERS if name != ELDERS[1]))


def withdraw(page: Page, server: Server, code: str) -> None:
    """As that elder would on another phone, with the digits of an Arabic keyboard."""
    page.goto(f"{server.url}/return/")
    page.get_by_label("Your return code").fill(code.translate(str.maketrans("0123456789", "٠١٢٣٤٥٦٧٨٩")))
    press(page, "Go on")
    expect(page.locator("bdi.dish-name")).to_have_text(ELDERS[1])
    press(page, "Take everything back")
    press(page, "Take it back")
    expect(page.locator("main")).to_contain_text("Everything of yours is withdrawn")


def test_ambassador_comes_back_with_the_code_and_the_invitation_is_used_up(
    plain_context: BrowserContext, server: Server
) -> None:
    page = plain_context.new_page()
    address = invitation(server)
    code = open_invitation(page, address)
    page.goto(address)
    expect(page.locator("main")).to_contain_text("was opened before")
    page.get_by_label("Your return code").fill(code)
    press(page, "Go on")
    press(page, "Somebody beside me describes a dish")
    expect(page.get_by_role("heading", name="For somebody beside you")).to_be_visible()


def test_two_phones_at_once_open_one_invitation_once(server: Server) -> None:
    address = invitation(server)
    form = re.compile(r'<form method="post"[^>]*><input type="hidden" name="proof" value="([^"]+)"')
    proofs = form.findall("".join(fetch(address)[0] for _ in range(4)))
    sent = [{"adult": "on", "agree": "on", "proof": proof} for proof in proofs]
    with ThreadPoolExecutor(4) as pool:
        pages = list(pool.map(lambda data: fetch(address, data)[0], sent))
    assert len(proofs) == 4
    assert sorted("Your own return code" in page for page in pages) == [False, False, False, True]


def test_back_from_the_next_person_opens_nothing_of_the_one_before(browser: Browser, server: Server) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{server.url}/beside/")
    heard(page)
    page.get_by_label("What is the dish called?").fill("Secret soup")
    page.get_by_label("Which language").fill("Twi")
    page.get_by_label("Which country").fill("Ghana")
    page.get_by_label("What is in it?").fill("salt")
    press(page, "Save the dish")
    press(page, "Skip this")
    press(page, "Go on without a photo")
    press(page, "The next person")
    for _ in range(2):
        page.go_back()
        if page.get_by_role("button", name="Show my dishes").count():
            press(page, "Show my dishes")
            assert "Secret soup" not in page.content()
    context.close()


def test_wrong_answer_leads_over_one_more_page_to_the_dish(plain_context: BrowserContext, server: Server) -> None:
    page = plain_context.new_page()
    page.goto(f"{server.url}/describe/")
    page.get_by_role("group", name="does every copy of it disappear").get_by_label("Yes").check()
    page.get_by_label("I am 18 years old").check()
    page.get_by_label("I have read this").check()
    press(page, "Describe a dish")
    expect(page.locator("main")).to_contain_text("cannot be undone")
    press(page, "I read it: go on")
    expect(page.get_by_label("What is the dish called?")).to_be_visible()


def each_page(page: Page, server: Server) -> list[str]:
    """Every page of this part, and what is wrong with it."""
    seen: list[str] = []

    def seen_as(name: str) -> None:
        look(page, name)
        seen.extend(problems(page))

    page.goto(f"{server.url}/describe/?language=ar")
    seen_as("consent-ar")
    page.get_by_role("group").first.get_by_label("No").check()
    page.get_by_label("I am 18 years old").check()
    page.get_by_label("I have read this").check()
    press(page, "Describe a dish")
    seen_as("consent-again")
    page.goto(f"{server.url}/beside/?language=hi")
    seen_as("aloud-hi")
    page.locator("main form").last.evaluate("form => { form.noValidate = true }")
    press(page, "Describe their dish")
    seen_as("aloud-error")
    page.goto(f"{server.url}/ambassador/")
    seen_as("ambassador-code")
    page.goto(invitation(server))
    seen_as("invitation")
    open_invitation(page, page.url)
    seen_as("ambassador-ready")
    press(page, "Somebody beside me describes a dish")
    heard(page)
    tell(page, ELDERS[1])
    seen_as("thanks-spoken")
    press(page, "Show their paper slip")
    seen_as("slip")
    return seen


@pytest.mark.parametrize(("width", "scheme"), [(320, "light"), (360, "dark"), (1280, "light")])
def test_every_page_of_consent_is_accessible_and_fits(
    browser: Browser, server: Server, width: int, scheme: str
) -> None:
    context = browser.new_context(viewport={"width": width, "height": 640}, color_scheme=scheme)  # type: ignore[arg-type]
    assert each_page(context.new_page(), server) == []
    context.close()


@pytest.mark.parametrize(("name", "code"), [("closed", CLOSE), ("demonstration", "unopened()")])
def test_pages_of_the_other_states_are_accessible_and_fit(
    browser: Browser, server: Server, name: str, code: str
) -> None:
    context = browser.new_context(viewport={"width": 360, "height": 640})
    page = context.new_page()
    with state(server, code):
        page.goto(f"{server.url}/describe/")
        look(page, name)
        assert problems(page) == []
    context.close()


def test_slip_printed_is_the_slip_alone_and_as_narrow_as_a_receipt(browser: Browser, server: Server) -> None:
    context = browser.new_context(java_script_enabled=True)
    page = context.new_page()
    page.goto(invitation(server))
    open_invitation(page, page.url)
    press(page, "Somebody beside me describes a dish")
    heard(page)
    tell(page, "Kenkey with a rather long name that needs a second line on paper")
    press(page, "Show their paper slip")
    page.emulate_media(media="print")
    slip = page.locator(".slip").bounding_box()
    code = page.locator(".slip .code").first.bounding_box()
    assert slip is not None and code is not None
    assert slip["width"] <= SLIP_MILLIMETRES / 25.4 * 96 + 1 and code["width"] <= slip["width"]
    for hidden in (".top", ".bottom", "form"):
        assert not page.locator(hidden).first.is_visible()
    context.close()


@pytest.mark.parametrize("path", ["/describe/", "/beside/", "/ambassador/"])
@pytest.mark.parametrize("language", ["en", "hi", "ar"])
def test_first_view_with_a_draft_beside_it_fits_one_window_in_two_requests(
    server: Server, path: str, language: str
) -> None:
    html, size = fetch(f"{server.url}{path}?language={language}")
    wanted = re.findall(r'(?:src|href)="([^"#?]+\.(?:css|js|png|jpg|svg|woff2|mp3))"', html)
    assert len(wanted) == 1 and wanted[0].startswith("/static/site.")
    _css, css_size = fetch(server.url + wanted[0])
    assert size + css_size <= FIRST_VIEW
