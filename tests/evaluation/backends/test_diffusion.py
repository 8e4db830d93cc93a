"""The diffusers backend on tiny random models: a seed's image in any batch, filtered images, spoiled numbers."""

import io
import json
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from evaluation import backends, content_store
from evaluation.backends.diffusion import DiffusersPipeline
from evaluation.contracts.backend import BackendError, DeviceMemoryError, ImageRequest
from evaluation.contracts.study import ModelData, Result
from evaluation.models import GeneratedImage, Outcome, PromptTemplate, Run
from evaluation.runner import create_run, process_run
from tests.evaluation.make import make_dish, make_model
from tests.evaluation.tiny_models import model_at, save_stable_diffusion

pytestmark = pytest.mark.torch
# Between the cosines of the tiny model's images with the concept: some are flagged, others are not.
SOME = -0.33
SETTINGS = {"steps": 4, "guidance": 7.5, "size": 32}
PROMPTS = ("a photo of fresh food.", "a photo of dirty food.", "weird")


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_stable_diffusion(tmp_path_factory.mktemp("plain"))


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_stable_diffusion(tmp_path_factory.mktemp("checked"), checker=SOME)


def load(folder: Path, **parameters: Any) -> DiffusersPipeline:
    return DiffusersPipeline(model_at(folder, "image_generator", "diffusers", **{**SETTINGS, **parameters}))


def requests(count: int = 5) -> list[ImageRequest]:
    return [ImageRequest(f"u{n}", PROMPTS[n % len(PROMPTS)], "Waakye", seed=1000 + n) for n in range(count)]


def pixels(result: Result) -> np.ndarray:
    assert result.image is not None and result.state == "done", result
    with Image.open(io.BytesIO(result.image.content)) as image:
        return np.asarray(image).astype(int)


@contextmanager
def first_steps(backend: DiffusersPipeline) -> Iterator[list[Any]]:
    """What the network was first given in each pass."""
    given: list[Any] = []

    def note(_: Any, positional: tuple[Any, ...], named: dict[str, Any]) -> None:
        given.append(positional[0].clone())

    handle = backend.pipeline.unet.register_forward_pre_hook(note, with_kwargs=True)
    yield given
    handle.remove()


