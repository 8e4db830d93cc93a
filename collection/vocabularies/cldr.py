"""Names of countries and languages from CLDR. Babel is used for this alone, and only here."""

from collections.abc import Mapping
from functools import cache

from babel import Locale
from babel.core import get_global

# Kosovo has no ISO 3166 code, so Babel does not know this one.
USER_ASSIGNED = {"XKX": "XK"}


def find_territory(code: str) -> str:
    """CLDR's code of a territory by its ISO 3166-1 alpha-3 code; empty where CLDR has none."""
    aliases = get_global("territory_aliases").get(code, ())
    return USER_ASSIGNED.get(code) or (aliases[0] if len(aliases) == 1 else "")


@cache
def load_territory_names(language: str) -> Mapping[str, str]:
    """CLDR's code → name in `language`. Raises babel.UnknownLocaleError for a language that CLDR does not have."""
    return dict(Locale.parse(language).territories)


@cache
def load_language_names(language: str) -> Mapping[str, str]:
    """CLDR's code (ISO 639-1 where there is one) → name in `language`. Raises babel.UnknownLocaleError."""
    return dict(Locale.parse(language).languages)
