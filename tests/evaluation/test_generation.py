"""The study generation, from the plan to the table."""

import io

import pytest
from PIL import Image

from evaluation import files, studies
from evaluation.models import GeneratedImage, Outcome
from evaluation.runner import create_run, import_run, outcomes, work
from evaluation.studies.base import ImageResult, Result
from tests.evaluation.make import make_dish, make_model, make_subject, plan

pytestmark = pytest.mark.django_db


def test_a_run_makes_pictures_with_prompt_seed_and_file() -> None:
    make_dish("Waakye")
    run = create_run("generation", {"model": "sketch", "images_per_subject": 3})
    work(run.pk, "a")
    images = list(GeneratedImage.objects.order_by("pk"))
    assert len(images) == 3
    assert len({image.seed for image in images}) == len({image.sha256 for image in images}) == 3
    assert all("called Waakye" in image.prompt_sent and image.sample is None for image in images)
    assert images[0].prompt is not None and images[0].prompt.slug == "generation-specific"
    with Image.open(io.BytesIO(files.read(images[0].sha256))) as picture:
        assert (picture.format, picture.size) == ("PNG", (images[0].width, images[0].height))


def test_the_same_configuration_makes_the_same_files_in_another_run() -> None:
    make_dish()
    found = []
    for slug in ("first", "second"):
        work(create_run("generation", {"model": "sketch"}, slug=slug).pk, "a")
        found.append(set(GeneratedImage.objects.filter(run__slug=slug).values_list("sha256", flat=True)))
    assert found[0] == found[1]
    assert len(found[0]) == 5


def test_every_outcome_says_that_it_is_a_demonstration() -> None:
    make_dish()
    work(create_run("generation", {"model": "sketch"}).pk, "a")
    assert all(row.circumstances["demonstration"] for row in Outcome.objects.all())


def test_counts_tell_refused_held_back_and_failed_apart() -> None:
    model, ghana = make_model(), make_subject()
    image = ImageResult(b"", "", 0, 0, "Draw", sample=0)
    given = [
        (plan("a", model, ghana), Result("a", image=ImageResult(b"one", "image/png", 1, 1, "Draw", sample=0))),
        (plan("b", model, ghana), Result("b", "refused", image=image, reason="No.")),
        (plan("c", model, ghana), Result("c", "filtered", image=image)),
        (plan("d", model, ghana), Result("d", "failed", reason="Cut off.")),
        (plan("e", model, make_subject("Jollof")), Result("e", "refused", reason="No.")),
    ]
    run, _ = import_run("generation", "counted", {}, given)
    table = studies.load("generation").summarise("counts", outcomes(run), run.config)
    assert {row.metric: (row.estimate.value, row.estimate.n, row.estimate.clusters) for row in table.rows} == {
        "done": (1, 5, 2),
        "refused": (2, 5, 2),
        "filtered": (1, 5, 2),
        "failed": (1, 5, 2),
    }
    assert table.rows[0].groups == {"country": "Ghana", "model": "painter"}
    assert set(GeneratedImage.objects.values_list("state", flat=True)) == {"held", "refused", "filtered"}


def test_no_outcomes_make_an_empty_table() -> None:
    assert studies.load("generation").summarise("counts", [], {}).rows == ()


def test_an_unknown_table_is_an_error() -> None:
    with pytest.raises(ValueError, match="no table 'scores'"):
        studies.load("generation").summarise("scores", [], {})
