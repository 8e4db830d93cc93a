"""The published data, imported once for all tests of a module, in a transaction that is rolled back after them.

Answers of language models are nine tenths of all rows: only the tests that are about them import them.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.db import transaction
from pytest_django.plugin import DjangoDbBlocker

from wwd.exchange.published.importer import import_all
from wwd.exchange.published.source import Report


@pytest.fixture(scope="module")
def imported(published: Path, django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[Report]:
    """What the import reported. Tests beside it use the mark `django_db` and see its rows."""
    with django_db_blocker.unblock(), transaction.atomic():
        yield import_all(published, answers=False)
        transaction.set_rollback(True)


@pytest.fixture(scope="module")
def answered(published: Path, django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[Report]:
    """The same with the answers of language models."""
    with django_db_blocker.unblock(), transaction.atomic():
        yield import_all(published)
        transaction.set_rollback(True)
