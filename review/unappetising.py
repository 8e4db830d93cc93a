"""Words in a review by which the paper calls a picture unappetising (World Wide recipe, Table 3)."""

from collections.abc import Iterable, Mapping
from typing import Any

from review.questionnaires import questions

PUBLISHED_WORDS = (
    "gross",
    "vomit",
    "disgusting",
    "rotten",
    "ugly",
    "burnt",
    "burned",
    "unappealing",
    "poop",
    "dung",
    "stale",
    "trash",
    "dirt",
    "horrible",
    "hideous",
    "unappetising",
)


def text_codes(definition: Mapping[str, Any]) -> tuple[str, ...]:
    """Codes of the questions that are answered in one's own words."""
    return tuple(question.code for question in questions(definition) if question.kind == "text")


def as_published(texts: Iterable[str]) -> bool:
    """Whether a word of the published list is part of a text, upper or lower case: `dirt` is found in *dirty*.

    British spelling only, no negation, English only: as the paper did it, no better.
    """
    return any(word in text.casefold() for text in texts for word in PUBLISHED_WORDS)
