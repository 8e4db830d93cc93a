"""One real server for all tests of this folder, and a Chromium that refuses cookies."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, ViewportSize
from pytest_django import DjangoDbBlocker

from tests.browser.server import Server, running_server
from tests.conftest import chromium

BLOCKED = {"profile": {"default_content_setting_values": {"cookies": 2}}}


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory, django_db_blocker: DjangoDbBlocker) -> Iterator[Server]:
    with running_server(tmp_path_factory.mktemp("server")) as server:
        server.ask("open_collection()")
        yield server


PHONE: ViewportSize = {"width": 360, "height": 640}


@contextmanager
def without_cookies(browser: Browser, profile: Path, *, scripts: bool, **more: Any) -> Iterator[BrowserContext]:
    """A phone-sized Chromium whose profile blocks every cookie. Playwright cannot take cookies off a request."""
    (profile / "Default").mkdir(parents=True)
    (profile / "Default" / "Preferences").write_text(json.dumps(BLOCKED))
    context = browser.browser_type.launch_persistent_context(
        str(profile),
        executable_path=chromium(),
        args=["--no-sandbox", "--disable-quic", "--disable-background-networking", "--disable-sync"],
        java_script_enabled=scripts,
        viewport=PHONE,
        **more,
    )
    yield context
    context.close()


@pytest.fixture
def plain_context(browser: Browser, tmp_path: Path) -> Iterator[BrowserContext]:
    """A phone-sized Chromium without JavaScript whose profile blocks every cookie."""
    with without_cookies(browser, tmp_path / "profile", scripts=False) as context:
        yield context
