"""Cells of a list of dishes: names and countries in JSON, in the text of Python objects, or separated by signs.

Nothing is evaluated: a cell that is not JSON is read with a pattern for quoted words.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

LONGEST_CELL = 50_000
MOST = 200
LONGEST_NAME = 300
DEEPEST = 4
# What is in lists where there is no name: words for nothing, and the labels of a form that was not filled in.
NOTHING = frozenset(
    (
        *("no_alias", "not_stated", "none", "nan", "null", "true", "false", "n/a", "unknown"),
        *("name", "alternative_name", "alias", "group_name", "group", "host", "ip", "section", "age", "city"),
        *("option", "term", "language", "translation", "pinyin", "rtgs"),
        *("john", "jane", "doe", "mike", "john doe", "jane smith"),
    )
)
NO_NAME = "no_alias"
LABELS = frozenset(("name", "alternative_name", "alias", "term"))
LANGUAGE_CODE = re.compile(r"[a-z]{2,3}(-[\w-]+)? - ")
# A quoted word that opens after a bracket, brace or comma, and what is after its colon, if anything.
PAIR = re.compile(r"[\[{,]\s*(['\"])(?P<key>.+?)\1\s*(?=[:,\]}])(?::\s*(['\"])(?P<value>.*?)\3\s*(?=[,\]}]))?")
BETWEEN = re.compile(r"[;|\n]")


def names_in(cell: str) -> list[str]:
    """The names of an alias cell, each once: `[{'name': 'language'}]`, `{"xx - Language": "name"}`, `["name"]`, or
    plain text with semicolons."""
    text = cell.strip()
    if not text or len(text) > LONGEST_CELL:
        return []
    found = dict.fromkeys(" ".join(name.split()) for name in _names(text))
    return [name for name in found if name.lower() not in NOTHING and 0 < len(name) <= LONGEST_NAME][:MOST]


def _names(text: str) -> Iterator[str]:
    if text[0] not in "[{":
        yield from BETWEEN.split(text)
        return
    try:
        yield from _of_json(json.loads(text), depth=0)
    except (ValueError, RecursionError):
        for pair in PAIR.finditer(text):
            yield from _of_pair(pair["key"], pair["value"])


def _of_json(value: Any, depth: int) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list) and depth < DEEPEST:
        for part in value[:MOST]:
            yield from _of_json(part, depth + 1)
    elif isinstance(value, dict):
        for key, held in list(value.items())[:MOST]:
            if isinstance(held, list | dict) and depth < DEEPEST:
                yield from _of_json(held, depth + 1)
            yield from _of_pair(key, held)


def _of_pair(key: str, value: Any) -> Iterator[str]:
    """The name in `"xx - Language": name`, in `"name": name`, or in `name: language`."""
    if LANGUAGE_CODE.match(key) or key in LABELS:
        yield from [value] if isinstance(value, str) else []
    elif value != NO_NAME:
        yield key
