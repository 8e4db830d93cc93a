"""Several workers at once: no change is lost, no table is computed twice."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import TypeVar

import pytest
from django.db import connection

from evaluation import counters
from evaluation.models import InputCounter, StoredTable
from evaluation.tables import compute, read, store
from tests.evaluation.tables import make_association, make_place_in, picture_result

pytestmark = [pytest.mark.postgres, pytest.mark.django_db(transaction=True), pytest.mark.embedded]
NAME = "association.scores"
Given = TypeVar("Given")


def together(number: int, act: Callable[[], Given]) -> list[Given]:
    """What `act` returns in so many threads that start at the same moment, each with a connection of its own."""
    start = Barrier(number)

    def one(_number: int) -> Given:
        start.wait()
        try:
            return act()
        finally:
            connection.close()

    with ThreadPoolExecutor(number) as pool:
        return list(pool.map(one, range(number)))


def test_changes_at_the_same_moment_are_all_counted() -> None:
    together(8, lambda: counters.bump_input_counters("reviews", "runs.association"))
    assert dict(InputCounter.objects.values_list("name", "value")) == {"reviews": 8, "runs.association": 8}


def test_a_table_wanted_once_is_computed_by_one_of_many_workers() -> None:
    make_association(picture_result(make_place_in("Africa"), "painter", 1, 0))
    store.request_fresh_table(read.read_stored_table(NAME, {}))
    assert sum(together(6, compute.recompute_wanted)) == 1
    assert read.read_stored_table(NAME, {}).state == "fresh"


def test_readers_at_the_same_moment_ask_once() -> None:
    view = read.read_stored_table(NAME, {})
    assert sum(together(6, lambda: store.request_fresh_table(view))) == 1
    assert StoredTable.objects.count() == 1
