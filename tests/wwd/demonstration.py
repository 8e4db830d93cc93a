"""The demonstration for whole files of tests, and taken back after them."""

from collections.abc import Iterator

import pytest
from pytest_django.plugin import DjangoDbBlocker

from evaluation import runner
from evaluation.backends.standin import images
from review.campaigns import image_copies
from tests.shared_rows import share_rows
from wwd.exchange.demo import loading

# Pixels of a side: half of loading is drawing, resizing and encoding images, which none of these tests looks at.
SMALL = 96


def load_some() -> None:
    """Some of its dishes only, and a run that measures the colours of their images."""
    some = [dish for dish in loading.read_demo_dishes() if dish["countries"][0] in loading.REVIEWED]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(loading, "read_demo_dishes", lambda: some)
        patched.setattr(images, "DEFAULT_SIZE", SMALL)
        patched.setattr(image_copies, "LARGE_SIDE", SMALL)
        loading.load_demo()
        run = runner.create_run("colours", {"images": loading.GENERATION}, slug="colours")
        while runner.process_run(run.pk, "test"):
            pass


@pytest.fixture(scope="module")
def demonstration(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """Rows of `load_some`, made once for all files that ask for them."""
    with share_rows("demonstration", load_some, django_db_blocker) as made:
        yield made
