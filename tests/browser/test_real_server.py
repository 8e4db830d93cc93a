"""What only a real server can show: bytes on the wire, requests in parallel, slow readers of photos."""

import gzip
import re
import urllib.error
import urllib.parse
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import pytest
from playwright.sync_api import Browser

from bench import submission
from tests.browser.server import Server

FIRST_VIEW = 14_600
DISH = {"local_name": "Jollof", "languages": "Wolof", "places": "Senegal", "places_more": "", "ingredients": "rice"}


def fetch(address: str, data: dict[str, str] | None = None) -> tuple[str, int]:
    """A page as text and its bytes on the wire, head of the response included."""
    body = urllib.parse.urlencode(data).encode() if data is not None else None
    request = urllib.request.Request(address, data=body, headers={"Accept-Encoding": "gzip"})
    with urllib.request.urlopen(request, timeout=30) as response:
        raw = response.read()
        plain = gzip.decompress(raw) if response.headers["Content-Encoding"] == "gzip" else raw
        head = sum(len(name) + len(value) + 4 for name, value in response.headers.items()) + 17
        return plain.decode(), len(raw) + head


def token(html: str, action: str) -> str:
    found = re.search(rf'action="{action}"[^>]*><input type="hidden" name="proof" value="([^"]+)"', html)
    assert found
    return found[1]


def consented(server: Server) -> str:
    first, _ = fetch(f"{server.url}/describe/")
    page, _ = fetch(f"{server.url}/describe/", {"adult": "on", "agree": "on", "proof": token(first, "/describe/")})
    return page


def journey(server: Server) -> dict[str, tuple[str, int]]:
    """Every page of the journey and the public ones, by name, as text and bytes."""
    start, leaderboard, consent = (fetch(server.url + path) for path in ("/", "/leaderboard/", "/describe/"))
    proof = token(consent[0], "/describe/")
    dish = fetch(f"{server.url}/describe/", {"adult": "on", "agree": "on", "proof": proof})
    more = fetch(f"{server.url}/dish/", {**DISH, "proof": token(dish[0], "/dish/")})
    photo = fetch(f"{server.url}/more/", {"proof": token(more[0], "/more/"), "skip": "1"})
    thanks = fetch(f"{server.url}/photo/", {"proof": token(photo[0], "/photo/"), "skip": "1"})
    names = ("start", "leaderboard", "consent", "dish", "more", "photo", "thanks")
    pages = dict(zip(names, (start, leaderboard, consent, dish, more, photo, thanks), strict=True))
    number = server.ask("print(make_dish(state='accepted').number)")
    public = {"dishes": "/dishes/", "public": f"/dishes/{number}/", "report": f"/dishes/{number}/report/"}
    return pages | {name: fetch(server.url + path) for name, path in public.items()}


def fill_leaderboard(server: Server) -> None:
    server.ask(
        "from collection.vocabularies.places import all_places\n"
        "for place in all_places()[:200]: make_dish(country=place.name, state='accepted')"
    )


def test_first_view_of_every_page_fits_one_window_in_two_requests(server: Server) -> None:
    fill_leaderboard(server)
    for name, (html, size) in journey(server).items():
        wanted = re.findall(r'(?:src|href)="([^"#]+\.(?:css|png|jpg|svg|woff2))"', html)
        assert len(wanted) == 1 and wanted[0].startswith("/static/site."), name
        assert not re.search(r'(?:src|action)="(?:https?:)?//|<link[^>]+href="(?:https?:)?//', html), name
        css, css_size = fetch(server.url + wanted[0])
        assert "url(" not in css and "@import" not in css
        assert size + css_size <= FIRST_VIEW, f"{name}: {size} + {css_size} bytes"


def test_scripts_come_after_the_first_view_and_are_small(server: Server) -> None:
    for name, (html, _size) in journey(server).items():
        total = 0
        for script in re.findall(r"<script[^>]*>", html):
            found = re.fullmatch(r'<script type="module" src="(/static/[^"]+\.[0-9a-f]{12}\.js)">', script)
            assert found, script
            total += fetch(server.url + found[1])[1]
        # What keeps dishes on the phone and, beside the form, what suggests ingredients; kept by phones afterwards.
        assert total <= 6_500, f"{name}: {total} bytes"


@pytest.mark.browser
def test_submission_over_a_2g_line_stays_within_its_limits(browser: Browser, server: Server) -> None:
    wire, _after = submission.walk(browser, server.url, kbit=1_000, latency=0)
    counted = ("requests", "kilobytes", "pages")
    over = {key: wire.measured[key] for key in counted if wire.measured[key] > submission.LIMITS[key]}
    assert over == {} and wire.measured["pages"] == 5


def test_stylesheet_is_hashed_and_kept_by_phones(server: Server) -> None:
    html, _ = fetch(server.url)
    address = re.search(r'href="(/static/site\.[0-9a-f]{12}\.css)"', html)
    assert address
    with urllib.request.urlopen(server.url + address[1]) as response:
        assert "immutable" in response.headers["Cache-Control"]


def test_five_identical_posts_in_parallel_make_one_dish_with_one_receipt(server: Server) -> None:
    data = {**DISH, "local_name": "Parallel", "proof": token(consented(server), "/dish/")}
    with ThreadPoolExecutor(5) as pool:
        pages = list(pool.map(lambda _: fetch(f"{server.url}/dish/", data)[0], range(5)))
    receipts = {re.search(r'class="code">([\d ]+)<', html)[1] for html in pages}  # type: ignore[index]
    assert len(receipts) == 1
    assert server.ask("print(Dish.objects.filter(local_name='Parallel').count())") == "1"


def test_dishes_sent_in_parallel_get_numbers_of_their_own(server: Server) -> None:
    proofs = [token(consented(server), "/dish/") for _ in range(6)]
    with ThreadPoolExecutor(6) as pool:
        forms = [{**DISH, "local_name": "Numbered", "proof": proof} for proof in proofs]
        list(pool.map(lambda form: fetch(f"{server.url}/dish/", form), forms))
    numbers = "print(len(set(Dish.objects.filter(local_name='Numbered').values_list('number', flat=True))))"
    assert server.ask(numbers) == "6"


@pytest.mark.parametrize("path", ["/photos/none.jpg", "/nothing/", "/static/none.css"])
def test_what_is_not_there_is_404(server: Server, path: str) -> None:
    with pytest.raises(urllib.error.HTTPError, match="404"):
        fetch(server.url + path)
