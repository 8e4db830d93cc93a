"""Runs made elsewhere."""

from dataclasses import replace

import numpy as np
import pytest

from evaluation import content_store
from evaluation.contracts.study import ConfigError, ImageResult, Result, UnitPlan
from evaluation.models import Embedding, GeneratedImage, InputCounter, Outcome, Run, RunLabel, Unit
from evaluation.runner import import_run
from evaluation.tables.outcomes import iterate_outcomes
from tests.evaluation.make import make_image, make_model, make_place, make_subject, plan, vector_result

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]
Given = list[tuple[UnitPlan, Result]]


def answers(count: int = 3) -> Given:
    model, subject = make_model("chat", role="chat"), make_subject()
    return [(plan(f"q{n}", model, subject, question=n), Result(f"q{n}", text=f"Answer {n}")) for n in range(count)]


def test_imported_answers_are_done_units_of_a_done_run() -> None:
    run, new = import_run("association", "elsewhere", {"of": 1}, answers())
    assert (run.state, run.imported, new) == (Run.State.DONE, True, 3)
    assert run.finished_at is not None
    assert [(row.key, row.state, row.text) for row in iterate_outcomes(run)] == [
        (f"q{n}", "done", f"Answer {n}") for n in range(3)
    ]


def test_importing_twice_changes_nothing() -> None:
    given = answers()
    run, _ = import_run("association", "elsewhere", {}, given)
    before = list(Outcome.objects.values()), InputCounter.objects.get().value, run.finished_at
    again, new = import_run("association", "elsewhere", {}, given)
    assert (again.pk, new) == (run.pk, 0)
    assert (list(Outcome.objects.values()), InputCounter.objects.get().value, again.finished_at) == before


def test_an_import_that_was_cut_short_goes_on() -> None:
    given = answers(5)

    def broken() -> object:
        yield from given[:2]
        raise OSError("the disk went away")

    with pytest.raises(OSError, match="disk"):
        import_run("association", "elsewhere", {}, broken())  # type: ignore[arg-type]
    run, _ = import_run("association", "elsewhere", {}, given)
    assert run.state == Run.State.DONE
    assert Unit.objects.filter(run=run).count() == 5


def test_vectors_of_images_and_texts_are_stored_and_come_back_unchanged() -> None:
    encoder, painter, place = (
        make_model("clip", role="encoder", backend="stored"),
        make_model(),
        make_place(continent=["Africa"]),
    )
    image = make_image(place, painter, state="not_held")
    given = [
        (plan("image", encoder, place, image=image.pk), vector_result("image", 0.1, -2.5, image_id=image.pk)),
        (plan("text", encoder, text="fresh"), vector_result("text", 3.0, 4.0, text="fresh")),
    ]
    run, _ = import_run("association", "clip", {}, given)
    has_images, worded = iterate_outcomes(run)
    assert has_images.vector is not None and np.array_equal(has_images.vector, np.array([0.1, -2.5], dtype=np.float32))
    assert (has_images.image_model, has_images.image_id, has_images.model) == ("painter", image.pk, "clip")
    assert has_images.labels == {"continent": ("Africa",)}
    assert (worded.subject, worded.labels, worded.image_id) == ("", {}, None)


def test_a_vector_that_is_known_already_is_not_stored_twice() -> None:
    encoder = make_model("clip", role="encoder", backend="stored")
    given = [(plan(key, encoder, text="fresh"), vector_result(key, 1.0, text="fresh")) for key in ("one", "two")]
    run, new = import_run("association", "clip", {}, given)
    assert new == 2
    assert Embedding.objects.count() == 1
    assert [row.vector is not None for row in iterate_outcomes(run)] == [True, True]


