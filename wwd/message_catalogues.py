"""Which texts the catalogues of the public pages hold, and which of them they translate.

`script/messages.py` writes the catalogues from the sources.
"""

from functools import cache
from pathlib import Path
from typing import NamedTuple

import polib
from django.conf import settings


class Text(NamedTuple):
    """What is said of one thing, and of several where that differs."""

    one: str
    several: str = ""


class Catalogue(NamedTuple):
    """The texts of the public pages in one language, and those that have no translation."""

    texts: tuple[Text, ...]
    untranslated: tuple[Text, ...]


def read_catalogue(path: Path) -> Catalogue:
    """Read the source of one catalogue; a fuzzy translation counts as none."""
    rows = [(Text(entry.msgid, entry.msgid_plural), entry.translated()) for entry in polib.pofile(str(path))]
    return Catalogue(
        tuple(text for text, _translated in rows), tuple(text for text, translated in rows if not translated)
    )


@cache
def load_catalogue(language: str) -> Catalogue:
    """Load the catalogue of this language. Where it has none, it lacks the texts that all catalogues hold."""
    folder = Path(settings.LOCALE_PATHS[0])
    path = folder / language / "LC_MESSAGES" / "django.po"
    if path.exists():
        return read_catalogue(path)
    others = [read_catalogue(other).texts for other in sorted(folder.glob("*/LC_MESSAGES/django.po"))]
    texts = min(others, key=len, default=())
    return Catalogue(texts, texts)


def list_texts(language: str) -> tuple[Text, ...]:
    """The texts that a catalogue of this language holds."""
    return load_catalogue(language).texts


def list_untranslated_texts(language: str) -> tuple[Text, ...]:
    """The texts that the catalogue of this language does not translate."""
    return load_catalogue(language).untranslated
