"""Translations: the compiled catalogues lie beside their sources, so that a clone and a container need no tool."""

import ast
import gettext
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings

from wwd.message_catalogues import Text, list_required_texts, list_untranslated_texts, texts_of

SOURCES = sorted(Path(settings.BASE_DIR, "locale").glob("*/LC_MESSAGES/*.po"))
ENTRY = re.compile(r'^(msgid|msgid_plural|msgstr(?:\[\d+\])?) ((?:".*"\n?)+)', re.MULTILINE)


def texts(source: str) -> Iterator[tuple[str, str]]:
    """Keyword and text of every line of a source file that is no comment."""
    for keyword, quoted in ENTRY.findall(source):
        yield keyword, "".join(ast.literal_eval(line) for line in quoted.splitlines())


def catalogue(source: str) -> dict[tuple[str, int], str]:
    """Message and number of its plural form → translation; without what has none."""
    found, message = {}, ""
    for keyword, text in texts(source):
        if keyword == "msgid":
            message = text
        elif keyword.startswith("msgstr") and text:
            found[message, int(re.sub(r"\D", "", keyword) or 0)] = text
    return found


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.parent.parent.name)
def test_compiled_catalogue_says_what_its_source_says(path: Path) -> None:
    """Mended by: msgfmt -o django.mo django.po"""
    with path.with_suffix(".mo").open("rb") as file:
        compiled = gettext.GNUTranslations(file)._catalog  # type: ignore[attr-defined]
    said = {(key if isinstance(key, tuple) else (key, 0)): text for key, text in compiled.items()}
    assert catalogue(path.read_text(encoding="utf-8")) == said


def test_there_are_catalogues() -> None:
    assert SOURCES


def test_a_language_without_a_catalogue_lacks_every_text() -> None:
    assert list_untranslated_texts("tlh") == list(list_required_texts("tlh")) != []


def test_texts_that_are_put_together_while_the_site_runs_are_none_of_the_source(tmp_path: Path) -> None:
    source = tmp_path / "words.py"
    source.write_text('_("One")\n_(title)\nngettext("%(n)d dish", "%(n)d dishes", n)\n')
    assert list(texts_of(source)) == [Text("One"), Text("%(n)d dish", "%(n)d dishes")]
