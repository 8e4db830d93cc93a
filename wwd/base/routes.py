"""The route of an address: what logs say instead of the path, which may hold somebody's key or code."""

from functools import lru_cache

from django.conf import settings
from django.urls import Resolver404, resolve

from wwd.base.languages import split_language

UNKNOWN_ROUTE = "(no such page)"
STATIC = "static/<file>"


def route_of(path: str) -> str:
    """The pattern that answers `path`, such as `/fr/review/back/<token>/`; nothing of the path but its language.

    A path that leads nowhere may be a mistyped key: it is not repeated.
    """
    language, rest = split_language(path)
    before = f"/{language}/" if language else "/"
    if path.startswith(settings.STATIC_URL):
        return before + STATIC
    try:
        return before + resolve(rest).route
    except (Resolver404, ValueError):
        return UNKNOWN_ROUTE


@lru_cache(maxsize=512)
def keys_in_route(route: str) -> bool:
    """Whether addresses of this route hold somebody's key or code."""
    return "<token>" in route or ":code>" in route
