"""What a provider's answer means. The table of dialects is data: `evaluation/data/dialects.json`. Pure.

An answer leaves *signs*, short words made from its known fields: `code:…` (every code, type or status of an error, in
whichever depth), `finish:…`, `param:content` or `param:option` (whether the prompt or something that we set is said to
be wrong), `part:filtered`, `block` and the like. A row of the table fits where one of its `signs` is there, one of its
`says` is in the words, and the status is among its `status`, as far as it names these. The first that fits counts.
"""

import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal

from evaluation.backends.retry_after import asked_wait, clamp_wait, seconds_of
from evaluation.readers import text_cleaning

TABLE = Path(__file__).resolve().parent.parent / "data" / "dialects.json"
Meaning = Literal[
    "answer",
    "refused",
    "filtered",
    "cut short",
    "too long",
    "about this",
    "own mistake",
    "wrong key",
    "no quota",
    "too many",
    "again",
    "failed",
]
CODES = ("code", "type", "status", "reason", "error_code", "error_type", "errorcode", "status_code", "err_code")
NUMBERED = ("code", "status", "status_code", "error_code")
WORDS = ("message", "error", "detail", "msg", "status_msg", "error_message", "error_description", "description", "raw")
DEEPEST = 6
MOST_NODES = 400


@dataclass(frozen=True)
class Reply:
    """An answer as it came: `status` 0 where none came, `body` None where it is no JSON; `text` is its beginning."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Any = None
    text: str = ""


@dataclass(frozen=True)
class Verdict:
    """What an answer means: the provider's own words and category, and how many seconds it asks to wait."""

    meaning: Meaning
    words: str = ""
    category: str = ""
    dialect: str = ""
    seconds: float = 0.0


@dataclass(frozen=True)
class Row:
    """A row of the table; see the head of this module. `source`: the public page or thread that it comes from."""

    dialect: str
    meaning: Meaning
    source: str
    status: tuple[int, ...] = ()
    signs: tuple[str, ...] = ()
    says: tuple[str, ...] = ()
    category: str = ""


@dataclass
class Signs:
    """What an answer leaves: folded sign → the word as it came, words in their order, numbers that are a status."""

    found: dict[str, str] = field(default_factory=dict)
    words: list[str] = field(default_factory=list)
    statuses: list[int] = field(default_factory=list)

    def add(self, kind: str, word: str = "") -> None:
        self.found.setdefault(normalise_sign(kind, word), text_cleaning.clean_foreign_text(word or kind, 80))


def normalise_sign(kind: str, word: str = "") -> str:
    """One spelling for `contentFilter`, `content_filter` and `CONTENT_FILTER`."""
    return f"{kind}:{re.sub(r'[^a-z0-9=]', '', word.lower())}" if word else kind


@cache
def load_dialect_rows() -> tuple[Row, ...]:
    """The rows, in order."""
    return tuple(row_of(row) for row in load_dialect_file()["rows"])


def row_of(given: Mapping[str, Any]) -> Row:
    values: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in given.items()}
    row = Row(**values)
    return replace(row, signs=tuple(normalise_sign(*sign.split(":", 1)) for sign in row.signs))


@cache
def content_params() -> frozenset[str]:
    """Names of what differs from subject to subject in a request; all else was set for the model."""
    return frozenset(load_dialect_file()["content"])


@cache
def load_dialect_file() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(TABLE.read_text(encoding="utf-8"))
    return found


def classify_reply(reply: Reply, refusals: Collection[str] = ()) -> Verdict:
    """What an answer means, whatever its status. `refusals`: further codes that mean a refusal."""
    if reply.status == 0:
        return Verdict("again", reply.text)
    body = unwrap_error_list(reply.body)
    if reply.status < 300:
        if not isinstance(body, dict):
            return Verdict("failed", f"The provider's answer is not what the protocol says. {reply.text}".strip())
        part = signs_of_part(get_first_choice(body.get("choices")))
        if not is_error(body) or (has_usable_content(body) and "finish:error" not in part.found):
            return find_verdict(part, 0, reply, refusals, or_else="answer")
    found = signs_of(body)
    if not found.words and reply.text:
        found.words.append(reply.text)
    return find_verdict(found, status_of(reply.status, found), reply, refusals, or_else="failed")


