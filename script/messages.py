"""Brings the catalogues of translations in line with the sources: `.venv/bin/python script/messages.py`.

Every text of the public pages stands in `locale/*/LC_MESSAGES/django.po` afterwards, new ones empty, texts that are no
longer said are gone, and the compiled catalogue lies beside it. Prints how many texts each language lacks.
"""

import os
import sys
from pathlib import Path

import polib

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "wwd.settings")

# Plural forms by the CLDR, as gettext writes them; two where nothing stands here.
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


def renewed(language: str) -> polib.POFile:
    """The catalogue with exactly the texts that are said now."""
    from wwd.message_catalogues import list_required_texts

    path = ROOT / "locale" / language / "LC_MESSAGES" / "django.po"
    old = polib.pofile(str(path)) if path.exists() else polib.POFile()
    known = {entry.msgid: entry for entry in old}
    new = polib.POFile(wrapwidth=0)
    new.header = old.header or DRAFT
    new.metadata = {
        "Language": language,
        "MIME-Version": "1.0",
        "Content-Type": "text/plain; charset=UTF-8",
        "Content-Transfer-Encoding": "8bit",
        "Plural-Forms": PLURALS.get(language, TWO),
        **({"X-Wording": "draft"} if not path.exists() or old.metadata.get("X-Wording") else {}),
    }
    forms = int(new.metadata["Plural-Forms"].partition("=")[2].partition(";")[0])
    for text in list_required_texts(language):
        had = known.get(text.one)
        if text.several:
            said = had.msgstr_plural if had and had.msgstr_plural else dict.fromkeys(range(forms), "")
            new.append(polib.POEntry(msgid=text.one, msgid_plural=text.several, msgstr_plural=said))
        else:
            new.append(polib.POEntry(msgid=text.one, msgstr=had.msgstr if had else ""))
    path.parent.mkdir(parents=True, exist_ok=True)
    new.save(str(path))
    new.save_as_mofile(str(path.with_suffix(".mo")))
    return new


def main() -> None:
    from django.conf import settings

    for language, _name in settings.LANGUAGES:
        if language != settings.LANGUAGE_CODE:
            catalogue = renewed(language)
            print(f"{language}: {len(catalogue.untranslated_entries())} of {len(catalogue)} texts are missing")


if __name__ == "__main__":
    main()
