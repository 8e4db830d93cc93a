"""A mask on every page of staff: anyone who may not steer runs reads no name that a masked plan hides.

One place for all addresses under `/admin/`, so that a new page cannot forget it. Names become one sign, `[masked]`, and
not the letters of the tables: what somebody types into a search is shown again, and would otherwise be told its letter.
Pages of tables, images and plans (`BY_THEMSELVES`) hide names by the data that they show, letters and all.
"""

import html
import json
import re
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseBase

from evaluation.plans.mask import NO_MASK, Mask, mask_of_models
from evaluation.plans.mask_names import Names
from evaluation.plans.mask_text import Words

PAGES = "/admin/"
# What people told, and accounts: nothing of models is there, and stewards read it as it is written.
WITHOUT_MODELS = tuple(f"/admin/{name}/" for name in ("collection", "takeback", "undo-reports", "auth", "translations"))
# Only there places are part of what came out.
WITH_PLACES = "/admin/evaluation/"
MASKED = "[masked]"
# Who steers runs has to see what becomes of them.
STEERS = "evaluation.change_run"
BY_THEMSELVES = frozenset(
    {
        *(f"evaluation:{name}" for name in ("table", "csv", "json", "figure", "pdf", "png", "drilldown", "gallery")),
        *(f"evaluation:{name}" for name in ("image", "subject-images", "take-cell", "take-image")),
        # A plan is in its writers' words, and a form must give back what it was given.
        *(f"evaluation:{name}" for name in ("plans", "plan", "plan-new", "plan-edit", "plan-freeze", "plan-json")),
        *(f"bundles:{name}" for name in ("read", "fetch")),
        # Numbers of the collection alone.
        "evaluation:overview",
    }
)
TAG = re.compile(r"(<[^>]*>)")
# Attributes that say something to people or lead somewhere; what a form would send back stays as it is.
SAID = re.compile(
    r"(?P<start>\s(?:href|title|alt|label|placeholder|abbr|content|data-[\w-]+"
    r"|aria-(?:label|description|valuetext|roledescription))=)(?P<sign>[\"'])(?P<text>.*?)(?P=sign)",
    re.DOTALL,
)
TYPED = re.compile(r"<textarea\b", re.IGNORECASE)


def reader_mask(request: HttpRequest) -> Mask:
    """The mask that holds for this reader on pages of staff. Asked of the database once for each request."""
    held: Mask | None = request.__dict__.get("reader_mask")
    if held is None:
        user = request.user
        free = not user.is_authenticated or user.has_perm(STEERS)
        held = request.__dict__["reader_mask"] = NO_MASK if free else mask_of_models()
    return held


class MaskedPagesMiddleware:
    """Stands after those that know the person."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if not isinstance(response, HttpResponse) or not is_meant(request):
            return response
        mask = reader_mask(request)
        places = mask.places and request.path_info.startswith(WITH_PLACES)
        return redact_response(response, Redaction(replace(mask, places=places))) if mask.active else response


def is_meant(request: HttpRequest) -> bool:
    """Whether this address could name a model without having masked it itself."""
    path, match = request.path_info, request.resolver_match
    by_itself = match is not None and match.view_name in BY_THEMSELVES
    return path.startswith(PAGES) and not path.startswith(WITHOUT_MODELS) and not by_itself


class Redaction:
    """Takes every spelling of a hidden name out of texts."""

    def __init__(self, mask: Mask) -> None:
        assert mask.plan is not None
        names = Names(mask.plan, mask.places)
        # Gives all names now, so that those of places are known before the first table is read.
        names.learn(())
        self.words = Words(names)

    @cached_property
    def spellings(self) -> list[str]:
        return list(self.words.spellings)

    def text(self, text: str) -> str:
        """`text` without hidden names; as one sign where a trace of one is left."""
        lowered = text.casefold()
        if any(name in lowered for name in self.spellings):
            text = self.words.pattern.sub(MASKED, text)
        return MASKED if self.words.traced(text) else text

    def value(self, value: Any) -> Any:
        """The same of everything in a JSON value, keys too."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self.value(one) for one in value]
        if isinstance(value, dict):
            return {self.text(key): self.value(one) for key, one in value.items()}
        return value

    def page(self, page: str) -> str:
        """The same of a page: what it says and where it leads; not what is in a form that somebody sends."""
        parts, typed = TAG.split(page), False
        for place, part in enumerate(parts):
            if place % 2:
                typed = bool(TYPED.match(part)) or (typed and not part.lower().startswith("</textarea"))
                parts[place] = SAID.sub(self._attribute, part)
            elif part.strip() and not typed:
                parts[place] = self._escaped(part)
        return "".join(parts)

    def _attribute(self, found: re.Match[str]) -> str:
        return f"{found['start']}{found['sign']}{self._escaped(found['text'])}{found['sign']}"

    def _escaped(self, text: str) -> str:
        """Of text as it is in a page."""
        plain = html.unescape(text)
        shown = self.text(plain)
        return text if shown == plain else html.escape(shown)


def redact_response(response: HttpResponse, redaction: Redaction) -> HttpResponse:
    """The response without hidden names, in its content and in where it leads."""
    kind = response.headers.get("Content-Type", "").partition(";")[0]
    charset = response.charset or "utf-8"
    for name in ("Location", "Content-Disposition"):
        if name in response.headers and redaction.text(response.headers[name]) != response.headers[name]:
            response.headers[name] = redaction.text(response.headers[name])
    if kind == "text/html":
        response.content = redaction.page(response.content.decode(charset)).encode(charset)
    elif kind == "application/json":
        response.content = json.dumps(redaction.value(json.loads(response.content)), ensure_ascii=False).encode()
    elif kind in ("text/csv", "text/plain"):
        lines = response.content.decode(charset).splitlines(keepends=True)
        response.content = "".join(map(redaction.text, lines)).encode(charset)
    else:
        return response
    if "Content-Length" in response.headers:
        response.headers["Content-Length"] = str(len(response.content))
    return response
