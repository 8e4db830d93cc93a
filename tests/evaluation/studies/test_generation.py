"""The study generation, from the plan to the table."""

import io
import re
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from PIL import Image

from evaluation import content_store, studies
from evaluation.backends.standin.images import encode_png
from evaluation.contracts.backend import ImageRequest
from evaluation.contracts.study import ConfigError, ImageResult, ModelData, Result, SubjectData, Work
from evaluation.models import GeneratedImage, Model, Outcome, Run
from evaluation.runner import create_run, import_run, preview_run, process_run
from evaluation.runner.catalogue import DatabaseCatalogue
from evaluation.studies.prompts import contains_words
from evaluation.tables.outcomes import iterate_outcomes
from tests.evaluation.make import make_country, make_dish, make_model, make_place, make_subject, plan

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]


def test_a_run_makes_images_with_prompt_seed_and_file() -> None:
    make_dish("Waakye")
    run = create_run("generation", {"model": "sketch", "images_per_subject": 3})
    process_run(run.pk, "a")
    images = list(GeneratedImage.objects.order_by("pk"))
    assert len(images) == 3
    assert len({image.seed for image in images}) == len({image.sha256 for image in images}) == 3
    assert all("called Waakye" in image.prompt_sent and image.sample is None for image in images)
    assert images[0].prompt is not None and images[0].prompt.slug == "generation-specific"
    with Image.open(io.BytesIO(content_store.read_content(images[0].sha256))) as image:
        assert (image.format, image.size) == ("PNG", (images[0].width, images[0].height))


def test_the_same_configuration_makes_the_same_files_in_another_run() -> None:
    make_dish()
    found = []
    for slug in ("first", "second"):
        process_run(create_run("generation", {"model": "sketch"}, slug=slug).pk, "a")
        found.append(set(GeneratedImage.objects.filter(run__slug=slug).values_list("sha256", flat=True)))
    assert found[0] == found[1]
    assert len(found[0]) == 5


def test_every_outcome_says_that_it_is_a_demonstration() -> None:
    make_dish()
    process_run(create_run("generation", {"model": "sketch"}).pk, "a")
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
    table = studies.load_study("generation").summarise("counts", iterate_outcomes(run), run.config)
    assert {row.metric: (row.estimate.value, row.estimate.n, row.estimate.clusters) for row in table.rows} == {
        "done": (1, 5, 2),
        "refused": (2, 5, 2),
        "filtered": (1, 5, 2),
        "empty": (0, 5, 2),
        "failed": (1, 5, 2),
    }
    assert table.rows[0].groups == {"country": "Ghana", "model": "painter"}
    assert set(GeneratedImage.objects.values_list("state", flat=True)) == {"held", "refused", "filtered"}


def test_no_outcomes_make_an_empty_table() -> None:
    assert studies.load_study("generation").summarise("counts", [], {}).rows == ()


def test_an_unknown_table_is_an_error() -> None:
    with pytest.raises(ValueError, match="no table 'scores'"):
        studies.load_study("generation").summarise("scores", [], {})


class Painter:
    """Answers each request with the image that it was given, and knows how many words its encoder reads."""

    def __init__(self, content: bytes, revised: str = "") -> None:
        self.content, self.revised = content, revised
        self.asked: list[str] = []

    def excess(self, prompt: str) -> int:
        return len(prompt.split()) - 3

    def generate(self, requests: Sequence[ImageRequest]) -> Iterator[Result]:
        for request in requests:
            self.asked.append(request.prompt)
            image = ImageResult(self.content, "image/png", 0, 0, request.prompt, self.revised, sample=0)
            yield Result(request.key, image=image, circumstances={"by": "painter"})


def work_for(prompt: str, subject: SubjectData | None = None, long: bool = False, **parameters: Any) -> Work:
    model = ModelData(1, "painter", "image_generator", "painter", "painter", "", parameters)
    return Work("a", subject, model, {"prompt": prompt, "sample": 0, "long": long})


def image(colour: str = "") -> bytes:
    image = Image.new("RGB", (40, 30), colour) if colour else Image.effect_noise((40, 30), 60).convert("RGB")
    return encode_png(image)


def execute(painter: object, work: Work) -> Result:
    [result] = studies.load_study("generation").execute([work], painter)
    return result


def test_an_image_that_shows_nothing_is_held_back_with_its_reason() -> None:
    result = execute(Painter(image("black")), work_for("Draw"))
    assert (result.state, result.reason) == ("empty", "The image is black.")
    assert result.image is not None and (result.image.width, result.image.height) == (40, 30)


def test_what_is_no_image_fails() -> None:
    result = execute(Painter(b"<html>"), work_for("Draw"))
    assert (result.state, result.image) == ("failed", None)


def test_a_held_back_image_is_kept_and_goes_to_no_encoder() -> None:
    given = [
        (plan("a", make_model(), make_subject()), execute(Painter(image("black")), work_for("Draw"))),
        (plan("b", make_model(), make_subject("Ugali")), Result("b", "empty", reason="Nothing came.")),
    ]
    run, _ = import_run("generation", "dark", {}, given)
    row = GeneratedImage.objects.get()
    assert (row.state, len(row.sha256)) == ("held_back", 64)
    assert DatabaseCatalogue().images(run.slug) == []


def test_a_prompt_that_is_too_long_is_not_sent() -> None:
    painter = Painter(image())
    result = execute(painter, work_for("Draw a bowl of waakye"))
    assert (result.state, painter.asked) == ("failed", [])
    assert result.reason == "The prompt is 2 tokens longer than the text encoder reads. It was not sent."


