"""Calls of a provider that speaks the OpenAI protocol: the key, the pace, what may be tried again and what never.

Parameters of a model: `base_url`; `key`, the environment variable with the key, whose name ends in `_API_KEY`;
`per_minute`, what the provider allows for this key; `timeout` and `patience` in seconds; `refusal_codes`, further
codes that mean a refusal. Nothing is decided by searching words in a text.
"""

import hashlib
import json
import os
import random
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from django.conf import settings

from evaluation import fetching, limits
from evaluation.backends.base import BackendError
from evaluation.studies.base import ModelData

DEFAULT_URL = "https://api.openai.com/v1"
REFUSALS = ("content_policy_violation", "moderation_blocked", "content_filter", "sexual", "image_generation_user_error")
NO_QUOTA = ("insufficient_quota", "billing_hard_limit_reached", "billing_not_active")
UNUSABLE = (401, 403, 404)
PASSING = (408, 409, 425)
MOST_TRIES = 4
MOST_FAILURES = 5
MOST_BYTES = 100 * 1024 * 1024
SLOW_DOWN = 5.0
DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h)")
UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
KEY_NAME = re.compile(r"[A-Z][A-Z0-9_]*_API_KEY")


class Refused(Exception):
    """The provider will not answer this prompt: its words and its category. Never asked again, never reworded."""

    def __init__(self, words: str, category: str) -> None:
        super().__init__(words)
        self.words, self.category = words, category


class CallFailed(Exception):
    """This call cannot succeed, or did not within its tries."""


@dataclass(frozen=True)
class Verdict:
    """What an error of the provider means. `seconds`: how long it asks to wait."""

    kind: Literal["refused", "slow", "no quota", "unusable", "again", "failed"]
    words: str
    category: str = ""
    seconds: float = 0.0


class Provider:
    """The client of one model's provider, made once per process."""

    def __init__(self, model: ModelData) -> None:
        import httpx2
        import openai

        given = model.parameters
        # The client hands errors of its transport on as they are where an answer breaks off in its middle.
        self.errors = (openai.APIError, httpx2.TransportError)
        self.patience = float(given.get("patience", 600))
        self.timeout = float(given.get("timeout", 120))
        self.per_minute = float(given.get("per_minute", 0))
        self.refusals = (*REFUSALS, *given.get("refusal_codes", ()))
        self.failures = 0
        url = str(given.get("base_url", DEFAULT_URL))
        key = key_of(model)
        self.bucket = f"{check_host(url)} {hashlib.sha256(key.encode()).hexdigest()[:16]}"
        self.client = openai.OpenAI(api_key=key, base_url=url, max_retries=0, timeout=self.timeout)

    def call(self, ask: Callable[[Any], Any], amount: int = 1) -> tuple[dict[str, Any], dict[str, Any]]:
        """What the provider answers, and the circumstances: tries, seconds, its number of the request.

        `ask` gets the client and returns a streamed response. Raises Refused, CallFailed, BackendError.
        """
        started, tries = time.monotonic(), 0
        while True:
            self.wait(amount)
            tries += 1
            try:
                answer, number = self.read(ask)
            except self.errors as error:
                self.judge(verdict(error, self.refusals), tries, started)
                continue
            self.failures = 0
            return answer, {"calls": tries, "seconds": round(time.monotonic() - started, 3), "request": number}

    def wait(self, amount: int) -> None:
        try:
            limits.wait(self.bucket, self.per_minute, amount, self.patience)
        except limits.TooSlow as error:
            raise BackendError(f"The provider asks to wait for {error.seconds:.0f} seconds more.") from error

    def read(self, ask: Callable[[Any], Any]) -> tuple[dict[str, Any], str]:
        """The answer as JSON, read within the time in all and not only per piece."""
        end, content = time.monotonic() + self.timeout, bytearray()
        with ask(self.client) as response:
            for chunk in response.iter_bytes():
                content += chunk
                if time.monotonic() > end or len(content) > MOST_BYTES:
                    raise CallFailed("The provider's answer took too long or was too large.")
            number = str(response.headers.get("x-request-id", ""))
        try:
            answer = json.loads(content)
        except ValueError:
            answer = None
        if not isinstance(answer, dict):
            self.count_failure("The provider's answer is not what the protocol says.")
        return answer, number

    def judge(self, found: Verdict, tries: int, started: float) -> None:
        """Returns where the call may be made again, after the wait that is due."""
        if found.kind == "refused":
            self.failures = 0
            raise Refused(found.words, found.category)
        if found.kind == "no quota":
            raise BackendError(f"The provider's account has nothing left to spend. Its words: {found.words}")
        if found.kind == "unusable":
            raise BackendError(f"The provider does not accept this key or model. Its words: {found.words}")
        if found.kind == "slow" and time.monotonic() - started < self.patience:
            limits.hold(self.bucket, found.seconds or SLOW_DOWN)
        elif found.kind == "again" and tries < MOST_TRIES:
            time.sleep(found.seconds or backoff(tries, float(self.timeout)))
        elif found.kind == "slow":
            raise BackendError(f"The provider asks to slow down again and again. Its words: {found.words}")
        else:
            self.count_failure(found.words)

    def count_failure(self, words: str) -> None:
        """Always raises: CallFailed, or BackendError once too many calls failed one after the other."""
        self.failures += 1
        if self.failures >= MOST_FAILURES:
            self.failures = 0
            raise BackendError(f"{MOST_FAILURES} calls failed one after the other. The last: {words}")
        raise CallFailed(words)


