"""Dishes that a phone keeps: no false *received*, nothing lost, nothing doubled, whatever stands between."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, ViewportSize, expect

from tests.browser.dish_steps import agree, fill, look, press, problems, receipt_on, tell
from tests.browser.flaky_network import Network, network_before
from tests.browser.server import Server

pytestmark = [pytest.mark.browser]
PHONE = ViewportSize(width=360, height=640)
FIRST_VISIT, WARM_VISIT = 80_000, 25_000
HELD = """() => new Promise(done => {
  const opening = indexedDB.open('dishes', 1);
  opening.onsuccess = () => {
    const rows = opening.result.transaction('dishes').objectStore('dishes').getAll();
    rows.onsuccess = () => { opening.result.close(); done(rows.result); };
  };
})"""
OFFLINE = """navigator.serviceWorker.controller &&
  (await (await caches.open('phone')).keys()).length === 4"""
# As one of the first versions could have been: whatever it saw once it shows again, without asking.
OLDER_WORKER = b"""
self.addEventListener('install', () => self.skipWaiting());
self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()));
self.addEventListener('fetch', (event) => {
  if (event.request.method !== 'GET') return;
  event.respondWith(caches.open('older').then(async (cache) => {
    const kept = await cache.match(event.request, { ignoreVary: true });
    if (kept) return kept;
    const answer = await fetch(event.request);
    await cache.put(event.request, answer.clone());
    return answer;
  }));
});
"""


@pytest.fixture
def network(server: Server) -> Iterator[Network]:
    with network_before(server.url) as network:
        yield network


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    opened = browser.new_context(viewport=PHONE)
    yield opened
    opened.close()


@pytest.fixture
def page(context: BrowserContext, network: Network, server: Server) -> Page:
    """A phone whose owner has agreed and has the empty form before them."""
    page = context.new_page()
    agree(page, Server(network.url, server.environ))
    until(page, OFFLINE)
    return page


def until(page: Page, condition: str) -> None:
    """Waits in the page; Playwright's own waiting takes a promise for a yes."""
    page.evaluate(f"async () => {{ while (!({condition})) await new Promise(done => setTimeout(done, 50)); }}")


def queued(page: Page) -> Locator:
    return page.locator("section.queue li")


def try_to_send(page: Page, name: str) -> None:
    """Saves a dish that does not arrive, and waits until the phone says so."""
    fill(page, name)
    page.get_by_role("button", name="Save the dish").click()
    expect(queued(page).filter(has_text=name)).to_contain_text("not sent yet")
    expect(page.get_by_role("button", name="Save the dish")).to_be_enabled()


def number_of(server: Server, name: str) -> int:
    return int(server.ask(f"print(Dish.objects.filter(local_name={name!r}).count())"))


def receipt_of(server: Server, name: str) -> str:
    code = f"print(Submission.objects.get(dish__local_name={name!r}, purpose='dish').receipt)"
    return server.ask(code)


@pytest.mark.parametrize("state", ["page", "json", "redirect", "login", "broken", "cut", "lost"])
def test_what_is_not_our_answer_is_not_received(page: Page, network: Network, server: Server, state: str) -> None:
    name = f"Harees {state}"
    network.state = state
    try_to_send(page, name)
    expect(page.get_by_label("What is the dish called?")).to_have_value("")
    assert "Received" not in page.locator("main").inner_text() and number_of(server, name) == (state == "lost")
    with page.expect_request("**/phone/send/"):
        page.get_by_role("button", name="Send it now").click()
    expect(queued(page)).not_to_contain_text("Being sent")
    expect(queued(page)).to_contain_text("not sent yet")
    network.state = "through"
    page.get_by_role("button", name="Send it now").click()
    expect(queued(page)).to_contain_text("Received")
    assert queued(page).locator(".code").inner_text().replace(" ", "") == receipt_of(server, name)
    assert number_of(server, name) == 1 and page.evaluate(HELD) == []
    press(page, "Go on with this dish")
    expect(page.locator("bdi.dish-name")).to_have_text(name)


def test_with_a_network_the_dish_goes_straight_on(page: Page, server: Server) -> None:
    tell(page, "Straight")
    assert receipt_on(page).replace(" ", "") == receipt_of(server, "Straight")
    assert page.evaluate(HELD) == []


@pytest.mark.parametrize("year", [1970, 2040])
def test_the_phones_clock_decides_nothing(browser: Browser, network: Network, server: Server, year: int) -> None:
    context = browser.new_context(viewport=PHONE)
    context.clock.set_system_time(f"{year}-01-01T00:00:00Z")
    page = context.new_page()
    agree(page, Server(network.url, server.environ))
    until(page, OFFLINE)
    network.state = "cut"
    try_to_send(page, f"First {year}")
    context.clock.set_system_time("2001-01-01T00:00:00Z")
    page.goto(network.url + "/describe/")
    try_to_send(page, f"Second {year}")
    assert [row["words"][0][1] for row in page.evaluate(HELD)] == [f"First {year}", f"Second {year}"]
    network.state = "through"
    page.goto(network.url + "/describe/")
    expect(queued(page).filter(has_text="Received")).to_have_count(2)
    assert [number_of(server, f"{word} {year}") for word in ("First", "Second")] == [1, 1]
    context.close()


