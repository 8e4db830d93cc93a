"""The language of public pages: in the address (`/fr/describe/`), else as the browser asks.

An address that begins with a language keeps it: every link and form of the page does too, without any cookie, because
the prefix is part of what `reverse` puts before all addresses. Pages of staff are in English. The review offers fewer
languages, those of its texts (`review.languages`), in the same way.
"""

import gettext
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase, HttpResponsePermanentRedirect
from django.urls import get_script_prefix, is_valid_path, set_script_prefix
from django.utils import translation
from django.utils.cache import patch_vary_headers
from django.utils.encoding import escape_uri_path
from django.utils.translation import get_language_from_request

# Addresses that have no language: staff, files, machines.
WITHOUT = ("admin", "healthz", "photos", "readyz", "recordings", "static")
STAFF = ("admin",)
# Codes by which phones still ask for a language of ours: withdrawn ones, and members of a group.
ARABIC = ("acm", "aeb", "ajp", "apc", "arb", "arq", "ary", "arz")
ALSO_CALLED = {"in": "id", "swh": "sw", "swc": "sw", **dict.fromkeys(ARABIC, "ar")}
ASKED = re.compile(r"(?<![A-Za-z0-9-])([A-Za-z]{2,3})(?![A-Za-z0-9])")


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


def called_here(header: str) -> str:
    """An Accept-Language header with the codes of this site in place of others for the same languages."""
    return ASKED.sub(lambda found: ALSO_CALLED.get(found[1].lower(), found[1]), header)


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
        if "HTTP_ACCEPT_LANGUAGE" in request.META:
            request.META["HTTP_ACCEPT_LANGUAGE"] = called_here(request.META["HTTP_ACCEPT_LANGUAGE"])
        code, rest = split_language(request.path_info)
        first = rest.removeprefix("/").partition("/")[0]
        language = code or (settings.LANGUAGE_CODE if first in STAFF else get_language_from_request(request))
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
