"""Several workers at once: no change is lost, no table is computed twice."""

import pytest

from evaluation import counters
from evaluation.models import InputCounter, StoredTable
from evaluation.tables import compute, read, store
from tests.evaluation.make_tables import image_result, make_association, make_place_in
from tests.threads import together

pytestmark = [pytest.mark.postgres, pytest.mark.django_db(transaction=True), pytest.mark.embedded]
NAME = "association.scores"


def test_changes_at_the_same_moment_are_all_counted() -> None:
    together(8, lambda: counters.bump_input_counters("reviews", "runs.association"))
    assert dict(InputCounter.objects.values_list("name", "value")) == {"reviews": 8, "runs.association": 8}


def test_a_table_wanted_once_is_computed_by_one_of_many_workers() -> None:
    make_association(image_result(make_place_in("Africa"), "painter", 1, 0))
    store.request_fresh_table(read.read_stored_table(NAME, {}))
    assert sum(together(6, compute.recompute_wanted)) == 1
    assert read.read_stored_table(NAME, {}).state == "fresh"


def test_readers_at_the_same_moment_ask_once() -> None:
    view = read.read_stored_table(NAME, {})
    assert sum(together(6, lambda: store.request_fresh_table(view))) == 1
    assert StoredTable.objects.count() == 1
