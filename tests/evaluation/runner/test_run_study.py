"""`manage.py run_study`: what it prints, and what it says about mistakes."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from evaluation import studies
from evaluation.management.commands import run_study
from evaluation.models import GeneratedImage, Model, Run
from tests.evaluation.make import make_dish

pytestmark = pytest.mark.django_db
CONFIG = json.dumps({"model": "sketch", "images_per_subject": 2})


@pytest.fixture(autouse=True)
def fragile(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(studies.STUDIES, "fragile", "tests.evaluation.failing_study:Fragile")


def printed(capsys: pytest.CaptureFixture[str], *args: str, **options: Any) -> list[str]:
    call_command("run_study", *args, **options)
    return capsys.readouterr().out.splitlines()


def test_waiting_works_through_the_run_without_any_worker(capsys: pytest.CaptureFixture[str]) -> None:
    make_dish()
    lines = printed(capsys, "generation", config=CONFIG, wait=True, run_slug="mine")
    assert lines == ["Run mine: 2 units, 2 of them waiting.", "Run mine is done: 2 done."]
    assert GeneratedImage.objects.count() == 2


def test_the_progress_bar_ends_at_the_number_of_units(capsys: pytest.CaptureFixture[str]) -> None:
    make_dish()
    call_command("run_study", "generation", config=CONFIG, wait=True, run_slug="mine")
    shown = capsys.readouterr().err
    assert "mine: 100%" in shown
    assert "2/2" in shown


def test_without_waiting_the_run_is_announced_and_left_to_the_workers(
    capsys: pytest.CaptureFixture[str], announced: Callable[[], list[tuple[int, int]]]
) -> None:
    make_dish()
    lines = printed(capsys, "generation", config=CONFIG, run_slug="mine")
    assert lines[-1] == "Run mine is planned: 2 pending."
    assert announced() == [(Run.objects.get(slug="mine").pk, 1)]


def test_a_second_call_goes_on_with_the_same_run(capsys: pytest.CaptureFixture[str]) -> None:
    make_dish()
    first = printed(capsys, "generation", config=CONFIG, wait=True)
    second = printed(capsys, "generation", config=CONFIG, wait=True)
    assert second[-1] == first[-1]
    assert Run.objects.count() == 1
    assert GeneratedImage.objects.count() == 2


def test_the_configuration_may_stand_in_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_dish()
    path = tmp_path / "config.json"
    path.write_text(CONFIG)
    assert (
        printed(capsys, "generation", config=str(path), wait=True, run_slug="mine")[-1] == "Run mine is done: 2 done."
    )


def test_failures_end_the_command_with_their_reasons_and_counts(capsys: pytest.CaptureFixture[str]) -> None:
    config = json.dumps({"acts": ["yes", "raise", "refuse", "raise"]})
    with pytest.raises(CommandError, match=r"^2 of 4 units failed\.$"):
        call_command("run_study", "fragile", config=config, wait=True, run_slug="mine")
    shown = capsys.readouterr()
    assert shown.out.splitlines()[-1] == "Run mine is done: 1 done, 1 refused, 2 failed."
    told = [line for line in shown.err.splitlines() if line.startswith(("1 ", "2 "))]
    assert told == ["2 failed: RuntimeError: the card fell out", "1 refused: Against the rules."]


def test_many_different_reasons_are_counted(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_study, "MOST_REASONS", 1)
    config = json.dumps({"acts": ["refuse", "empty", "refuse"]})
    call_command("run_study", "fragile", config=config, wait=True)
    shown = capsys.readouterr().err.splitlines()
    assert [line for line in shown if "refused" in line or "empty" in line] == ["2 refused: Against the rules."]
    assert shown[-1] == "and 1 other reasons"


def test_a_run_of_which_all_fails_ends_with_one() -> None:
    """As a shell sees it: 1, also where everything failed alike and the run paused before its end."""
    for acts, sentence in (
        (["raise"] * 3, "3 of 3 units failed"),
        (["raise"] * 8, "The run paused: 5 subjects failed"),
    ):
        with pytest.raises(CommandError, match=sentence) as caught:
            call_command("run_study", "fragile", config=json.dumps({"acts": acts}), wait=True)
        assert caught.value.returncode == 1


def test_refusals_are_results_and_no_failure(capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed(capsys, "fragile", config='{"acts": ["yes", "refuse"]}', wait=True, run_slug="mine")
    assert lines[-1] == "Run mine is done: 1 done, 1 refused."


def test_a_run_that_pauses_by_itself_ends_the_command_with_the_reason() -> None:
    with pytest.raises(CommandError, match="The run paused: This machine has no card"):
        call_command("run_study", "fragile", config='{"acts": ["unusable"]}', wait=True)


@pytest.mark.parametrize(
    ("slug", "config", "sentence"),
    [
        ("generaton", "{}", "There is no study 'generaton'. Did you mean generation?"),
        ("generation", "nowhere.json", "The file 'nowhere.json' could not be read: No such file or directory."),
        ("generation", "bad\0name", "could not be read"),
        ("generation", "{model: sketch}", "--config is not JSON"),
        ("generation", '{"model": "sketch"', "in line 1, column 19"),
        ("generation", "[1]", "The configuration is an object"),
        ("generation", '{"modell": "sketch"}', "Did you mean model?"),
        ("generation", '{"model": "skech"}', "Did you mean sketch?"),
    ],
)
def test_mistakes_are_explained_and_leave_nothing_behind(slug: str, config: str, sentence: str) -> None:
    with pytest.raises(CommandError) as caught:
        call_command("run_study", slug, config=config)
    assert sentence in str(caught.value)
    assert not Run.objects.exists()


def test_a_file_that_is_no_text_is_explained(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(CommandError, match="it is not UTF-8 text"):
        call_command("run_study", "generation", config=str(path))


def test_an_unknown_queue_is_explained() -> None:
    make_dish()
    with pytest.raises(CommandError, match="Accepted: cpu, gpu, api"):
        call_command("run_study", "generation", config=CONFIG, queue="tpu")


def test_a_dry_plan_prints_units_per_country_and_cost_and_stores_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    make_dish()
    Model.objects.filter(slug="sketch").update(price={"currency": "USD", "date": "2024-07-01", "per_unit": 0.04})
    assert printed(capsys, "generation", config=CONFIG, plan=True) == [
        "2 units. Nothing was stored or sent.",
        "sketch, Ghana: 2",
        "Expected cost: 0.08 USD",
    ]
    assert not Run.objects.exists()


def test_a_dry_plan_says_where_no_price_is_known(capsys: pytest.CaptureFixture[str]) -> None:
    make_dish()
    assert printed(capsys, "generation", config=CONFIG, plan=True)[-1] == "No price is known of: sketch"


def test_a_run_after_another_waits_for_it(capsys: pytest.CaptureFixture[str]) -> None:
    make_dish()
    printed(capsys, "generation", config=CONFIG, run_slug="first")
    lines = printed(capsys, "association", config='{"images": "first"}', run_slug="second", after="first")
    assert lines == ["Run second is planned once first is done."]
    assert Run.objects.get(slug="second").state == "waiting"


def test_a_run_after_one_that_is_not_there_is_explained() -> None:
    with pytest.raises(CommandError, match="There is no run 'frist'"):
        call_command("run_study", "association", config='{"images": "first"}', after="frist")


def test_priority_is_kept_with_the_run(capsys: pytest.CaptureFixture[str]) -> None:
    make_dish()
    printed(capsys, "generation", config=CONFIG, run_slug="mine", priority=7)
    assert Run.objects.get(slug="mine").priority == 7
