"""Makes the screenshots of README and docs in `docs/images/` from a fresh demonstration, with the system's Chromium.

    .venv/bin/python -m script.screenshots [NAME …]

Needs `requirements-dev.txt` and Chromium on the path. It takes about three minutes and leaves nothing running.
"""

import io
import os
import re
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.error import URLError

from PIL import Image
from playwright.sync_api import Browser, Page, ViewportSize, sync_playwright

BASE = Path(__file__).resolve().parent.parent
TARGET = BASE / "docs" / "images"
MOST_BYTES = 120_000
PHONE: ViewportSize = {"width": 360, "height": 640}
DESK: ViewportSize = {"width": 1280, "height": 800}
TABLES = (
    *("overview.totals", "overview.countries", "overview.growth", "overview.coverage", "overview.devices"),
    "review.quality",
)
LINK = re.compile(r"(/review/\S+/)")


@dataclass(frozen=True)
class Site:
    """A running demonstration: its address, the path of its invitation and the password of `admin`."""

    url: str
    invitation: str
    password: str


def manage(environ: dict[str, str], *words: str) -> str:
    command = [sys.executable, "manage.py", *words]
    return subprocess.run(command, cwd=BASE, env=environ, check=True, stdout=subprocess.PIPE, text=True).stdout


def wait_for(url: str) -> None:
    for _attempt in range(100):
        try:
            urllib.request.urlopen(url, timeout=5).close()
        except (URLError, TimeoutError):
            time.sleep(0.1)
        else:
            return
    raise RuntimeError(f"{url} does not answer")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def demonstration() -> Iterator[Site]:
    """A site with demonstration data and computed tables in a temporary folder."""
    with tempfile.TemporaryDirectory() as folder:
        password = secrets.token_urlsafe(12)
        embedded = {"WWD_VAR_DIR": folder, "DATABASE_URL": "", "REDIS_URL": "", "DJANGO_SUPERUSER_PASSWORD": password}
        environ = {**os.environ, **embedded}
        manage(environ, "migrate", "-v0")
        manage(environ, "collectstatic", "-v0", "--noinput")
        found = LINK.search(manage(environ, "demo", "load"))
        manage(environ, "createsuperuser", "--noinput", "--username", "admin", "--email", "")
        for name in TABLES:
            manage(environ, "tables", name)
        port = free_port()
        command = [sys.executable, "-m", "gunicorn", "-c", "deploy/gunicorn.conf.py", "-b", f"127.0.0.1:{port}"]
        with subprocess.Popen(command, cwd=BASE, env=environ) as server:
            try:
                wait_for(f"http://127.0.0.1:{port}/healthz")
                yield Site(f"http://127.0.0.1:{port}", found[1] if found else "", password)
            finally:
                server.terminate()


class Camera:
    """Writes screenshots of a page as small PNG files, all of them or those that were asked for."""

    def __init__(self, wanted: list[str]) -> None:
        self.wanted = wanted

    def shoot(self, page: Page, name: str, height: int = 0) -> None:
        """Write what the window shows, or `height` pixels of it. A file over `MOST_BYTES` raises `ValueError`."""
        if self.wanted and name not in self.wanted:
            return
        page.wait_for_load_state("networkidle")
        image = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
        image = image.crop((0, 0, image.width, height or image.height))
        data = b""
        for colours in (256, 128, 64, 32):
            held = io.BytesIO()
            image.quantize(colours, dither=Image.Dither.NONE).save(held, "PNG", optimize=True)
            data = held.getvalue()
            if len(data) <= MOST_BYTES:
                break
        else:
            raise ValueError(f"{name}: {len(data)} bytes")
        (TARGET / f"{name}.png").write_bytes(data)
        print(f"{name}.png {len(data)} bytes", flush=True)


def press(page: Page, name: str) -> None:
    with page.expect_navigation():
        page.get_by_role("button", name=name, exact=True).first.click()


