"""Stored tables: fresh, stale, wanted, computed once; and the command line that reads the same."""

import csv
import io
import json
from datetime import timedelta
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import transaction
from django.db.models.functions import Now

from evaluation import counters, queue
from evaluation.models import InputCounter, Run, StoredTable
from evaluation.registry import lookup
from evaluation.registry.names import TABLES
from evaluation.runner import import_run
from evaluation.tables import compute, read, store
from tests.evaluation.make_tables import RESTLESS, image_result, make_association, make_place_in

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]
NAME = "association.scores"


def printed(*arguments: str, **options: Any) -> str:
    out = io.StringIO()
    call_command("tables", *arguments, stdout=out, stderr=io.StringIO(), **options)
    return out.getvalue()


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def make_run(model: str = "painter", **values: Any) -> Run:
    place = make_place_in("Africa")
    return make_association(image_result(place, model, 1, 0), image_result(place, model, 0, 1), **values)


# Counters and fingerprints.


def test_bump_counts_from_nothing() -> None:
    counters.bump_input_counters("reviews")
    counters.bump_input_counters("reviews", "withdrawals", "reviews")
    counts = dict(InputCounter.objects.values_list("name", "value"))
    assert (counts["reviews"], counts["withdrawals"]) == (2, 1)


def test_a_change_that_is_rolled_back_counts_nothing() -> None:
    counters.bump_input_counters("reviews")
    before = InputCounter.objects.get(name="reviews").value
    with pytest.raises(RuntimeError), transaction.atomic():
        counters.bump_input_counters("reviews")
        raise RuntimeError
    assert InputCounter.objects.get(name="reviews").value == before


def test_fingerprint_follows_its_own_inputs_only() -> None:
    table = lookup.find_table_spec(NAME)
    before = store.compute_table_fingerprint(table)
    counters.bump_input_counters("reviews")
    assert store.compute_table_fingerprint(table) == before
    counters.bump_input_counters("runs.association")
    assert store.compute_table_fingerprint(table) != before


def test_every_named_table_carries_its_own_name_and_definitions() -> None:
    for name in TABLES:
        table = lookup.find_table_spec(name)
        assert table.name == name
        assert table.metrics
        assert all(table.metrics.values())
        assert bool(table.compute) != bool(table.study)


# Reading and computing.


def test_a_table_that_nobody_computed_is_being_computed() -> None:
    view = read.read_stored_table(NAME, {})
    assert (view.state, view.table) == ("computing", None)


def test_reading_computes_nothing() -> None:
    make_run()
    read.read_stored_table(NAME, {})
    assert not StoredTable.objects.exists()


def test_a_computed_table_is_fresh_until_its_input_changes() -> None:
    make_run()
    compute.compute_and_store(NAME, {})
    assert read.read_stored_table(NAME, {}).state == "fresh"
    counters.bump_input_counters("runs.association")
    stale = read.read_stored_table(NAME, {})
    assert stale.state == "stale"
    assert stale.table is not None
    assert stale.computed_at is not None


def test_a_finished_run_makes_the_table_stale() -> None:
    make_run()
    compute.compute_and_store(NAME, {})
    make_run("other", slug="later")
    assert read.read_stored_table(NAME, {}).state == "stale"


