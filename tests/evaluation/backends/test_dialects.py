"""What providers say, in ten dialects, is distinguished once, by a table of data."""

import json
import random
from collections import Counter
from datetime import UTC, datetime
from itertools import chain
from typing import Any, get_args

import pytest

from evaluation.backends.provider_dialects import Meaning, Reply, classify_reply, load_dialect_rows
from evaluation.backends.retry_after import LONGEST, asked_wait
from tests.evaluation.dialect_answers import ANSWERS, Heard
from tests.evaluation.random_answers import odd_answer

DIALECTS = ("openai", "azure", "gemini", "xai", "openrouter", "litellm", "vllm", "sglang", "ollama", "llama.cpp")


@pytest.mark.parametrize("heard", ANSWERS, ids=[heard.name for heard in ANSWERS])
def test_each_answer_means_what_its_dialect_says(heard: Heard) -> None:
    text = heard.body if isinstance(heard.body, str) else ""
    body = None if text else heard.body
    found = classify_reply(Reply(heard.status, heard.headers, body, text))
    assert found.meaning == heard.meaning
    if heard.meaning not in ("answer", "filtered", "cut short"):
        assert heard.says in found.words


def test_ten_dialects_are_known_with_at_least_sixty_answers() -> None:
    assert len(ANSWERS) >= 60
    assert set(DIALECTS) <= {heard.dialect for heard in ANSWERS}
    assert set(DIALECTS) <= {row.dialect for row in load_dialect_rows()}


def test_each_row_of_the_table_names_where_it_comes_from() -> None:
    for row in load_dialect_rows():
        assert row.source.startswith(("https://", "RFC ")), row
        assert row.signs or row.says or row.status, row
        assert row.meaning in get_args(Meaning), row


def test_rows_that_another_row_hides_are_none() -> None:
    """A sign that an earlier row takes whatever the status would never be reached."""
    bare = Counter(chain.from_iterable(row.signs for row in load_dialect_rows() if not (row.status or row.says)))
    assert [sign for sign, number in bare.items() if number > 1] == []


def test_own_codes_of_a_model_mean_a_refusal_too() -> None:
    body = {"error": {"message": "No.", "code": "not_today"}}
    assert classify_reply(Reply(400, {}, body)).meaning == "failed"
    found = classify_reply(Reply(400, {}, body), ("never", "not_today"))
    assert (found.meaning, found.category, found.words) == ("refused", "not_today", "No.")


def test_words_are_kept_clean_and_not_endless() -> None:
    found = classify_reply(Reply(400, {}, {"error": {"message": "a\x00b\x07\ud800c" + "x" * 9000}}))
    assert found.words.startswith("a\ufffdb ?c")
    assert len(found.words) <= 2000
    json.dumps(found.words).encode()


@pytest.mark.parametrize(
    "beside", [None, 7, "odd", ["odd"], {"odd": {}}, {"code": 429}, float("nan"), "\x00", "\ud800", True, 10**400]
)
def test_odd_values_beside_a_good_answer_change_nothing(beside: Any) -> None:
    good = {"choices": [{"message": {"content": "B"}, "finish_reason": "stop", "index": beside}], "error": beside}
    assert classify_reply(Reply(200, {}, {**good, "usage": beside, "model": beside})).meaning == "answer"


def test_random_answers_of_every_shape_always_mean_something() -> None:
    dice = random.Random(13)
    for _ in range(1000):
        status, headers, body = odd_answer(dice)
        found = classify_reply(Reply(status, headers, body))
        assert found.seconds <= LONGEST
        found.words.encode()
        found.category.encode()


NOW = datetime(2026, 11, 28, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "Sat, 28 Nov 2026 12:00:30 GMT"}, 30),
        ({"retry-after": "Saturday, 28-Nov-26 12:00:30 GMT"}, 30),
        ({"retry-after": "Sat, 28 Nov 2026 13:00:30 GMT", "date": "Sat, 28 Nov 2026 13:00:00 GMT"}, 30),
        ({"retry-after": "Sat, 28 Nov 2026 11:00:00 GMT"}, 0),
        ({"retry-after": "Sat, 28 Nov 2099 12:00:00 GMT"}, LONGEST),
        ({"retry-after": "1e12"}, LONGEST),
        ({"retry-after": "nan"}, 0),
        ({"retry-after": "inf"}, 0),
        ({"retry-after": "-5"}, 0),
        ({"retry-after": "soon"}, 0),
        ({"retry-after": "Sat, 99 Nov 2026 99:00:00 GMT"}, 0),
        ({"retry-after": "Sat, 28 Nov 99999999999 12:00:00 GMT"}, 0),
        ({"retry-after-ms": "250", "retry-after": "7"}, 0.25),
        ({"x-ratelimit-reset-requests": "9" * 400 + "h"}, 0),
        ({"x-ratelimit-reset-requests": "99999h"}, LONGEST),
    ],
)
def test_a_wait_is_seconds_or_a_date_has_a_bound_and_nonsense_is_none(headers: dict[str, str], seconds: float) -> None:
    assert asked_wait(headers, NOW) == pytest.approx(seconds)


def test_google_says_its_wait_within_the_error() -> None:
    body = [{"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "details": [{"retryDelay": "34s"}]}}]
    assert classify_reply(Reply(429, {}, body)).seconds == 34
