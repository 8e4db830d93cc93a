"""The published data, imported once for all tests of a module, in a transaction that is rolled back after them."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.db import transaction
from pytest_django.plugin import DjangoDbBlocker

from wwd.published.importer import import_all
from wwd.published.source import Report


@pytest.fixture(scope="module")
def imported(published: Path, django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[Report]:
    """What the import reported. Tests beside it use the mark `django_db` and see its rows."""
    with django_db_blocker.unblock(), transaction.atomic():
        yield import_all(published)
        transaction.set_rollback(True)
