"""Images from a provider that speaks the OpenAI images protocol.

Further parameters of a model: `n`, images per call; `options`, sent with every call as they are (size, quality,
style, response_format …). There is no seed there: images are numbered.
"""

import base64
import binascii
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any
from urllib.parse import unquote_to_bytes

from django.conf import settings

from evaluation.backends.provider import CallFailedError, Provider, ProviderAnswer
from evaluation.backends.provider_dialects import Verdict, judge_part
from evaluation.contracts.backend import ImageRequest
from evaluation.contracts.study import ImageResult, ModelData, Result
from evaluation.readers import text_cleaning
from wwd.base import fetching

FETCHES = 2
MOST_WORDS = 20_000
FILTERED = "The provider's filter held the image back."


class OpenAIImages:
    """Makes images by calls of a provider, `n` of one prompt at a time, or fewer where it was seen to give fewer."""

    def __init__(self, model: ModelData) -> None:
        self.provider = Provider(model)
        self.identifier = model.identifier
        self.wanted = self.per_call = max(1, int(model.parameters.get("n", 1)))
        self.options = dict(model.parameters.get("options", {}))

    def generate(self, requests: Sequence[ImageRequest]) -> Iterator[Result]:
        for _, alike in groupby(requests, key=lambda request: request.prompt):
            waiting = list(alike)
            while waiting:
                asked, waiting = waiting[: self.per_call], waiting[self.per_call :]
                came = 0
                for result in self.results(asked):
                    came += 1
                    yield result
                waiting = asked[came:] + waiting

    def results(self, requests: Sequence[ImageRequest]) -> Iterator[Result]:
        """One call for images of the same prompt, and what became of each.

        Where some came, but fewer than asked for, the others have no result yet: they are asked for again, in calls of
        as many as came, as are all later ones.
        """
        note: dict[str, Any] = {"backend": "openai", "n": len(requests)}
        if self.per_call < self.wanted:
            note["gives"] = self.per_call
        try:
            told = self.provider.call(lambda client: self.ask(client, requests), len(requests))
        except CallFailedError as error:
            yield from (Result(request.key, "failed", reason=str(error), circumstances=note) for request in requests)
            return
        note |= told.circumstances
        if told.verdict.meaning in ("refused", "filtered"):
            yield from (held_back(request, told.verdict, note) for request in requests)
            return
        rows = rows_of(told)
        note |= compute_token_share(told.body, len(requests))
        if 0 < len(rows) < len(requests):
            self.per_call = len(rows)
            requests = requests[: len(rows)]
            note["gives"] = self.per_call
        for number, request in enumerate(requests):
            yield (
                build_image_result(request, rows[number], note)
                if number < len(rows)
                else build_empty_result(request, note)
            )

    def ask(self, client: Any, requests: Sequence[ImageRequest]) -> Any:
        return client.images.with_streaming_response.generate(
            model=self.identifier, prompt=requests[0].prompt, n=len(requests), extra_body=self.options
        )


def rows_of(told: ProviderAnswer) -> list[Mapping[str, Any]]:
    given = told.body.get("data")
    return [row for row in given if isinstance(row, dict)] if isinstance(given, list) else []


def held_back(request: ImageRequest, verdict: Verdict, note: Mapping[str, Any]) -> Result:
    """The record of an image that was refused or filtered: the provider's words, and its category as the reason."""
    filtered = verdict.meaning == "filtered"
    return Result(
        request.key,
        "filtered" if filtered else "refused",
        text=verdict.words,
        reason=verdict.category or (FILTERED if filtered else ""),
        image=image_of(request, b""),
        circumstances=note,
    )


def build_empty_result(request: ImageRequest, note: Mapping[str, Any]) -> Result:
    return Result(request.key, "empty", reason=f"The provider gave 0 of {note['n']} images.", circumstances=note)


def build_image_result(request: ImageRequest, row: Mapping[str, Any], note: Mapping[str, Any]) -> Result:
    """The image of one entry of the answer; addresses are fetched at once, for they expire."""
    try:
        content = content_of(row)
    except fetching.FetchError as error:
        return Result(request.key, "failed", reason=str(error), circumstances=note)
    if content:
        revised = text_cleaning.clean_foreign_text(row.get("revised_prompt"), MOST_WORDS)
        return Result(request.key, image=image_of(request, content, revised), circumstances=note)
    verdict = judge_part(row)
    if verdict.meaning in ("refused", "filtered"):
        return held_back(request, verdict, note)
    return Result(request.key, "empty", reason="The provider's answer holds no image.", circumstances=note)


def content_of(row: Mapping[str, Any]) -> bytes:
    """The bytes of an image that came in the answer or lies at an address; empty where there is neither.

    Raises FetchError for what is no image, whatever it is said to be.
    """
    inside, address = row.get("b64_json"), row.get("url")
    if isinstance(inside, str) and inside.strip():
        return fetching.check_image_bytes(decode_base64_image(inside))
    if not isinstance(address, str) or not address.strip():
        return b""
    if address.strip()[:5].lower() == "data:":
        return fetching.check_image_bytes(decode_base64_image(address))
    return fetch_image(address.strip())


def decode_base64_image(text: str) -> bytes:
    """The bytes of base64 as providers write it: with a `data:` prefix, line breaks, URL-safe, without its end.

    Raises FetchError.
    """
    head, comma, rest = text.strip().partition(",")
    if head[:5].lower() == "data:":
        if not comma:
            raise fetching.FetchError("The image in the provider's answer cannot be decoded.")
        if not head.lower().endswith(";base64"):
            return unquote_to_bytes(rest)
        text = unquote_to_bytes(rest).decode("ascii", "replace")
    text = re.sub(r"\s+", "", text).rstrip("=").translate(str.maketrans("-_", "+/"))
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except (binascii.Error, ValueError):
        raise fetching.FetchError("The image in the provider's answer cannot be decoded.") from None


def fetch_image(url: str, tries: int = FETCHES) -> bytes:
    try:
        return fetching.fetch_url(url, local=settings.LOCAL_PROVIDERS)
    except fetching.FetchError as error:
        if error.again and tries > 1:
            return fetch_image(url, tries - 1)
        raise


def image_of(request: ImageRequest, content: bytes, revised: str = "") -> ImageResult:
    """Kind and size are read from the content by anyone who looks at it next."""
    place: dict[str, Any] = {"seed": None, "sample": request.sample if request.sample is not None else request.seed}
    return ImageResult(content, "", 0, 0, request.prompt, revised, request.prompt_id, **place)


def compute_token_share(answer: Mapping[str, Any], images: int) -> dict[str, float]:
    """Each image's share of the tokens that the call took, where the provider counts them."""
    usage = answer.get("usage")
    if not isinstance(usage, dict):
        return {}
    counted = {name: text_cleaning.parse_finite_number(usage.get(name)) for name in ("input_tokens", "output_tokens")}
    return {name: value / images for name, value in counted.items() if value is not None and value >= 0}
