"""Random answers of a provider: the fields of the protocol with values of every type, good ones among them."""

import base64
import json
import random
from collections.abc import Callable
from typing import Any

from tests.evaluation.provider import png

STATUSES = (200, 200, 200, 200, 200, 200, 400, 400, 403, 422, 429, 500, 503)
TEXTS = (
    "",
    "B",
    "waakye",
    "\x00",
    "a\x00b\x1b[31m",
    "\ud800",
    "مرحبا",
    "x" * 5000,
    "nan",
    "429",
    "content_filter",
    "stop",
    "length",
    "{",
    '{"error": {"code": 429}}',
    "data:image/png;base64,AAAA",
    "data:",
    "http://169.254.169.254/latest",
    "file:///etc/passwd",
    "https://",
    "http://[::1",
)
NUMBERS = (0, 1, -1, 3, 429, 400, 10**30, -(10**30), 0.5, 1e308, float("nan"), float("inf"), -float("inf"), 2**63)
FIELDS = ("error", "code", "message", "type", "status", "data", "choices", "detail", "usage", "model", "base_resp")


def value(dice: random.Random, depth: int = 0) -> Any:
    """Any value that JSON of Python can hold."""
    kinds: list[Callable[[], Any]] = [
        lambda: None,
        lambda: dice.choice((True, False)),
        lambda: dice.choice(NUMBERS),
        lambda: dice.choice(TEXTS),
        lambda: dice.choice(TEXTS),
    ]
    if depth < 3:
        kinds.append(lambda: [value(dice, depth + 1) for _ in range(dice.randrange(4))])
        kinds.append(lambda: {dice.choice((*FIELDS, *TEXTS)): value(dice, depth + 1) for _ in range(dice.randrange(4))})
    return dice.choice(kinds)()


def odd_answer(dice: random.Random) -> tuple[int, dict[str, str], Any]:
    """Status, headers and body: an answer of which some fields are odd, or an odd value altogether."""
    content: Any = dice.choice((base64.b64encode(png()).decode(), value(dice)))
    row = {"b64_json": content, "revised_prompt": value(dice)}
    message = {"content": dice.choice(("B", value(dice))), "refusal": dice.choice((None, None, None, value(dice)))}
    body: Any = {
        "created": value(dice),
        "data": dice.choice(([row], [row], [value(dice)], value(dice))),
        "choices": dice.choice(([{"message": message, "finish_reason": value(dice)}], [value(dice)], value(dice))),
        "usage": dice.choice((value(dice), {name: value(dice) for name in ("input_tokens", "prompt_tokens")})),
        "model": value(dice),
        "system_fingerprint": value(dice),
        "error": dice.choice((None, None, value(dice), {name: value(dice) for name in ("code", "message", "type")})),
    }
    for name in dice.sample(sorted(body), dice.randrange(3)):
        del body[name]
    if dice.random() < 0.15:
        body = value(dice)
    headers = {"x-request-id": dice.choice(("req_1", "é" * 300, " "))}
    if dice.random() < 0.3:
        headers["Retry-After"] = dice.choice(("0.01", "nan", "soon", "-1", "Sat, 28 Nov 2020 12:00:00 GMT"))
    return dice.choice(STATUSES), headers, body


def as_bytes(dice: random.Random, body: Any) -> bytes:
    """The body as it is sent: JSON, at times cut short, nested without end, or no JSON at all."""
    kind = dice.random()
    if kind < 0.02:
        return b"[" * 100_000
    if kind < 0.04:
        return b'{"n": ' + b"9" * 6000 + b"}"
    if kind < 0.06:
        return bytes(dice.randrange(256) for _ in range(200))
    sent = json.dumps(body).encode()
    return sent[: len(sent) // 2] if kind < 0.08 else sent