def test_a_change_during_the_computation_leaves_the_table_stale(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(TABLES, RESTLESS.name, "tests.evaluation.make_tables:RESTLESS")
    compute.compute_and_store(RESTLESS.name, {})
    assert read.read_stored_table(RESTLESS.name, {}).state == "stale"


def test_what_comes_back_from_the_database_is_what_was_computed_to_the_last_digit() -> None:
    make_run()
    made = compute.compute_table(lookup.find_table_spec(NAME), {})
    compute.compute_and_store(NAME, {})
    stored = read.read_stored_table(NAME, {}).table
    assert stored is not None
    assert (stored.rows, stored.extra, stored.columns) == (made.rows, made.extra, made.columns)


def test_an_older_definition_is_never_shown_as_the_present_one() -> None:
    make_run()
    compute.compute_and_store(NAME, {})
    StoredTable.objects.update(version="0")
    assert read.read_stored_table(NAME, {}).state == "computing"


def test_filters_in_another_order_are_the_same_table() -> None:
    make_run()
    compute.compute_and_store(NAME, {"continent": "Africa", "model": "painter"})
    assert read.read_stored_table(NAME, {"model": "painter", "continent": "Africa", "group": ""}).state == "fresh"


def test_a_filter_keeps_its_rows_and_their_values() -> None:
    place = make_place_in("Africa")
    make_association(
        image_result(place, "painter", 1, 0),
        image_result(place, "painter", 0, 1),
        image_result(place, "other", 1, 1),
    )
    everything = compute.compute_table(lookup.find_table_spec(NAME), {})
    chosen = compute.compute_table(lookup.find_table_spec(NAME), {"model": "painter"})
    assert chosen.rows == tuple(row for row in everything.rows if row.groups["model"] == "painter")
    assert 0 < len(chosen.rows) < len(everything.rows)


@pytest.mark.parametrize(
    ("filters", "sentence"),
    [
        ({"continents": "Africa"}, "Did you mean continent"),
        ({"model": "x" * 121}, "too long"),
        ({"model": "a\x00b"}, "too long or holds signs"),
    ],
)
def test_a_filter_that_cannot_be_used_says_so(filters: dict[str, str], sentence: str) -> None:
    with pytest.raises(lookup.FilterNotFound, match=sentence):
        read.read_stored_table(NAME, filters)


def test_a_filter_with_few_values_names_them() -> None:
    with pytest.raises(lookup.FilterNotFound, match="Did you mean wilson"):
        read.read_stored_table("review.quality", {"interval": "wilsom"})


# Which run.


def test_a_measurement_comes_before_a_later_demonstration() -> None:
    make_run("painter", slug="measured")
    make_run("sketch", slug="demonstration", demonstration=True)
    table = compute.compute_table(lookup.find_table_spec(NAME), {})
    assert {row.groups["model"] for row in table.rows} == {"painter"}
    assert table.demonstration is False


def test_a_demonstration_alone_is_shown_and_says_so() -> None:
    make_run("sketch", demonstration=True)
    assert compute.compute_table(lookup.find_table_spec(NAME), {}).demonstration is True


def test_the_latest_finished_run_counts_and_a_run_under_way_does_not() -> None:
    make_run("first", slug="first")
    Run.objects.update(finished_at=Now() - timedelta(days=1))
    make_run("second", slug="second")
    make_run("third", slug="third")
    Run.objects.filter(slug="third").update(state=Run.State.RUNNING)
    table = compute.compute_table(lookup.find_table_spec(NAME), {})
    assert {row.groups["model"] for row in table.rows} == {"second"}
    assert any("Run second" in note for note in table.notes)


def test_the_filter_run_chooses_another() -> None:
    make_run("first", slug="first")
    make_run("second", slug="second")
    table = compute.compute_table(lookup.find_table_spec(NAME), {"run": "first"})
    assert {row.groups["model"] for row in table.rows} == {"first"}


def test_without_any_run_the_table_is_empty_and_says_why() -> None:
    table = compute.compute_table(lookup.find_table_spec(NAME), {})
    assert table.rows == ()
    assert "no finished run" in table.notes[0]


def test_the_definition_of_the_run_stands_in_the_notes() -> None:
    import_run(
        "association",
        "defined",
        {},
        [],
        definition={"encoder": "openai/clip", "prompt": "A photo of {descriptor} food."},
    )
    assert any("encoder: openai/clip" in note for note in compute.compute_table(lookup.find_table_spec(NAME), {}).notes)


# Wanted tables.


def test_a_page_that_asks_twice_announces_once() -> None:
    view = read.read_stored_table(NAME, {})
    assert store.request_fresh_table(view) is True
    assert store.request_fresh_table(view) is False
    assert StoredTable.objects.count() == 1


def test_a_table_asked_for_long_ago_is_announced_again() -> None:
    view = read.read_stored_table(NAME, {})
    store.request_fresh_table(view)
    StoredTable.objects.update(wanted_at=Now() - timedelta(minutes=1))
    assert store.request_fresh_table(view) is True


def test_wanted_tables_are_computed_and_no_longer_wanted() -> None:
    make_run()
    store.request_fresh_table(read.read_stored_table(NAME, {"continent": "Africa"}))
    assert compute.recompute_wanted() == 1
    assert read.read_stored_table(NAME, {"continent": "Africa"}).state == "fresh"
    assert compute.recompute_wanted() == 0


def test_a_table_that_another_worker_is_computing_is_left_alone() -> None:
    store.request_fresh_table(read.read_stored_table(NAME, {}))
    StoredTable.objects.update(wanted_at=Now() + store.REQUESTS.length)
    assert compute.recompute_wanted() == 0
    assert store.request_fresh_table(read.read_stored_table(NAME, {})) is False


def test_a_table_that_cannot_be_computed_says_so_and_stops_no_other() -> None:
    make_run()
    broken = {"filters_hash": "f" * 64, "fingerprint": "", "wanted_at": Now() - timedelta(minutes=5)}
    StoredTable.objects.create(name="association.gone", version="1", **broken)
    store.request_fresh_table(read.read_stored_table(NAME, {}))
    assert compute.recompute_wanted() == 1
    row = StoredTable.objects.get(name="association.gone")
    assert (row.error, row.wanted_at) == ("TableNotFound", None)


def test_a_table_wanted_of_an_older_definition_is_forgotten() -> None:
    store.request_fresh_table(read.read_stored_table(NAME, {}))
    StoredTable.objects.update(version="0")
    assert compute.recompute_wanted() == 0
    row = StoredTable.objects.get()
    assert (row.version, row.error, row.wanted_at, row.content) == ("0", "", None, row.content)


def test_a_failed_table_keeps_its_last_numbers_and_is_fresh_once_computed() -> None:
    make_run()
    compute.compute_and_store(NAME, {})
    StoredTable.objects.update(error="MemoryError")
    view = read.read_stored_table(NAME, {})
    assert view.state == "failed"
    assert view.table is not None
    compute.compute_and_store(NAME, {})
    assert read.read_stored_table(NAME, {}).state == "fresh"


@pytest.mark.django_db(transaction=True)
def test_without_a_broker_asking_does_not_fail(broker_down: None) -> None:
    store.request_fresh_table(read.read_stored_table(NAME, {}))
    queue.request_tables()
    assert compute.recompute_wanted() == 1


# The command line.


def test_the_command_lists_every_name_with_its_title() -> None:
    lines = printed().splitlines()
    names = [line.split("\t")[0] for line in lines]
    assert [name for name in names if name in TABLES] == sorted(TABLES)
    assert {"disparity.review.quality", "compare.review.quality"} <= {*names}
    assert all(line.split("\t")[1] for line in lines)


def test_csv_has_the_group_columns_and_six_more() -> None:
    make_run()
    text = printed(NAME)
    assert text.splitlines()[0] == "group,continent,model,metric,value,n,clusters,low,high,plan"
    found = {row["metric"]: row for row in rows_of(text)}
    assert (found["net"]["value"], found["net"]["n"], found["net"]["clusters"]) == ("0.0", "2", "2")
    assert (found["net"]["low"], found["net"]["high"]) == ("", "")


def test_csv_leaves_what_was_not_measured_empty() -> None:
    make_association(image_result(make_place_in("Africa"), "painter", 1, 0))
    found = {row["metric"]: row for row in rows_of(printed(NAME))}
    assert found["normalised_score"]["value"] == ""
    assert found["net"]["value"] == "1.0"


def test_csv_keeps_every_digit() -> None:
    place = make_place_in("Africa")
    make_association(image_result(place, "painter", 1, 0.3), image_result(place, "painter", 0.7, 1))
    exact = {row.metric: row.estimate.value for row in compute.compute_table(lookup.find_table_spec(NAME), {}).rows}
    assert {row["metric"]: float(row["value"]) for row in rows_of(printed(NAME))} == exact


def test_json_holds_what_csv_has_no_place_for() -> None:
    make_run(demonstration=True)
    document = json.loads(printed(NAME, "--format", "json", "--filter", "continent=Africa"))
    assert document["name"] == NAME
    assert document["filters"] == {"continent": "Africa"}
    assert document["version"] == lookup.find_table_spec(NAME).version
    assert document["fingerprint"] == store.compute_table_fingerprint(lookup.find_table_spec(NAME))
    assert document["demonstration"] is True
    assert set(document["metrics"]) == {"normalised_score", "normalised_over_all", "net", "as_printed"}
    assert document["notes"]
    row = document["rows"][0]
    assert row["reason"] == "fewer than 10 dishes: no interval is claimed"
    assert row["small"] is True


def test_the_command_computes_again_what_is_stale() -> None:
    make_run("painter")
    printed(NAME)
    make_run("other", slug="later")
    assert {row["model"] for row in rows_of(printed(NAME))} == {"other"}


def test_the_command_warns_of_a_demonstration_beside_the_numbers() -> None:
    make_run(demonstration=True)
    errors = io.StringIO()
    call_command("tables", NAME, stdout=io.StringIO(), stderr=errors)
    assert "Demonstration" in errors.getvalue()


def test_an_unknown_name_is_answered_with_the_near_ones() -> None:
    with pytest.raises(CommandError, match=r"Did you mean association\.scores"):
        printed("association.score")


@pytest.mark.parametrize(
    ("pair", "sentence"), [("continent", "key=value"), ("=Africa", "key=value"), ("continnt=Africa", "Did you mean")]
)
def test_a_filter_written_wrongly_is_answered_with_a_sentence(pair: str, sentence: str) -> None:
    with pytest.raises(CommandError, match=sentence):
        printed(NAME, "--filter", pair)
