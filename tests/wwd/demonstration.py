"""The demonstration for a whole module of tests, and taken back after it."""

from collections.abc import Iterator

import pytest
from django.db import transaction
from pytest_django.plugin import DjangoDbBlocker

from evaluation import runner
from wwd.exchange.demo import loading


@pytest.fixture(scope="module")
def demonstration(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """Some of its dishes only, and a run that measures the colours of their images."""
    some = [dish for dish in loading.read_demo_dishes() if dish["countries"][0] in loading.REVIEWED]
    with django_db_blocker.unblock(), transaction.atomic(), pytest.MonkeyPatch.context() as patched:
        patched.setattr(loading, "read_demo_dishes", lambda: some)
        loading.load_demo()
        run = runner.create_run("colours", {"images": loading.GENERATION}, slug="colours")
        while runner.process_run(run.pk, "test"):
            pass
        yield
        transaction.set_rollback(True)
