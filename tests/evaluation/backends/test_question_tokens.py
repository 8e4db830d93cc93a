"""Questions as tokens, with the kinds of tokenizers that language models have."""

from typing import Any

import pytest

from evaluation.backends.vlm.prompts import Wording
from evaluation.contracts.backend import BackendError, Question
from tests.evaluation.tiny_models import LLAVA_TEMPLATE, letters_tokenizer

pytestmark = pytest.mark.torch
FOOD = Question("Is this food?", ("A", "B"))


def wording(tokenizer: Any, template: str = LLAVA_TEMPLATE) -> Wording:
    return Wording(tokenizer, template, tokenizer.convert_tokens_to_ids("<image>"))


def with_spaces(*merged: tuple[str, str]) -> Any:
    """Letters with and without the space before them, `▁A` and `A`, as in the tokenizers of Llama and Mistral."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    merges = [("▁", letter) for letter in "ABC"] + list(merged)
    pieces = [chr(code) for code in range(32, 127)] + ["▁", "\n", *("".join(pair) for pair in merges)]
    made = Tokenizer(models.BPE(vocab={piece: place for place, piece in enumerate(pieces)}, merges=merges))
    made.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first", split=False)
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=made, eos_token="</s>")
    tokenizer.add_special_tokens({"additional_special_tokens": ["<image>"]})
    return tokenizer


def beginning(tokenizer: Any) -> Any:
    """The tokenizer, which now puts its own token before every text."""
    from tokenizers import processors

    tokenizer.add_special_tokens({"bos_token": "<s>"})
    made = tokenizer.backend_tokenizer
    made.post_processor = processors.TemplateProcessing(
        single="<s> $A", pair="<s> $A $B", special_tokens=[("<s>", tokenizer.bos_token_id)]
    )
    return tokenizer


def test_the_image_stands_where_the_template_puts_it() -> None:
    tokenizer = letters_tokenizer()
    made = wording(tokenizer)
    assert tokenizer.decode(made.before) == "user: "
    assert tokenizer.decode(made.after("Yes?")) == "\nYes?\nassistant:"


@pytest.mark.parametrize("written", ["", "<s>"])
def test_the_token_that_begins_a_text_stands_there_once(written: str) -> None:
    tokenizer = beginning(letters_tokenizer())
    made = wording(tokenizer, written + LLAVA_TEMPLATE)
    assert tokenizer.decode(made.before) == "<s>user: "
    assert made.before.count(tokenizer.bos_token_id) == 1


def test_a_letter_is_read_with_its_space_and_without() -> None:
    tokenizer = with_spaces()
    found = [tokenizer.convert_ids_to_tokens(list(ways)) for ways in wording(tokenizer).ways(FOOD)]
    assert [set(tokens) for tokens in found] == [{"A", "▁A"}, {"B", "▁B"}]


def test_a_lone_space_tells_no_letters_apart() -> None:
    # Byte by byte a space is a token of its own, with which an answer by any letter may begin.
    tokenizer = letters_tokenizer()
    found = [tokenizer.convert_ids_to_tokens(list(ways)) for ways in wording(tokenizer).ways(FOOD)]
    assert found == [["A"], ["B"]]


@pytest.mark.parametrize("letters", [("A", "B"), ("AC", "BD")])
def test_a_letter_that_melts_into_the_end_of_the_question_is_read_with_its_space(letters: tuple[str, ...]) -> None:
    tokenizer = with_spaces((":", "A"), (":", "B"))
    ways = wording(tokenizer).ways(Question("Is this food?", letters))
    found = [tokenizer.convert_ids_to_tokens(list(of_one)) for of_one in ways]
    assert found == [["▁A"], ["▁B"]]


def test_letters_that_begin_alike_are_refused() -> None:
    with pytest.raises(BackendError, match="distinguished"):
        wording(letters_tokenizer()).ways(Question("Which?", ("A", "AB")))


def test_a_free_question_has_no_letters() -> None:
    with pytest.raises(ValueError, match="without options"):
        wording(letters_tokenizer()).ways(Question("Which dish is this?"))


@pytest.mark.parametrize("template", ["{{ messages[0]['content'][1]['text'] }}", "<image><image>"])
def test_a_template_without_one_place_for_the_image_is_refused_at_once(template: str) -> None:
    with pytest.raises(BackendError, match="exactly one place"):
        wording(letters_tokenizer(), template)


def test_a_template_that_puts_the_question_first_is_refused() -> None:
    made = wording(letters_tokenizer(), "{{ messages[0]['content'][1]['text'] }}<image>")
    with pytest.raises(BackendError, match="changes with the question"):
        made.after("Is this food?")
