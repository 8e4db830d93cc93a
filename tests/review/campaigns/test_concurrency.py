"""Several people at the same moment, each with a database connection of their own, on PostgreSQL and on SQLite."""

import sqlite3
import threading
import uuid
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from django.db import connection, connections
from django.utils import timezone

from review.assignment import reserve_image
from review.campaigns.service import current_consent, join_campaign, save_review
from review.errors import RequestRefusedError
from review.models import Assignment, CampaignImage, Invitation, Review, Reviewer
from review.rights import UNDO, erase_withdrawn, withdraw_reviewer
from tests.review.make import GOOD, first_image, make_campaign, make_invitation, make_reviewer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.embedded]

Job = Callable[[], Any]
Together = Callable[[Sequence[Job]], list[Any]]


@pytest.fixture
def together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Together]:
    """Runs jobs at once in threads. On SQLite they share a file, a copy of the test's database in memory."""

    def run(jobs: Sequence[Job]) -> list[Any]:
        if connection.vendor == "sqlite":
            _copy_to_file(tmp_path / "shared.sqlite3", monkeypatch)
        barrier = threading.Barrier(len(jobs))
        results: list[Any] = [None] * len(jobs)

        def work(index: int) -> None:
            try:
                barrier.wait(20)
                results[index] = jobs[index]()
            except Exception as error:
                results[index] = error
            finally:
                connections.close_all()

        threads = [threading.Thread(target=work, args=(index,)) for index in range(len(jobs))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        return results

    yield run


def _copy_to_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not path.exists():
        with sqlite3.connect(path) as target:
            connection.ensure_connection()
            connection.connection.backup(target)
            # Like the file of a migrated site: SQLite refuses some of several that change the mode at once.
            target.execute("PRAGMA journal_mode=WAL")
    monkeypatch.setitem(connections.settings["default"], "NAME", str(path))


def alone(together: Together, job: Job) -> Any:
    """The result of one job, in the database where the jobs ran."""
    return together([job])[0]


def test_people_who_join_at_once_never_overshoot_the_limit(together: Together) -> None:
    code = make_invitation(limit=3).code
    consent = current_consent()

    def joins() -> str:
        try:
            join_campaign(code, uuid.uuid4(), "Nigeria", "volunteer", consent)
        except RequestRefusedError:
            return "refused"
        return "joined"

    results = together([joins] * 8)
    assert sorted(results) == ["joined"] * 3 + ["refused"] * 5
    assert alone(together, lambda: (Invitation.objects.get().used, Reviewer.objects.count())) == (3, 3)


def test_same_form_sent_at_once_is_one_reviewer(together: Together) -> None:
    code, person, consent = make_invitation(limit=5).code, uuid.uuid4(), current_consent()
    results = together([lambda: join_campaign(code, person, "Nigeria", "volunteer", consent).pk] * 4)
    assert results == [person] * 4
    assert alone(together, lambda: Invitation.objects.get().used) == 1


def test_people_who_ask_at_once_never_hold_more_places_than_are_wanted(together: Together) -> None:
    campaign = make_campaign(images=2, wanted=2)
    reviewers = [make_reviewer(campaign) for _ in range(7)]
    results = together([partial(reserve_image, reviewer) for reviewer in reviewers])
    given = [result.image_id for result in results if isinstance(result, Assignment)]
    assert len(given) == 4
    assert [given.count(key) for key in set(given)] == [2, 2]
    assert results.count(None) == 3


def test_one_person_asking_twice_at_once_holds_one_image(together: Together) -> None:
    reviewer = make_reviewer(make_campaign(images=3))
    first, second = together([lambda: reserve_image(reviewer)] * 2)
    assert first == second
    assert alone(together, Assignment.objects.count) == 1


def test_answers_that_arrive_at_once_exceed_the_wanted_number_only_as_surplus(together: Together) -> None:
    campaign = make_campaign(images=1, wanted=2)
    image = first_image(campaign)
    reviewers = [make_reviewer(campaign) for _ in range(5)]
    results = together([partial(save_review, reviewer, image, GOOD) for reviewer in reviewers])
    assert [saved.how for saved in results] == ["saved"] * 5
    surplus = alone(together, lambda: sorted(Review.objects.values_list("surplus", flat=True)))
    assert surplus == [False, False, True, True, True]


def test_same_answer_sent_at_once_is_one_review(together: Together) -> None:
    campaign = make_campaign(images=1)
    image, reviewer = first_image(campaign), make_reviewer(campaign)
    results = together([lambda: save_review(reviewer, image, GOOD).how] * 4)
    assert sorted(results) == ["same", "same", "same", "saved"]
    assert alone(together, Review.objects.count) == 1


def test_people_who_leave_and_people_who_answer_at_once_never_wait_in_a_circle(together: Together) -> None:
    campaign = make_campaign(images=8, wanted=30)
    images = list(campaign.images.all())
    erased, leaving = make_reviewer(campaign), make_reviewer(campaign)
    for reviewer in (erased, leaving):
        for image in images:
            save_review(reviewer, image, GOOD)
    withdraw_reviewer(erased, keep_answers=False)
    Reviewer.objects.filter(pk=erased.pk).update(withdrawn_at=timezone.now() - UNDO - UNDO)

    def answer_all(reviewer: Reviewer, order: Sequence[CampaignImage]) -> list[str]:
        return [save_review(reviewer, image, GOOD).how for image in order]

    people = [make_reviewer(campaign) for _ in range(4)]
    answers = [partial(answer_all, person, images[number:] + images[:number]) for number, person in enumerate(people)]
    results = together([*answers, erase_withdrawn, partial(withdraw_reviewer, leaving, keep_answers=False)])
    assert results == [["saved"] * 8] * 4 + [1, None]
    assert alone(together, lambda: set(CampaignImage.objects.values_list("opinions", flat=True))) == {4}
