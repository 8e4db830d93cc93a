"""Runs against a provider that answers in every dialect: each unit ends once, and only what concerns all stops."""

import random
import re
from typing import Any

import pytest

from evaluation.backends import provider as calls
from evaluation.models import Model, Outcome, QuestionSet, Run
from evaluation.runner import create_run, failure_streaks, process_run, resume_run
from evaluation.studies.generation import Generation
from tests.evaluation.dialect_answers import ANSWERS, Heard, error
from tests.evaluation.make import make_country, make_dish
from tests.evaluation.provider import Answer, Provider
from tests.evaluation.random_answers import as_bytes, odd_answer

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("at_home", "short_waits"), pytest.mark.embedded]
NUMBER = re.compile(r"Dish n(\d+)n")


@pytest.fixture
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls, "SLOW_DOWN", 0.01)


def add_model(server: Provider, role: str, **parameters: Any) -> None:
    given = {"base_url": f"{server.url}/v1", "queue": "api", "timeout": 5, **parameters}
    given |= {"seeds": False} if role == "image_generator" else {}
    values = {"title": "P", "backend": "openai", "identifier": "p", "parameters": given}
    Model.objects.create(slug=f"p-{role}", role=role, **values)


def make_run(server: Provider, protocol: str, dishes: int, **parameters: Any) -> Run:
    """A run of one unit per dish, of the images or the chat protocol."""
    country = make_country()
    for number in range(dishes):
        make_dish(f"Dish n{number}n", country=country)
    if protocol == "images":
        add_model(server, "image_generator", **parameters)
        return create_run("generation", {"model": "p-image_generator", "images_per_subject": 1})
    add_model(server, "chat", **parameters)
    asked = [{"code": "ingredients", "messages": ["What is in {local_name} of {countries}?"]}]
    QuestionSet.objects.create(slug="one", version="1", questions=asked)
    return create_run("knowledge", {"models": ["p-chat"], "questions": "one", "samples": 1})


def number_of(body: dict[str, Any]) -> int:
    found = NUMBER.search(body["prompt"] if "prompt" in body else body["messages"][0]["content"])
    assert found
    return int(found[1])


def work_off(run: Run, most_pauses: int = 1000) -> list[str]:
    """Works through a run as a person would have it who resumes it each time; the problems that they read."""
    problems: list[str] = []
    for _ in range(1000):
        process_run(run.pk, "tests")
        run.refresh_from_db()
        if run.state == Run.State.PAUSED:
            problems.append(run.problem)
            assert len(problems) <= most_pauses, problems[-3:]
            resume_run(run)
        elif run.state == Run.State.DONE:
            return problems
    raise AssertionError(f"The run does not end: {run.state}")


def assert_each_ended_once(run: Run) -> None:
    units = list(run.units.values_list("pk", "state", "outcome"))
    assert [pk for pk, state, outcome in units if state in ("pending", "leased") or outcome is None] == []
    assert Outcome.objects.filter(unit__run=run).count() == len(units)


def states(run: Run) -> dict[int, str]:
    rows = run.units.values_list("subject__name", "state")
    return {int(NUMBER.search(name)[1]): state for name, state in rows}  # type: ignore[index]


@pytest.mark.parametrize("protocol", ["images", "chat"])
def test_every_answer_of_every_dialect_ends_its_unit_once(server: Provider, protocol: str) -> None:
    """Between any two of these answers stands a good one, as it would be; what stops a run is answered the next time.

    An own mistake fails alone here: the same parameters were good for others before.
    """
    heard = [each for each in ANSWERS if each.protocol == protocol]
    seen: dict[int, int] = {}

    def choose(body: dict[str, Any]) -> Answer | None:
        number, odd = divmod(number_of(body), 2)
        seen[number] = seen.get(number, 0) + odd
        if not odd or (heard[number].comes_to in ("again", "stops") and seen[number] > 1):
            return None
        each = heard[number]
        return each.status, dict(each.headers), each.body.encode() if isinstance(each.body, str) else each.body

    server.chooses = choose
    run = make_run(server, protocol, 2 * len(heard))
    problems = work_off(run)
    assert_each_ended_once(run)
    ends, stopping = states(run), [each for each in heard if ends_as(each) == "stops"]
    for number, each in enumerate(heard):
        wanted = {"again": "done", "stops": "done"}.get(ends_as(each), ends_as(each))
        assert (each.name, ends[2 * number + 1]) == (each.name, wanted)
        assert ends[2 * number] == "done"
    assert len(problems) == len(stopping)
    for each in stopping:
        assert any(each.says in problem for problem in problems), each
    for number, each in enumerate(heard):
        kept = Outcome.objects.get(unit__run=run, unit__subject__name=f"Dish n{2 * number + 1}n")
        if ends_as(each) in ("refused", "filtered", "failed", "empty"):
            assert each.says in kept.text + kept.reason
            assert kept.reason or kept.text


def ends_as(each: Heard) -> str:
    return "failed" if each.meaning == "own mistake" else each.comes_to


MISTAKES = [each for each in ANSWERS if each.meaning == "own mistake"]


@pytest.mark.parametrize("each", MISTAKES, ids=[each.name for each in MISTAKES])
def test_an_own_mistake_pauses_at_once_with_the_words_and_is_no_result(server: Provider, each: Heard) -> None:
    body = each.body.encode() if isinstance(each.body, str) else each.body
    server.chooses = lambda _: (each.status, {}, body)
    run = make_run(server, each.protocol, 6)
    process_run(run.pk, "tests")
    run.refresh_from_db()
    assert run.state == Run.State.PAUSED
    assert "what we send is wrong" in run.problem
    assert each.says in run.problem
    assert set(states(run).values()) == {"pending"}
    assert len(server.calls) == 1


