"""From what a model wrote to the items of a list, or to the options that it chose. Pure, bounded, nothing is executed.

JSON, Python's way of writing lists (also broken: `['Shepherd's pie', ]`), bullets, numbers, or plain prose.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evaluation.readers.choice import NEGATION, State
from evaluation.readers.text import NOTHING_KNOWN, extract_answer_text, fold_words, is_server_error

MOST_ITEMS = 100
MOST_DEPTH = 8
LONGEST_ITEM = 120
NAMED = ("name", "ingredient", "item", "option", "value", "answer", "answers", "choice", "ingredients", "options")
CODED = re.compile(r"u([0-9a-fA-F]{4})")
OPENING, CLOSING = "[({", "])}"
BULLET = re.compile(r"[ \t]*(?:[-•·▪◦‣–—+]|\(?\d{1,3}[.):]|\(?[a-zA-Z][.)])[ \t]+(\S.{0,400})")
EXPLAINED = re.compile(r"\s+[-–—]\s+|:\s|:\Z|\s*\(")
INTRODUCED = re.compile(
    r"\b(?:are|is|includes?|including|contains?|containing|such as|like|with|using|uses?|of|from|following)\b",
    re.IGNORECASE,
)
SEPARATED = re.compile(r"\s*[,;、،\n]\s*(?:and\s+|or\s+|&\s*)?|\s+(?:and|&|plus)\s+", re.IGNORECASE)
CLAUSE = re.compile(
    r"[,.;:!?\n。،؟]|\bbut\b|\bwhereas\b|(?=\brather than\b|\binstead of\b|\bnot\b|\bnever\b)", re.IGNORECASE
)
REPLACED = re.compile(r"\s*instead of\b", re.IGNORECASE)


@dataclass(frozen=True)
class Listed:
    """What was read. `items` are set where the state is "answered": as written, in their order, each once."""

    state: State
    items: tuple[str, ...] = ()


NO_ANSWER = Listed("no answer")


def read_list(raw: str) -> Listed:
    """The items that `raw` lists. Never raises; time does not grow with `raw`."""
    text = extract_answer_text(raw)
    if not text:
        return NO_ANSWER
    if is_server_error(text):
        return Listed("failed")
    found = parse_structured_list(text)
    if found is None or (len(found) == 1 and len(SEPARATED.split(found[0])) > 3):
        found = in_prose(found[0] if found else text)
    items = clean_items(found)
    return Listed("answered", items) if items else NO_ANSWER


def read_options(raw: str, options: Mapping[str, Sequence[str]]) -> Listed:
    """Which of `options` (code → the words that mean it) `raw` chooses, in the order of `options`.

    A structured list counts by its items; prose by the words in it that nothing denies.
    """
    text = extract_answer_text(raw)
    if not text:
        return NO_ANSWER
    if is_server_error(text):
        return Listed("failed")
    listed = parse_structured_list(text)
    if listed is not None:
        codes = {code for item in listed[:MOST_ITEMS] for code in named_in(item, options)}
    else:
        codes = said_in(text, options)
    return Listed("answered", tuple(code for code in options if code in codes)) if codes else NO_ANSWER


def parse_structured_list(text: str) -> list[str] | None:
    """Items of a list that is written as one; None where the text is none."""
    start = next((place for place, char in enumerate(text) if char == "[" or (char in OPENING and not place)), -1)
    if start >= 0:
        return as_json(text[start:]) or scan_bracketed_list(text[start:])
    lines = [found.group(1) for line in text.splitlines() if (found := BULLET.match(line))]
    return [EXPLAINED.split(line, maxsplit=1)[0] for line in lines] if lines else None


def as_json(text: str) -> list[str]:
    """Items where the text is JSON of moderate depth; empty where it is not."""
    end = max(text.rfind(char) for char in "]}") + 1
    if measure_bracket_depth(text[:end]) > MOST_DEPTH:
        return []
    try:
        return list(collect_json_strings(json.loads(text[:end])))[:MOST_ITEMS]
    except ValueError:
        return []


def measure_bracket_depth(text: str) -> int:
    """How deep brackets are nested at most, wherever they stand."""
    deepest = now = 0
    for char in text:
        now += (char in "[{") - (char in "]}")
        deepest = max(deepest, now)
    return deepest


def collect_json_strings(value: Any) -> Iterator[str]:
    """Texts of what JSON holds; of an object what it calls a name or an answer, else its values."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for each in value:
            yield from collect_json_strings(each)
    elif isinstance(value, dict):
        held = next((value[name] for name in NAMED if name in value), None)
        yield from collect_json_strings(list(value.values()) if held is None else held)


