"""The published data, imported once for all tests of a process, in a transaction that is rolled back after them.

Answers of language models are nine tenths of all rows: only the tests that are about them import them.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytest_django.plugin import DjangoDbBlocker

from tests.shared_rows import share_rows
from wwd.exchange.published.importer import import_all
from wwd.exchange.published.source import Report


@pytest.fixture(scope="module")
def imported(published: Path, django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[Report]:
    """What the import reported. Tests beside it use the mark `django_db` and see its rows."""
    with share_rows("imported", lambda: import_all(published, answers=False), django_db_blocker) as report:
        yield report


@pytest.fixture(scope="module")
def answered(published: Path, django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[Report]:
    """The same with the answers of language models."""
    with share_rows("answered", lambda: import_all(published), django_db_blocker) as report:
        yield report
