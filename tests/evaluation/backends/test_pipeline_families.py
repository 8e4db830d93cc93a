"""Families of models: every text-to-image pipeline of the table draws, and an unknown family costs no reading."""

import io
import json
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from PIL import Image

from evaluation import backends
from evaluation.backends import weight_files
from evaluation.backends.diffusion import DiffusersPipeline
from evaluation.backends.pipeline_families import FAMILIES
from evaluation.contracts.backend import BackendError, ImageRequest
from evaluation.contracts.study import ModelData, Result
from tests.evaluation.make import make_model
from tests.evaluation.opened_files import watched
from tests.evaluation.tiny_models import model_at, save_chat, save_clip, save_llava, save_siglip
from tests.evaluation.tiny_pipelines import save_pipeline, stable_diffusion_3

CLIP_TOLD = "family CLIP, texts up to 77 tokens, decode-1 pillow-like-1 bicubic 32 crop 32x32"
pytestmark = pytest.mark.torch
SETTINGS = {"steps": 2, "guidance": 4.0, "size": 32}
# Of different lengths: what fills the shorter ones up must change nothing.
PROMPTS = (
    "a photo of fresh food.",
    "weird",
    "a photo of dirty food in a bowl, seen from above",
    "a photo of fresh food.",
)
WITH_T5 = (
    *("StableDiffusion3Pipeline", "FluxPipeline", "PixArtAlphaPipeline", "PixArtSigmaPipeline"),
    *("ChromaPipeline", "AuraFlowPipeline"),
)
# What Qwen-Image writes around a prompt, less the 34 tokens that it takes away again.
QWEN_AROUND = 179
LUMINA_AROUND = 164

Folders = Callable[[str], Path]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Folders:
    return cache(lambda name: save_pipeline(name, tmp_path_factory.mktemp(name)))


def load(folder: Path, **parameters: Any) -> DiffusersPipeline:
    found = backends.load_backend(model_at(folder, "image_generator", "diffusers", **{**SETTINGS, **parameters}))
    assert isinstance(found, DiffusersPipeline)
    return found


def requests() -> list[ImageRequest]:
    return [ImageRequest(f"u{n}", prompt, "Waakye", seed=100 + n) for n, prompt in enumerate(PROMPTS)]


def pixels(result: Result) -> np.ndarray:
    assert result.image is not None and result.state == "done", result
    with Image.open(io.BytesIO(result.image.content)) as image:
        return np.asarray(image).astype(int)


def by_the_library(backend: DiffusersPipeline, request: ImageRequest) -> np.ndarray:
    """The image as the library's pipeline gives it for a prompt and a seed, asked as its makers show."""
    import torch

    family, side = backend.family, int(SETTINGS["size"])
    assert request.seed is not None
    given = {family.guidance: SETTINGS["guidance"], **family.fixed}
    given |= {"negative_prompt": family.negative} if family.negative else {}
    generator = torch.Generator("cpu").manual_seed(request.seed)
    made = backend.pipeline(
        request.prompt, height=side, width=side, num_inference_steps=SETTINGS["steps"], generator=generator, **given
    )
    return np.asarray(made.images[0]).astype(int)


@pytest.mark.parametrize("name", FAMILIES)
def test_an_image_is_the_librarys_alone_and_in_a_batch(name: str, folders: Folders) -> None:
    backend, most = load(folders(name)), FAMILIES[name].tolerance
    together = [pixels(result) for result in backend.generate(requests())]
    for request, image in zip(requests(), together, strict=True):
        [alone] = backend.generate([request])
        assert np.abs(pixels(alone) - image).max() <= most
        assert np.abs(by_the_library(backend, request) - image).max() <= most
    assert np.abs(together[0] - together[3]).mean() > 5, "two seeds give one image"
    [other] = backend.generate([ImageRequest("u0", PROMPTS[1], "", seed=100)])
    assert np.abs(pixels(other) - together[0]).max() > 2 * most, "the prompt changes nothing"


