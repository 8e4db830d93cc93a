"""*Finish* ends a turn on the server, with or without scripts and cookies; offline nobody goes without a code."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect
from playwright.sync_api import Error as BrowserError

from tests.browser.conftest import without_cookies
from tests.browser.dish_steps import agree, fill, look, press, problems, receipt_on, tell
from tests.browser.flaky_network import Network, network_before
from tests.browser.server import Server
from tests.browser.test_offline_queue import OFFLINE, PHONE, queued, until

pytestmark = [pytest.mark.browser]
FINISH = "Finish, or somebody else’s turn"
INVITE = """
from review.models import Campaign
from tests.review.make import make_campaign, make_invitation
campaign = Campaign.objects.first() or make_campaign(images=3)
print(make_invitation(campaign).get_absolute_url())
"""


@pytest.fixture
def network(server: Server) -> Iterator[Network]:
    with network_before(server.url) as network:
        yield network


@pytest.fixture
def behind(network: Network, server: Server) -> Server:
    """The server as a phone reaches it through the network."""
    return Server(network.url, server.environ)


@pytest.fixture(params=[(True, True), (False, True), (True, False), (False, False)], ids=str)
def page(browser: Browser, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Page]:
    """A phone with or without scripts (first) and cookies (second)."""
    scripts, cookies = request.param
    if cookies:
        context = browser.new_context(viewport=PHONE, java_script_enabled=scripts, service_workers="block")
        yield context.new_page()
        context.close()
    else:
        with without_cookies(browser, tmp_path / "profile", scripts=scripts, service_workers="block") as context:
            yield context.new_page()


def finish_is_offered(page: Page) -> bool:
    return page.get_by_role("button", name=FINISH).is_visible()


def send_again(page: Page) -> None:
    """Back and Reload, until the browser has sent again what led to the page before."""
    try:
        page.go_back()
    except BrowserError as error:
        # Not kept by the browser: it asks whether to send again, on a page of its own that comes a moment later.
        assert "ERR_CACHE_MISS" in str(error)
        page.wait_for_timeout(300)
    page.reload()


def begin_for_somebody(page: Page, server: Server, name: str) -> None:
    """Without a turn of one's own: a dish for somebody who sits beside."""
    page.goto(f"{server.url}/beside/")
    page.get_by_label("heard this and agreed").check()
    page.get_by_label("becomes public").check()
    press(page, "Describe their dish")
    tell(page, name)


def people(server: Server) -> int:
    return int(server.ask("print(Contributor.objects.count())"))


def test_finish_on_the_start_page_ends_the_turn_of_somebody_written_for_or_is_not_offered(
    page: Page, server: Server
) -> None:
    begin_for_somebody(page, server, "Of an elder")
    assert finish_is_offered(page)
    page.get_by_role("link", name="World Wide Dishes").click()
    if not finish_is_offered(page):
        assert not page.context.cookies() or "cookie" not in page.request.get(server.url).headers
        page.go_back()
    press(page, FINISH)
    expect(page.locator("h1")).to_have_text("Your turn is over")
    before = people(server)
    for _step in range(2):
        send_again(page)
    assert "Of an elder" not in page.content() and page.locator(".code").count() == 0
    assert people(server) == before


def test_consent_that_was_given_before_finish_makes_nobody_a_contributor(page: Page, server: Server) -> None:
    agree(page, server)
    assert finish_is_offered(page)
    press(page, FINISH)
    before = people(server)
    send_again(page)
    assert people(server) == before
    expect(page.locator("h1")).to_have_text("What happens with what you tell")


def test_reviewer_finishes_on_the_leaderboard_or_in_the_review_and_the_invitation_begins_anew(
    page: Page, server: Server
) -> None:
    invitation = server.url + server.ask(INVITE)
    page.goto(invitation)
    for label in ("Nigeria", "I was asked to help", "I am 18", "I have read this"):
        page.get_by_label(label).check()
    if page.get_by_label("No. I begin now").count():
        page.get_by_label("No. I begin now").check()
    press(page, "Begin")
    image = page.url
    page.goto(f"{server.url}/leaderboard/")
    if not finish_is_offered(page):
        send_again(page)
    press(page, FINISH)
    page.goto(invitation)
    assert "You have begun on this phone" not in page.content() and not finish_is_offered(page)
    assert image