def scan_bracketed_list(text: str) -> list[str]:
    """Items of a bracketed list, quoted or not, whatever is nested in it; ends where its bracket closes.

    A quote ends an item only before a comma, a bracket, a colon or the end: an apostrophe stays in its word.
    """
    found: list[str] = []
    place, level, end = 0, 0, len(text)
    while place < end and len(found) < MOST_ITEMS:
        char = text[place]
        if char in OPENING:
            level, place = level + 1, place + 1
        elif char in CLOSING:
            level, place = level - 1, place + 1
            if level <= 0:
                break
        elif char in ",;: \n\t\r":
            place += 1
        else:
            item, place = read_quoted_item(text, place) if char in "'\"" else read_unquoted_item(text, place)
            if not (place < end and text[place] == ":" and char in "'\""):
                found.append(item)
    return found


def read_quoted_item(text: str, start: int) -> tuple[str, int]:
    """The item whose quote opens at `start`, and the place after its closing quote."""
    quote, place, end = text[start], start + 1, min(len(text), start + 1 + 4 * LONGEST_ITEM)
    kept: list[str] = []
    while place < end:
        char = text[place]
        if char == "\\" and place + 1 < end:
            written, place = read_escape_sequence(text, place + 1)
            kept.append(written)
            continue
        if char == quote and (place + 1 == len(text) or re.match(r"\s*(?:[,;:\])}]|\Z)", text[place + 1 : place + 9])):
            return "".join(kept), place + 1
        if char == "\n":
            break
        kept.append(char)
        place += 1
    return "".join(kept), place


def read_escape_sequence(text: str, place: int) -> tuple[str, int]:
    """What the sign after a backslash stands for, and the place after it."""
    if coded := CODED.match(text, place):
        return chr(int(coded.group(1), 16)), coded.end()
    return ({"n": " ", "t": " ", "r": " "}.get(text[place], text[place]), place + 1)


def read_unquoted_item(text: str, start: int) -> tuple[str, int]:
    """The item that begins at `start`: up to the next comma or bracket, what is in parentheses included."""
    place, inner = start, 0
    while place < len(text):
        char = text[place]
        if inner == 0 and char in ",;\n]}":
            break
        inner += (char == "(") - (char == ")")
        if inner < 0:
            break
        place += 1
    return text[start:place].strip(), max(place, start + 1)


def in_prose(text: str) -> list[str]:
    """Items of an enumeration in a sentence: what is after a colon or *are*, *include*, up to the full stop."""
    if NOTHING_KNOWN.search(text):
        return []
    tail = text.partition(":")[2].strip() or text
    sentence = re.split(r"[.!?](?:\s|\Z)", tail, maxsplit=1)[0]
    first = SEPARATED.search(sentence)
    before = sentence[: first.start()] if first else sentence
    if len(sentence.split()) > 4:
        sentence = sentence[max([0, *(found.end() for found in INTRODUCED.finditer(before))]) :]
    parts = [part for part in SEPARATED.split(sentence) if part.strip()]
    return parts if len(parts) > 1 or len(sentence.split()) <= 4 else []


def clean_items(items: Sequence[str]) -> tuple[str, ...]:
    """Items without quotes and full stops around them, each once, the empty and the overlong left out."""
    plain = [strip_item(item) for item in items[:MOST_ITEMS]]
    kept = {fold_words(item): item for item in reversed(plain) if 0 < len(item) <= LONGEST_ITEM and fold_words(item)}
    return tuple(dict.fromkeys(item for item in plain if kept.get(fold_words(item)) == item))


def strip_item(item: str) -> str:
    """The item without full stops around it, and without a pair of quotes."""
    plain = item.strip(" \t\n.,;*")
    return plain[1:-1].strip() if len(plain) > 1 and plain[0] == plain[-1] and plain[0] in "'\"" else plain


def named_in(item: str, options: Mapping[str, Sequence[str]], most: int = 4 * LONGEST_ITEM) -> set[str]:
    """Codes of the options whose words are in `item`, those left out that are only within a longer one."""
    text = f" {fold_words(item[:most].replace('_', ' '))} "
    codes = set()
    words = [(fold_words(word), code) for code, names in options.items() for word in names]
    for word, code in sorted(words, key=lambda pair: -len(pair[0])):
        if word and f" {word} " in text:
            codes.add(code)
            text = text.replace(f" {word} ", " | ")
    return codes


def said_in(text: str, options: Mapping[str, Sequence[str]]) -> set[str]:
    """Options that prose names in a part of a sentence in which nothing is denied."""
    codes: set[str] = set()
    for part in CLAUSE.split(text)[: 4 * MOST_ITEMS]:
        if not (NEGATION.search(part) or REPLACED.match(part)):
            codes |= named_in(part, options)
    return codes