def test_a_long_prompt_that_is_allowed_is_sent_and_flagged() -> None:
    result = execute(Painter(image()), work_for("Draw a bowl of waakye", long=True))
    assert (result.state, result.circumstances) == ("done", {"prompt_cut": 2, "by": "painter"})


@pytest.mark.parametrize(
    ("parameters", "noted", "state"),
    [
        ({}, {"prompt_length": "not checked"}, "done"),
        ({"max_characters": 4}, {}, "done"),
        ({"max_characters": 3}, {"prompt_cut": 1}, "failed"),
    ],
)
def test_without_a_tokenizer_only_what_the_provider_states_is_checked(
    parameters: dict[str, Any], noted: dict[str, Any], state: str
) -> None:
    result = execute(SketchOnly(), work_for("Draw", **parameters))
    assert (result.state, dict(result.circumstances)) == (state, noted)


class SketchOnly:
    def generate(self, requests: Sequence[ImageRequest]) -> Iterator[Result]:
        yield from (Result(request.key) for request in requests)


@pytest.mark.parametrize(
    ("revised", "numbers"),
    [
        ("A bowl of WAAKYE as served in Ghana", {"name_kept": 1, "countries_kept": 1}),
        ("A bowl of  waakye", {"name_kept": 1, "countries_kept": 0}),
        ("A West African rice dish", {"name_kept": 0, "countries_kept": 0}),
        ("", {}),
    ],
)
def test_a_rewritten_prompt_says_what_of_the_dish_is_left(revised: str, numbers: dict[str, float]) -> None:
    assert execute(Painter(image(), revised), work_for("Draw", make_subject())).numbers == numbers


def test_a_rewritten_prompt_about_a_place_says_nothing_of_countries_it_does_not_have() -> None:
    work = work_for("Draw", make_place("Africa"))
    assert execute(Painter(image(), "Food of Africa"), work).numbers == {"name_kept": 1}


def test_the_same_letters_composed_in_another_way_are_the_same_name() -> None:
    assert contains_words("A plate of cafe\u0301 ole\u0301", "Café Olé")


def test_long_prompts_that_the_configuration_allows_are_part_of_the_definition() -> None:
    make_dish()
    plain = create_run("generation", {"model": "sketch"})
    long = create_run("generation", {"model": "sketch", "allow_long_prompts": True})
    assert (plain.definition.get("long_prompts"), long.definition["long_prompts"]) == (None, "cut")
    assert {unit.payload.get("long") for unit in plain.units.all()} == {None}
    assert {unit.payload.get("long") for unit in long.units.all()} == {True}


@pytest.mark.parametrize(
    ("preset", "units", "prompt"),
    [
        (
            "as-published-dishes",
            10,
            "Generate a photograph of food from Ghana called Waakye. The food should be served, ready to be eaten.",
        ),
        (
            "as-published-countries",
            100,
            "Generate a photograph of food from Ghana. The food should be served, ready to be eaten.",
        ),
        (
            "as-published-continents",
            300,
            "Generate a photograph of food from Africa. The food should be served, ready to be eaten.",
        ),
        (
            "as-published-world",
            50,
            "Generate a photograph of food from the world. The food should be served, ready to be eaten.",
        ),
    ],
)
def test_presets_ask_as_the_paper_did(preset: str, units: int, prompt: str) -> None:
    make_dish("Waakye")
    make_dish("Ugali", country=make_country("KEN", "Kenya"))
    run = create_run("generation", {"preset": preset, "model": "dall-e-3"})
    assert run.units.count() == units
    assert run.units.filter(payload__prompt=prompt).exists()
    assert run.definition["prompt"].endswith("as published")
    assert (run.queue, "preset" in run.config) == ("api", False)


def test_what_stands_beside_a_preset_counts_more() -> None:
    make_dish()
    run = create_run("generation", {"preset": "as-published-dishes", "model": "sketch", "images_per_subject": 2})
    assert run.units.count() == 2
    assert run == create_run("generation", {**run.config})


def test_an_unknown_preset_names_the_near_ones() -> None:
    with pytest.raises(ConfigError, match="as-published-dishes"):
        create_run("generation", {"preset": "as-published-dish", "model": "sketch"})


@pytest.mark.parametrize(("slug", "size", "images"), [("dall-e-2", "512x512", 5), ("dall-e-3", "1024x1024", 1)])
def test_providers_models_come_with_their_published_size(slug: str, size: str, images: int) -> None:
    model = DatabaseCatalogue().model(slug)
    assert (model.parameters["options"]["size"], model.parameters["n"]) == (size, images)
    assert model.parameters["seeds"] is False


def test_the_plan_of_a_preset_says_what_it_may_cost() -> None:
    make_dish()
    found = preview_run("generation", {"preset": "as-published-dishes", "model": "dall-e-2"})
    assert (found.units, found.cost) == (5, {"USD": pytest.approx(0.09)})
    assert not Run.objects.exists()


def test_how_a_model_is_asked_is_no_part_of_what_is_compared() -> None:
    make_dish()
    run = create_run("generation", {"model": "stable-diffusion-2-1"})
    assert run.definition["parameters"] == {"precision": "fp16", "steps": 50, "guidance": 7.5, "size": 768}
    assert run.definition["revision"] == "5cae40e6a2745ae2b01ad92ae5043f95f23644d6"


def test_weights_of_the_registry_are_pinned() -> None:
    rows = Model.objects.filter(backend="diffusers")
    assert rows and all(re.fullmatch("[0-9a-f]{40}", row.revision) for row in rows)
