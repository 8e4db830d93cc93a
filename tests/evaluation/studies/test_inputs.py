"""What a study is given to execute its units."""

import numpy as np
import pytest

from evaluation import content_store
from evaluation.contracts.study import ModelData, SubjectData, UnitPlan
from evaluation.models import Embedding, GeneratedImage, Unit
from evaluation.runner.importing import run_for
from evaluation.runner.units import insert_units
from tests.evaluation.leased import load_leased
from tests.evaluation.make import make_image, make_model, make_subject, plan

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]


def make_units(*plans: UnitPlan) -> list[Unit]:
    run = run_for("association", "inputs", {"config": {}, "study_version": "1", "definition": {}})
    keys = [row.key for row in insert_units(run, plans, ["leased"] * len(plans))]
    return list(Unit.objects.filter(key__in=keys).select_related("subject", "model").order_by("pk"))


def encoder() -> ModelData:
    return make_model("clip", role="encoder", backend="stored")


def held(subject: SubjectData, content: bytes) -> GeneratedImage:
    return make_image(subject, make_model(), sha256=content_store.store_content(content))


def test_a_unit_comes_with_its_image_subject_and_model() -> None:
    subject = make_subject()
    image = held(subject, b"picture")
    [work], failures = load_leased(make_units(plan("a", encoder(), subject, image=image.pk)), "")
    assert (work.key, work.subject, work.model, work.image_bytes) == ("a", subject, encoder(), b"picture")
    assert (work.stored_vector, failures) == (None, [])


def test_a_vector_that_is_stored_comes_too_if_it_was_made_the_same_way() -> None:
    subject = make_subject()
    image = held(subject, b"picture")
    vector = np.array([1.5, -2.0], dtype="<f4")
    for owner in ({"image": image}, {"text": "fresh"}):
        Embedding.objects.create(
            model_id=encoder().id, preprocessing="one", dimensions=2, vector=vector.tobytes(), **owner
        )
    units = make_units(plan("a", encoder(), subject, image=image.pk), plan("b", encoder(), text="fresh"))
    works, _ = load_leased(units, "one")
    assert [work.stored_vector.tolist() for work in works if work.stored_vector is not None] == [[1.5, -2.0]] * 2
    works, _ = load_leased(units, "two")
    assert [work.stored_vector for work in works] == [None, None]


def test_an_image_that_is_gone_fails_its_unit_only() -> None:
    subject = make_subject()
    lost, removed, whole = held(subject, b"lost"), held(subject, b"removed"), held(subject, b"whole")
    units = make_units(*(plan(str(row.pk), encoder(), subject, image=row.pk) for row in (lost, removed, whole)))
    content_store.default_storage.delete(content_store.path_of(lost.sha256))
    GeneratedImage.objects.filter(pk=removed.pk).delete()
    works, failures = load_leased(units, "")
    assert [work.image_bytes for work in works] == [b"whole"]
    assert [(row.state, row.reason) for row in failures] == [
        ("failed", "The file of the image is missing in the storage."),
        ("failed", "The image was removed after the run was planned."),
    ]


def test_an_image_that_was_never_held_has_no_bytes() -> None:
    subject = make_subject()
    image = make_image(subject, make_model(), state="not_held")
    [work], _ = load_leased(make_units(plan("a", encoder(), subject, image=image.pk)), "")
    assert work.image_bytes is None
