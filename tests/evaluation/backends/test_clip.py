"""The encoder backend on tiny random models: as the makers' own code gives it, in any batch, and saved once."""

import io
import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from evaluation import backends, content_store
from evaluation.backends import image_resize
from evaluation.backends.clip import ClipEncoder
from evaluation.backends.image_decode import Stack, decode_image_bytes, decode_stacks
from evaluation.contracts.backend import BackendError, DeviceMemoryError
from evaluation.contracts.study import ModelData
from evaluation.models import Embedding, Outcome, Run
from evaluation.readers.image_decode import decode_pixels, read_header
from evaluation.runner import create_run, process_run
from tests.evaluation.make import make_image, make_model, make_subject
from tests.evaluation.tiny_models import make_image_bytes, model_at, save_clip, save_siglip

pytestmark = pytest.mark.torch
TEXTS = ["a photo of fresh food.", "a photo of dirty food.", "weird", "jollof, with plantain"]
FAMILIES = ("clip", "siglip", "siglip2")


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_clip(tmp_path_factory.mktemp("clip"))


@pytest.fixture(scope="module")
def siglip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_siglip(tmp_path_factory.mktemp("siglip"))


@pytest.fixture(scope="module")
def siglip2(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_siglip(tmp_path_factory.mktemp("siglip2"), second=True)


def images() -> list[bytes]:
    sizes = [(96, 64), (64, 96), (96, 64), (33, 32), (200, 32), (32, 32)]
    return [make_image_bytes(*size, seed=seed) for seed, size in enumerate(sizes)]


def as_the_makers(folder: Path, content: bytes) -> np.ndarray:
    """The vector by the library's own classes, one image at a time."""
    import torch
    from transformers import AutoModel, CLIPImageProcessorPil, SiglipImageProcessorPil

    network = AutoModel.from_pretrained(folder)
    kind = CLIPImageProcessorPil if network.config.model_type == "clip" else SiglipImageProcessorPil
    with Image.open(io.BytesIO(content)) as image, torch.inference_mode():
        values = kind.from_pretrained(folder)(image.convert("RGB"), return_tensors="pt")
        found = network.get_image_features(**values)
    vector: np.ndarray = getattr(found, "pooler_output", found)[0].numpy()
    return vector


def cosines(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    found: np.ndarray = (one * other).sum(axis=1) / np.linalg.norm(one, axis=1) / np.linalg.norm(other, axis=1)
    return found


@pytest.mark.parametrize("family", FAMILIES)
def test_vectors_of_images_are_those_of_the_makers_code(family: str, request: pytest.FixtureRequest) -> None:
    folder = request.getfixturevalue(family)
    found = ClipEncoder(model_at(folder, "encoder", "clip")).encode_images(images())
    wanted = np.stack([as_the_makers(folder, content) for content in images()])
    assert found.dtype == np.float32
    assert cosines(found, wanted) == pytest.approx(1, abs=1e-4)
    assert np.abs(found - wanted).max() < 0.01 * np.abs(wanted).max()


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("form", ["PNG", "JPEG", "WEBP"])
def test_prepared_pixels_lie_within_a_grey_level_of_the_reference(
    family: str, form: str, request: pytest.FixtureRequest
) -> None:
    import torch
    from transformers import CLIPImageProcessorPil, SiglipImageProcessorPil

    folder = request.getfixturevalue(family)
    kind = CLIPImageProcessorPil if family == "clip" else SiglipImageProcessorPil
    encoder = ClipEncoder(model_at(folder, "encoder", "clip"))
    for size in ((96, 64), (64, 97), (333, 250), (20, 31), (32, 32)):
        pixels = decode_image_bytes(make_image_bytes(*size, form=form))
        reference = kind.from_pretrained(folder)(Image.fromarray(pixels), return_tensors="np")["pixel_values"][0]
        found = encoder.preparation.prepared(torch.from_numpy(pixels.copy())[None], "cpu")[0].numpy()
        assert found.shape == reference.shape
        level = np.array(encoder.preparation.deviation).min() * 255
        difference = np.abs(found - reference) * level
        assert difference.max() < 1.3, size
        # A reduction to exactly half lies on the edge between two levels at about a fifth of all pixels.
        assert (difference > 0.5).mean() < 0.25, size


@pytest.mark.parametrize("family", FAMILIES)
def test_texts_have_the_tokens_and_vectors_of_the_librarys_processor(
    family: str, request: pytest.FixtureRequest
) -> None:
    import torch
    from transformers import AutoModel

    folder = request.getfixturevalue(family)
    network, encoder = AutoModel.from_pretrained(folder), ClipEncoder(model_at(folder, "encoder", "clip"))
    read = dict(as_processed(folder, family, TEXTS))
    ids = encoder.texts.ids(TEXTS)
    assert {name: rows.tolist() for name, rows in ids.items()} == {name: rows.tolist() for name, rows in read.items()}
    with torch.inference_mode():
        wanted = network.get_text_features(**read)
    assert encoder.encode_texts(TEXTS) == pytest.approx(getattr(wanted, "pooler_output", wanted).numpy(), abs=1e-5)
    # As in training, whatever the case. SigLIP's tokenizer takes signs away too.
    assert [encoder.texts.one(text.upper()) for text in TEXTS] == [encoder.texts.one(text) for text in TEXTS]
    assert (encoder.texts.one("fresh, food.") == encoder.texts.one("fresh food")) == (family == "siglip")
    # Vectors of texts that were prepared otherwise before never stand for these.
    assert encoder.preprocessing.endswith({"clip": " fp32"}.get(family, f" {family}-texts-1"))
    alone = np.concatenate([encoder.encode_texts([text]) for text in TEXTS])
    assert alone == pytest.approx(encoder.encode_texts(TEXTS), abs=1e-5)


def as_processed(folder: Path, family: str, texts: Sequence[str]) -> dict[str, Any]:
    """What the library's own processor makes of texts, called as the makers say."""
    import transformers

    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    if family == "siglip2":
        # Published with Gemma's tokenizer; this one adds what the training did.
        special = {"add_bos_token": False, "add_eos_token": True, "padding_side": "right"}
        tokenizer = transformers.Siglip2Tokenizer(vocab=tokenizer.get_vocab(), merges=[], **special)
    kind = transformers.CLIPProcessor if family == "clip" else transformers.SiglipProcessor
    images = transformers.SiglipImageProcessorPil.from_pretrained(folder)
    if family == "clip":
        images = transformers.CLIPImageProcessorPil.from_pretrained(folder)
    filled = {"padding": True} if family == "clip" else {"padding": "max_length", "max_length": 64}
    found = kind(images, tokenizer)(text=list(texts), return_tensors="pt", **filled)
    return {name: found[name] for name in ("input_ids", "attention_mask") if family == "clip" or name == "input_ids"}


def damaged(folder: Path, tmp_path: Path, name: str, values: dict[str, Any] | None) -> ModelData:
    """A copy of the model one of whose JSON files says something else; without values it is cut."""
    copy = Path(shutil.copytree(folder, tmp_path / "copy"))
    file, model = copy / name, model_at(copy, "encoder", "clip")
    if values is None:
        file.write_bytes(file.read_bytes()[:-100])
        return model
    held = json.loads(file.read_text())
    text = {"text_config": {**held["text_config"], **values.get("text_config", {})}} if "text_config" in held else {}
    file.write_text(json.dumps({**held, **values, **text}))
    return model


def around(begin: str, end: str) -> dict[str, Any]:
    """How a tokenizer's file says which tokens stand around a text."""
    numbers = {"<eos>": 1, "<bos>": 2}
    text = {"Sequence": {"id": "A", "type_id": 0}}
    ends = [{"SpecialToken": {"id": token, "type_id": 0}} for token in (begin, end)]
    special = {token: {"id": token, "ids": [numbers[token]], "tokens": [token]} for token in (begin, end)}
    whole = [ends[0], text, ends[1]]
    return {"type": "TemplateProcessing", "single": whole, "pair": whole, "special_tokens": special}


@pytest.mark.parametrize(
    ("family", "file", "values", "sentence"),
    [
        ("clip", "tokenizer_config.json", {"model_max_length": 40}, "CLIP was trained to: its tokenizer states .* 40"),
        ("siglip2", "tokenizer.json", {"post_processor": None}, "SigLIP 2 was trained to: .*not end with <eos>"),
        ("siglip2", "tokenizer.json", {"post_processor": around("<bos>", "<eos>")}, "does not begin with itself"),
        ("siglip2", "tokenizer_config.json", {"pad_token": "<eos>"}, "not filled up with <pad>"),
        ("siglip2", "tokenizer_config.json", {"padding_side": "left"}, "before their beginning"),
        ("siglip", "config.json", {"text_config": {"max_position_embeddings": 16}}, "it reads 16 tokens"),
        ("siglip", "tokenizer_config.json", {"tokenizer_class": "T5Tokenizer"}, "tokenizer T5Tokenizer is not known"),
        ("siglip", "config.json", {"model_type": "siglip2"}, "NaFlex"),
        ("clip", "tokenizer.json", None, "could not be loaded"),
        ("clip", "model.safetensors", None, "could not be loaded"),
        ("clip", "config.json", {"projection_dim": 24}, "could not be loaded"),
        ("clip", "preprocessor_config.json", {"image_mean": "grey"}, "could not be loaded"),
        ("clip", "preprocessor_config.json", {"crop_size": {"height": 64, "width": 64}}, "cropped to more than"),
        ("clip", "config.json", {"model_type": "clap"}, "family clap. Supported: clip, siglip"),
    ],
)
def test_an_encoder_that_would_read_texts_otherwise_than_in_training_is_refused(
    family: str, file: str, values: dict[str, Any] | None, sentence: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    with pytest.raises(BackendError, match=sentence):
        backends.load_backend(damaged(request.getfixturevalue(family), tmp_path, file, values))


@pytest.mark.parametrize("family", FAMILIES)
def test_a_vector_is_the_same_alone_and_in_any_batch(family: str, request: pytest.FixtureRequest) -> None:
    encoder = ClipEncoder(model_at(request.getfixturevalue(family), "encoder", "clip", at_once=4))
    together = encoder.encode_images(images())
    alone = np.concatenate([encoder.encode_images([content]) for content in images()])
    assert together == pytest.approx(alone, abs=1e-5)
    assert np.abs(together - np.roll(together, 1, axis=0)).min(axis=1).max() > 1e-4, "all vectors are alike"


def test_images_in_memory_are_scored_without_decoding(clip: Path) -> None:
    encoder = ClipEncoder(model_at(clip, "encoder", "clip"))
    assert np.array_equal(
        encoder.encode_pixels([decode_image_bytes(content) for content in images()]),
        encoder.encode_images(images()),
    )


def test_half_precision_is_near_the_full_one_and_never_taken_for_it(clip: Path) -> None:
    full, half = (ClipEncoder(model_at(clip, "encoder", "clip", precision=name)) for name in ("fp32", "bf16"))
    assert cosines(full.encode_images(images()), half.encode_images(images())).min() > 0.999
    assert full.preprocessing != half.preprocessing
    assert half.circumstances["precision"] == "bf16"
    assert half.encode_images(images()).dtype == np.float32


def test_nothing_gives_no_vectors_of_the_right_width(clip: Path) -> None:
    encoder = ClipEncoder(model_at(clip, "encoder", "clip"))
    assert encoder.encode_images([]).shape == encoder.encode_texts([]).shape == (0, 16)


@pytest.mark.parametrize("mode", ["L", "P", "RGBA", "1"])
def test_images_of_every_mode_become_three_colours(mode: str) -> None:
    assert decode_image_bytes(make_image_bytes(40, 30, mode=mode)).shape == (30, 40, 3)


@pytest.mark.parametrize("content", [b"", b"<svg/>", make_image_bytes()[:200]])
def test_what_is_no_image_is_refused_and_never_made_up(clip: Path, content: bytes) -> None:
    with pytest.raises((OSError, ValueError)):
        ClipEncoder(model_at(clip, "encoder", "clip")).encode_images([make_image_bytes(), content])


def test_decoding_in_parallel_keeps_the_order() -> None:
    contents = [make_image_bytes(20 + number, 20) for number in range(30)]
    parts = list(decode_stacks([*contents, contents[3]], 31, "cpu"))
    assert [len(part) for part in parts] == [30]
    found = {place: stack.pixels[row] for stack in parts[0] for row, place in enumerate(stack.places)}
    assert sorted(found) == list(range(31))
    assert all(
        np.array_equal(found[place], decode_image_bytes(contents[place % 30 if place < 30 else 3])) for place in found
    )
    assert [stack.places for part in decode_stacks(contents, 4, "cpu") for stack in part] == [[n] for n in range(30)]


@pytest.mark.parametrize(
    ("form", "mode"),
    [
        *(("PNG", mode) for mode in ("RGB", "L", "P", "RGBA", "I;16")),
        *((form, mode) for form in ("JPEG", "progressive") for mode in ("RGB", "L", "CMYK")),
        *(("WEBP", mode) for mode in ("RGB", "RGBA")),
    ],
)
def test_the_fast_decoder_gives_the_pixels_of_the_one_decode(form: str, mode: str) -> None:
    """The fast decoder is taken only where it gives the same pixels."""
    kind, options = ("JPEG", {"progressive": True}) if form == "progressive" else (form, {})
    stream = io.BytesIO()
    image = Image.fromarray(np.random.default_rng(3).integers(0, 256, (61, 83, 3), dtype=np.uint8))
    (image.convert("L") if mode == "I;16" else image).convert(mode).save(stream, kind, **options)
    wanted = decode_pixels(stream.getvalue())
    assert read_header(stream.getvalue()).plain == (mode == "RGB" and kind != "WEBP")
    assert np.array_equal(decode_image_bytes(stream.getvalue()), wanted)


@pytest.mark.parametrize("chunk", ["tRNS", "gAMA", "sixteen bits", "turned", "interlaced"])
def test_the_fast_decoder_does_with_odd_files_what_the_one_decode_does(chunk: str) -> None:
    content = peculiar(chunk)
    assert np.array_equal(decode_image_bytes(content), decode_pixels(content))


def peculiar(chunk: str) -> bytes:
    """A PNG or JPEG with something that a decoder could take as a reason to change pixels."""
    import cv2
    from PIL import PngImagePlugin

    pixels = np.random.default_rng(4).integers(0, 256, (40, 56, 3), dtype=np.uint8)
    if chunk == "sixteen bits":
        return bytes(cv2.imencode(".png", pixels.astype(np.uint16) * 251)[1].tobytes())
    stream, info = io.BytesIO(), PngImagePlugin.PngInfo()
    options: dict[str, object] = {}
    if chunk == "turned":
        exif = Image.Exif()
        exif[0x0112] = 6
        Image.fromarray(pixels).save(stream, "JPEG", exif=exif)
        return stream.getvalue()
    if chunk == "gAMA":
        info.add(b"gAMA", (100000).to_bytes(4, "big"))
    if chunk == "tRNS":
        options = {"transparency": tuple(int(value) for value in pixels[0, 0])}
    if chunk == "interlaced":
        options = {"interlace": 1}
    Image.fromarray(pixels).save(stream, "PNG", pnginfo=info, **options)
    return stream.getvalue()


def test_images_beyond_what_fits_at_once_are_prepared_in_parts(clip: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = ClipEncoder(model_at(clip, "encoder", "clip"))
    whole = encoder.encode_images(images())
    monkeypatch.setattr(image_resize, "PIXELS_AT_ONCE", 1)
    assert np.array_equal(encoder.encode_images(images()), whole)


def test_a_text_that_is_not_read_to_its_end_fails(clip: Path) -> None:
    with pytest.raises(ValueError, match="more than the 77 tokens"):
        ClipEncoder(model_at(clip, "encoder", "clip")).encode_texts(["food " * 30])


def test_memory_that_does_not_suffice_is_told_in_the_projects_words(
    clip: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    encoder = ClipEncoder(model_at(clip, "encoder", "clip"))

    def full(part: Sequence[Stack]) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB.")

    monkeypatch.setattr(encoder, "forward", full)
    with pytest.raises(DeviceMemoryError, match="CUDA out of memory"):
        encoder.encode_images(images())


@pytest.mark.parametrize(
    ("identifier", "revision", "sentence"),
    [
        ("openai/clip-vit-base-patch32", "", "not a commit"),
        ("openai/clip-vit-base-patch32", "main", "not a commit"),
        ("", "", "not a commit"),
    ],
)
def test_weights_that_could_change_are_not_loaded(identifier: str, revision: str, sentence: str) -> None:
    with pytest.raises(BackendError, match=sentence):
        backends.load_backend(ModelData(1, "clip", "encoder", "clip", identifier, revision, {}))


def test_a_precision_that_nobody_knows_names_the_known_ones(clip: Path) -> None:
    with pytest.raises(BackendError, match="bf16"):
        backends.load_backend(model_at(clip, "encoder", "clip", precision="bf61"))


def test_weights_that_could_run_code_are_not_loaded(clip: Path, tmp_path: Path) -> None:
    import torch

    folder = Path(shutil.copytree(clip, tmp_path / "pickled"))
    (folder / "model.safetensors").unlink()
    torch.save({}, folder / "pytorch_model.bin")
    with pytest.raises(BackendError, match="could not be loaded"):
        backends.load_backend(model_at(folder, "encoder", "clip"))


def test_an_encoder_without_a_vocabulary_is_refused(clip: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(clip, tmp_path / "copy"))
    (folder / "tokenizer.json").unlink()
    with pytest.raises(BackendError, match="knows no words"):
        backends.load_backend(model_at(folder, "encoder", "clip"))


def test_a_model_of_another_family_says_so(clip: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(clip, tmp_path / "other"))
    text = (folder / "preprocessor_config.json").read_text()
    (folder / "preprocessor_config.json").write_text(text.replace('"resample": 3', '"resample": 0'))
    with pytest.raises(BackendError, match="not known here"):
        backends.load_backend(model_at(folder, "encoder", "clip"))


@pytest.mark.django_db
def test_runs_store_each_vector_once_per_model_and_preprocessing(clip: Path) -> None:
    subject, images = make_subject(), Run.objects.create(study="generation", slug="pictures")
    rows = [
        make_image(
            subject, make_model("painter"), run=images, sha256=content_store.store_content(make_image_bytes(seed=n))
        )
        for n in (1, 2)
    ]
    make_model("tiny", role="encoder", backend="clip", identifier=str(clip))
    for number in (1, 2):
        run = create_run("association", {"images": images.slug, "encoder": "tiny"}, slug=f"vectors-{number}")
        process_run(run.pk, "tests")
        assert Outcome.objects.filter(unit__run=run, embedding__image__in=rows).count() == 2
    [first, second] = Embedding.objects.exclude(image=None).order_by("image")
    assert (first.dimensions, first.preprocessing) == (16, "decode-1 pillow-like-1 bicubic 32 crop 32x32 fp32")
    assert bytes(first.vector) != bytes(second.vector)
    told = Outcome.objects.filter(embedding=first).order_by("pk")[0].circumstances
    assert (told["precision"], told["card"]) == ("fp32", "processor")