@pytest.mark.parametrize("name", FAMILIES)
def test_half_precision_is_near_the_full_one_and_what_it_spoils_is_made_in_full(name: str, folders: Folders) -> None:
    import torch

    backend, spoiling = load(folders(name), precision=FAMILIES[name].precisions[-1]), [False]

    def spoil(_: Any, __: Any, decoded: Any) -> Any:
        return decoded * (float("inf") if spoiling[0] and backend.denoiser.dtype != torch.float32 else 1)

    backend.pipeline.vae.decoder.conv_out.register_forward_hook(spoil)
    [half] = backend.generate(requests()[:1])
    before, spoiling[0] = precisions(backend), True
    [again] = backend.generate(requests()[:1])
    [full] = load(folders(name)).generate(requests()[:1])
    assert (half.circumstances["precision"], again.circumstances["precision"]) == (backend.precision, "fp32")
    assert np.abs(pixels(half) - pixels(full)).mean() < 6
    assert np.abs(pixels(again) - pixels(full)).mean() < 2
    # Some text encoders keep a part in fp32 whatever the rest is.
    assert precisions(backend) == before and len(set(before.values())) == 1 + (name in WITH_T5)


def precisions(backend: DiffusersPipeline) -> dict[str, Any]:
    parts = {name: part for name, part in backend.pipeline.components.items() if hasattr(part, "named_parameters")}
    return {f"{name} {key}": row.dtype for name, part in parts.items() for key, row in part.named_parameters()}


@pytest.mark.parametrize(
    ("name", "fits"),
    [
        ("StableDiffusionXLPipeline", 75),
        ("StableDiffusion3Pipeline", 256 - 2),
        ("FluxPipeline", 512 - 2),
        ("PixArtAlphaPipeline", 120 - 2),
        ("PixArtSigmaPipeline", 300 - 2),
        ("ChromaPipeline", 512 - 2),
        ("AuraFlowPipeline", 256 - 2),
        ("Lumina2Pipeline", 256 - LUMINA_AROUND),
        ("SanaPipeline", 300 - 2),
        ("ZImagePipeline", 512 - len("user: \n")),
        ("QwenImagePipeline", 512 - QWEN_AROUND),
    ],
)
def test_a_long_prompt_is_measured_by_what_its_family_reads(name: str, fits: int, folders: Folders) -> None:
    """Every letter is a token of its own in these vocabularies; begin, end, or a template take some more."""
    backend = load(folders(name))
    assert [backend.excess("a" * n) for n in (1, fits, fits + 1, fits + 12)] == [0, 0, 1, 12]
    if not FAMILIES[name].prompt_tokens:
        return
    assert load(folders(name), prompt_tokens=100).excess("a" * fits) == FAMILIES[name].prompt_tokens - 100
    [told] = backend.generate([ImageRequest("u0", "a" * 100, "", seed=1)])
    assert told.circumstances.get("clip_cut", 0) == (25 if FAMILIES[name].clips else 0)


def test_a_model_without_its_long_reader_is_measured_by_clip(tmp_path: Path) -> None:
    stable_diffusion_3(with_t5=False).save_pretrained(tmp_path)
    backend = load(tmp_path)
    assert [backend.excess("a" * n) for n in (75, 76)] == [0, 1]
    assert len(list(backend.generate(requests()))) == 4


def test_stable_diffusion_1_reads_what_clip_reads(folders: Folders) -> None:
    with pytest.raises(BackendError, match=r"prompt_tokens is 100\. Accepted for StableDiffusionPipeline: none"):
        load(folders("StableDiffusionPipeline"), prompt_tokens=100)


@pytest.mark.parametrize(
    ("name", "parameters", "sentence"),
    [
        ("FluxPipeline", {"prompt_tokens": 600}, "prompt_tokens is 600. Accepted for FluxPipeline: at most 512"),
        ("FluxPipeline", {"size": 34}, "multiple of 4 pixels"),
        ("QwenImagePipeline", {"precision": "fp16"}, "does not work in fp16. Accepted: fp32, bf16"),
        ("PixArtAlphaPipeline", {"scheduler": "EulerDiscretScheduler"}, "Did you mean .*EulerDiscreteScheduler"),
    ],
)
def test_what_a_family_cannot_do_is_said_before_its_weights_are_opened(
    name: str, parameters: dict[str, Any], sentence: str, folders: Folders
) -> None:
    folder = folders(name)
    with watched(folder) as opened, pytest.raises(BackendError, match=sentence):
        load(folder, **parameters)
    assert weights(opened) == set()


def test_what_is_drawn_during_the_steps_comes_from_the_images_own_generator(folders: Folders, tmp_path: Path) -> None:
    """Pipelines of flows hand their schedulers no generator."""
    folder = renamed(folders("FluxPipeline"), tmp_path, "scheduler/scheduler_config.json", stochastic_sampling=True)
    backend = load(folder)
    together = [pixels(result) for result in backend.generate(requests())]
    alone = [pixels(result) for request in requests() for result in backend.generate([request])]
    assert max(np.abs(one - other).max() for one, other in zip(together, alone, strict=True)) <= 1
    [plain] = load(folders("FluxPipeline")).generate(requests()[:1])
    assert np.abs(pixels(plain) - alone[0]).max() > 1, "nothing was drawn"


