"""No log holds a key of anybody: lines about requests name the route, whatever went wrong with them."""

import io
import json
import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote
from urllib.request import Request

import pytest
from django.test import Client
from django.test.client import RequestFactory
from PIL import Image

from collection.models import Ambassador, Photo
from collection.photos.process import prepare_photo
from review.models import Invitation, Reviewer
from review.signed_links import back_address
from tests.collection.make import make_photo_bytes
from tests.public_pages import walk
from tests.wwd.processes import environment, gunicorn, snippet
from tests.wwd.test_logs import FORMATTERS, status_of

KEY = re.compile(r"/review/(?:picture|back)/([^/\"?]+)|name=\"proof\" value=\"([^\"]+)\"")
# What comes before a key in an address; a mistyped address holds the key too.
WRONG = ("{}x/y", "/fr{}", "{}?next={}", "//{}", "{}/", "{}%00")
MAKE = """
import json
from collection.models import Ambassador
from django.utils import timezone
from review.signed_links import back_address
from tests.collection.make import make_dish, make_photo
from tests.review.make import make_campaign, make_invitation, make_reviewer
invitation = make_invitation(make_campaign(images=1))
reviewer = make_reviewer(invitation.campaign, invitation=invitation)
ambassador = Ambassador.objects.create(label="Ama", country_id="GHA", until=timezone.localdate())
photo = make_photo(make_dish())
print(json.dumps([
    invitation.get_absolute_url(), back_address(reviewer), f"/ambassador/{ambassador.invitation}/", "/" + photo.file,
]))
"""


@contextmanager
def written(formatter: logging.Formatter) -> Iterator[io.StringIO]:
    """Everything that any logger says meanwhile, in the product's format."""
    out = io.StringIO()
    handler, root = logging.StreamHandler(out), logging.getLogger()
    handler.setFormatter(formatter)
    before = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    try:
        yield out
    finally:
        root.removeHandler(handler)
        root.setLevel(before)


def keys_on(pages: Iterator[str]) -> set[str]:
    """Tokens that are in pages: of images, of ways back, of forms."""
    return {key for page in pages for match in KEY.findall(page) for key in match if len(key) > 7}


def addresses() -> list[str]:
    """Every address with a genuine key that the rows of a walk can give."""
    found = [back_address(row) for row in Reviewer.objects.all()]
    found += [row.get_absolute_url() for row in Invitation.objects.all()]
    found += [f"/ambassador/{row.invitation}/" for row in Ambassador.objects.exclude(invitation=None)]
    return found + [f"/{path}" for path in Photo.objects.values_list("file", flat=True)]


@pytest.mark.django_db
@pytest.mark.parametrize("formatter", FORMATTERS)
def test_after_a_walk_of_all_pages_with_genuine_keys_no_log_holds_one(formatter: logging.Formatter) -> None:
    with written(formatter) as out:
        faces = walk("en")["en"]
        client = Client(raise_request_exception=False)
        known = addresses()
        for path in known:
            for wrong in ("{}", *WRONG):
                client.get(wrong.format(path, quote(path)), headers={"referer": f"http://testserver{path}"})
            client.post(path, {"code": "x"})
            client.put(path)
            client.get(path, headers={"host": "elsewhere.example"})
            client.get(path, headers={"host": "no_such.host,name"})
            checked = Client(enforce_csrf_checks=True, raise_request_exception=False)
            checked.post(f"/admin/login/?next={path}", {"a": "b"}, headers={"referer": path}, secure=True)
    text = out.getvalue()
    assert "review/back/<token>/" in text
    keys = {path.strip("/").rpartition("/")[2] for path in known} | set(
        Invitation.objects.values_list("short", flat=True)
    )
    keys |= keys_on(response.content.decode() for response in faces.values())
    assert len(keys) > 50
    assert [key for key in keys if key in text] == []
    assert "elsewhere.example" not in text


@pytest.mark.django_db
def test_an_address_with_a_key_is_named_to_nobody(client: Client) -> None:
    for path in (
        "/review/back/abc/",
        "/review/abc/",
        "/ambassador/abc/",
        "/fr/ambassador/abc/",
        "/ar/review/abc/",
        "/review/picture/abc",
    ):
        assert client.get(path).headers["Referrer-Policy"] == "no-referrer", path


@pytest.mark.parametrize("formatter", FORMATTERS)
def test_djangos_own_server_and_a_foreign_error_name_no_path(formatter: logging.Formatter) -> None:
    with written(formatter) as out:
        server = logging.getLogger("django.server")
        server.addHandler(logging.getLogger().handlers[-1])
        try:
            server.info('"%s" %s %s', "GET /review/back/genuine-key/?q=typed HTTP/1.1", "200", "55")
            server.error("You're accessing the development server over HTTPS, %s", "genuine-key")
        finally:
            server.removeHandler(logging.getLogger().handlers[-1])
        asked = RequestFactory().get("/review/back/genuine-key/")
        security = logging.getLogger("django.security.SuspiciousOperation")
        security.error("genuine-key is odd", extra={"request": asked, "status_code": 400})
        logging.getLogger("django.security.csrf").warning("genuine-key")
    assert "genuine-key" not in out.getvalue()
    assert "typed" not in out.getvalue()
    assert "SuspiciousOperation 400 GET /review/back/<token>/" in out.getvalue()


def test_what_a_photo_says_of_its_camera_and_place_is_not_logged() -> None:
    exif = Image.Exif()
    exif[0x010E] = "genuine-description"
    with written(FORMATTERS[0]) as out:
        prepare_photo(make_photo_bytes(exif=exif))
    assert "genuine-description" not in out.getvalue()


@pytest.mark.parametrize("form", ["json", "console"])
def test_the_real_web_server_logs_routes(tmp_path: Path, form: str) -> None:
    log = tmp_path / "log"
    environ = environment(tmp_path / "var", WWD_LOG_FORMAT=form, WWD_LOG_LEVEL="debug", WWD_WEB_PROCESSES="1")
    with gunicorn(environ, log) as site:
        known = json.loads(snippet(environ, MAKE).splitlines()[-1])
        for path in known:
            for wrong in ("{}", *WRONG):
                headers = {"Referer": f"{site}{path}", "Cookie": "turn=" + path, "User-Agent": path}
                assert status_of(Request(site + wrong.format(path, quote(path)), headers=headers)) > 0
            assert status_of(Request(site + path, b"a=b", headers={"Transfer-Encoding": "nonsense"})) >= 0
            assert status_of(Request(site + path, headers={"Host": "elsewhere.example"})) == 400
    text = log.read_text()
    for path in known:
        assert path.strip("/").rpartition("/")[2] not in text
    for route in ("/review/back/<token>/", "/review/<slug:code>/", "/ambassador/<slug:code>/"):
        assert f"GET {route} 200" in text, route
    assert "elsewhere.example" not in text