def test_without_a_network_the_form_is_there_and_its_dishes_arrive_later(
    page: Page, network: Network, server: Server
) -> None:
    page.goto(network.url + "/ar/describe/")
    until(page, "await caches.match('/ar/phone/')")
    network.state = "cut"
    page.goto(network.url + "/ar/describe/")
    assert page.locator("html").get_attribute("dir") == "rtl"
    for name in ("كبسة", "مندي"):
        page.locator("#id_local_name").fill(name)
        page.locator("#id_languages").fill("العربية")
        page.locator("#id_places").fill("Yemen")
        page.locator("#id_ingredients").fill("أرز، لحم")
        page.locator("#save").click()
        expect(queued(page).filter(has_text=name)).to_have_count(1)
        expect(page.locator("#save")).to_be_enabled()
    look(page, "queue-ar")
    network.state = "through"
    page.goto(network.url + "/")
    expect(queued(page).locator(".code").filter(has_text=" ")).to_have_count(2)
    assert [number_of(server, name) for name in ("كبسة", "مندي")] == [1, 1]


def test_the_line_comes_back_while_the_page_is_open(
    page: Page, context: BrowserContext, network: Network, server: Server
) -> None:
    network.state = "cut"
    try_to_send(page, "Back again")
    network.state = "through"
    context.set_offline(True)
    context.set_offline(False)
    expect(queued(page)).to_contain_text("Received")
    assert number_of(server, "Back again") == 1


def test_each_dish_is_copied_changed_and_thrown_away_alone(
    page: Page, network: Network, server: Server, tmp_path: Path
) -> None:
    network.state = "cut"
    for name in ("Kept one", "Thrown one", "Changed one"):
        try_to_send(page, name)
    look(page, "queue")
    with page.expect_download() as download:
        queued(page).nth(0).get_by_role("button", name="Keep a copy").click()
    download.value.save_as(tmp_path / "copy.txt")
    assert (tmp_path / "copy.txt").read_text() == "Kept one\nArabic\nIraq\nbread, meat\n"
    page.once("dialog", lambda dialog: dialog.dismiss())
    queued(page).nth(1).get_by_role("button", name="Throw it away").click()
    expect(queued(page)).to_have_count(3)
    page.once("dialog", lambda dialog: dialog.accept())
    queued(page).nth(1).get_by_role("button", name="Throw it away").click()
    expect(queued(page)).to_have_count(2)
    queued(page).nth(1).get_by_role("button", name="Change it").click()
    expect(page.get_by_label("What is the dish called?")).to_have_value("Changed one")
    try_to_send(page, "Changed two")
    expect(queued(page)).to_have_count(2)
    network.state = "through"
    queued(page).nth(1).get_by_role("button", name="Send it now").click()
    expect(queued(page).filter(has_text="Received")).to_have_count(1)
    expect(queued(page).filter(has_text="Kept one")).to_contain_text("not sent yet")
    names = ("Kept one", "Thrown one", "Changed one", "Changed two")
    assert [number_of(server, name) for name in names] == [0, 0, 0, 1]


def test_a_dish_that_the_project_refuses_stays_and_can_be_mended(page: Page, network: Network, server: Server) -> None:
    network.state = "cut"
    try_to_send(page, "...")
    network.state = "through"
    page.get_by_role("button", name="Send it now").click()
    expect(queued(page)).not_to_contain_text("not sent yet")
    page.get_by_role("button", name="Change it").click()
    tell(page, "Mended")
    assert number_of(server, "Mended") == 1 and page.evaluate(HELD) == []


def test_the_same_typing_saved_twice_is_one_dish(page: Page, network: Network, server: Server) -> None:
    network.state = "cut"
    for _time in range(2):
        try_to_send(page, "Typed twice")
    expect(queued(page)).to_have_count(1)
    network.state = "through"
    page.get_by_role("button", name="Send it now").click()
    expect(queued(page)).to_contain_text("Received")
    assert number_of(server, "Typed twice") == 1


def test_back_after_it_arrived_and_other_words_asks(page: Page, server: Server) -> None:
    tell(page, "Went first")
    page.go_back()
    fill(page, "Went second")
    press(page, "Save the dish")
    expect(page.get_by_role("button", name="It is another dish")).to_be_visible()
    assert number_of(server, "Went second") == 0 and page.evaluate(HELD) == []


def test_a_page_closed_in_the_middle_of_sending(page: Page, network: Network, server: Server) -> None:
    network.state = "hanging"
    fill(page, "Closed on")
    page.get_by_role("button", name="Save the dish").click()
    expect(queued(page)).to_contain_text("Being sent")
    page.wait_for_timeout(500)
    page.close()
    network.released.set()
    network.state = "through"
    again = page.context.new_page()
    again.goto(network.url + "/")
    expect(queued(again)).to_contain_text("Received")
    assert number_of(server, "Closed on") == 1