def weights(opened: set[str]) -> set[str]:
    return {name for name in opened if name.endswith((".safetensors", ".bin", ".msgpack"))}


def test_the_watch_sees_weights_that_are_opened(folders: Folders) -> None:
    with watched(folders("FluxPipeline")) as opened:
        load(folders("FluxPipeline"))
    assert weights(opened) == {"model.safetensors", "diffusion_pytorch_model.safetensors"}


def renamed(folder: Path, tmp_path: Path, file: str, **values: Any) -> Path:
    """A copy of a model that says of itself that it is another."""
    copy = Path(shutil.copytree(folder, tmp_path / "copy"))
    (copy / file).write_text(json.dumps({**json.loads((copy / file).read_text()), **values}))
    return copy


LLAVA, QWEN_VL = {"model_type": "llava"}, {"model_type": "qwen2_5_vl"}
BASE = {"architectures": ["LlamaModel"]}


@pytest.mark.parametrize(
    ("role", "backend", "build", "values", "sentence"),
    [
        ("vqa", "llava-next", save_llava, LLAVA, "of the family llava. Supported: llava_next"),
        ("vqa", "llava-next", save_llava, QWEN_VL, "of the family qwen2_5_vl. Supported: llava_next"),
        ("vqa", "llava-next", save_clip, {}, "of the family clip. Supported: llava_next"),
        ("vqa", "llava-next", "FluxPipeline", {}, "FluxPipeline, which draws images. Supported: llava_next"),
        ("encoder", "clip", save_llava, {}, "of the family llava_next. Supported: clip, siglip"),
        ("encoder", "clip", "FluxPipeline", {}, "FluxPipeline, which draws images. Supported: clip, siglip"),
        ("chat", "transformers", save_chat, QWEN_VL, "family qwen2_5_vl. .* Did you mean .*qwen"),
        ("chat", "transformers", save_chat, {"model_type": ["llama"]}, "of the family ..llama"),
        ("chat", "transformers", save_chat, BASE, "saved as LlamaModel, which writes no answers"),
        ("chat", "transformers", save_clip, {}, "of the family clip. "),
        (
            "image_generator",
            "diffusers",
            save_llava,
            {},
            "of the family llava_next. Supported: StableDiffusionPipeline,",
        ),
        ("image_generator", "diffusers", "FluxPipeline", {"_class_name": "FluxFillPipeline"}, "FluxFillPipeline. Supp"),
        ("image_generator", "diffusers", "FluxPipeline", {"_class_name": "WanPipeline"}, "WanPipeline. .*FluxPipeline"),
    ],
)
def test_an_unknown_family_is_refused_before_any_weight_file_is_opened(
    role: str,
    backend: str,
    build: Any,
    values: dict[str, Any],
    sentence: str,
    folders: Folders,
    tmp_path: Path,
) -> None:
    file = "model_index.json" if role == "image_generator" else "config.json"
    folder = folders(build) if isinstance(build, str) else build(tmp_path / "built")
    copy = renamed(folder, tmp_path, file, **values) if values else folder
    parameters = SETTINGS if role == "image_generator" else {}
    with watched(copy) as opened, pytest.raises(BackendError, match=sentence):
        backends.load_backend(model_at(copy, role, backend, **parameters))
    assert weights(opened) == set()


@pytest.mark.parametrize("content", ["", "[]", "{", "\x00"])
def test_a_damaged_index_is_named(content: str, folders: Folders, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(folders("FluxPipeline"), tmp_path / "copy"))
    (folder / "model_index.json").write_text(content)
    with pytest.raises(BackendError, match=r"model_index\.json"):
        load(folder)


def test_a_folder_without_a_description_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BackendError, match=r"holds no config\.json\. Supported: clip, siglip"):
        backends.load_backend(model_at(tmp_path, "encoder", "clip"))


def test_files_that_were_fetched_before_are_read_without_a_network(tmp_path: Path, settings: Any) -> None:
    settings.WEIGHTS_FOLDER = tmp_path
    snapshot = tmp_path / "models--maker--model" / "snapshots" / ("0" * 40)
    snapshot.mkdir(parents=True)
    (snapshot / "config.json").write_text('{"model_type": "clap"}')
    with pytest.raises(BackendError, match=r"of the family clap\. Supported: clip, siglip"):
        backends.load_backend(ModelData(1, "tiny", "encoder", "clip", "maker/model", "0" * 40, {}))