def test_receipt_and_return_code_stand_on_one_page(page: Page, server: Server) -> None:
    agree(page, server)
    tell(page, "With a way back")
    expect(page.locator("h1")).to_have_text("Your dish is saved")
    code = page.locator(".code.big").inner_text()
    look(page, "saved-with-code")
    # axe is a script itself.
    if page.evaluate("() => matchMedia('(scripting: enabled)').matches"):
        assert problems(page) == []
    press(page, FINISH)
    withdraw_with(page, server, code, "With a way back")


def withdraw_with(page: Page, server: Server, code: str, name: str) -> None:
    page.goto(f"{server.url}/return/")
    page.get_by_label("Your return code").fill(code)
    press(page, "Go on")
    expect(page.locator("bdi.dish-name")).to_have_text(name)
    press(page, "Take everything back")
    press(page, "Take it back")
    expect(page.locator("main")).to_contain_text("Everything of yours is withdrawn")
    state = server.ask(f"print(Dish.objects.filter(local_name={name!r}).latest('pk').state)")
    assert state == "withdrawn"
    press(page, FINISH)


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    opened = browser.new_context(viewport=PHONE)
    yield opened
    opened.close()


def agree_without_network(page: Page) -> None:
    page.get_by_label("I am 18 years old").check()
    page.get_by_label("I have read this").check()


def save_without_network(page: Page, name: str) -> tuple[str, str]:
    """Number and code that the phone shows at saving."""
    fill(page, name)
    page.get_by_role("button", name="Save the dish").click()
    expect(queued(page).filter(has_text=name)).to_contain_text("not sent yet")
    number = queued(page).filter(has_text=name).locator(".code").inner_text()
    return number, page.locator(".queue .code.big").inner_text()


def test_offline_day_of_three_people_with_one_phone(
    context: BrowserContext, network: Network, behind: Server, server: Server
) -> None:
    page = context.new_page()
    agree(page, behind)
    until(page, OFFLINE)
    network.state = "cut"
    names = ("Offline of Amina", "Offline of Basma", "Offline of Chidi")
    given: dict[str, tuple[str, str]] = {}
    for name in names:
        if name != names[0]:
            agree_without_network(page)
        given[name] = save_without_network(page, name)
        look(page, "offline-saved")
        assert problems(page) == []
        page.get_by_role("button", name=FINISH).click()
        expect(page.get_by_text("On this phone your turn is over")).to_be_visible()
        shown, stored = page.content(), str(context.storage_state(indexed_db=True)["origins"])
        assert name not in shown and given[name][1] not in shown + stored
        look(page, "offline-over")
        assert problems(page) == []
    network.state = "through"
    page.goto(network.url)
    expect(queued(page).filter(has_text="Received.")).to_have_count(3)
    numbers = [server.ask(f"print(Submission.objects.get(dish__local_name={name!r}).receipt)") for name in names]
    assert numbers == [given[name][0].replace(" ", "") for name in names]
    assert len({code for _number, code in given.values()}) == 3
    assert all(code not in page.content() for _number, code in given.values())
    for name in names:
        withdraw_with(page, server, given[name][1], name)


def test_full_phone_without_a_network_keeps_the_page_and_the_typing(
    context: BrowserContext, network: Network, behind: Server, server: Server
) -> None:
    page = context.new_page()
    page.add_init_script(
        "const put = IDBObjectStore.prototype.put;"
        "IDBObjectStore.prototype.put = function (row, ...more) {"
        " if (row.words) throw new DOMException('', 'QuotaExceededError'); return put.call(this, row, ...more); };"
    )
    agree(page, behind)
    until(page, OFFLINE)
    network.state = "cut"
    fill(page, "No room")
    page.get_by_role("button", name="Save the dish").click()
    expect(page.locator(".queue [role=status]")).to_contain_text("no room to keep the dish")
    expect(page.get_by_label("What is the dish called?")).to_have_value("No room")
    network.state = "through"
    press(page, "Save the dish")
    assert receipt_on(page).replace(" ", "") == server.ask(
        "print(Submission.objects.get(dish__local_name='No room').receipt)"
    )
