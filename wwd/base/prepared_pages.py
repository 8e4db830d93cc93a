"""Pages that differ in a few values only: rendered once for each language, then the values are filled in.

Such a page is what its template makes of it, sign for sign. It is rendered with marks in place of the values, for a
request that carries nothing of anybody, and cut at the marks. Whatever else the template looks at is noted with it, so
that the page serves only where that is the same. Where anything is unclear the template is rendered as any other.
"""

import secrets
from collections.abc import Collection, Hashable, Iterator
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.templatetags.static import static
from django.urls import get_script_prefix
from django.utils.html import escape

MOST_KINDS, MOST_OF_A_KIND = 500, 8
PLAIN = (str, int, bool, type(None))


class NoCookies(dict[str, str]):
    """The cookies of a request that has none; knows whether anybody looked."""

    looked = False

    def note_access(self) -> None:
        self.looked = True

    def __iter__(self) -> Iterator[str]:
        self.note_access()
        return super().__iter__()

    def __contains__(self, name: object) -> bool:
        self.note_access()
        return False

    def __len__(self) -> int:
        self.note_access()
        return 0

    def __getitem__(self, name: str) -> str:
        self.note_access()
        raise KeyError(name)

    def get(self, name: str, default: Any = None) -> Any:
        self.note_access()
        return default

    def items(self) -> Any:
        self.note_access()
        return super().items()

    keys = values = items


class UnpreparablePageError(Exception):
    """The page depends on something that is no plain value."""


class Part:
    """Stands for an object of the context: some attributes are marks, what is asked of the others is noted."""

    def __init__(self, whole: Any, marks: dict[str, str]) -> None:
        self.whole, self.marks, self.noted = whole, marks, dict[str, Any]()

    def __getattr__(self, name: str) -> Any:
        if name in self.marks:
            return self.marks[name]
        value = getattr(self.whole, name, UnpreparablePageError)
        if not (value is UnpreparablePageError or isinstance(value, PLAIN)):
            raise UnpreparablePageError(name)
        self.noted[name] = value
        if value is UnpreparablePageError:
            raise AttributeError(name)
        return value


class Page:
    """A page in pieces: text, the name of a value, text, and so on.

    `noted`: what it depends on (part, attribute, value). `for_strangers`: it looked at cookies, so that it serves only
    requests without any. `left`: what making it left on its request for the middleware.
    """

    def __init__(
        self,
        pieces: list[str],
        noted: list[tuple[str, str, Any]],
        for_strangers: bool = False,
        left: dict[str, Any] | None = None,
    ) -> None:
        self.pieces, self.noted, self.for_strangers, self.left = pieces, noted, for_strangers, left or {}

    def serves(self, request: HttpRequest, context: dict[str, Any]) -> bool:
        if self.for_strangers and request.COOKIES:
            return False
        return all(getattr(context[part], name, UnpreparablePageError) == value for part, name, value in self.noted)

    def filled(self, values: dict[str, str]) -> str:
        return "".join(values[piece] if place % 2 else piece for place, piece in enumerate(self.pieces))


_pages: dict[Hashable, list[Page]] = {}


def render_prepared(
    request: HttpRequest,
    template: str,
    context: dict[str, Any],
    *,
    marked: Collection[str] = (),
    same: Collection[str],
    constant: Collection[str] = (),
) -> HttpResponse:
    """The page of `template` with this context, like Django's `render`.

    `marked` names the values that are only written into the page, also as attributes (`proof.token`); `same` names
    plain values that decide how it looks, `constant` what is equal on all pages with this `same`. A context that holds
    anything else is rendered without preparation.
    """
    marked = [name for name in marked if name.partition(".")[0] in context]
    parts = {name.partition(".")[0] for name in marked}
    if settings.DEBUG or not all(name in parts or name in same or name in constant for name in context):
        return render(request, template, context)
    values = {name: str(value_of(context, name)) for name in marked}
    # A template may leave out what is empty, so that an empty value is no mark.
    marked = [name for name in marked if values[name]]
    looks = (*marked, *((name, context.get(name)) for name in same))
    address = (request.method, request.scheme, request.get_host(), request.path, request.path_info, get_script_prefix())
    pages = get_prepared_variants((template, *address, request.LANGUAGE_CODE, static("site.css"), *looks))
    page = next((page for page in pages if page.serves(request, context)), None)
    if page is None and len(pages) < MOST_OF_A_KIND:
        page = prepare_page(request, template, context, marked)
        pages += [page] if page else []
    if page is None or not page.serves(request, context):
        return render(request, template, context)
    for name, value in page.left.items():
        setattr(request, name, value)
    return HttpResponse(page.filled({name: escape(value) for name, value in values.items()}))


def get_prepared_variants(key: Hashable) -> list[Page]:
    """The prepared pages that look alike up to what is noted with them."""
    if len(_pages) >= MOST_KINDS and key not in _pages:
        _pages.clear()
    return _pages.setdefault(key, [])


def value_of(context: dict[str, Any], name: str) -> Any:
    first, dot, attribute = name.partition(".")
    return getattr(context[first], attribute) if dot else context[first]


def prepare_page(request: HttpRequest, template: str, context: dict[str, Any], marked: Collection[str]) -> Page | None:
    """The page in pieces; None where it depends on what is no plain value."""
    marks = {name: f"mark{secrets.token_hex(16)}" for name in marked}
    parts: dict[str, Part] = {}
    filled = dict(context)
    for name, mark in marks.items():
        first, dot, attribute = name.partition(".")
        if dot:
            parts.setdefault(first, Part(context[first], {})).marks[attribute] = mark
        else:
            filled[name] = mark
    asked = build_anonymous_request(request)
    before = set(vars(asked))
    try:
        text = render_to_string(template, {**filled, **parts}, asked)
    except UnpreparablePageError:
        return None
    left = {name: value for name, value in vars(asked).items() if name not in before and isinstance(value, PLAIN)}
    noted = [(first, name, value) for first, part in parts.items() for name, value in part.noted.items()]
    return Page(cut_at_marks(text, marks), noted, asked.COOKIES.looked, left)


def cut_at_marks(text: str, marks: dict[str, str]) -> list[str]:
    """Text, name of a value, text, …"""
    pieces = [text]
    for name, mark in marks.items():
        found: list[str] = []
        for place, piece in enumerate(pieces):
            for number, part in enumerate([piece] if place % 2 else piece.split(mark)):
                found += [name, part] if number else [part]
        pieces = found
    return pieces


class Nobody(HttpRequest):
    """A request by somebody of whom nothing is known."""

    COOKIES: NoCookies

    def __init__(self, scheme: str, host: str) -> None:
        super().__init__()
        self.asked_by, self.COOKIES = scheme, NoCookies()
        self.META["HTTP_HOST"] = host

    def _get_scheme(self) -> str:
        return self.asked_by


def build_anonymous_request(request: HttpRequest) -> Nobody:
    """The same page, asked for by nobody."""
    asked = Nobody(request.scheme or "http", request.get_host())
    asked.method, asked.path, asked.path_info = request.method, request.path, request.path_info
    asked.LANGUAGE_CODE = request.LANGUAGE_CODE
    return asked