def test_a_seed_begins_with_the_same_noise_alone_and_in_any_batch(plain: Path) -> None:
    backend, steps = load(plain), SETTINGS["steps"]
    found: list[Any] = []
    for at_once in (5, 2, 1):
        with first_steps(backend) as given:
            for start in range(0, 5, at_once):
                backend.drawn(requests()[start : start + at_once], "fp32")
        passes = given[:: int(steps)]
        # With guidance every image is twice in a pass, without and with its prompt.
        found.append([row for noise in passes for row in noise[: len(noise) // 2]])
    assert all(len(rows) == 5 for rows in found)
    assert all((rows[n] == found[0][n]).all() for rows in found for n in range(5))
    assert not (found[0][0] == found[0][1]).any()


def test_the_noise_of_a_seed_is_that_of_the_librarys_generator(plain: Path) -> None:
    import torch

    [first, *_], noise = load(plain).noise(requests())
    wanted = torch.randn((4, 16, 16), generator=torch.Generator("cpu").manual_seed(1000))
    assert torch.equal(noise[0], wanted)
    assert first.initial_seed() == 1000


@pytest.mark.parametrize("scheduler", ["", "EulerAncestralDiscreteScheduler", "PNDMScheduler"])
def test_an_image_is_the_same_within_a_grey_level_in_any_batch(plain: Path, scheduler: str) -> None:
    together = [pixels(result) for result in load(plain, scheduler=scheduler).generate(requests())]
    for at_once in (1, 2):
        found = load(plain, scheduler=scheduler, at_once=at_once).generate(requests())
        assert max(np.abs(pixels(result) - same).max() for result, same in zip(found, together, strict=True)) <= 1
    assert min(np.abs(one - other).mean() for one, other in pairwise(together)) > 10


def test_the_same_batch_gives_the_same_bytes(plain: Path) -> None:
    once, again = (list(load(plain).generate(requests())) for _ in range(2))
    assert [one.image for one in once] == [other.image for other in again]


def test_images_follow_their_prompt_too(plain: Path) -> None:
    [one, other] = load(plain).generate([ImageRequest(name, name, "", seed=7) for name in PROMPTS[:2]])
    assert np.abs(pixels(one) - pixels(other)).max() > 1


def reference(folder: Path, given: Sequence[ImageRequest]) -> tuple[list[np.ndarray], list[bool]]:
    """Images and verdicts by the library's own pipeline, one by one."""
    import torch
    from diffusers import StableDiffusionPipeline

    pipeline = StableDiffusionPipeline.from_pretrained(folder)
    pipeline.set_progress_bar_config(disable=True)
    found, flags = [], list[bool]()
    for request in given:
        assert request.seed is not None
        generator = torch.Generator("cpu").manual_seed(request.seed)
        made = pipeline(request.prompt, height=32, width=32, num_inference_steps=4, generator=generator)
        found.append(np.asarray(made.images[0]).astype(int))
        flags += made.nsfw_content_detected or [False]
    return found, flags


def test_images_and_verdicts_are_those_of_the_librarys_pipeline(checked: Path) -> None:
    given = requests(9)
    wanted, flags = reference(checked, given)
    assert 0 < sum(flags) < 9
    results = list(load(checked).generate(given))
    assert [result.state == "filtered" for result in results] == flags
    for result, image, flagged in zip(results, wanted, flags, strict=True):
        if not flagged:
            assert np.abs(pixels(result) - image).max() <= 1


def test_a_filtered_image_is_a_record_without_content(checked: Path) -> None:
    backend = load(checked)
    assert backend.checker is not None
    backend.checker.concept_embeds_weights.data[0] = -1
    for result in backend.generate(requests(2)):
        assert (result.state, result.reason) == ("filtered", "The model's own safety filter held the image back.")
        assert result.image is not None
        assert (result.image.content, result.image.seed) == (b"", 1000 + int(result.key[1:]))
        assert result.circumstances["safety_filter"] is True


def test_the_circumstances_say_what_made_an_image(plain: Path) -> None:
    [*_, last] = load(plain, at_once=3).generate(requests(5))
    named = {"precision": "fp32", "card": "processor", "scheduler": "DDIMScheduler", "safety_filter": False, "pass": 2}
    assert named.items() <= dict(last.circumstances).items()
    assert {"torch", "transformers", "diffusers"} <= set(last.circumstances)


def overflowing(backend: DiffusersPipeline) -> None:
    """From now on every decoded image is beyond the numbers of half precision, and fine in full."""
    import torch

    def scaled(_: Any, __: Any, decoded: Any) -> Any:
        return decoded * torch.tensor(1e30, dtype=decoded.dtype) * torch.tensor(1e-30, dtype=torch.float32)

    backend.pipeline.vae.decoder.conv_out.register_forward_hook(scaled)


def test_what_half_precision_spoils_is_made_again_in_full(plain: Path) -> None:
    import torch

    backend = load(plain, precision="fp16")
    overflowing(backend)
    results = list(backend.generate(requests(2)))
    assert [(r.state, r.circumstances["precision"], r.circumstances["not_finite_in"]) for r in results] == [
        ("done", "fp32", "fp16")
    ] * 2
    full = [pixels(result) for result in load(plain).generate(requests(2))]
    assert max(np.abs(pixels(found) - wanted).mean() for found, wanted in zip(results, full, strict=True)) < 3
    assert backend.pipeline.unet.dtype == torch.float16, "later images would be made in another precision"


def test_an_image_that_full_precision_spoils_too_fails(plain: Path) -> None:
    backend = load(plain, precision="bf16")
    backend.pipeline.vae.decoder.conv_out.bias.data[0] = float("inf")
    [result] = backend.generate(requests(1))
    assert (result.state, result.image) == ("failed", None)
    assert "not finite" in result.reason


def test_half_precision_gives_nearly_the_same_images(plain: Path) -> None:
    full, half = (list(load(plain, precision=name).generate(requests(2))) for name in ("fp32", "bf16"))
    assert max(np.abs(pixels(one) - pixels(other)).mean() for one, other in zip(full, half, strict=True)) < 6
    assert half[0].circumstances["precision"] == "bf16"
    assert "not_finite_in" not in half[0].circumstances


def test_tokens_beyond_those_that_are_read_are_counted(plain: Path) -> None:
    backend = load(plain)
    # Begin and end take two of the 40; every letter is a token of its own.
    assert [backend.excess("a" * n) for n in (1, 38, 39, 50)] == [0, 0, 1, 12]


def test_memory_that_does_not_suffice_keeps_the_passes_before(plain: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    backend = load(plain, at_once=2)
    drawn, kept = backend.drawn, list[str]()

    def full(part: Sequence[ImageRequest], precision: str) -> Any:
        if kept:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB.")
        return drawn(part, precision)

    monkeypatch.setattr(backend, "drawn", full)
    with pytest.raises(DeviceMemoryError, match="CUDA out of memory"):
        for result in backend.generate(requests()):
            kept.append(result.key)
    assert kept == ["u0", "u1"]


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"steps": None}, "parameter steps is null"),
        ({"steps": 2.5}, "steps is 2.5. Accepted: a whole number"),
        ({"guidance": -1}, "guidance is -1"),
        ({"size": True}, "size is true"),
        ({"size": 33}, "multiple of 2 pixels"),
        ({"at_once": 0}, "at_once is 0"),
        ({"scheduler": "EulerScheduler"}, "Did you mean .*EulerDiscreteScheduler"),
        ({"precision": "fp8"}, "There is no precision named 'fp8'"),
        ({"seeds": False}, "parameter seeds is false"),
    ],
)
def test_parameters_that_cannot_be_used_are_named(plain: Path, parameters: dict[str, Any], sentence: str) -> None:
    with pytest.raises(BackendError, match=sentence):
        load(plain, **parameters)


