"""Leases of background jobs: one worker at a time, by the database's clock, free again after a killed one."""

from datetime import timedelta
from uuid import UUID, uuid4

import pytest
from django.db.models import F, QuerySet
from django.db.models.functions import Now

from evaluation.models import ExportJob, KeptReport
from tests.threads import together
from wwd.base.leases import Lease, RequestLease

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]
LEASE = Lease(timedelta(minutes=10))
REQUESTS = RequestLease(timedelta(minutes=10))


def make_jobs(*names: str) -> QuerySet[ExportJob]:
    for name in names:
        ExportJob.objects.create(kind="bundle", name=name, views=[], asked=name)
    return ExportJob.objects.filter(state="waiting").order_by("pk")


def make_wanted(*names: str) -> QuerySet[KeptReport]:
    """Reports that somebody asks for, the first one longest."""
    for age, name in enumerate(reversed(names), 1):
        KeptReport.objects.create(name=name, wanted_at=Now() - timedelta(minutes=age))
    return KeptReport.objects.all()


def held_by(token: UUID | None) -> QuerySet[ExportJob]:
    return ExportJob.objects.filter(token=token)


def test_a_claimed_job_is_free_for_nobody_and_the_others_are() -> None:
    jobs = make_jobs("a", "b")
    first, second = jobs
    assert LEASE.list_free_ids(jobs) == [first.pk, second.pk]
    assert LEASE.claim_rows(jobs.filter(pk=first.pk), deliveries=F("deliveries") + 1)
    assert not LEASE.claim_rows(jobs.filter(pk=first.pk), deliveries=F("deliveries") + 1)
    assert LEASE.list_free_ids(jobs) == [second.pk]
    first.refresh_from_db()
    assert first.deliveries == 1


def test_a_lease_that_ran_out_can_be_claimed_and_the_first_worker_learns_it() -> None:
    jobs, mine, theirs = make_jobs("a"), uuid4(), uuid4()
    LEASE.claim_rows(jobs, token=mine)
    jobs.update(leased_until=Now() - timedelta(seconds=1))
    assert LEASE.claim_rows(jobs, token=theirs)
    assert not LEASE.renew_rows(held_by(mine), progress="late")
    assert not LEASE.release_rows(held_by(mine), state="done")
    job = jobs.get()
    assert (job.token, job.progress, job.state) == (theirs, "", "waiting")
    assert LEASE.list_free_ids(jobs) == []


def test_a_renewed_lease_begins_again() -> None:
    jobs = make_jobs("a")
    LEASE.claim_rows(jobs)
    jobs.update(leased_until=Now() + timedelta(seconds=5))
    assert LEASE.renew_rows(jobs, progress="half")
    assert jobs.filter(progress="half", leased_until__gt=Now() + timedelta(minutes=9)).exists()


def test_a_released_job_is_free_at_once() -> None:
    jobs = make_jobs("a")
    LEASE.claim_rows(jobs, token=uuid4())
    assert LEASE.release_rows(jobs, token=None)
    assert LEASE.list_free_ids(jobs) == [jobs.get().pk]
    assert jobs.get().token is None


def test_a_lease_touches_only_the_rows_that_it_is_given() -> None:
    jobs = make_jobs("a", "b")
    assert LEASE.claim_rows(jobs.filter(name="a"))
    assert not LEASE.claim_rows(jobs.filter(name="nothing"))
    assert not LEASE.release_rows(jobs.filter(name="nothing"))
    assert list(jobs.filter(leased_until=None).values_list("name", flat=True)) == ["b"]


def test_requests_are_announced_once_in_a_while() -> None:
    KeptReport.objects.create(name="a")
    rows = KeptReport.objects.all()
    assert REQUESTS.request_rows(rows)
    assert not REQUESTS.request_rows(rows)
    rows.update(wanted_at=Now() - REQUESTS.debounce)
    assert REQUESTS.request_rows(rows)


def test_what_nobody_asks_for_is_not_worked_on() -> None:
    KeptReport.objects.create(name="a")
    assert list(REQUESTS.claim_each_row(KeptReport.objects.all())) == []


def test_requests_are_claimed_longest_wanted_first_and_asked_for_by_nobody_meanwhile() -> None:
    rows = make_wanted("first", "second", "third")
    assert [row.name for row in REQUESTS.claim_each_row(rows)] == ["first", "second", "third"]
    assert not REQUESTS.select_free_rows(rows).exists()
    assert not REQUESTS.request_rows(rows)


def test_a_request_whose_worker_died_is_claimed_again() -> None:
    rows = make_wanted("a")
    assert len(list(REQUESTS.claim_each_row(rows))) == 1
    rows.update(wanted_at=F("wanted_at") - REQUESTS.length - timedelta(seconds=1))
    assert len(list(REQUESTS.claim_each_row(rows))) == 1


def test_a_request_that_is_done_is_no_longer_wanted() -> None:
    rows = make_wanted("a")
    for row in REQUESTS.claim_each_row(rows):
        assert REQUESTS.release_rows(rows.filter(pk=row.pk), content={"units": 7})
    assert (rows.get().wanted_at, rows.get().content) == (None, {"units": 7})
    assert list(REQUESTS.claim_each_row(rows)) == []


def test_a_request_that_another_worker_took_meanwhile_is_passed_over() -> None:
    rows = make_wanted("first", "second", "third")
    mine = REQUESTS.claim_each_row(rows)
    names = [next(mine).name]
    REQUESTS.claim_rows(rows.filter(name="second"))
    assert names + [row.name for row in mine] == ["first", "third"]


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_one_of_many_that_claim_at_once_has_the_job() -> None:
    jobs = make_jobs("a")
    assert sum(together(6, lambda: LEASE.claim_rows(jobs.all(), deliveries=F("deliveries") + 1))) == 1
    assert jobs.get().deliveries == 1


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_workers_that_look_at_once_share_the_requests() -> None:
    rows = make_wanted(*"abcdefgh")
    taken = together(4, lambda: [row.name for row in REQUESTS.claim_each_row(rows.all())])
    assert sorted(name for names in taken for name in names) == list("abcdefgh")


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_one_of_many_that_ask_at_once_tells_a_worker() -> None:
    KeptReport.objects.create(name="a")
    assert sum(together(6, lambda: REQUESTS.request_rows(KeptReport.objects.all()))) == 1
