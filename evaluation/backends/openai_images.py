"""Pictures from a provider that speaks the OpenAI images protocol.

Further parameters of a model: `n`, pictures per call; `options`, sent with every call as they are (size, quality,
style, response_format …). There is no seed there: pictures are numbered.
"""

import base64
import binascii
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from django.conf import settings

from evaluation import fetching
from evaluation.backends.base import ImageRequest
from evaluation.backends.provider import CallFailed, Provider, Refused
from evaluation.studies.base import ImageResult, ModelData, Result

FETCHES = 2


class OpenAIImages:
    """Makes pictures by calls of a provider, `n` of one prompt at a time."""

    def __init__(self, model: ModelData) -> None:
        self.provider = Provider(model)
        self.identifier = model.identifier
        self.per_call = int(model.parameters.get("n", 1))
        self.options = dict(model.parameters.get("options", {}))

    def generate(self, requests: Sequence[ImageRequest]) -> Iterator[Result]:
        for _, alike in groupby(requests, key=lambda request: request.prompt):
            of_prompt = list(alike)
            for start in range(0, len(of_prompt), self.per_call):
                yield from self.results(of_prompt[start : start + self.per_call])

    def results(self, requests: Sequence[ImageRequest]) -> Iterator[Result]:
        """One call for pictures of the same prompt, and what became of each."""
        note: dict[str, Any] = {"backend": "openai", "n": len(requests)}
        try:
            answer, call = self.provider.call(lambda client: self.ask(client, requests), len(requests))
        except Refused as error:
            for request in requests:
                yield refused(request, error, note)
            return
        except CallFailed as error:
            yield from (Result(request.key, "failed", reason=str(error), circumstances=note) for request in requests)
            return
        note |= call | tokens(answer, len(requests))
        given = answer.get("data")
        rows = [row for row in given if isinstance(row, dict)] if isinstance(given, list) else []
        for number, request in enumerate(requests):
            yield picture(request, rows[number], note) if number < len(rows) else nothing(request, len(rows), note)

    def ask(self, client: Any, requests: Sequence[ImageRequest]) -> Any:
        return client.images.with_streaming_response.generate(
            model=self.identifier, prompt=requests[0].prompt, n=len(requests), extra_body=self.options
        )


def refused(request: ImageRequest, error: Refused, note: Mapping[str, Any]) -> Result:
    return Result(
        request.key,
        "refused",
        text=error.words,
        reason=error.category,
        image=image_of(request, b""),
        circumstances=note,
    )


def nothing(request: ImageRequest, came: int, note: Mapping[str, Any]) -> Result:
    return Result(request.key, "empty", reason=f"The provider gave {came} of {note['n']} pictures.", circumstances=note)


def picture(request: ImageRequest, row: Mapping[str, Any], note: Mapping[str, Any]) -> Result:
    """The picture of one entry of the answer; addresses are fetched at once, for they expire."""
    try:
        content = content_of(row)
    except fetching.FetchError as error:
        return Result(request.key, "failed", reason=str(error), circumstances=note)
    if not content:
        return Result(request.key, "empty", reason="The provider's answer holds no picture.", circumstances=note)
    return Result(
        request.key, image=image_of(request, content, str(row.get("revised_prompt") or "")), circumstances=note
    )


def content_of(row: Mapping[str, Any]) -> bytes:
    """The bytes of a picture that came in the answer or lies at an address; empty where there is neither."""
    if row.get("b64_json"):
        try:
            return base64.b64decode(str(row["b64_json"]), validate=True)
        except (binascii.Error, ValueError):
            raise fetching.FetchError("The picture in the provider's answer cannot be decoded.") from None
    return fetched(str(row["url"])) if row.get("url") else b""


def fetched(url: str, tries: int = FETCHES) -> bytes:
    try:
        return fetching.fetch(url, local=settings.LOCAL_PROVIDERS)
    except fetching.FetchError as error:
        if error.again and tries > 1:
            return fetched(url, tries - 1)
        raise


def image_of(request: ImageRequest, content: bytes, revised: str = "") -> ImageResult:
    """Kind and size are read from the content by whoever looks at it next."""
    place = {"seed": None, "sample": request.sample if request.sample is not None else request.seed}
    return ImageResult(content, "", 0, 0, request.prompt, revised, request.prompt_id, **place)


def tokens(answer: Mapping[str, Any], pictures: int) -> dict[str, float]:
    """Each picture's share of the tokens that the call took, where the provider counts them."""
    usage = answer.get("usage")
    if not isinstance(usage, dict):
        return {}
    names = ("input_tokens", "output_tokens")
    return {name: usage[name] / pictures for name in names if isinstance(usage.get(name), int | float)}