def copied(folder: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(folder, tmp_path / "copy"))


def test_weights_that_could_run_code_are_not_loaded(plain: Path, tmp_path: Path) -> None:
    import torch

    folder = copied(plain, tmp_path)
    (folder / "unet" / "diffusion_pytorch_model.safetensors").unlink()
    torch.save({}, folder / "unet" / "diffusion_pytorch_model.bin")
    with pytest.raises(BackendError, match="could not be loaded"):
        load(folder)


def test_code_that_lies_beside_the_weights_is_not_run(plain: Path, tmp_path: Path) -> None:
    folder = copied(plain, tmp_path)
    index = json.loads((folder / "model_index.json").read_text())
    (folder / "unet" / "own.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\nclass Own: pass\n")
    (folder / "model_index.json").write_text(json.dumps({**index, "unet": ["own", "Own"]}))
    with pytest.raises(BackendError, match="could not be loaded"):
        load(folder)
    assert not (tmp_path / "ran").exists()


def test_a_pipeline_without_the_settings_of_its_decoder_is_refused(plain: Path, tmp_path: Path) -> None:
    folder = copied(plain, tmp_path)
    (folder / "vae" / "config.json").unlink()
    with pytest.raises(BackendError, match=r"holds no vae/config\.json"):
        load(folder)


def test_a_scheduler_that_the_library_does_not_know_is_named(plain: Path, tmp_path: Path) -> None:
    folder = copied(plain, tmp_path)
    index = json.loads((folder / "model_index.json").read_text())
    (folder / "model_index.json").write_text(json.dumps({**index, "scheduler": ["own", "OwnScheduler"]}))
    with pytest.raises(BackendError, match="'OwnScheduler', is none of diffusers"):
        load(folder, scheduler="DDIMScheduler")


def test_damaged_weights_are_explained(plain: Path, tmp_path: Path) -> None:
    folder = copied(plain, tmp_path)
    weights = folder / "vae" / "diffusion_pytorch_model.safetensors"
    weights.write_bytes(weights.read_bytes()[:5000])
    with pytest.raises(BackendError, match="could not be loaded"):
        load(folder)


def test_weights_that_could_change_are_not_loaded() -> None:
    model = ModelData(1, "sd", "image_generator", "diffusers", "stabilityai/stable-diffusion-2-1", "main", SETTINGS)
    with pytest.raises(BackendError, match="not a commit"):
        backends.load_backend(model)


def test_a_request_without_a_seed_is_not_drawn(plain: Path) -> None:
    with pytest.raises(ValueError, match="no seed"):
        list(load(plain).generate([ImageRequest("a", "food", "", sample=0)]))


@pytest.mark.django_db
def test_a_run_stores_images_and_what_was_filtered(checked: Path) -> None:
    # Their numbers give the seeds, and so which images the checker flags: with these, some of each dish.
    for name, number in (("jollof", 1), ("ugali", 5), ("a dish whose name is longer than the forty tokens", 6)):
        make_dish(name, number=number)
    make_model("tiny", backend="diffusers", identifier=str(checked), parameters=SETTINGS)
    PromptTemplate.objects.create(slug="short", version="1", text="a photo of {local_name}.")
    config = {"model": "tiny", "prompt": "short", "images_per_subject": 6}
    run = create_run("generation", config, slug="tiny-pictures")
    while process_run(run.pk, "tests"):
        pass
    assert Run.objects.get().state == "done"
    counted = {state: run.units.filter(state=state).count() for state in ("done", "filtered", "failed")}
    assert counted["failed"] == 6
    assert counted["done"] > 0 and counted["filtered"] > 0 and sum(counted.values()) == 18
    for image in GeneratedImage.objects.all():
        assert (image.sha256 == "") == (image.state == "filtered")
        assert image.seed is not None and image.prompt_sent.startswith("a photo of ")
        assert image.state == "filtered" or content_store.read_content(image.sha256)[:4] == b"\x89PNG"
    told = Outcome.objects.filter(unit__state="done")[0].circumstances
    assert (told["scheduler"], told["card"], told["precision"]) == ("DDIMScheduler", "processor", "fp32")
    assert "tokens longer than the text encoder reads" in Outcome.objects.filter(unit__state="failed")[0].reason
    assert run.definition["parameters"] == SETTINGS
