"""Calls of a provider that speaks the OpenAI protocol: the key, the pace, what may be tried again and what never.

Parameters of a model: `base_url`; `key`, the environment variable with the key, whose name ends in `_API_KEY`;
`per_minute`, what the provider allows for this key; `timeout` and `patience` in seconds; `refusal_codes`, further
codes that mean a refusal. What an answer means is decided once, by `evaluation/backends/provider_dialects.py`.
"""

import hashlib
import os
import random
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from django.conf import settings

from evaluation.backends import rate_limit
from evaluation.backends.provider_dialects import Reply, Verdict, classify_reply, parse_json_or_none
from evaluation.contracts.backend import BackendError
from evaluation.contracts.study import ModelData
from evaluation.readers import text_cleaning
from wwd.base import fetching

DEFAULT_URL = "https://api.openai.com/v1"
MOST_TRIES = 4
MOST_BYTES = 100 * 1024 * 1024
MOST_HEADER = 200
SLOW_DOWN = 5.0
KEY_NAME = re.compile(r"[A-Z][A-Z0-9_]*_API_KEY")
# What ends a run at once: it would be the same for every subject.
STOPPING = {
    "no quota": "The provider's account has nothing left to spend. Its words: ",
    "wrong key": "The provider does not accept this key or model. Its words: ",
    "own mistake": "The provider says that what we send is wrong: correct the model's parameters. Its words: ",
}


class CallFailedError(Exception):
    """This call cannot succeed, or did not within its tries."""


class ErrorStatusError(Exception):
    """An answer with the status of an error, read within the same bounds as every other."""

    def __init__(self, reply: Reply) -> None:
        super().__init__(reply.status)
        self.reply = reply


@dataclass(frozen=True)
class ProviderAnswer:
    """What a provider answered in the end: its JSON, what it means, and the circumstances of the call."""

    body: Mapping[str, Any]
    verdict: Verdict
    circumstances: Mapping[str, Any]


class Provider:
    """The client of one model's provider, made once per process."""

    def __init__(self, model: ModelData) -> None:
        import httpx2
        import openai

        given = model.parameters
        # The client hands errors of its transport on as they are where an answer breaks off in its middle.
        self.errors = (openai.OpenAIError, httpx2.HTTPError, httpx2.StreamError, httpx2.InvalidURL)
        self.patience = float(given.get("patience", 600))
        self.timeout = float(given.get("timeout", 120))
        self.per_minute = float(given.get("per_minute", 0))
        self.refusals = tuple(map(str, given.get("refusal_codes", ())))
        self.answered = False
        url = str(given.get("base_url", DEFAULT_URL))
        key = key_of(model)
        self.key, self.bucket = key, build_bucket_name(check_host(url), key)
        # The address was checked, where it leads to was not.
        client = openai.DefaultHttpxClient(
            timeout=self.timeout, follow_redirects=False, event_hooks={"response": [self.intercept]}
        )
        self.client = openai.OpenAI(api_key=key, base_url=url, max_retries=0, timeout=self.timeout, http_client=client)

    def call(self, ask: Callable[[Any], Any], amount: int = 1) -> ProviderAnswer:
        """What the provider answers: an answer, one cut short, filtered or refused. Tried again where that may help.

        `ask` gets the client and returns a streamed response. Raises CallFailedError, or BackendError for what would
        be the same for every subject.
        """
        started, tries = time.monotonic(), 0
        while True:
            self.wait(amount)
            tries += 1
            reply = self.read(ask)
            found = self.without_key(classify_reply(reply, self.refusals))
            if found.meaning in ("answer", "cut short", "filtered", "refused"):
                self.answered = True
                note = {"calls": tries, "seconds": round(time.monotonic() - started, 3), **extract_request_id(reply)}
                return ProviderAnswer(reply.body if isinstance(reply.body, dict) else {}, found, note)
            self.judge(found, tries, started)

    def without_key(self, found: Verdict) -> Verdict:
        """The verdict with the provider's words, should they repeat the key, without it."""
        return replace(found, words=found.words.replace(self.key, "[key]"))

    def wait(self, amount: int) -> None:
        try:
            rate_limit.wait_for_slot(self.bucket, self.per_minute, amount, self.patience)
        except rate_limit.WaitTooLongError as error:
            raise BackendError(f"The provider asks to wait for {error.seconds:.0f} seconds more.") from error

    def read(self, ask: Callable[[Any], Any]) -> Reply:
        """The answer, of whatever status; of status 0 where none came. Raises CallFailedError for one without end."""
        try:
            with ask(self.client) as response:
                return self.reply(response)
        except ErrorStatusError as error:
            return error.reply
        except self.errors as error:
            return Reply(0, text=text_cleaning.clean_foreign_text(f"No answer came: {type(error).__name__}. {error}"))

    def intercept(self, response: Any) -> None:
        """Reads errors here: the client would read them without any bound in time or size."""
        if response.status_code >= 300:
            raise ErrorStatusError(self.reply(response))

    def reply(self, response: Any) -> Reply:
        """The answer read within the time in all and not only per piece."""
        end, content = time.monotonic() + self.timeout, bytearray()
        for chunk in response.iter_bytes():
            content += chunk
            if time.monotonic() > end or len(content) > MOST_BYTES:
                raise CallFailedError("The provider's answer took too long or was too large.")
        body = parse_json_or_none(bytes(content))
        text = (
            "" if body is not None else text_cleaning.clean_foreign_text(content[:8000].decode("utf-8", "replace"), 300)
        )
        return Reply(response.status_code, dict(response.headers), body, text)

    def judge(self, found: Verdict, tries: int, started: float) -> None:
        """Returns where the call may be made again, after the wait that is due."""
        words = found.words or "(none)"
        if found.meaning in STOPPING and not (found.meaning == "own mistake" and self.answered):
            raise BackendError(STOPPING[found.meaning] + words)
        if found.meaning == "too many":
            if time.monotonic() - started >= self.patience:
                raise BackendError(f"The provider asks to slow down again and again. Its words: {words}")
            rate_limit.pause_calls(self.bucket, found.seconds or SLOW_DOWN)
        elif found.meaning == "again" and tries < MOST_TRIES:
            if found.seconds:
                rate_limit.pause_calls(self.bucket, found.seconds)
            else:
                time.sleep(compute_backoff(tries, self.timeout))
        else:
            raise CallFailedError(words)


def compute_backoff(tries: int, timeout: float) -> float:
    """Seconds before the next try: 1, 2, 4 with a random part, never longer than a call may take."""
    return min(2.0 ** (tries - 1) * (0.5 + random.random()), timeout)


def extract_request_id(reply: Reply) -> dict[str, str]:
    """The provider's own number of the call, where it gives one: anyone who asks the provider needs it."""
    number = next((value for name, value in reply.headers.items() if name.lower() == "x-request-id"), "")
    return {"request": text_cleaning.clean_foreign_text(number, MOST_HEADER)}


def build_bucket_name(host: str, key: str) -> str:
    """The name of the pace of one key at one host; long names of hosts count by their hash."""
    host = host if len(host) <= 80 else hashlib.sha256(host.encode()).hexdigest()
    return f"{host} {hashlib.sha256(key.encode()).hexdigest()[:16]}"


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
        parts = fetching.check_url(url, local=settings.LOCAL_PROVIDERS)
        fetching.address_of(parts, local=settings.LOCAL_PROVIDERS)
    except fetching.FetchError as error:
        if error.again:
            return str(parts.hostname)
        raise BackendError(
            f"base_url: {url!r} may not be asked. WWD_LOCAL_PROVIDERS permits providers at home."
        ) from error
    return str(parts.hostname)