def show_contributor(page: Page, site: Site, camera: Camera) -> None:
    """The way of one dish on a phone."""
    page.goto(site.url)
    camera.shoot(page, "contributor-start")
    page.get_by_role("link", name="Describe a dish").first.click()
    camera.shoot(page, "contributor-consent")
    page.get_by_label("I am 18 years old").check()
    page.get_by_label("I have read this").check()
    press(page, "Describe a dish")
    page.get_by_label("What is the dish called?").fill("ثريد")
    page.get_by_label("Which language").fill("Arabic")
    page.get_by_label("Which country").fill("Iraq")
    page.get_by_label("What is in it?").fill("bread, lamb, chickpeas, onions")
    page.evaluate("window.scrollTo(0, 0)")
    camera.shoot(page, "contributor-dish")
    press(page, "Save the dish")
    camera.shoot(page, "contributor-receipt")
    press(page, "Skip this")
    camera.shoot(page, "contributor-photo")


def show_reviewer(page: Page, site: Site, camera: Camera) -> None:
    """From the invitation to the questions about an image, on a phone."""
    page.goto(site.url + site.invitation)
    camera.shoot(page, "reviewer-warning")
    page.locator("[name=country]").last.scroll_into_view_if_needed()
    page.locator("[name=country][value=Senegal]").check()
    page.locator("[name=role]").first.check()
    page.locator("[name=adult]").check()
    page.locator("[name=agree]").check()
    press(page, "Begin")
    camera.shoot(page, "reviewer-covered")
    page.get_by_role("button", name="Show", exact=True).click()
    page.locator(".frame img").wait_for()
    page.evaluate("window.scrollTo(0, 0)")
    camera.shoot(page, "reviewer-shown")
    page.locator("[name^='q-']").first.scroll_into_view_if_needed()
    camera.shoot(page, "reviewer-questions")


def log_in(page: Page, site: Site) -> None:
    page.goto(f"{site.url}/admin/login/?next=/admin/")
    page.fill("[name=username]", "admin")
    page.fill("[name=password]", site.password)
    page.click("[type=submit]")
    # The list of all pages beside each page takes room; a click folds it for this browser.
    page.goto(f"{site.url}/admin/evaluation/tables/")
    page.locator("#toggle-nav-sidebar").click()


def show_researcher(page: Page, site: Site, camera: Camera) -> None:
    """From the overview to a table, its figure and the images behind a cell."""
    log_in(page, site)
    page.goto(f"{site.url}/admin/evaluation/overview/")
    camera.shoot(page, "researcher-overview")
    page.goto(f"{site.url}/admin/evaluation/tables/")
    camera.shoot(page, "researcher-tables")
    page.goto(f"{site.url}/admin/evaluation/tables/review.quality/")
    camera.shoot(page, "researcher-table")
    page.locator("table.numbers").first.evaluate("table => table.scrollIntoView()")
    camera.shoot(page, "researcher-numbers")
    page.locator("table.numbers tbody td a").first.click()
    page.locator("ol.images").first.wait_for()
    camera.shoot(page, "researcher-cell")


def show_operator(page: Page, site: Site, camera: Camera) -> None:
    """A run, the form that starts runs, and what is missing before the collection opens."""
    log_in(page, site)
    page.goto(f"{site.url}/admin/evaluation/runs/demonstration-generation/")
    camera.shoot(page, "operator-run")
    page.goto(f"{site.url}/admin/evaluation/runs/start/")
    camera.shoot(page, "operator-start")
    page.goto(f"{site.url}/admin/collection/opening/")
    camera.shoot(page, "operator-opening", height=300)


def open_page(browser: Browser, size: ViewportSize) -> Page:
    page = browser.new_context(viewport=size, locale="en").new_page()
    page.set_default_timeout(15_000)
    return page


def main() -> int:
    TARGET.mkdir(exist_ok=True)
    camera = Camera(sys.argv[1:])
    with demonstration() as site, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        show_contributor(open_page(browser, PHONE), site, camera)
        show_reviewer(open_page(browser, PHONE), site, camera)
        show_researcher(open_page(browser, DESK), site, camera)
        show_operator(open_page(browser, DESK), site, camera)
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
