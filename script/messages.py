"""Brings the catalogues of translations in line with the sources: `.venv/bin/python script/messages.py`.

Needs GNU gettext, which Django's `makemessages` runs. Afterwards `locale/*/LC_MESSAGES/django.po` has every text of the
public pages, new ones empty, without texts that no page says any more, and the compiled catalogue beside it. Prints how
many texts each language lacks.
"""

import os
import sys
from collections import defaultdict
from pathlib import Path

import django
import polib
from django.core.management import call_command
from django.core.management.commands import makemessages

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "wwd.settings")

# Folders at the top whose texts no page says.
NO_SOURCES = ("bench", "docs", "script", "shared", "tests", "var")
# The review speaks the languages of its questionnaires: its code and its templates lie in folders of this name.
REVIEW = "review"
REVIEWED = frozenset(path.stem.partition("-")[2] for path in (ROOT / "review" / "consents").glob("*.json"))
# Django's own catalogues name the months.
MONTHS = "month_names.py"
# Plural forms by the CLDR, as gettext writes them; two where nothing is here.
PLURALS = {
    "ar": "nplurals=6; plural=n==0 ? 0 : n==1 ? 1 : n==2 ? 2 : n%100>=3 && n%100<=10 ? 3 : "
    "n%100>=11 && n%100<=99 ? 4 : 5;",
    "fr": "nplurals=2; plural=(n > 1);",
    "hi": "nplurals=2; plural=(n > 1);",
    "id": "nplurals=1; plural=0;",
    "pt": "nplurals=2; plural=(n > 1);",
    "yo": "nplurals=1; plural=0;",
}
TWO = "nplurals=2; plural=(n != 1);"
DRAFT = (
    "Draft, made by a machine: nobody who speaks the language has confirmed it yet.\n"
    "Once somebody has, take the line X-Wording out."
)


class MessagesCommand(makemessages.Command):
    """Django's `makemessages` without guesses: a text that is new or changed has no translation."""

    msgmerge_options = [*makemessages.Command.msgmerge_options, "--no-fuzzy-matching"]


def list_ignored_sources(language: str) -> tuple[str, ...]:
    """Names of files and folders whose texts the catalogue of this language leaves out."""
    django_speaks = (Path(django.__file__).parent / "conf" / "locale" / language).is_dir()
    return (
        *NO_SOURCES,
        *(() if language in REVIEWED else (REVIEW,)),
        *((MONTHS,) if django_speaks else ()),
    )


def extract_texts(languages: list[str]) -> None:
    """Bring the sources of the catalogues in line, languages with the same texts at once."""
    together = defaultdict(list)
    for language in languages:
        together[list_ignored_sources(language)].append(language)
    for ignored, locales in together.items():
        call_command(
            MessagesCommand(),
            locale=locales,
            extensions=["html", "py"],
            ignore_patterns=list(ignored),
            no_wrap=True,
            no_location=True,
            no_obsolete=True,
            verbosity=0,
        )


def finish_catalogue(path: Path, language: str, is_new: bool) -> polib.POFile:
    """Write the header and the number of plural forms of one catalogue, and compile it."""
    catalogue = polib.pofile(str(path), wrapwidth=0)
    is_draft = is_new or catalogue.metadata.get("X-Wording")
    if is_new:
        catalogue.header = DRAFT
    catalogue.metadata_is_fuzzy = False
    catalogue.metadata = {
        "Language": language,
        "MIME-Version": "1.0",
        "Content-Type": "text/plain; charset=UTF-8",
        "Content-Transfer-Encoding": "8bit",
        "Plural-Forms": PLURALS.get(language, TWO),
        **({"X-Wording": "draft"} if is_draft else {}),
    }
    forms = int(catalogue.metadata["Plural-Forms"].partition("=")[2].partition(";")[0])
    for entry in catalogue:
        # Versions of gettext differ in the other flags.
        entry.flags = [flag for flag in entry.flags if flag == "fuzzy"]
        if entry.msgid_plural:
            entry.msgstr_plural = {form: entry.msgstr_plural.get(form, "") for form in range(forms)}
    catalogue.save()
    catalogue.save_as_mofile(str(path.with_suffix(".mo")))
    return catalogue


def main() -> None:
    from django.conf import settings

    # `makemessages` reads the current folder.
    os.chdir(ROOT)
    paths = {
        language: ROOT / "locale" / language / "LC_MESSAGES" / "django.po"
        for language, _name in settings.LANGUAGES
        if language != settings.LANGUAGE_CODE
    }
    new = {language for language, path in paths.items() if not path.exists()}
    extract_texts(list(paths))
    for language, path in paths.items():
        catalogue = finish_catalogue(path, language, language in new)
        lacking = sum(not entry.translated() for entry in catalogue)
        print(f"{language}: {lacking} of {len(catalogue)} texts are missing")


if __name__ == "__main__":
    main()