def test_one_refused_subject_among_two_hundred_stops_nothing(server: Provider) -> None:
    denied = {
        "code": "The caller does not have permission to execute the specified operation",
        "error": "Content violates usage guidelines.",
    }
    server.chooses = lambda body: (403, {}, denied) if number_of(body) == 0 else None
    run = make_run(server, "images", 200)
    assert work_off(run) == []
    assert_each_ended_once(run)
    ends = list(states(run).values())
    assert (ends.count("done"), ends.count("refused")) == (199, 1)
    assert Outcome.objects.get(unit__state="refused").text == "Content violates usage guidelines."


def test_a_403_that_nobody_knows_fails_its_subject_and_stops_nothing(server: Provider) -> None:
    server.chooses = lambda body: (403, {}, {"error": "Not that one."}) if number_of(body) == 0 else None
    run = make_run(server, "images", 6)
    assert work_off(run) == []
    assert states(run) == {0: "failed", 1: "done", 2: "done", 3: "done", 4: "done", 5: "done"}
    assert Outcome.objects.get(unit__state="failed").reason == "Not that one."


@pytest.mark.parametrize(
    "answer",
    [
        (403, {}, {"code": "The caller does not have permission", "error": "Your team is blocked."}),
        (500, {}, error("Request 1234abcd of worker 7 went wrong.")),
        (200, {}, {"created": 1, "data": [{"b64_json": "%%%"}]}),
        (200, {}, {"created": 1, "data": []}),
        (200, {}, b"<html>Log in</html>"),
    ],
)
def test_a_provider_that_fails_for_every_subject_pauses_the_run(server: Provider, answer: Answer) -> None:
    server.chooses = lambda _: answer
    run = make_run(server, "images", 12)
    process_run(run.pk, "tests")
    run.refresh_from_db()
    assert run.state == Run.State.PAUSED
    assert f"{failure_streaks.ALIKE} subjects failed in the same way one after the other" in run.problem
    ended = [state for state in states(run).values() if state != "pending"]
    assert len(ended) == failure_streaks.ALIKE


def test_subjects_are_counted_and_not_calls(server: Provider) -> None:
    """Eight images of one subject fail one after the other; the run goes on to the others."""
    make_dish("Dish n0n")
    make_dish("Dish n1n")
    add_model(server, "image_generator")
    server.chooses = lambda body: (403, {}, {"error": "Not that one."}) if number_of(body) == 0 else None
    run = create_run("generation", {"model": "p-image_generator", "images_per_subject": 8})
    assert work_off(run) == []
    assert sorted(run.units.values_list("subject__name", "state").distinct()) == [
        ("Dish n0n", "failed"),
        ("Dish n1n", "done"),
    ]


def test_failures_of_each_kind_in_turn_pause_a_run_too(server: Provider) -> None:
    kinds: list[Answer] = [(403, {}, {"error": "Not that one."}), (400, {}, {"error": "Something."})]
    server.chooses = lambda body: kinds[number_of(body) % 2]
    run = make_run(server, "images", 12)
    process_run(run.pk, "tests")
    run.refresh_from_db()
    assert f"{failure_streaks.ANYHOW} subjects failed one after the other" in run.problem


def test_a_streak_is_remembered_from_one_slice_of_time_to_the_next(
    server: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Generation, "batch_size", 1)
    server.chooses = lambda _: (403, {}, {"error": "Not that one."})
    run = make_run(server, "images", 12)
    for _ in range(failure_streaks.ALIKE):
        batch_of_one(run)
    run.refresh_from_db()
    assert run.state == Run.State.PAUSED


def batch_of_one(run: Run) -> None:
    """A slice that ends after one unit, as with a slow provider."""
    before = Outcome.objects.count()
    process_run(run.pk, "tests", stop=lambda: Outcome.objects.count() > before)


def test_refusals_in_any_number_are_results(server: Provider) -> None:
    server.chooses = lambda _: (400, {}, error("No.", "content_policy_violation"))
    run = make_run(server, "images", 12)
    assert work_off(run) == []
    assert set(states(run).values()) == {"refused"}


def fuzz(server: Provider, protocol: str, answers: int, seed: int) -> Run:
    """A run of so many units; each call gets a random answer, every third unit's second call a good one."""
    dice = random.Random(seed)
    tried: dict[int, int] = {}

    def choose(body: dict[str, Any]) -> Answer | None:
        number = number_of(body)
        tried[number] = tried.get(number, 0) + 1
        if tried[number] > 2:
            return None
        status, headers, content = odd_answer(dice)
        return status, headers, as_bytes(dice, content)

    server.chooses = choose
    run = make_run(server, protocol, answers)
    work_off(run)
    assert_each_ended_once(run)
    assert sum(tried.values()) >= answers
    return run


@pytest.mark.parametrize("protocol", ["images", "chat"])
def test_random_answers_lose_no_unit_and_stop_no_worker(server: Provider, protocol: str) -> None:
    run = fuzz(server, protocol, 100, seed=13)
    assert {"done", "failed"} <= set(run.units.values_list("state", flat=True))


@pytest.mark.long
@pytest.mark.parametrize("protocol", ["images", "chat"])
def test_a_thousand_random_answers_lose_no_unit_and_stop_no_worker(server: Provider, protocol: str) -> None:
    fuzz(server, protocol, 1000, seed=2026)
