"""What people decide about a run: cancel, go on, try again, which comes first, what comes after."""

from collections.abc import Callable

import pytest

from evaluation import runner, studies
from evaluation.contracts.study import ConfigError, ImageResult, Result
from evaluation.models import EarlierOutcome, GeneratedImage, InputCounter, Outcome, Run, Unit
from evaluation.runner import leases
from evaluation.runner.chains import plan_due
from evaluation.tables import outcomes
from tests.evaluation.failing_study import Fragile
from tests.evaluation.make import make_dish, make_model, make_subject, plan

Announced = Callable[[], list[tuple[int, int]]]
pytestmark = [pytest.mark.django_db, pytest.mark.embedded]


@pytest.fixture(autouse=True)
def fragile(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(studies.STUDIES, "fragile", "tests.evaluation.failing_study:Fragile")
    Fragile.executed.clear()


def make_run(*acts: str, slug: str = "") -> Run:
    return runner.create_run("fragile", {"acts": list(acts)}, slug=slug)


def states(run: Run) -> list[str]:
    return list(run.units.order_by("key").values_list("state", flat=True))


def act_anew(act: str) -> None:
    Unit.objects.filter(state="pending").update(payload={"act": act})


def state_of(run: Run) -> str:
    run.refresh_from_db()
    return run.state


def test_a_cancelled_run_is_worked_on_no_more_and_its_results_stay() -> None:
    run = make_run(*["yes"] * 6)
    runner.process_run(run.pk, "a", stop=lambda: bool(Fragile.executed))
    runner.cancel_run(run)
    assert runner.process_run(run.pk, "a") == 0
    assert runner.sweep_runs() == []
    assert states(run) == ["done"] * 4 + ["pending"] * 2
    assert (state_of(run), run.finished_at is not None) == ("cancelled", True)


def test_a_cancelled_run_can_go_on(announced: Announced) -> None:
    run = make_run(*["yes"] * 3)
    runner.cancel_run(run)
    runner.resume_run(run)
    assert [number for number, _ in announced()] == [run.pk]
    assert (state_of(run), run.finished_at) == ("running", None)
    assert runner.process_run(run.pk, "a") == 3


@pytest.mark.parametrize("state", ["done", "running", "planned"])
def test_what_goes_on_or_is_done_is_not_resumed(state: str) -> None:
    run = make_run("yes")
    Run.objects.filter(pk=run.pk).update(state=state)
    runner.resume_run(run)
    assert state_of(run) == state


def test_a_run_that_is_done_is_not_cancelled() -> None:
    run = make_run("yes")
    runner.process_run(run.pk, "a")
    runner.cancel_run(run)
    assert state_of(run) == "done"


def test_only_failed_units_are_tried_again_and_the_rest_keeps_its_outcomes(announced: Announced) -> None:
    run = make_run("yes", "raise", "refuse", "raise", "empty")
    runner.process_run(run.pk, "a")
    announced()
    Fragile.executed.clear()
    assert runner.retry_units(run) == 2
    assert (state_of(run), run.finished_at, len(announced())) == ("running", None, 1)
    assert states(run) == ["done", "pending", "refused", "pending", "empty"]
    act_anew("better")
    runner.process_run(run.pk, "a")
    assert Fragile.executed == ["0001", "0003"]
    assert [row.text for row in outcomes.iterate_outcomes(run) if row.state == "done"] == ["yes", "better", "better"]


def test_every_earlier_try_is_kept_with_its_number_and_reason() -> None:
    run = make_run("raise")
    runner.process_run(run.pk, "a")
    for _ in range(2):
        assert runner.retry_units(run) == 1
        runner.process_run(run.pk, "a")
    earlier = EarlierOutcome.objects.values_list("number", "state", "reason")
    assert list(earlier) == [(n, "failed", "RuntimeError: the card fell out") for n in (1, 2)]
    assert Outcome.objects.count() == 1


def test_refused_units_are_tried_again_only_when_named() -> None:
    run = make_run("refuse", "raise")
    runner.process_run(run.pk, "a")
    assert runner.retry_units(run, ["refused"]) == 1
    assert states(run) == ["pending", "failed"]


@pytest.mark.parametrize("wanted", [["done"], ["failed", "leased"], ["filtered"]])
def test_other_units_cannot_be_tried_again(wanted: list[str]) -> None:
    run = make_run("yes")
    runner.process_run(run.pk, "a")
    with pytest.raises(ValueError, match="Only failed or refused"):
        runner.retry_units(run, wanted)


def test_a_refused_image_keeps_its_record_beside_the_one_that_is_made_later() -> None:
    dish = make_dish()
    run = runner.create_run("generation", {"model": "sketch", "images_per_subject": 1}, slug="mine")
    unit = Unit.objects.get(run=run)
    batch = leases.lease_units(run, "a", 1)
    assert batch is not None
    image = ImageResult(b"", "", 0, 0, "Draw", seed=1)
    leases.finish_units(batch, [(unit, Result(unit.key, "refused", text="No.", image=image))])
    runner.retry_units(run, ["refused"])
    runner.process_run(run.pk, "a")
    rows = GeneratedImage.objects.order_by("pk").values_list("source_key", "state")
    key = f"run:mine/dish:{dish.number}/0"
    assert list(rows) == [(f"{key}#1", "refused"), (key, "held")]
    assert EarlierOutcome.objects.get().image is not None


def test_units_about_a_withdrawn_dish_are_not_tried_again() -> None:
    dish = make_dish()
    run = runner.create_run("generation", {"model": "sketch", "images_per_subject": 1})
    runner.process_run(run.pk, "a")
    Unit.objects.update(state="failed")
    dish.state = "withdrawn"
    dish.save()
    assert runner.retry_units(run) == 0


def test_imported_results_are_not_tried_again() -> None:
    given = [(plan("a", make_model(), make_subject()), Result("a", "failed", reason="Cut off."))]
    run, _ = runner.import_run("generation", "imported", {}, given)
    with pytest.raises(ValueError, match="made here"):
        runner.retry_units(run)


def test_a_run_of_many_failures_is_tried_again_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evaluation.runner.control.CHUNK", 3)
    run = make_run(*["raise", "yes"] * 8)
    runner.process_run(run.pk, "a")
    assert runner.retry_units(run) == 8
    assert states(run) == ["pending", "done"] * 8


def test_the_more_urgent_run_of_a_queue_comes_first(announced: Announced) -> None:
    plain, urgent, elsewhere = (make_run("yes", slug=slug) for slug in ("plain", "urgent", "elsewhere"))
    runner.set_run_priority(urgent, 5)
    runner.set_run_priority(elsewhere, 9)
    Run.objects.filter(pk=elsewhere.pk).update(queue="gpu")
    runner.serve_queue(plain.pk, "a")
    assert [state_of(run) for run in (plain, urgent, elsewhere)] == ["planned", "done", "planned"]
    assert [number for number, _ in announced()] == [plain.pk], "the run that was announced must not be forgotten"
    runner.serve_queue(plain.pk, "a")
    assert state_of(plain) == "done"


def chain() -> tuple[Run, Run]:
    make_dish()
    generation, association = runner.create_chain(
        [
            ("generation", {"model": "sketch", "images_per_subject": 2}),
            ("association", {"images": "@generation", "encoder": "standin-encoder"}),
        ]
    )
    return generation, association


def test_a_chain_goes_on_with_the_images_of_the_run_before(announced: Announced) -> None:
    generation, association = chain()
    assert (association.state, association.units.count()) == ("waiting", 0)
    runner.process_run(generation.pk, "a")
    assert association.pk in [number for number, _ in announced()]
    assert state_of(association) == "planned"
    runner.process_run(association.pk, "a")
    assert state_of(association) == "done"
    images = set(GeneratedImage.objects.filter(run=generation).values_list("pk", flat=True))
    assert {row.image_id for row in outcomes.iterate_outcomes(association) if row.image_id} == images
    assert len(images) == 2


def test_a_run_that_waits_is_not_planned_before_its_turn_and_only_once() -> None:
    generation, _ = chain()
    assert plan_due() == []
    Run.objects.filter(pk=generation.pk).update(state="done")
    assert (len(plan_due()), len(plan_due())) == (1, 0)


def test_the_sweep_plans_what_a_killed_worker_left_unplanned() -> None:
    generation, association = chain()
    runner.process_run(generation.pk, "a")
    Unit.objects.filter(run=association).delete()
    Run.objects.filter(pk=association.pk).update(state="waiting")
    assert association.pk in [due.run for due in runner.sweep_runs()]


def test_a_run_that_cannot_be_planned_pauses_with_the_reason_and_waits_again_when_resumed() -> None:
    generation, association = chain()
    Run.objects.filter(pk=association.pk).update(config={**association.config, "descriptors": "asociation"})
    runner.process_run(generation.pk, "a")
    assert state_of(association) == "paused"
    assert "Did you mean association?" in association.problem
    Run.objects.filter(pk=association.pk).update(config={**association.config, "descriptors": "association"})
    runner.resume_run(association)
    assert state_of(association) == "waiting"
    assert [run.pk for run in plan_due()] == [association.pk]


def test_a_chain_with_a_mistake_leaves_nothing_behind() -> None:
    make_dish()
    steps = [("generation", {"model": "sketch"}), ("association", {"images": "@generaton"})]
    with pytest.raises(ConfigError, match="no earlier step of the chain is 'generaton'"):
        runner.create_chain(steps)
    assert not Run.objects.exists()


def test_trying_again_makes_tables_stale_when_the_run_ends() -> None:
    run = make_run("raise")
    runner.process_run(run.pk, "a")
    runner.retry_units(run)
    runner.process_run(run.pk, "a")
    assert InputCounter.objects.get(name="runs.fragile").value == 2