DAMAGED_INDEXES = (b"", b"[]", b"{}", b'{"weight_map": ["one"]}', b"\xff")


@pytest.mark.parametrize("content", DAMAGED_INDEXES)
def test_a_damaged_index_of_weight_files_is_named(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "model.safetensors.index.json").write_bytes(content)
    found = weight_files.of_weights(model_at(tmp_path, "encoder", "clip"), "model.safetensors")
    assert found == ["model.safetensors.index.json is damaged."]


HEADS = (b"", b"[]", b"{", b'{"a": {}}', b'{"a": {"data_offsets": [0]}}', b'{"a": {"data_offsets": "ab"}}')


@pytest.mark.parametrize("head", HEADS)
def test_a_weight_file_with_a_damaged_head_is_not_whole(head: bytes, tmp_path: Path) -> None:
    file = tmp_path / "model.safetensors"
    file.write_bytes(len(head).to_bytes(8, "little") + head)
    assert not weight_files.is_whole(file)


# What the command says of a model


def checked(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What `models check` says, whether or not it ends with an error."""
    capsys.readouterr()
    try:
        call_command("models", "check", *arguments)
    except CommandError as error:
        return f"{capsys.readouterr().out} {error}"
    return capsys.readouterr().out


def row(folder: Path, role: str, backend: str, **parameters: Any) -> str:
    make_model("tiny", role=role, backend=backend, identifier=str(folder), parameters=parameters)
    return "tiny"


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["StableDiffusionPipeline", "FluxPipeline", "SanaPipeline"])
def test_the_check_finds_a_whole_pipeline(name: str, folders: Folders, capsys: pytest.CaptureFixture[str]) -> None:
    slug = row(folders(name), "image_generator", "diffusers", **SETTINGS)
    assert f"tiny: backend diffusers, family {name}, images of 32 × 32 pixels.\n" == checked(capsys, slug)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("build", "role", "backend", "told"),
    [
        (
            save_clip,
            "encoder",
            "clip",
            CLIP_TOLD,
        ),
        (lambda folder: save_siglip(folder, second=True), "encoder", "clip", "family SigLIP 2, texts up to 64 tokens"),
        (save_llava, "vqa", "llava-next", "family llava_next"),
        (save_chat, "chat", "transformers", "family llama"),
    ],
)
def test_the_check_says_what_a_model_is_and_loads_it_when_told(
    build: Any, role: str, backend: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    slug = row(build(tmp_path), role, backend)
    assert told in (said := checked(capsys, slug)) and "loaded" not in said
    assert "loaded" in checked(capsys, slug, "--load")
    (tmp_path / "model.safetensors").unlink()
    assert "NOT USABLE. " in (said := checked(capsys, slug)) and "model.safetensors is missing." in said


@pytest.mark.django_db
def test_the_check_names_what_is_missing_or_cut_short(
    folders: Folders, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = Path(shutil.copytree(folders("FluxPipeline"), tmp_path / "copy"))
    (folder / "text_encoder" / "model.safetensors").unlink()
    (folder / "scheduler" / "scheduler_config.json").unlink()
    weights = folder / "transformer" / "diffusion_pytorch_model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-10])
    index = {"weight_map": {"a": "one.safetensors", "b": "two.safetensors"}}
    (folder / "text_encoder_2" / "model.safetensors").rename(folder / "text_encoder_2" / "one.safetensors")
    (folder / "text_encoder_2" / "model.safetensors.index.json").write_text(json.dumps(index))
    said = checked(capsys, row(folder, "image_generator", "diffusers", **SETTINGS))
    assert "text_encoder/model.safetensors is missing." in said
    assert "scheduler/scheduler_config.json is missing." in said
    assert "transformer/diffusion_pytorch_model.safetensors is not whole: fetch it again." in said
    assert "text_encoder_2/two.safetensors is missing." in said
    assert said.count("is missing") + said.count("not whole") == 4
    assert "1 of 1 cannot be used here." in said


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("identifier", "revision", "sentence"),
    [
        ("/nowhere/at-all", "", "There is no folder /nowhere/at-all on this machine"),
        ("maker/model", "0" * 40, "Nothing of maker/model 0000000000000000000000000000000000000000 is on this machine"),
        ("maker/model", "main", "not a commit"),
    ],
)
def test_the_check_fetches_nothing(
    identifier: str, revision: str, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    make_model("tiny", role="encoder", backend="clip", identifier=identifier, revision=revision)
    assert sentence in checked(capsys, "tiny")