def test_images_are_kept_by_hash_and_refusals_leave_a_record() -> None:
    model, subject = make_model(), make_subject()
    held = ImageResult(b"picture", "image/png", 4, 4, "Draw", seed=1)
    absent = ImageResult(b"", "", 0, 0, "Draw", sample=2)
    given = [
        (plan("a", model, subject), Result("a", image=held)),
        (plan("b", model, subject), Result("b", "refused", image=absent, reason="Not this one.")),
        (plan("c", model, subject), Result("c", image=absent)),
    ]
    import_run("generation", "pictures", {}, given)
    assert list(GeneratedImage.objects.order_by("pk").values_list("state", flat=True)) == [
        "held",
        "refused",
        "not_held",
    ]
    assert content_store.read_content(GeneratedImage.objects.get(state="held").sha256) == b"picture"


def test_images_of_one_dish_are_one_cluster_and_images_of_places_are_their_own() -> None:
    encoder, painter = make_model("clip", role="encoder", backend="stored"), make_model()
    dish, place = make_subject(), make_place()
    given = []
    for subject in (dish, dish, place, place):
        image = make_image(subject, painter)
        key = f"image:{image.pk}"
        given.append((plan(key, encoder, subject, image=image.pk), vector_result(key, 1.0, image_id=image.pk)))
    run, _ = import_run("association", "clip", {}, given)
    assert len({row.cluster for row in iterate_outcomes(run)}) == 3


def test_labels_stay_as_they_were_when_the_run_was_imported() -> None:
    model, subject = make_model("chat", role="chat"), make_place(country=["Burma", "Burma"])
    run, _ = import_run("association", "elsewhere", {}, [(plan("q", model, subject), Result("q", text="Yes"))])
    assert [(row.dimension, row.value) for row in RunLabel.objects.filter(run=run)] == [("country", "Burma")]


def test_numbers_that_are_not_finite_fail_their_unit_only() -> None:
    model, subject = make_model("chat", role="chat"), make_subject()
    given = [
        (plan("bad", model, subject), Result("bad", numbers={"score": float("nan")})),
        (plan("good", model, subject), Result("good", numbers={"score": 0.5})),
    ]
    run, _ = import_run("association", "elsewhere", {}, given)
    assert [(row.state, row.reason) for row in iterate_outcomes(run)] == [
        ("failed", "Not a finite number: score."),
        ("done", ""),
    ]


def test_answers_that_databases_refuse_are_stored_readable() -> None:
    model, subject = make_model("chat", role="chat"), make_subject()
    given = [(plan("q", model, subject), Result("q", text="nul \x00 half \ud83d end"))]
    run, _ = import_run("association", "elsewhere", {}, given)
    assert [row.text for row in iterate_outcomes(run)] == ["nul \ufffd half ? end"]


def test_many_outcomes_take_few_queries(django_assert_max_num_queries: object) -> None:
    run, _ = import_run("association", "elsewhere", {}, answers(60))
    with django_assert_max_num_queries(4):  # type: ignore[operator]
        assert len(list(iterate_outcomes(run))) == 60


def test_a_slug_in_use_for_something_else_is_refused() -> None:
    import_run("association", "elsewhere", {"of": 1}, answers())
    with pytest.raises(ConfigError, match="another config"):
        import_run("association", "elsewhere", {"of": 2}, [])
    with pytest.raises(ConfigError, match="not imported for study 'generation'"):
        import_run("generation", "elsewhere", {"of": 1}, [])


def test_an_unknown_study_names_the_near_one() -> None:
    with pytest.raises(ConfigError, match="Did you mean association"):
        import_run("asociation", "elsewhere", {}, [])


def test_a_result_beside_another_unit_and_a_key_that_fits_no_column_are_refused() -> None:
    [(first, _), (_, other)] = answers(2)
    with pytest.raises(ConfigError, match="The result 'q1' is paired with the unit 'q0'"):
        import_run("association", "elsewhere", {}, [(first, other)])
    for key, affinity in (("", "a"), ("k" * 121, "a"), ("k", ""), ("k", "a" * 81)):
        wrong = replace(first, key=key, affinity=affinity)
        with pytest.raises(ConfigError, match="is empty or too long"):
            import_run("association", "elsewhere", {}, [(wrong, Result(key))])
    assert not Unit.objects.exists()
