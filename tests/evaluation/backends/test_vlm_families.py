"""The backend for the library's vision-language models, on tiny random ones of six families.

Each is compared with the library's own classes, asked one question at a time with the image anew.
"""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from evaluation import backends
from evaluation.backends.image_decode import decode_image_bytes
from evaluation.backends.vlm.library import LibraryVisionModel
from evaluation.contracts.backend import Asked, BackendError, Question
from tests.evaluation.tiny_models import make_image_bytes, model_at, save_clip
from tests.evaluation.tiny_vlms import FAMILIES, save_tiny_vlm

pytestmark = pytest.mark.torch
LONG = "Look at the light, at the plate and at what lies on it, and then say of what the plate is made. " * 2
QUESTIONS = (
    Question("Food? A: Yes B: No. Answer:", ("A", "B")),
    Question(f"{LONG}Choices: A: Ceramic B: Glass C: Metal. Answer:", ("A", "B", "C")),
    Question("Where is it? A: Outdoors B: Indoors. Answer:", ("A", "B")),
    Question("?", ("A", "B")),
)
# Wide, tall, small, large: other numbers of tiles or tokens in each family that has any.
SIZES = ((40, 40), (90, 30), (30, 90), (64, 33))
NEW_TOKENS = 7


class OneByOne:
    """The library's own classes, one question at a time, the image anew each time."""

    def __init__(self, backend: LibraryVisionModel) -> None:
        self.network, self.processor = backend.network, backend.wording.processor  # type: ignore[attr-defined]

    def inputs(self, image: bytes, question: Question) -> dict[str, Any]:
        content = [{"type": "image"}, {"type": "text", "text": question.text}]
        text = self.processor.tokenizer.apply_chat_template(
            [{"role": "user", "content": content}], add_generation_prompt=True, tokenize=False
        )
        opened = Image.fromarray(decode_image_bytes(image))
        return dict(self.processor(images=[opened], text=[text], add_special_tokens=False, return_tensors="pt"))

    def probabilities(self, image: bytes, question: Question) -> np.ndarray:
        import torch

        with torch.inference_mode():
            row = self.network(**self.inputs(image, question), use_cache=False).logits[0, -1].double()
        ids = [self.processor.tokenizer.convert_tokens_to_ids(letter) for letter in question.letters]
        found: np.ndarray = row[ids].softmax(dim=0).numpy()
        return found

    def words(self, image: bytes, question: Question) -> str:
        import torch

        given = self.inputs(image, question)
        with torch.inference_mode():
            ids = self.network.generate(**given, do_sample=False, max_new_tokens=NEW_TOKENS)
        return str(
            self.processor.tokenizer.decode(ids[0, given["input_ids"].shape[1] :], skip_special_tokens=True)
        ).strip()


Loaded = Callable[[str], LibraryVisionModel]


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Loaded:
    @cache
    def load(family: str) -> LibraryVisionModel:
        folder = save_tiny_vlm(tmp_path_factory.mktemp(family), family, seed=1)
        return LibraryVisionModel(model_at(folder, "vqa", "transformers", most_new_tokens=NEW_TOKENS))

    return load


@pytest.mark.parametrize("family", FAMILIES)
def test_probabilities_are_those_of_asking_one_by_one(family: str, loaded: Loaded) -> None:
    backend = loaded(family)
    reference = OneByOne(backend)
    images = [make_image_bytes(*size, seed=size[0]) for size in SIZES]
    found = list(backend.answer([Asked(image, QUESTIONS) for image in images], "logits"))
    seen = set()
    for image, answers in zip(images, found, strict=True):
        for question, answer in zip(QUESTIONS, answers, strict=True):
            assert answer.probabilities == pytest.approx(reference.probabilities(image, question), abs=1e-4)
            seen.add(round(answer.probabilities[0], 3))
    assert len(seen) > len(QUESTIONS), "the image decides nothing"


@pytest.mark.parametrize("family", FAMILIES)
def test_words_are_those_of_asking_one_by_one(family: str, loaded: Loaded) -> None:
    backend = loaded(family)
    reference = OneByOne(backend)
    images = [make_image_bytes(*size, seed=size[1]) for size in SIZES[:3]]
    # Not every image is asked as much as the others.
    asked = [Asked(images[0], QUESTIONS), Asked(images[1], QUESTIONS[2:]), Asked(images[2], QUESTIONS[:3])]
    found = [[answer.text for answer in answers] for answers in backend.answer(asked, "generated")]
    wanted = [[reference.words(each.image, question) for question in each.questions] for each in asked]
    assert found == wanted
    assert len({text for texts in found for text in texts}) > 2


@pytest.mark.parametrize("family", FAMILIES)
def test_the_check_names_the_family(family: str, loaded: Loaded) -> None:
    folder = Path(loaded(family).network.config._name_or_path)
    assert backends.inspect_model(model_at(folder, "vqa", "transformers")) == [f"family {family}"]


def test_another_family_is_refused_with_the_supported_ones(tmp_path: Path) -> None:
    with pytest.raises(BackendError, match=r"of the family clip\. Supported: gemma3, internvl, llava_next"):
        backends.load_backend(model_at(save_clip(tmp_path), "vqa", "transformers"))