def judge_part(part: Mapping[str, Any]) -> Verdict:
    """What one image of an answer, or one choice, says of itself."""
    return find_verdict(signs_of_part(part), 0, Reply(200), (), or_else="answer")


def find_verdict(found: Signs, status: int, reply: Reply, refusals: Collection[str], *, or_else: Meaning) -> Verdict:
    """The verdict of the first row that fits."""
    words = text_cleaning.clean_foreign_text("\n".join(dict.fromkeys(found.words)))
    for code in refusals:
        if normalise_sign("code", str(code)) in found.found:
            return Verdict("refused", words, str(code), "own")
    said = " ".join(words.lower().split()).replace("\u2019", "'")
    for row in load_dialect_rows():
        sign = next((sign for sign in row.signs if sign in found.found), "")
        if matches_row(row, sign, said, status):
            category = row.category or found.found.get(sign, "")
            return Verdict(row.meaning, words, category, row.dialect, compute_retry_delay(row.meaning, reply))
    return Verdict(or_else, words)


def matches_row(row: Row, sign: str, said: str, status: int) -> bool:
    return (
        (not row.signs or bool(sign))
        and (not row.status or status in row.status)
        and (not row.says or any(phrase in said for phrase in row.says))
    )


def compute_retry_delay(meaning: Meaning, reply: Reply) -> float:
    """Seconds to wait before the next try, by the headers or by Google's `retryDelay` within the error."""
    if meaning not in ("too many", "again"):
        return 0.0
    lowered = {name.lower(): str(value) for name, value in reply.headers.items()}
    if seconds := asked_wait(lowered):
        return seconds
    delays = (
        value for name, value in iterate_json_fields(reply.body) if name == "retryDelay" and isinstance(value, str)
    )
    return clamp_wait(max((seconds_of(value) for value in delays), default=0.0))


def unwrap_error_list(body: Any) -> Any:
    """Gemini's compatible route sends a list that holds the error."""
    return body[0] if isinstance(body, list) and body and isinstance(body[0], dict) and "error" in body[0] else body


def get_first_choice(choices: Any) -> Mapping[str, Any]:
    return choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}


def has_usable_content(body: Mapping[str, Any]) -> bool:
    """True where the answer holds words or images: odd fields beside them lose nothing."""
    message = get_first_choice(body.get("choices")).get("message")
    if isinstance(message, dict) and (message.get("content") or message.get("refusal")):
        return True
    rows = body.get("data")
    return isinstance(rows, list) and any(
        isinstance(row, dict) and (row.get("b64_json") or row.get("url") or row.get("respect_moderation") is False)
        for row in rows
    )


def is_error(body: Mapping[str, Any]) -> bool:
    """True where an answer says that it is none: by a field `error`, or by the shapes without one."""
    base = body.get("base_resp")
    return bool(
        body.get("error")
        or body.get("object") == "error"
        or body.get("type") == "error"
        or (isinstance(base, dict) and base.get("status_code"))
        or ("detail" in body and "choices" not in body and "data" not in body)
        or ("choices" not in body and "data" not in body and status_in(body.get("code")))
        or find_block_reason(body)
        or get_first_choice(body.get("choices")).get("error")
        or prompt_filtered(body)
    )


def signs_of(body: Any) -> Signs:
    """The signs of an error, wherever they stand: relays wrap the errors of others, sometimes as JSON in words."""
    found = signs_of_part(get_first_choice(body.get("choices")) if isinstance(body, dict) else {})
    if isinstance(body, str):
        found.words.append(body)
    if isinstance(body, dict):
        if find_block_reason(body):
            found.add("block")
            found.words.append(f"blockReason: {text_cleaning.clean_foreign_text(find_block_reason(body), 80)}")
        if prompt_filtered(body):
            found.add("prompt", "filtered")
    for name, value in iterate_json_fields(body):
        read_node(name, value, found)
    return found


