"""The vision-language backend on a tiny random LLaVA-NeXT: the same answers as asking one question after another."""

import io
import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from evaluation import backends
from evaluation.backends.image_decode import decode_image_bytes
from evaluation.backends.vlm.backend import VisionLanguageModel
from evaluation.backends.vlm.packing import pack_questions
from evaluation.backends.vlm.tiling import parse_tiling_config
from evaluation.contracts.backend import Asked, BackendError, DeviceMemoryError, Question
from tests.evaluation.tiny_models import make_image_bytes, model_at, save_clip, save_llava

pytestmark = pytest.mark.torch
LETTERS = ("A", "B", "C", "D")
QUESTIONS = tuple(
    Question(f"Question: {text} Choices: {options}. Answer:", LETTERS[: options.count(":")])
    for text, options in (
        ("Is this food?", "A: Yes B: No"),
        ("What is the plate made of?", "A: Ceramic B: Glass C: Metal D: Wood"),
        ("Where is it?", "A: Outdoors B: Indoors"),
        ("Is there a person in the image, or a part of one?", "A: Yes B: No"),
        ("How is the light?", "A: Natural B: Low C: Mixed"),
    )
)
SIZES = ((32, 32), (40, 40), (60, 20), (20, 60), (16, 16), (90, 31), (33, 64), (100, 20), (20, 100))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_llava(tmp_path_factory.mktemp("llava"))


@pytest.fixture(scope="module")
def backend(folder: Path) -> VisionLanguageModel:
    return VisionLanguageModel(model_at(folder, "vqa", "llava-next", most_new_tokens=6))


@pytest.fixture(scope="module")
def reference(folder: Path) -> "Reference":
    return Reference(folder)


class Reference:
    """The library's own classes, one question at a time, the image anew each time."""

    def __init__(self, folder: Path) -> None:
        from transformers import (
            AutoTokenizer,
            LlavaNextForConditionalGeneration,
            LlavaNextImageProcessorPil,
            LlavaNextProcessor,
        )

        self.network = LlavaNextForConditionalGeneration.from_pretrained(folder)
        self.images = LlavaNextImageProcessorPil.from_pretrained(folder)
        self.processor = LlavaNextProcessor(
            self.images,
            AutoTokenizer.from_pretrained(folder),
            patch_size=4,
            vision_feature_select_strategy="default",
            num_additional_image_tokens=1,
        )

    def inputs(self, image: bytes, question: Question) -> dict[str, Any]:
        rendered = f"user: <image>\n{question.text}\nassistant:"
        opened = Image.fromarray(decode_image_bytes(image))
        return dict(self.processor(images=opened, text=rendered, return_tensors="pt"))

    def probabilities(self, image: bytes, question: Question, tiles: Any = None) -> np.ndarray:
        """`tiles`: instead of those that the library's own image processor makes."""
        import torch

        given = self.inputs(image, question)
        if tiles is not None:
            given["pixel_values"] = tiles[None]
        with torch.inference_mode():
            row = self.network(**given, use_cache=False).logits[0, -1].double()
        ids = [self.processor.tokenizer.convert_tokens_to_ids(letter) for letter in question.letters]
        found: np.ndarray = row[ids].softmax(dim=0).numpy()
        return found

    def words(self, image: bytes, question: Question, most: int) -> str:
        import torch

        given = self.inputs(image, question)
        with torch.inference_mode():
            ids = self.network.generate(**given, do_sample=False, max_new_tokens=most)
        made = ids[0, given["input_ids"].shape[1] :]
        return str(self.processor.tokenizer.decode(made, skip_special_tokens=True)).strip()


def probabilities(
    backend: VisionLanguageModel, image: bytes, questions: Sequence[Question] = QUESTIONS
) -> list[tuple[float, ...]]:
    [answers] = backend.answer([Asked(image, tuple(questions))], "logits")
    return [answer.probabilities for answer in answers]


@pytest.mark.parametrize("size", SIZES)
def test_tiles_are_those_of_the_makers_code(
    backend: VisionLanguageModel, reference: Reference, size: tuple[int, int]
) -> None:
    import torch

    pixels = decode_image_bytes(make_image_bytes(*size))
    found = backend.tiling.tiles(torch.from_numpy(pixels.copy())).numpy()
    wanted = np.asarray(reference.images(Image.fromarray(pixels), return_tensors="np")["pixel_values"][0])
    assert found.shape == wanted.shape
    difference = np.abs(found - wanted) * min(backend.tiling.deviation) * 255
    # Pillow 13 makes some tall images lower before it makes them narrower, which rounds otherwise.
    tall = size[1] > size[0]
    assert difference.max() < (13 if tall else 1.3)
    assert (difference > 0.5).mean() < (0.35 if tall else 0.25)
    assert difference.mean() < 0.5


