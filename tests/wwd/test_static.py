"""Static files: hashed and compressed beforehand, and pages name them by their hash."""

import gzip
import json
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

from tests.wwd.processes import ROOT, environment, gunicorn, manage


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """The real web server over collected files: its address and the folder of the files."""
    folder = tmp_path_factory.mktemp("static")
    environ = environment(folder, WWD_WEB_PROCESSES="1")
    assert manage(environ, "collectstatic", "--no-input").returncode == 0
    with gunicorn(environ, folder / "log") as address:
        yield address, folder / "static"


def hashed_style(address: str) -> str:
    with urlopen(address, timeout=20) as page:
        found = re.search(r'href="(/static/site\.[0-9a-f]{12}\.css)"', page.read().decode())
    assert found, "the page does not name the hashed style"
    return found[1]


def test_every_collected_text_file_lies_beside_its_compressed_copy(site: tuple[str, Path]) -> None:
    _, folder = site
    named = json.loads((folder / "staticfiles.json").read_text())["paths"]
    assert named["site.css"] != "site.css"
    packed = folder / f"{named['site.css']}.gz"
    assert gzip.decompress(packed.read_bytes()) == (ROOT / "static" / "site.css").read_bytes()


def test_a_page_names_the_hashed_style_which_comes_compressed_and_may_be_kept_for_ever(
    site: tuple[str, Path],
) -> None:
    address, _ = site
    request = Request(f"{address}{hashed_style(address)}", headers={"Accept-Encoding": "gzip"})
    with urlopen(request, timeout=20) as response:
        assert response.headers["Content-Encoding"] == "gzip"
        assert "immutable" in response.headers["Cache-Control"]
        assert gzip.decompress(response.read()) == (ROOT / "static" / "site.css").read_bytes()


def test_the_page_itself_comes_compressed(site: tuple[str, Path]) -> None:
    with urlopen(Request(site[0], headers={"Accept-Encoding": "gzip"}), timeout=20) as response:
        assert response.headers["Content-Encoding"] == "gzip"
        assert b"<!doctype html>" in gzip.decompress(response.read())


def test_a_name_that_exists_nowhere_is_a_fault_of_the_page() -> None:
    from django.contrib.staticfiles.storage import staticfiles_storage

    with pytest.raises(ValueError, match=r"nowhere\.css"):
        staticfiles_storage.url("nowhere.css")
