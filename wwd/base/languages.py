"""The language of public pages: in the address (`/fr/describe/`), else as the browser asks.

An address that begins with a language keeps it: every link and form of the page does too, without any cookie, because
the prefix is part of what `reverse` puts before all addresses. Pages of staff are in English. A part of the site that
has fewer languages, such as the review, offers them with `offer_languages`; all choose by `choose_language`.
"""

import gettext
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase, HttpResponsePermanentRedirect
from django.urls import get_script_prefix, is_valid_path, set_script_prefix
from django.utils import translation
from django.utils.cache import patch_vary_headers
from django.utils.encoding import escape_uri_path
from django.utils.translation.trans_real import parse_accept_lang_header

# Addresses that have no language: staff, files, machines.
WITHOUT = ("admin", "healthz", "photos", "readyz", "recordings", "static")
STAFF = ("admin",)
# Codes by which phones still ask for a language of ours: withdrawn ones, and members of a group.
ARABIC = ("acm", "aeb", "ajp", "apc", "arb", "arq", "ary", "arz")
ALSO_CALLED = {"in": "id", "swh": "sw", "swc": "sw", **dict.fromkeys(ARABIC, "ar")}


class Spoken(NamedTuple):
    """A language of public pages by its own name; `code` is in addresses."""

    code: str
    name: str

    @property
    def direction(self) -> str:
        return "rtl" if translation.get_language_info(self.code)["bidi"] else "ltr"


def list_languages() -> tuple[Spoken, ...]:
    """All languages of public pages, in one order everywhere."""
    return tuple(Spoken(code, name) for code, name in settings.LANGUAGES)


def split_language(path: str) -> tuple[str, str]:
    """Language and rest of an address; no language where it names none, or one of an address that has none."""
    code, slash, rest = path.removeprefix("/").partition("/")
    if slash and code in dict(settings.LANGUAGES) and rest.partition("/")[0] not in WITHOUT:
        return code, f"/{rest}"
    return "", path


def expand_tags(tags: Iterable[str]) -> list[str]:
    """Each tag in small letters, then its language without region, by the code of this site: ary → ary, ar."""
    expanded: list[str] = []
    for tag in tags:
        base = tag.lower().partition("-")[0]
        expanded += [tag.lower(), ALSO_CALLED.get(base, base)]
    return expanded


def list_asked_languages(request: HttpRequest) -> list[str]:
    """The languages that this person reads, best first: that of the address, then as the browser says."""
    accepted = parse_accept_lang_header(request.headers.get("Accept-Language", ""))
    chosen = getattr(request, "chosen_language", "")
    return [*([chosen] if chosen else []), *expand_tags(tag for tag, _quality in accepted if tag != "*")]


def choose_language(request: HttpRequest, offered: Container[str]) -> str:
    """The one of the codes `offered` that this person reads best, else English."""
    return next((code for code in list_asked_languages(request) if code in offered), settings.LANGUAGE_CODE)


@contextmanager
def offer_languages(request: HttpRequest, languages: Sequence[Spoken]) -> Iterator[None]:
    """Within, pages are in one of these languages, and offer only these."""
    language = choose_language(request, {each.code for each in languages})
    request.languages_here = languages  # type: ignore[attr-defined]
    request.LANGUAGE_CODE = language
    with translation.override(language):
        yield


def repair_address(path: str) -> str:
    """The address that somebody meant who left out the last slash or wrote capitals; empty where it is none of ours."""
    code, _slash, _rest = path.removeprefix("/").partition("/")
    meant = path if path.endswith("/") or "." in path.rpartition("/")[2] else f"{path}/"
    for tried in (meant, f"/{code.lower()}{meant[len(code) + 1 :]}", meant.lower()):
        if tried != path and is_valid_path(split_language(tried)[1]):
            return tried
    return ""


def add_language_context(request: HttpRequest) -> dict[str, Any]:
    """For templates: the languages of public pages, and whether the one of this page is a draft.

    `home` is the start page in this language, `page_address` this page for its recipient, `same_page` the rest
    of this address, without a language, where it can be asked for in another one.
    """
    return {
        # A part of the site that has fewer languages says so.
        "all_languages": getattr(request, "languages_here", None) or list_languages(),
        "home": get_script_prefix(),
        # Asked for by pages that are sent to others; a page that says that the host is wrong has none.
        "site_address": lambda: f"{request.scheme}://{request.get_host()}",
        "page_address": lambda: f"{request.scheme}://{request.get_host()}{request.path}",
        "same_page": request.path_info if request.method in ("GET", "HEAD") else "",
        "draft_translation": is_draft(translation.get_language() or settings.LANGUAGE_CODE),
    }


@cache
def is_draft(code: str) -> bool:
    """Whether nobody who speaks the language has confirmed its catalogue: its header says `X-Wording: draft`."""
    folder = Path(settings.LOCALE_PATHS[0])
    try:
        found = gettext.translation("django", folder, [code])
    except FileNotFoundError:
        return False
    return found.info().get("x-wording") == "draft"


def address_of(request: HttpRequest, path: str) -> str:
    """The path with its query as it was, below the script's own prefix; never another host."""
    query = f"?{request.META['QUERY_STRING']}" if request.META.get("QUERY_STRING") else ""
    return get_script_prefix().rstrip("/") + "/" + escape_uri_path(path.lstrip("/\\")) + query


class LanguageMiddleware:
    """Takes the language off the address before it is resolved, and puts it before every address that a page names."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        code, rest = split_language(request.path_info)
        first = rest.removeprefix("/").partition("/")[0]
        offered: Container[str] = [settings.LANGUAGE_CODE] if first in STAFF else dict(settings.LANGUAGES)
        language = code or choose_language(request, offered)
        before = get_script_prefix()
        with translation.override(language):
            request.LANGUAGE_CODE = translation.get_language() or settings.LANGUAGE_CODE
            if code:
                request.chosen_language = code  # type: ignore[attr-defined]
                request.path_info = rest
                set_script_prefix(f"{before}{code}/")
            try:
                response = self.get_response(request)
            finally:
                set_script_prefix(before)
        if response.status_code == 404 and request.method in ("GET", "HEAD") and not is_valid_path(rest):
            meant = repair_address(f"/{code}{rest}" if code else rest)
            response = HttpResponsePermanentRedirect(address_of(request, meant)) if meant else response
        response.headers.setdefault("Content-Language", request.LANGUAGE_CODE)
        if not code and first not in WITHOUT:
            patch_vary_headers(response, ("Accept-Language",))
        return response
