"""Own words that nobody read: nothing of them is left, and tables count the same."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from review.redacted_words import LATIN, OTHER, STAYING, redact_text
from review.unappetising import (
    FORMS,
    NEGATIONS,
    PUBLISHED_WORDS,
    WORD,
    better_words,
    published_word,
    reads_as_english,
)

TEXTS = [
    "Amina Yusuf of Kano, 0803 555 12 34, says it is grossly ugly",
    "not burnt, but the groß plate isn't dirty",
    "but1 burnt and but_x not a b burnt",
    "مرحبا بالعالم disgusting",
    "👍",
    "burnt²",
]
PIECES = st.sampled_from(
    [
        *PUBLISHED_WORDS,
        *FORMS["dirt"],
        *NEGATIONS,
        "the",
        "is",
        "la",
        "é",
        "Amina",
        "ß",
        " ",
        ". ",
        "1",
        "_",
        "isn't",
        "dirtgross",
    ]
)


def same(text: str) -> bool:
    """Whether every rule says the same of the hidden text."""
    found = redact_text(text)
    published = all(published_word(word, found) == published_word(word, text) for word in PUBLISHED_WORDS)
    alike = better_words(found) == better_words(text) and reads_as_english(found) == reads_as_english(text)
    return published and alike and bool(found) == bool(text)


@pytest.mark.parametrize("text", TEXTS)
def test_tables_count_the_same(text: str) -> None:
    assert same(text)


@given(st.lists(PIECES, max_size=12).map("".join))
def test_tables_count_the_same_of_words_put_together(text: str) -> None:
    assert same(text)


@given(st.text(max_size=60))
def test_tables_count_the_same_of_any_text(text: str) -> None:
    assert same(text)


def test_only_words_of_the_lists_are_left() -> None:
    assert redact_text(TEXTS[0]) == "x x of x _ _ _ _ x it is xgrossx ugly"


@given(st.text(max_size=60))
def test_nothing_is_left_that_somebody_could_be_known_by(text: str) -> None:
    left = {word.strip(LATIN + OTHER) for word in WORD.findall(redact_text(text))}
    assert all(word in STAYING or word in PUBLISHED_WORDS or not word for word in left)
    assert not any(sign.isdigit() for sign in redact_text(text))


def test_the_signs_are_no_words_of_a_list() -> None:
    assert {LATIN, OTHER}.isdisjoint(STAYING)
