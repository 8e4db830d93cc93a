"""Counts too large for a request: kept by a worker, shown with their time, the same numbers as counted at once."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from evaluation import cached_counts
from evaluation.models import KeptReport, Run, Unit
from evaluation.presentation import run as presentation_run
from evaluation.tasks import recompute_tables
from tests.evaluation.make_tables import image_result, make_association, make_place_in

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Run:
    """A run of seven units, of which five already are too many to be counted in a request."""
    place = make_place_in("Africa")
    made = make_association(*(image_result(place, "painter", 1, n, failed=n == 0) for n in range(5)))
    monkeypatch.setattr(cached_counts, "LARGE", 5)
    return made


@pytest.fixture
def chief(client: Client) -> Client:
    client.force_login(User.objects.create_superuser("chief"))
    return client


def test_small_and_large_runs_show_the_same_numbers(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    assert presentation_run.get_run_status(run).counting
    assert cached_counts.recount_wanted() == 1
    large = presentation_run.get_run_status(run)
    monkeypatch.setattr(cached_counts, "LARGE", 5000)
    small = presentation_run.get_run_status(run)
    assert large.counted_at is not None
    assert (large.states, large.forecast, large.countries) == (small.states, small.forecast, small.countries)
    assert (large.failures, large.refusals, large.rewritten) == (small.failures, small.refusals, small.rewritten)
    assert small.failures


def test_pages_say_that_they_are_being_counted_and_then_when_they_were(run: Run, chief: Client) -> None:
    page, listed = f"/admin/evaluation/runs/{run.slug}/", "/admin/evaluation/run/"
    assert "being counted" in chief.get(page).text
    assert "being counted" in chief.get(listed).text
    recompute_tables()
    assert "Counted 20" in chief.get(page).text
    assert "7 of 7" in chief.get(listed).text


def test_a_count_is_made_anew_only_while_it_can_change(run: Run) -> None:
    presentation_run.get_run_status(run)
    cached_counts.recount_wanted()
    KeptReport.objects.update(counted_at=timezone.now() - timedelta(hours=1))
    Run.objects.filter(pk=run.pk).update(finished_at=timezone.now() - timedelta(hours=2))
    run.refresh_from_db()
    presentation_run.get_run_status(run)
    assert not cached_counts.list_requested_counts().exists()
    Run.objects.filter(pk=run.pk).update(finished_at=None)
    run.refresh_from_db()
    presentation_run.get_run_status(run)
    assert cached_counts.list_requested_counts().count() == 1
    presentation_run.get_run_status(run)
    assert cached_counts.recount_wanted() == 1


def test_what_is_gone_is_forgotten_and_what_fails_keeps_nobody_waiting(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ["run:999999", f"run:{run.pk}", "nothing:1"]
    cached_counts.create_missing_rows(names)
    cached_counts.request_recount(names)
    assert cached_counts.recount_wanted() == 1
    assert [row.name for row in KeptReport.objects.all()] == [f"run:{run.pk}"]

    def broken(pk: int) -> cached_counts.Content:
        raise RuntimeError("counts nothing")

    monkeypatch.setitem(cached_counts.makers, "run", broken)
    cached_counts.request_recount([f"run:{run.pk}"])
    assert cached_counts.recount_wanted() == 0
    assert KeptReport.objects.get().content is not None


def test_what_another_worker_counted_meanwhile_is_not_counted_again(monkeypatch: pytest.MonkeyPatch) -> None:
    counted = []

    def count(pk: int) -> cached_counts.Content:
        counted.append(pk)
        cached_counts.recount_wanted()
        return {}

    monkeypatch.setitem(cached_counts.makers, "slow", count)
    cached_counts.create_missing_rows(["slow:1", "slow:2"])
    cached_counts.request_recount(["slow:1", "slow:2"])
    assert cached_counts.recount_wanted() == 1
    assert sorted(counted) == [1, 2]


def test_large_is_asked_without_counting_all() -> None:
    assert not cached_counts.exceeds_count_limit(Unit.objects.all())
