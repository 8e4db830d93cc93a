"""Subjects that fail one after the other: what is counted, and what begins anew."""

import pytest

from evaluation import studies
from evaluation.contracts.backend import BackendError
from evaluation.contracts.study import ImageResult, Result
from evaluation.models import Run
from evaluation.runner import create_run, failure_streaks, process_run, resume_run, retry_units
from evaluation.runner.failure_streaks import ALIKE, ANYHOW, Streak


def failed(reason: str = "Oh.", **values: object) -> Result:
    return Result("u", "failed", reason=reason, **values)  # type: ignore[arg-type]


def noted(*given: tuple[str, Result]) -> Streak:
    streak = Streak()
    for subject, result in given:
        streak.note(subject, result)
    return streak


def test_the_same_failure_for_so_many_subjects_stops() -> None:
    with pytest.raises(BackendError, match=rf"^{ALIKE} subjects failed in the same way .* The last: Oh\."):
        noted(*((f"s{number}", failed()) for number in range(ALIKE)))


def test_numbers_names_and_hashes_in_the_words_make_no_other_failure() -> None:
    words = ("Request ab12cd of 'Waakye' failed after 3 s.", "Request 99ff00 of 'Fufu' failed after 7 s.")
    with pytest.raises(BackendError, match="in the same way"):
        noted(*((f"s{number}", failed(words[number % 2])) for number in range(ALIKE)))


def test_failures_that_differ_stop_later() -> None:
    words = ("alpha", "beta", "gamma")
    with pytest.raises(BackendError, match=rf"^{ANYHOW} subjects failed one after the other"):
        noted(*((f"s{number}", failed(words[number % 3])) for number in range(ANYHOW)))


def test_a_subject_counts_once_however_often_it_fails() -> None:
    assert noted(*(("s", failed()) for _ in range(50))).alike == {"s"}


@pytest.mark.parametrize(
    "answer",
    [
        Result("u", text="rice"),
        Result("u", "refused", reason="No."),
        Result("u", "filtered"),
        Result("u", "empty", image=ImageResult(b"black", "image/png", 1, 1, "Draw", sample=0)),
    ],
)
def test_whatever_is_an_answer_begins_anew(answer: Result) -> None:
    before = [(f"s{number}", failed()) for number in range(ALIKE - 1)]
    assert noted(*before, ("t", answer), *before).alike == {f"s{number}" for number in range(ALIKE - 1)}


def test_nothing_at_all_is_a_failure_too() -> None:
    with pytest.raises(BackendError):
        noted(*((f"s{number}", Result("u", "empty", reason="Nothing.")) for number in range(ALIKE)))


def test_what_the_model_was_not_asked_says_nothing_of_it() -> None:
    streak = noted(*((f"s{number}", failed(asked=False)) for number in range(50)))
    assert streak.anyhow == set()


def test_few_runs_are_remembered() -> None:
    for run in range(3 * failure_streaks.MOST_RUNS):
        failure_streaks.of_run(-run - 1)
    assert len(failure_streaks.known) == failure_streaks.MOST_RUNS


@pytest.mark.django_db
def test_any_backend_that_fails_for_every_subject_pauses_and_goes_on_once_it_is_mended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(studies.STUDIES, "fragile", "tests.evaluation.failing_study:Fragile")
    run = create_run("fragile", {"acts": ["raise"] * 8})
    process_run(run.pk, "a")
    run.refresh_from_db()
    assert (run.state, run.units.filter(state="failed").count()) == (Run.State.PAUSED, ALIKE)
    assert "RuntimeError: the card fell out" in run.problem
    run.units.update(payload={"act": "yes"})
    resume_run(run)
    assert retry_units(run) == ALIKE
    process_run(run.pk, "a")
    run.refresh_from_db()
    assert (run.state, run.units.filter(state="done").count()) == (Run.State.DONE, 8)


@pytest.mark.django_db
def test_a_run_whose_last_subjects_fail_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    """There is nothing left that a pause could spare."""
    monkeypatch.setitem(studies.STUDIES, "fragile", "tests.evaluation.failing_study:Fragile")
    run = create_run("fragile", {"acts": ["yes"] * 3 + ["raise"] * ALIKE})
    process_run(run.pk, "a")
    run.refresh_from_db()
    assert run.state == Run.State.DONE