def backoff(tries: int, timeout: float) -> float:
    """Seconds before the next try: 1, 2, 4 with a random part, never longer than a call may take."""
    return min(2.0 ** (tries - 1) * (0.5 + random.random()), timeout)


def key_of(model: ModelData) -> str:
    """The key from the environment. Only variables that are keys by their name can be named."""
    name = str(model.parameters.get("key", "OPENAI_API_KEY"))
    if not KEY_NAME.fullmatch(name):
        raise BackendError(f"The parameter key of {model.slug} is {name!r}. Accepted: a name that ends in _API_KEY.")
    key = os.environ.get(name, "").strip()
    if not key:
        raise BackendError(f"The key of {model.slug} is missing here: set {name} for the workers of the queue api.")
    return key


def check_host(url: str) -> str:
    """The host of a provider. Raises BackendError where it lies inside the own network without a setting for it."""
    try:
        parts = fetching.checked(url, local=settings.LOCAL_PROVIDERS)
        fetching.address_of(parts, local=settings.LOCAL_PROVIDERS)
    except fetching.FetchError as error:
        if error.again:
            return str(parts.hostname)
        raise BackendError(
            f"base_url: {url!r} may not be asked. WWD_LOCAL_PROVIDERS permits providers at home."
        ) from error
    return str(parts.hostname)


def verdict(error: Any, refusals: tuple[str, ...] = REFUSALS) -> Verdict:
    """What an error of the client means, by status and code."""
    status, code = getattr(error, "status_code", None), str(getattr(error, "code", None) or "")
    kind, words = str(getattr(error, "type", None) or ""), words_of(error)[:2000]
    if status is None:
        return Verdict("again", words)
    if code in NO_QUOTA or kind in NO_QUOTA:
        return Verdict("no quota", words)
    category = next((name for name in (code, kind) if name in refusals), "")
    if category:
        return Verdict("refused", words, category)
    headers = error.response.headers
    if status == 429:
        return Verdict("slow", words, seconds=asked_wait(headers))
    if status in UNUSABLE:
        return Verdict("unusable", words)
    if status >= 500 or status in PASSING:
        return Verdict("again", words, seconds=asked_wait(headers))
    return Verdict("failed", words)


def words_of(error: Any) -> str:
    """The provider's own words, where it sent some; the client puts a number before them."""
    body = getattr(error, "body", None)
    own = body.get("message") if isinstance(body, dict) else None
    return own if isinstance(own, str) and own else str(getattr(error, "message", None) or error)


def asked_wait(headers: Mapping[str, str]) -> float:
    """Seconds that the provider asks to wait, by its headers; 0 where it says nothing that can be read."""
    for name, scale in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            return max(0.0, float(headers.get(name, "")) * scale)
        except ValueError:
            continue
    resets = [seconds_of(headers.get(f"x-ratelimit-reset-{what}", "")) for what in ("requests", "images", "tokens")]
    left = [str(headers.get(f"x-ratelimit-remaining-{what}", "")) for what in ("requests", "images", "tokens")]
    spent = [reset for reset, remaining in zip(resets, left, strict=True) if remaining == "0"]
    return max(spent or resets)


def seconds_of(text: str) -> float:
    """Seconds of a duration such as `1s`, `6m0s`, `20ms`; 0 for anything else."""
    found = DURATION.findall(text)
    return sum(float(number) * UNITS[unit] for number, unit in found) if DURATION.sub("", text) == "" else 0.0