@pytest.mark.parametrize("size", SIZES)
def test_probabilities_are_those_of_asking_one_by_one(
    backend: VisionLanguageModel, reference: Reference, size: tuple[int, int]
) -> None:
    import torch

    image = make_image_bytes(*size, seed=size[0])
    tiles = backend.tiling.tiles(torch.from_numpy(decode_image_bytes(image).copy()))
    for question, found in zip(QUESTIONS, probabilities(backend, image), strict=True):
        assert len(found) == len(question.letters)
        assert sum(found) == pytest.approx(1)
        assert found == pytest.approx(reference.probabilities(image, question, tiles), abs=1e-4)
        # The library's own preparation, from which pixels differ by a grey level where an image is resized.
        assert found == pytest.approx(reference.probabilities(image, question), abs=1e-2)


@pytest.mark.parametrize("window", [None, 4096])
def test_other_language_models_answer_one_by_one_alike(tmp_path: Path, window: int | None) -> None:
    folder = save_llava(tmp_path, seed=3, language="MistralConfig", sliding_window=window)
    backend, reference = VisionLanguageModel(model_at(folder, "vqa", "llava-next")), Reference(folder)
    image = make_image_bytes(32, 32, seed=4)
    for question, found in zip(QUESTIONS, probabilities(backend, image), strict=True):
        assert found == pytest.approx(reference.probabilities(image, question), abs=1e-4)


def test_a_model_that_looks_back_less_far_than_the_image_answers_one_by_one_alike(tmp_path: Path) -> None:
    folder = save_llava(tmp_path, seed=5, language="MistralConfig", sliding_window=60)
    backend = VisionLanguageModel(model_at(folder, "vqa", "llava-next", most_new_tokens=6))
    reference, image = Reference(folder), make_image_bytes(32, 32, seed=4)
    for question, found in zip(QUESTIONS, probabilities(backend, image), strict=True):
        assert found == pytest.approx(reference.probabilities(image, question), abs=1e-4)
    [answers] = backend.answer([Asked(image, QUESTIONS)], "generated")
    assert [answer.text for answer in answers] == [reference.words(image, question, 6) for question in QUESTIONS]


def test_the_shared_beginning_changes_nothing(backend: VisionLanguageModel) -> None:
    image = make_image_bytes(60, 40)
    together = probabilities(backend, image)
    alone = [probabilities(backend, image, [question])[0] for question in QUESTIONS]
    for one, other in zip(together, alone, strict=True):
        assert one == pytest.approx(other, abs=1e-4)
    assert together[0] != pytest.approx(together[2], abs=1e-3), "two questions have the same answer by chance"


def test_the_order_of_the_questions_changes_nothing(backend: VisionLanguageModel) -> None:
    image = make_image_bytes(31, 90)
    turned = probabilities(backend, image, QUESTIONS[::-1])[::-1]
    for one, other in zip(probabilities(backend, image), turned, strict=True):
        assert one == pytest.approx(other, abs=1e-4)


def test_another_image_gives_another_answer(backend: VisionLanguageModel) -> None:
    one, other = (probabilities(backend, make_image_bytes(40, 40, seed=seed)) for seed in (1, 2))
    assert max(abs(np.subtract(a, b)).max() for a, b in zip(one, other, strict=True)) > 1e-3


def test_answers_in_words_are_those_of_the_library(backend: VisionLanguageModel, reference: Reference) -> None:
    # Exactly as large as the tiles want it: no pixel differs, so no token may.
    image = make_image_bytes(32, 32, seed=5)
    [answers] = backend.answer([Asked(image, QUESTIONS)], "generated")
    assert [answer.text for answer in answers] == [reference.words(image, question, 6) for question in QUESTIONS]
    assert len({answer.text for answer in answers}) > 1


def test_many_questions_go_through_in_parts(folder: Path, backend: VisionLanguageModel) -> None:
    narrow = VisionLanguageModel(model_at(folder, "vqa", "llava-next", most_new_tokens=6, tokens_at_once=130))
    assert len(list(narrow.parts(QUESTIONS))) > 1
    image = make_image_bytes(50, 20)
    for one, other in zip(probabilities(narrow, image), probabilities(backend, image), strict=True):
        assert one == pytest.approx(other, abs=1e-4)
    asked = [Asked(image, QUESTIONS)]
    [parted], [whole] = narrow.answer(asked, "generated"), backend.answer(asked, "generated")
    assert [answer.text for answer in parted] == [answer.text for answer in whole]


def test_several_images_each_have_their_answers(backend: VisionLanguageModel) -> None:
    images = [make_image_bytes(*size, seed=number) for number, size in enumerate(SIZES)]
    found = list(backend.answer([Asked(image, QUESTIONS[:2]) for image in images], "logits"))
    for image, answers in zip(images, found, strict=True):
        alone = probabilities(backend, image, QUESTIONS[:2])
        assert [answer.probabilities for answer in answers] == [pytest.approx(row, abs=1e-4) for row in alone]