def read_node(name: str, value: Any, found: Signs) -> None:
    """Adds what one field of an error says."""
    if name in CODES and isinstance(value, str | int) and not isinstance(value, bool):
        found.add("base" if name == "status_code" else "code", shorten_value(value))
        if name == "status_code":
            found.add("code", shorten_value(value))
    if name in NUMBERED and (status := status_in(value)):
        found.statuses.append(status)
    if name in WORDS and isinstance(value, str) and not is_json_like(value):
        found.words.append(value)
    if name in ("param", "loc") and (param := param_of(value)):
        found.add("param", "content" if param in content_params() else "option")
    if name == "flagged_input":
        found.add("has", name)


def signs_of_part(part: Mapping[str, Any]) -> Signs:
    """The signs of one choice or image."""
    found = Signs()
    for name in ("finish_reason", "finishReason", "native_finish_reason"):
        ended = part.get(name)
        if isinstance(ended, str) and ended:
            found.add("finish", ended.partition(":")[0])
    message = part.get("message")
    refusal = message.get("refusal") if isinstance(message, Mapping) else None
    if refusal:
        found.add("refusal")
        found.words.append(refusal if isinstance(refusal, str) else "")
    if part.get("respect_moderation") is False:
        found.add("part", "respect_moderation=false")
    if any_filtered(part.get("content_filter_results")):
        found.add("part", "filtered")
    return found


def any_filtered(results: Any) -> bool:
    return isinstance(results, Mapping) and any(
        isinstance(value, Mapping) and value.get("filtered") is True for value in results.values()
    )


def prompt_filtered(body: Mapping[str, Any]) -> bool:
    """Azure's filter of prompts held this one back. It says so beside good answers too where it only annotates."""
    rows = body.get("prompt_filter_results")
    return isinstance(rows, list) and any(
        isinstance(row, Mapping) and any_filtered(row.get("content_filter_results")) for row in rows
    )


def find_block_reason(body: Mapping[str, Any]) -> Any:
    """Gemini's reason for blocking a prompt; nothing where it blocked none."""
    for name in ("promptFeedback", "prompt_feedback"):
        told = body.get(name)
        if isinstance(told, Mapping) and (reason := told.get("blockReason") or told.get("block_reason")):
            return reason
    return ""


def iterate_json_fields(
    value: Any, name: str = "", depth: int = 0, room: list[int] | None = None
) -> Iterator[tuple[str, Any]]:
    """Every named field of nested JSON, also of JSON within its texts, as far as is sensible."""
    room = [MOST_NODES] if room is None else room
    room[0] -= 1
    if depth > DEEPEST or room[0] < 0:
        return
    if name:
        yield name, value
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from iterate_json_fields(item, str(key), depth + 1, room)
    elif isinstance(value, list):
        for item in value:
            yield from iterate_json_fields(
                item, name if name in WORDS and isinstance(item, str) else "", depth + 1, room
            )
    elif isinstance(value, str) and is_json_like(value):
        yield from iterate_json_fields(parse_json_or_none(value), "", depth + 1, room)


def is_json_like(text: str) -> bool:
    return text.lstrip()[:1] in ("{", "[") and isinstance(parse_json_or_none(text), dict | list)


def parse_json_or_none(content: str | bytes | bytearray) -> Any:
    """The content as JSON; None where it is none, or none that can be read."""
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return None


def param_of(value: Any) -> str:
    """The name of the parameter that an error is about: `size`, also of `["body", "size"]` or `messages[0].content`."""
    if isinstance(value, list):
        value = next((part for part in value if isinstance(part, str) and part != "body"), "")
    return re.split(r"[.\[]", value, maxsplit=1)[0].strip().lower() if isinstance(value, str) else ""


def status_in(value: Any) -> int:
    """The value as a status of an error, 400 to 599; 0 for anything else."""
    if isinstance(value, str) and re.fullmatch(r"\d{3}", value):
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and 400 <= value <= 599 else 0


def status_of(status: int, found: Signs) -> int:
    """The status that counts: that within the error where the answer's own is good or says a server's trouble."""
    told = found.statuses[0] if found.statuses else 0
    return told if told and (status < 300 or status >= 500 or told == 429) else status


def shorten_value(value: str | int) -> str:
    return text_cleaning.truncate_text(text_cleaning.repr_of(value) if isinstance(value, int) else value, 80)
