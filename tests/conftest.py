"""What every test may use: a storage of its own, Chromium where it is installed, markers for services."""

import gc
import os
import shutil
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from django.conf import settings as django_settings
from django.db import connection
from playwright.sync_api import Browser, sync_playwright
from pytest_django import Settings
from xdist.remote import Producer

from collection.access import request_info
from evaluation.runner.stages import batch_size
from tests import scheduling, shared_rows, template_database
from wwd.base import prepared_pages

# Playwright's synchronous interface keeps an event loop in the test's thread; queries beside it are safe here.
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"
STATEMENT_SECONDS = 120


def chromium() -> str | None:
    return shutil.which("chromium") or shutil.which("google-chrome")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", action="store_true", help="run the slow fault tests too")
    parser.addoption("--databases", action="store_true", help="only what another database or broker can change")


def pytest_configure(config: pytest.Config) -> None:
    """Opens the folder of template databases in the process that starts the run, and removes it after the run."""
    database = dict(connection.settings_dict)
    if folder := template_database.open_folder(database):
        config.add_cleanup(lambda: template_database.close_folder(folder, database))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    reasons = {
        "postgres": None if connection.vendor == "postgresql" else "needs PostgreSQL: set DATABASE_URL",
        "redis": None if django_settings.REDIS_URL else "needs Redis: set REDIS_URL",
        "browser": None if chromium() else "needs Chromium on the path",
        "torch": None if find_spec("torch") else "needs torch: pip install -r requirements-worker.txt",
        "long": None if config.getoption("--long") else "slow: run with --long",
    }
    for item in items:
        for marker, reason in reasons.items():
            if reason and item.get_closest_marker(marker):
                item.add_marker(pytest.mark.skip(reason=reason))
    if config.getoption("--databases"):
        left_out = [item for item in items if not item.get_closest_marker("embedded")]
        config.hook.pytest_deselected(items=left_out)
        deselected = set(left_out)
        items[:] = [item for item in items if item not in deselected]
    scheduling.sort_items(items)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> scheduling.ScopeScheduling:
    """Several processes share the tests as tests/scheduling.py says, whatever `--dist` is."""
    config.option.loadscopereorder = False
    return scheduling.ScopeScheduling(config, log)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
    yield
    if nextitem is None or scheduling.scope_of_item(item) != scheduling.scope_of_item(nextitem):
        shared_rows.release_rows()


def pytest_collection_finish() -> None:
    """Leave what imports and collection made out of every later garbage collection."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings_parallel_suffix: None) -> None:
    """A migrated database for each process; a query without an end fails its test instead of stopping all of them."""
    template_database.use_template(connection)
    options = connection.settings_dict["OPTIONS"]
    if "options" in options:
        # No commit waits for the disk: what a test stored need not outlive the machine.
        options["options"] = f"-c statement_timeout={STATEMENT_SECONDS}s -c synchronous_commit=off"
        template_database.flush_by_deleting(connection)


@pytest.fixture(autouse=True)
def fast_passwords(settings: Settings) -> None:
    """Passwords of test users are hashed in microseconds; the real hasher takes a third of a second each."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture(autouse=True)
def own_storage(settings: Settings, tmp_path: Path) -> None:
    """Each test keeps its files in a folder of its own, and pages name static files as nobody has collected them."""
    settings.STATIC_ROOT = tmp_path / "static"
    settings.FILE_CACHE = tmp_path / "file_cache"
    local = {
        "BACKEND": "django.core.files.storage.FileSystemStorage",
        "OPTIONS": {"location": tmp_path / "media"},
    }
    settings.STORAGES = {**settings.STORAGES, "default": local}


@pytest.fixture(autouse=True)
def nothing_prepared() -> Iterator[None]:
    """Each test renders its pages, reads the month's key and learns sizes of batches anew, as a fresh process does."""
    yield
    prepared_pages._pages.clear()
    request_info._month_keys.clear()
    batch_size.known.clear()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Headless Chromium. Pages get a context of their own: `browser.new_context(java_script_enabled=False)`."""
    with sync_playwright() as playwright:
        yield playwright.chromium.launch(
            executable_path=chromium(),
            args=["--no-sandbox", "--disable-quic", "--disable-background-networking", "--disable-sync"],
        )


@pytest.fixture(scope="session")
def published() -> Path:
    """The folder of published data; tests that need it are skipped, saying so, where it is absent."""
    default = Path(__file__).resolve().parent.parent.parent / "shared" / "data" / "published"
    folder = Path(os.environ.get("WWD_PUBLISHED_DATA") or default)
    if not (folder / "README.md").exists():
        pytest.skip(f"no published data in {folder}: set WWD_PUBLISHED_DATA")
    return folder