def test_service_worker_of_an_older_version_loses_and_doubles_nothing(
    context: BrowserContext, network: Network, server: Server
) -> None:
    network.scripts["/worker.js"] = OLDER_WORKER
    page = context.new_page()
    agree(page, Server(network.url, server.environ))
    until(page, "navigator.serviceWorker.controller && await caches.has('older')")
    page.goto(network.url + "/describe/")
    tell(page, "Older first")
    page.goto(network.url + "/describe/")
    fill(page, "Older second")
    press(page, "Save the dish")
    press(page, "It is another dish")
    expect(page.locator("bdi.dish-name")).to_have_text("Older second")
    page.goto(network.url + "/phone/")
    network.state = "cut"
    page.goto(network.url + "/phone/")
    try_to_send(page, "Older third")
    network.scripts.clear()
    network.state = "through"
    page.evaluate("async () => { await (await navigator.serviceWorker.getRegistration()).update(); }")
    until(page, "!(await navigator.serviceWorker.getRegistration()).installing")
    page.goto(network.url + "/")
    expect(queued(page)).to_contain_text("Received")
    names = ("Older first", "Older second", "Older third")
    assert [number_of(server, name) for name in names] == [1, 1, 1]


def test_after_finish_the_next_person_sees_no_word_of_it_and_it_still_arrives(
    page: Page, network: Network, server: Server
) -> None:
    network.state = "cut"
    try_to_send(page, "Of the first")
    network.state = "through"
    page.context.route("**/phone/send/", lambda route: route.abort())
    press(page, "Finish, or somebody else’s turn")
    expect(queued(page)).to_contain_text("A dish from the turn of somebody else")
    assert "Of the first" not in page.content() and page.context.cookies() == []
    expect(queued(page).get_by_role("button")).to_have_count(2)
    page.context.unroute("**/phone/send/")
    page.goto(network.url)
    expect(queued(page)).to_contain_text("Received")
    assert "Of the first" not in page.content() and queued(page).locator(".code").inner_text() == ""
    agree(page, Server(network.url, server.environ))
    tell(page, "Of the second")
    owners = "print(len({dish.contributor_id for dish in Dish.objects.filter(local_name__startswith='Of the ')}))"
    assert server.ask(owners) == "2"


def test_finish_without_a_network_is_made_good(page: Page, network: Network, server: Server) -> None:
    tell(page, "Finished late")
    page.goto(network.url + "/describe/")
    network.state = "cut"
    page.get_by_role("button", name="Finish, or somebody else’s turn").click()
    expect(page.get_by_text("On this phone your turn is over")).to_be_visible()
    page.goto(network.url + "/describe/")
    expect(page.get_by_label("I have read this, and I agree.")).to_be_visible()
    network.state = "through"
    page.goto(network.url + "/describe/")
    expect(page.get_by_label("I am 18 years old")).to_be_visible()
    assert page.context.cookies() == []


@pytest.mark.parametrize("lacking", ["open", "transaction"])
def test_without_a_database_the_plain_form_sends(
    browser: Browser, network: Network, server: Server, lacking: str
) -> None:
    context = browser.new_context(viewport=PHONE)
    owner = "IDBFactory" if lacking == "open" else "IDBDatabase"
    context.add_init_script(f"{owner}.prototype.{lacking} = () => {{ throw new DOMException('', 'UnknownError'); }}")
    page = context.new_page()
    agree(page, Server(network.url, server.environ))
    tell(page, f"No {lacking}")
    assert number_of(server, f"No {lacking}") == 1
    context.close()


def test_a_portals_page_is_not_kept_for_later(context: BrowserContext, network: Network, server: Server) -> None:
    page = context.new_page()
    page.goto(network.url + "/describe/")
    page.get_by_label("I am 18 years old").check()
    page.get_by_label("I have read this").check()
    context.route("**/phone/", lambda route: route.fulfill(body="<h1>Log in</h1>", content_type="text/html"))
    with page.expect_event("requestfinished", lambda request: request.url.endswith("/phone/")):
        press(page, "Describe a dish")
    page.wait_for_timeout(300)
    assert page.evaluate("() => caches.open('phone').then(cache => cache.keys()).then(keys => keys.length)") == 0


@pytest.mark.parametrize("width", [360, 1280])
def test_nothing_is_wrong_with_how_waiting_dishes_look(page: Page, network: Network, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 640 if width == 360 else 800})
    network.state = "cut"
    try_to_send(page, "ثريد (بامية) 2")
    assert problems(page) == []
    look(page, "queue-form")
    page.goto(network.url + "/describe/")
    expect(queued(page)).to_have_count(1)
    assert problems(page) == []
    look(page, "queue-offline")


def test_scripts_stay_within_their_bytes(context: BrowserContext, network: Network, server: Server) -> None:
    page = context.new_page()
    agree(page, Server(network.url, server.environ))
    until(page, OFFLINE)
    page.wait_for_load_state("networkidle")
    assert 0 < network.sent <= FIRST_VISIT, network.asked
    first, network.sent = network.sent, 0
    page.goto(network.url)
    page.get_by_role("link", name="Describe a dish").click()
    page.wait_for_load_state("networkidle")
    assert 0 < network.sent <= WARM_VISIT, network.asked
    assert network.sent < first
