"""Every number that is said to be a mean is the mean of its observations, in the demonstration with all its tables."""

from collections.abc import Iterator

import pytest
from django.db import transaction
from pytest_django.plugin import DjangoDbBlocker

from evaluation import observations, runner, tables
from tests.evaluation.observing import check, declares, observed
from wwd.demo import loading
from wwd.tables import TABLES

pytestmark = pytest.mark.django_db
OBSERVED = [name for name in TABLES if declares(tables.spec(name))]


@pytest.fixture(scope="module")
def demonstration(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """The demonstration, and a run that measures the colours of its pictures."""
    with django_db_blocker.unblock(), transaction.atomic():
        loading.load()
        run = runner.create_run("colours", {"images": loading.GENERATION}, slug="colours")
        while runner.work(run.pk, "test"):
            pass
        yield
        transaction.set_rollback(True)


@pytest.mark.parametrize("name", OBSERVED)
def test_every_number_is_the_mean_of_its_observations(name: str, demonstration: None) -> None:
    """Nobody skipped anything there, and there are no photographs: see tests/review/test_observations.py."""
    compared = check(name)
    assert compared or name in ("review.controls", "review.skips"), name


def test_the_tables_whose_numbers_are_means_say_so() -> None:
    known = {
        "association.scores",
        "colours.diversity",
        "generation.counts",
        "review.checks",
        "review.controls",
        "review.match",
        "review.quality",
        "review.quality_answered",
        "review.quality_own",
        "review.skips",
        "stereotypes.answers",
        "stereotypes.answers_country",
        "stereotypes.flattening",
        "stereotypes.flattening_country",
        "stereotypes.readings",
    }
    assert known <= set(OBSERVED)
    assert observations.of(tables.spec("association.top"), {}) is None


def test_a_filter_keeps_the_observations_of_its_rows(demonstration: None) -> None:
    assert check("review.quality", country="Fiji")
    assert check("association.scores", continent="Africa", group="taste")
    assert observed("association.scores", continent="Africa").labels("continent").values == ("Africa",)


def test_rescaled_scores_are_no_observations(demonstration: None) -> None:
    assert set(observed("association.scores").values) == {"net", "as_printed"}