def test_an_answer_ends_where_the_model_ends_it(backend: VisionLanguageModel, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = [Asked(make_image_bytes(40, 40), QUESTIONS)]
    [long] = backend.answer(asked, "generated")
    first = backend.tokenizer(long[0].text[:1])["input_ids"][0]
    monkeypatch.setattr(backend, "ends", lambda: frozenset([first]))
    [short] = backend.answer(asked, "generated")
    assert short[0].text == ""
    for one, other in zip(short, long, strict=True):
        assert other.text.startswith(one.text) or one.text == ""


def test_half_precision_is_near_the_full_one_and_said(folder: Path, backend: VisionLanguageModel) -> None:
    half = VisionLanguageModel(model_at(folder, "vqa", "llava-next", precision="bf16"))
    [answers] = half.answer([Asked(make_image_bytes(40, 40), QUESTIONS)], "logits")
    assert answers[0].circumstances["precision"] == "bf16"
    assert answers[0].circumstances["preprocessing"] == "decode-1 pillow-like-1 bicubic tiles 16"
    for answer, row in zip(answers, probabilities(backend, make_image_bytes(40, 40)), strict=True):
        assert answer.probabilities == pytest.approx(row, abs=0.1)


def test_a_broken_image_costs_no_answers_about_the_one_before(backend: VisionLanguageModel) -> None:
    whole = make_image_bytes(40, 40)
    found = backend.answer([Asked(whole, QUESTIONS), Asked(whole[:200], QUESTIONS)], "logits")
    assert [answer.probabilities for answer in next(found)] == probabilities(backend, whole)
    with pytest.raises((OSError, ValueError)):
        next(found)


@pytest.mark.parametrize("content", [b"", b"<svg/>", make_image_bytes()[:200]])
def test_what_is_no_image_is_refused(backend: VisionLanguageModel, content: bytes) -> None:
    with pytest.raises((OSError, ValueError)):
        list(backend.answer([Asked(content, QUESTIONS)], "logits"))


def test_a_question_that_brings_an_image_along_is_refused(backend: VisionLanguageModel) -> None:
    with pytest.raises(ValueError, match="exactly one place"):
        probabilities(backend, make_image_bytes(), [Question("What is <image>?", ("A", "B"))])


def test_letters_that_begin_alike_cannot_be_read(backend: VisionLanguageModel) -> None:
    with pytest.raises(BackendError, match="distinguished"):
        probabilities(backend, make_image_bytes(), [Question("Which?", ("A", "AB"))])


def test_an_image_without_questions_is_no_work(backend: VisionLanguageModel) -> None:
    assert list(backend.answer([Asked(make_image_bytes(), ())], "logits")) == [[]]


def test_memory_that_does_not_suffice_is_told(backend: VisionLanguageModel, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    def full(*_: object) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB.")

    monkeypatch.setattr(backend, "shared", full)
    with pytest.raises(DeviceMemoryError):
        probabilities(backend, make_image_bytes())


def test_another_family_says_so(tmp_path: Path) -> None:
    with pytest.raises(BackendError):
        backends.load_backend(model_at(save_clip(tmp_path), "vqa", "llava-next"))


def test_a_template_of_the_older_form_is_found(folder: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(folder, tmp_path / "older"))
    text = (copy / "chat_template.jinja").read_text()
    (copy / "chat_template.jinja").unlink()
    with pytest.raises(BackendError, match="chat template"):
        backends.load_backend(model_at(copy, "vqa", "llava-next"))
    (copy / "chat_template.json").write_text(json.dumps({"chat_template": text}))
    # As language models bring it along that were trained without images.
    (copy / "chat_template.jinja").write_text("{{ messages[0]['content'] }}")
    found = backends.load_backend(model_at(copy, "vqa", "llava-next"))
    assert found.wording.rendered("Yes?") == "user: <image>\nYes?\nassistant:"


def test_an_image_may_be_of_any_mode(backend: VisionLanguageModel) -> None:
    grey = io.BytesIO()
    Image.new("LA", (30, 40), (200, 10)).save(grey, "PNG")
    assert len(probabilities(backend, grey.getvalue())) == len(QUESTIONS)


def test_a_question_without_tokens_is_refused() -> None:
    with pytest.raises(ValueError, match="no tokens"):
        pack_questions([[1, 2], []], "cpu")


@pytest.mark.parametrize(
    ("values", "places", "sentence"),
    [
        ({"resample": 0}, [[16, 32]], "not known here"),
        ({"crop_size": {}, "size": {}}, [[16, 32]], "not known here"),
        ({"do_normalize": False}, [[16, 32]], "not known here"),
        ({}, [[16, 30]], "no multiples of the tiles' 16 pixels"),
        ({}, [], "no multiples of the tiles' 16 pixels"),
    ],
)
def test_tiles_that_are_made_in_another_way_are_refused(
    values: dict[str, Any], places: list[list[int]], sentence: str
) -> None:
    config = {"crop_size": {"height": 16}, "image_mean": [0.5] * 3, "image_std": [0.5] * 3, **values}
    with pytest.raises(BackendError, match=sentence):
        parse_tiling_config(config, places)
