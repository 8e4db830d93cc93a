"""The backend for the library's vision-language models, on tiny random ones of six families.

Each is compared with the library's own classes, asked one question at a time with the image anew.
"""

import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from evaluation import backends
from evaluation.backends.image_decode import decode_image_bytes
from evaluation.backends.vlm.attention import attend_in_pass, attend_once, merge_attention
from evaluation.backends.vlm.fused_norms import fuse_norms
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
SIZES = ((40, 40), (90, 30), (30, 70))
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
    images = [make_image_bytes(*size, seed=size[1]) for size in SIZES]
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


# Parts of it


def test_two_sets_of_keys_are_attended_to_as_one() -> None:
    import torch

    torch.manual_seed(0)
    query = torch.randn(2, 4, 5, 8)
    keys, values = (torch.randn(2, 2, 12, 8) for _ in range(2))
    whole, _ = attend_once(query, keys, values, 0.3)
    parts = (attend_once(query, keys[:, :, part], values[:, :, part], 0.3) for part in (slice(0, 7), slice(7, None)))
    assert torch.allclose(merge_attention(*parts), whole, atol=1e-6)
    wanted = torch.nn.functional.scaled_dot_product_attention(query, keys, values, scale=0.3, enable_gqa=True)
    assert torch.allclose(whole, wanted, atol=1e-6)


def test_a_token_that_may_look_at_nothing_changes_nothing() -> None:
    import torch

    query, keys, values = (torch.randn(1, 2, 3, 8) for _ in range(3))
    nothing = attend_once(query, keys, values, 1.0, seen=torch.zeros(3, 3, dtype=torch.bool))
    assert nothing[0].abs().max() == 0
    own = attend_once(query, keys, values, 1.0, causal=True)
    assert torch.equal(merge_attention(nothing, own), own[0])


def test_attention_with_other_arithmetic_is_refused() -> None:
    with pytest.raises(BackendError, match="softcap, which is not supported"):
        attend_in_pass(None, *[np.zeros((1, 1, 1, 8))] * 3, softcap=30.0)  # type: ignore[arg-type]


def test_only_norms_that_stay_the_same_become_one_kernel() -> None:
    import torch
    from transformers.models.gemma3.modeling_gemma3 import Gemma3RMSNorm
    from transformers.models.llama.modeling_llama import LlamaRMSNorm

    plain, other = LlamaRMSNorm(64, eps=1e-3).bfloat16(), Gemma3RMSNorm(64).bfloat16()
    for norm in (plain, other):
        torch.nn.init.normal_(norm.weight)
    given = torch.randn(3, 64).bfloat16()
    wanted = plain(given).float()
    assert fuse_norms(torch.nn.ModuleList([plain, other, torch.nn.Linear(2, 2)])) == 1
    assert torch.allclose(plain(given).float(), wanted, rtol=2**-6, atol=2**-6)
    assert fuse_norms(torch.nn.ModuleList([plain])) == 0, "it is done once"


def test_a_grid_grows_with_what_it_must_hold(loaded: Loaded) -> None:
    backend = loaded("internvl")
    small, large = make_image_bytes(20, 20), make_image_bytes(90, 30)
    for image, questions in ((small, QUESTIONS[2:]), (large, QUESTIONS[:2]), (small, QUESTIONS[2:])):
        [together] = backend.answer([Asked(image, questions)], "generated")
        alone = [next(iter(next(iter(backend.answer([Asked(image, (each,))], "generated"))))) for each in questions]
        assert [answer.text for answer in together] == [answer.text for answer in alone]


def test_many_questions_about_several_images_go_through_in_parts(loaded: Loaded) -> None:
    backend = loaded("qwen2_vl")
    asked = [Asked(make_image_bytes(40, 30, seed=seed), QUESTIONS) for seed in (1, 2, 3)]
    whole = [list(backend.answer(asked, reading)) for reading in backend.readings]
    backend.tokens_at_once = 150
    try:
        assert len(list(backend.placed_parts([each.questions for each in asked]))) > 3
        parted = [list(backend.answer(asked, reading)) for reading in backend.readings]
    finally:
        backend.tokens_at_once = 4096
    assert [[each.text for each in answers] for answers in parted[0]] == [
        [each.text for each in answers] for answers in whole[0]
    ]
    for one, other in zip(parted[1], whole[1], strict=True):
        for answer, wanted in zip(one, other, strict=True):
            assert answer.probabilities == pytest.approx(wanted.probabilities, abs=1e-4)


def test_a_question_that_brings_an_image_along_is_refused(loaded: Loaded) -> None:
    with pytest.raises(ValueError, match="exactly one place"):
        list(
            loaded("qwen2_vl").answer([Asked(make_image_bytes(), (Question("<|image_pad|>?", ("A", "B")),))], "logits")
        )


def test_a_model_without_a_template_is_refused(loaded: Loaded, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(loaded("qwen2_vl").network.config._name_or_path, tmp_path / "copy"))
    (folder / "chat_template.jinja").unlink()
    with pytest.raises(BackendError, match="without a chat template"):
        backends.load_backend(model_at(folder, "vqa", "transformers"))


def test_weights_in_another_format_are_never_read(loaded: Loaded, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(loaded("qwen2_vl").network.config._name_or_path, tmp_path / "copy"))
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(BackendError, match="could not be loaded"):
        backends.load_backend(model_at(folder, "vqa", "transformers"))
    with pytest.raises(BackendError, match=r"model\.safetensors is missing"):
        backends.inspect_model(model_at(folder, "vqa", "transformers"))


def test_an_image_that_is_none_costs_no_answers_about_the_one_before(loaded: Loaded) -> None:
    backend, whole = loaded("internvl"), make_image_bytes(40, 40)
    found = backend.answer([Asked(whole, QUESTIONS), Asked(whole[:200], QUESTIONS)], "logits")
    assert len(list(next(found))) == len(QUESTIONS)
    with pytest.raises((OSError, ValueError)):
        next(found)
