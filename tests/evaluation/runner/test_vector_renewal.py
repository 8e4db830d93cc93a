"""After an upgrade each vector names its decode, none is lost, and no table mixes two."""

import io
from collections.abc import Sequence

import numpy as np
import pytest
from django.core.management import call_command
from PIL import Image

from evaluation import content_store
from evaluation.images.machine_scores import collect_machine_scores
from evaluation.models import EarlierOutcome, Embedding, GeneratedImage, Model, Outcome, Run, Unit
from evaluation.readers import image_decode
from evaluation.runner import create_run, import_run, process_run, vector_renewal
from evaluation.runner.vector_renewal import Renewal, renew_vectors
from evaluation.tables.outcomes import iterate_outcomes
from review.people_machine.machine_readings import list_machine_readings
from tests.evaluation.make import make_image, make_model, make_subject, plan, vector_result

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]
OLD = "standin-1"
NEW = f"{image_decode.VERSION} {OLD}"


def png(image: Image.Image) -> bytes:
    out = io.BytesIO()
    image.save(out, "PNG")
    return out.getvalue()


def make_held(content: bytes) -> GeneratedImage:
    return make_image(make_subject(), make_model(), sha256=content_store.store_content(content), media_type="image/png")


@pytest.fixture
def scored() -> Run:
    """A plain image, a transparent one, and one whose file is gone, scored before the present decode."""
    colours = np.random.default_rng(1).integers(0, 256, (8, 8, 4)).astype(np.uint8)
    make_held(png(Image.fromarray(colours[..., :3].copy())))
    clear = make_held(png(Image.fromarray(colours)))
    lost = make_held(png(Image.new("RGB", (9, 9), "red")))
    run = import_run("generation", "drawn", {}, [])[0]
    GeneratedImage.objects.update(run=run)
    made = create_run("association", {"images": "drawn", "encoder": "standin-encoder"}, slug="scored")
    while process_run(made.pk, "test"):
        pass
    Embedding.objects.update(preprocessing=OLD)
    # What the former decode made of it is not what the present one makes of it.
    Embedding.objects.filter(image=clear).update(vector=np.zeros(64, dtype=np.float32).tobytes())
    GeneratedImage.objects.filter(pk=lost.pk).update(sha256="0" * 64)
    return made


def names() -> list[str]:
    return sorted(Embedding.objects.exclude(image=None).values_list("preprocessing", flat=True))


def test_equal_pixels_are_renamed_other_ones_computed_again_and_nothing_is_lost(scored: Run) -> None:
    before = {row.image_id: bytes(row.vector) for row in Embedding.objects.exclude(image=None)}
    done = renew_vectors()
    assert (done.renamed, done.unknown, done.again, done.runs) == (1, 1, 1, {scored.pk})
    assert names() == [NEW, f"unknown {OLD}"]
    assert Run.objects.get(pk=scored.pk).state == Run.State.RUNNING
    assert EarlierOutcome.objects.count() == 1
    while process_run(scored.pk, "test"):
        pass
    assert names() == [NEW, NEW, f"unknown {OLD}"]
    after = {row.image_id: bytes(row.vector) for row in Embedding.objects.exclude(image=None)}
    assert sum(before[image] == after[image] for image in before) == 2
    assert set(Unit.objects.filter(run=scored).values_list("state", flat=True)) == {"done"}


def test_a_second_renewal_finds_nothing_to_do(scored: Run, capsys: pytest.CaptureFixture[str]) -> None:
    renew_vectors()
    while process_run(scored.pk, "test"):
        pass
    call_command("renew_vectors")
    assert capsys.readouterr().out == "0 vectors renamed, 0 of unknown decode, 0 computed again in 0 runs.\n"


def test_a_renewal_that_is_cut_short_leaves_no_run_done_whose_units_wait(
    scored: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = vector_renewal.renew_some

    def cut(rows: Sequence[Embedding], done: Renewal) -> None:
        if done.again:
            raise KeyboardInterrupt
        whole(rows, done)

    monkeypatch.setattr(vector_renewal, "CHUNK", 1)
    monkeypatch.setattr(vector_renewal, "renew_some", cut)
    with pytest.raises(KeyboardInterrupt):
        renew_vectors()
    assert Unit.objects.filter(run=scored, state=Unit.State.PENDING).count() == 1
    assert Run.objects.get(pk=scored.pk).state == Run.State.RUNNING


def test_of_two_vectors_that_get_one_name_one_stays_with_the_outcomes_of_both(scored: Run) -> None:
    old = Embedding.objects.exclude(image=None).order_by("pk")[0]
    same = Embedding.objects.create(
        model=old.model, image=old.image, preprocessing=NEW, dimensions=old.dimensions, vector=old.vector
    )
    outcome = Outcome.objects.get(embedding=old)
    assert renew_vectors().renamed == 1
    outcome.refresh_from_db()
    assert outcome.embedding == same
    assert not Embedding.objects.filter(pk=old.pk).exists()


def test_outcomes_never_mix_two_decodes(scored: Run) -> None:
    Embedding.objects.filter(pk=Embedding.objects.exclude(image=None).order_by("pk")[0].pk).update(preprocessing=NEW)
    held = [row for row in iterate_outcomes(scored) if row.image_id and row.vector is not None]
    assert len(held) == 1


def test_vectors_from_elsewhere_say_that_their_decode_is_unknown() -> None:
    model, image = make_model("theirs", role="encoder", backend="stored"), make_held(png(Image.new("RGB", (9, 9))))
    key = f"image:{image.pk}"
    given = [(plan(key, model, make_subject("Koki"), image=image.pk), vector_result(key, 1, 2, image_id=image.pk))]
    import_run("association", "elsewhere", {}, given)
    Embedding.objects.update(preprocessing="theirs")
    assert (renew_vectors().unknown, names()) == (1, ["unknown, imported theirs"])
    assert Outcome.objects.get().embedding is not None


def test_the_published_vectors_and_their_encoder_are_renamed_together() -> None:
    old = "as published"
    model = Model.objects.create(slug="theirs", role="encoder", backend="stored", parameters={"preprocessing": old})
    Embedding.objects.create(model=model, text="soup", preprocessing=old, dimensions=1, vector=b"0000")
    renew_vectors()
    model.refresh_from_db()
    assert Embedding.objects.get().preprocessing == model.parameters["preprocessing"] == image_decode.IMPORTED


def test_an_image_shows_and_a_comparison_reads_the_vectors_that_the_tables_read(scored: Run) -> None:
    """Beside an image, and against people's answers, stands no score that no table counts."""
    present, former = (row.image for row in Embedding.objects.exclude(image=None).order_by("pk")[:2])
    assert present and former
    Embedding.objects.filter(image=present).update(preprocessing=NEW)
    shown = collect_machine_scores([present, former])
    nets = {
        image: any("net score" in name for score in held for name, _value in score.lines)
        for image, held in shown.items()
    }
    assert nets == {present.pk: True, former.pk: False}
    assert {image for reading in list_machine_readings(scored) for image in reading.images} == {present.pk}
