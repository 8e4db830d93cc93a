"""What comes from outside, made fit for a row: any value becomes text or JSON that every database takes."""

import math
import unicodedata
from collections.abc import Mapping
from typing import Any

MOST_WORDS = 2000
MOST_ITEMS = 100
DEEPEST = 6
# Whole numbers beyond this are stored as text: JavaScript and SQLite lose digits of larger ones.
LARGEST = 2**53


def make_text_storable(text: str) -> str:
    """Text that every database takes: no NUL, no half of a surrogate pair. Otherwise as it was."""
    return text.replace("\x00", "\ufffd").encode("utf-8", "replace").decode()


def clean_foreign_text(value: Any, most: int = MOST_WORDS) -> str:
    """Words of somebody else as one readable text of at most `most` characters: control characters become spaces.

    Values that are no text are empty.
    """
    if not isinstance(value, str):
        return ""
    shown = make_text_storable(value[: most * 4])
    shown = "".join(" " if unicodedata.category(letter) == "Cc" and letter != "\n" else letter for letter in shown)
    return truncate_text(shown.strip(), most)


def truncate_text(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def parse_finite_number(value: Any) -> float | None:
    """The value where it is a finite number that is not absurdly large; a truth value is none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if -LARGEST <= value <= LARGEST and math.isfinite(value) else None


def convert_to_plain_json(value: Any, depth: int = 0) -> Any:
    """The value as JSON that every database takes. What is too deep or too long is left out, numbers that are none
    and whole numbers that are too large become text."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        return value if parse_finite_number(value) is not None else truncate_text(repr_of(value), 60)
    if isinstance(value, str):
        return truncate_text(make_text_storable(value), MOST_WORDS)
    if depth >= DEEPEST:
        return None
    if isinstance(value, Mapping):
        items = list(value.items())[:MOST_ITEMS]
        return {
            truncate_text(make_text_storable(str(key)), 200): convert_to_plain_json(item, depth + 1)
            for key, item in items
        }
    if isinstance(value, list | tuple | set | frozenset):
        return [convert_to_plain_json(item, depth + 1) for item in list(value)[:MOST_ITEMS]]
    return truncate_text(make_text_storable(repr_of(value)), 200)


def repr_of(value: Any) -> str:
    """A short text of any value; whole numbers of thousands of digits have none in Python."""
    try:
        return repr(value)
    except ValueError:
        return "a number too large to be written"
