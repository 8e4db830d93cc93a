"""What earlier runs give: vectors and numbers for plans and units, and their names in forms and chains."""

import numpy as np
import pytest
from django.test import Client

from collection.models import Dish
from evaluation import runner
from evaluation.contracts.study import ConfigError, UnitPlan
from evaluation.models import Run, Unit
from evaluation.presentation.run_form import step_forms
from evaluation.runner import inputs, units
from evaluation.runner.catalogue import DatabaseCatalogue
from evaluation.runner.chains import Step, order_steps, plan_one
from tests.evaluation.make import make_demonstration_dishes, make_model, make_subject
from tests.evaluation.make_tables import image_result, make_association
from tests.evaluation.region_study import look_at, make_reach
from tests.evaluation.region_study import reach as reach

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]
SUBJECTS = {"kind": "dish", "demonstration": True}


def test_a_plan_reads_the_vectors_of_an_earlier_run() -> None:
    waakye, gone = make_subject("Waakye"), make_subject("Gone")
    make_association(image_result(waakye, "painter", 1, 0), image_result(gone, "painter", 0, 1))
    Dish.objects.filter(local_name="Gone").update(state=Dish.State.WITHDRAWN)
    found = list(DatabaseCatalogue().vectors("vectors"))
    texts, images = [each for each in found if each.text], [each for each in found if each.image_id]
    assert [each.text for each in texts] == ["A photo of fine food.", "A photo of poor food."]
    [image] = images
    assert (image.subject, image.model, image.vector.tolist()) == (waakye, "encoder", [1, 0])
    with pytest.raises(ConfigError, match="Did you mean vectors"):
        list(DatabaseCatalogue().vectors("vectrs"))


def test_a_plan_reads_the_numbers_of_an_earlier_run(reach: None) -> None:
    looked = look_at("pot", {"West": 0.25})
    make_reach(looked)
    [found] = DatabaseCatalogue().numbers("reach")
    assert (found.subject, found.model, found.image_id) == (looked[1], "eye", looked[0].pk)
    assert found.numbers == {"West": 0.25, "seen": 1.0}


def test_a_unit_gets_the_vectors_of_the_run_that_it_names() -> None:
    make_association(image_result(make_subject("Waakye"), "painter", 1, 0))
    run = Run.objects.create(study="fit", slug="fit")
    eye = make_model("eye", role="features", backend="pixels")
    plans = [UnitPlan(slug, eye, None, {"vectors": slug}, "fit") for slug in ("vectors", "removed")]
    units.insert_units(run, plans, [Unit.State.PENDING] * 2)
    [work], [failed] = inputs.load_works(list(Unit.objects.filter(run=run).order_by("pk")), "")
    assert [each.vector.tolist() for each in work.vectors] == [[1, 0], [0, 1], [1, 0]]
    assert np.concatenate([each.vector for each in work.vectors]).dtype == np.float32
    assert (failed.key, failed.reason[:34]) == ("removed", "The run whose vectors are needed w")


def test_forms_offer_any_run_that_a_field_asks_for() -> None:
    for study in ("generation", "knowledge", "association"):
        Run.objects.create(study=study, slug=f"of-{study}", state=Run.State.DONE)
    offered = {
        (form.study.slug, name): [value for value, _label in form.fields[name].choices]  # type: ignore[attr-defined]
        for form in step_forms()
        for name in ("images", "beside", "answers")
        if name in form.fields
    }
    assert offered["judging", "answers"] == ["", "@knowledge", "of-knowledge"]
    assert offered["colours", "images"] == offered["colours", "beside"] == ["", "@generation", "of-generation"]


def test_a_chain_is_put_in_the_order_in_which_its_runs_follow() -> None:
    """Judging comes before knowledge in the list of studies, and after it in a chain."""
    make_demonstration_dishes(1)
    steps: list[Step] = [("judging", {"answers": "@knowledge"}), ("knowledge", {"subjects": SUBJECTS, "samples": 1})]
    assert [study for study, _ in order_steps(steps)] == ["knowledge", "judging"]
    knowledge, judging = runner.create_chain(steps)
    assert (judging.state, judging.after, judging.config["answers"]) == (Run.State.WAITING, knowledge, knowledge.slug)
    while runner.process_run(knowledge.pk, "test"):
        pass
    judging.refresh_from_db()
    assert (judging.state, judging.units.count() > 0) == (Run.State.PLANNED, True)


def test_a_run_that_names_two_waits_for_both() -> None:
    made, taken = (Run.objects.create(study="generation", slug=slug, state="done") for slug in ("made", "taken"))
    Run.objects.filter(pk=taken.pk).update(state=Run.State.RUNNING)
    config = {"images": "made", "beside": "taken"}
    run = runner.create_waiting("colours", config, after=made)
    assert plan_one(run.pk) is None
    run.refresh_from_db()
    assert (run.state, run.after) == (Run.State.WAITING, taken)


@pytest.mark.parametrize(
    ("steps", "sentence"),
    [
        ({"judging": "@knowledge"}, "This chain makes no run of “knowledge”: take the study “knowledge” too"),
        ({"colours": "@generation"}, "This chain makes no images: take the study “generation” too"),
    ],
)
def test_a_run_that_the_chain_does_not_make_is_named(
    steps: dict[str, str], sentence: str, client: Client, admin_user: object
) -> None:
    [(study, named)] = steps.items()
    client.force_login(admin_user)  # type: ignore[arg-type]
    field = "answers" if study == "judging" else "images"
    typed = {f"{study}-use": "on", f"{study}-{field}": named, "do": "plan"}
    defaults = {"judging-model": "standin-chat", "judging-questions": "dish-judging", "judging-seed": "0"}
    response = client.post("/admin/evaluation/runs/start/", {**defaults, "colours-model": "pixels", **typed})
    assert sentence in response.text
