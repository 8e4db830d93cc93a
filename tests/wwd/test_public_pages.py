"""Every public page in a pseudo-language whose catalogue marks each text: what stands unmarked was never translated."""

import re
from datetime import date
from html.parser import HTMLParser
from pathlib import Path

import polib
import pytest
from django.conf import settings as global_settings
from django.utils.formats import date_format
from django.utils.translation import override
from pytest_django import Settings

from tests.public_pages import NAME, WORDS, walk

BEGIN, END = "⟦", "⟧"
MARKED = re.compile(f"{BEGIN}[^{BEGIN}{END}]*{END}")
# Arabic months come from Django itself; what was left in English has Latin letters.
LETTER = {"yo": re.compile(r"[^\W\d_]"), "ar": re.compile("[A-Za-z]")}
SAID = frozenset({"alt", "aria-label", "placeholder", "title"})
VOID = frozenset({"meta", "link", "input", "br", "img", "hr"})
# What holds words of people, names, numbers and addresses, or says which language it is in.
OF_PEOPLE = frozenset({"bdi", "textarea", "datalist", "script"})
OF_PEOPLE_CLASSES = frozenset({"typed", "code"})
PROPER = ("World Wide Dishes", "MP3, 337.6\xa0KB", "MP3", "Yorùbá", NAME, WORDS, "Àmàlà", "Sẹnẹga")


class Texts(HTMLParser):
    """The texts of a page that are its own: neither words of people nor said to be in some language."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[tuple[str, bool]] = []
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        own = self.own and tag not in OF_PEOPLE and not OF_PEOPLE_CLASSES & set(given.get("class", "").split())
        own = own and given.get("dir") != "auto" and (tag == "html" or "lang" not in given)
        if own:
            self.found += [value for name, value in given.items() if name in SAID or is_sentence(name, value)]
        if tag not in VOID:
            self.open.append((tag, own))

    def handle_endtag(self, tag: str) -> None:
        while self.open and self.open.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        if self.own:
            self.found.append(data)

    @property
    def own(self) -> bool:
        return not self.open or self.open[-1][1]


def is_sentence(name: str, value: str) -> bool:
    """What scripts say, and what is on the card of a link; not addresses and tokens."""
    return (name.startswith("data-") or name == "content") and " " in value and "width=" not in value


def unmarked(html: str, language: str) -> list[str]:
    texts = Texts()
    texts.feed(html)
    found = []
    for text in texts.found:
        while MARKED.search(text):
            text = MARKED.sub(" ", text)
        for name in PROPER:
            text = text.replace(name, " ")
        if LETTER[language].search(text):
            found.append(" ".join(text.split()))
    return found


@pytest.fixture
def marked(language: str, tmp_path: Path, settings: Settings) -> None:
    """A catalogue of this language that only puts every text between marks."""
    folder = tmp_path / "locale" / language / "LC_MESSAGES"
    folder.mkdir(parents=True)
    old = polib.pofile(str(Path(settings.LOCALE_PATHS[0]) / language / "LC_MESSAGES" / "django.po"))
    new = polib.POFile()
    new.metadata = old.metadata
    for entry in old:
        forms = dict.fromkeys(entry.msgstr_plural, f"{BEGIN}{entry.msgid_plural}{END}")
        said = "" if forms else f"{BEGIN}{entry.msgid}{END}"
        new.append(polib.POEntry(msgid=entry.msgid, msgid_plural=entry.msgid_plural, msgstr=said, msgstr_plural=forms))
    new.save_as_mofile(str(folder / "django.mo"))
    settings.LOCALE_PATHS = [tmp_path / "locale"]


@pytest.mark.django_db
@pytest.mark.parametrize("language", ["yo", "ar"])
def test_every_text_of_every_public_page_comes_from_the_catalogue(language: str, marked: None) -> None:
    """With `test_no_text_of_the_public_pages_is_untranslated`, which holds that each catalogue has them all."""
    found = {
        (name, text)
        for name, response in walk(language)[language].items()
        for text in unmarked(response.content.decode(), language)
    }
    assert found == set()


def test_untranslated_texts_are_noticed_wherever_they_stand() -> None:
    page = """<html lang="yo"><p>⟦marked ⟦inside⟧⟧ 12 <bdi>A name</bdi></p><p lang="en">Text of staff</p>
    <button aria-label="Say">⟦x⟧</button><p data-sent="Now sent">plain</p></html>"""
    assert unmarked(page, "yo") == ["Say", "Now sent", "plain"]


@pytest.mark.parametrize("language", [code for code, _name in global_settings.LANGUAGES if code != "en"])
def test_months_are_written_in_the_language_of_the_page(language: str) -> None:
    days = [date(2026, month, 1) for month in range(1, 13)]
    with override("en"):
        english = [date_format(day, "F") for day in days]
    with override(language):
        said = [date_format(day, "F") for day in days]
    assert len(set(said)) == 12
    assert sum(one == other for one, other in zip(said, english, strict=True)) <= 4
