"""Languages as people name them → ISO 639-3, as a suggestion. The list is `data/languages.tsv`, version 1.

One line per language: code; names in English, in the language itself and in some widely used ones. Made from the IANA
language subtag registry (CC0) and CLDR (Unicode licence), by way of langcodes (MIT) and Babel (BSD), with everyday
names written for this project ("Pidgin", "Darija"). Where a name means several languages, the better known comes first.
What languages are called in those of the public pages is in `data/language_names.tsv`, from CLDR too.
"""

import csv
import re
from functools import lru_cache

from django.utils.translation import get_language

from collection.text import fold_spelling
from collection.vocabularies.places import DATA, SOURCE, Named, names_by_language

FILE = DATA / "languages.tsv"
TRANSLATED = DATA / "language_names.tsv"
UNKNOWN = "mis"
OUTSIDE_BRACKETS = re.compile(r"[,;\n،؛、，；/]\s*(?![^(]*\))")
WRAPPING = re.compile(r"^(?:language|langue|lengua|lingua|bahasa)\s+|\s+(?:language|dialect|langue)$")


@lru_cache(maxsize=1)
def names_by_code() -> dict[str, list[str]]:
    """ISO 639-3 code → its names, the usual English one first."""
    with FILE.open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        return {row["code"]: row["names"].split("; ") for row in rows}


@lru_cache(maxsize=1)
def codes_by_name() -> dict[str, str]:
    """Folded name → code. First names win over second ones, languages with more names over those with fewer."""
    found: dict[str, str] = {}
    entries = sorted(names_by_code().items(), key=lambda entry: (-len(entry[1]), entry[0]))
    for position in range(max(len(names) for _, names in entries)):
        for code, names in entries:
            if position < len(names):
                found.setdefault(fold_spelling(names[position]), code)
    for code, translations in load_language_names().items():
        for name in translations.values():
            found.setdefault(fold_spelling(name), code)
    found.pop("", None)
    return found


@lru_cache(maxsize=1)
def load_language_names() -> dict[str, dict[str, str]]:
    """Code → language of the public pages → name, where CLDR has one."""
    return names_by_language(TRANSLATED)


def translate_language_name(code: str, told: str) -> Named:
    """What a page in the current language calls this language; as told where no name is known."""
    language = (get_language() or SOURCE).partition("-")[0]
    english = names_by_code().get(code, [told])[0]
    name = english if language == SOURCE else load_language_names().get(code, {}).get(language)
    return Named(name or told)


def code_for(name: str) -> str:
    """The ISO 639-3 code of a language as somebody names it, `mis` where the list does not know it."""
    folded = fold_spelling(name)
    plain = fold_spelling(re.sub(r"\(.*?\)", " ", name))
    for text in (folded, WRAPPING.sub("", folded), plain, WRAPPING.sub("", plain)):
        if text in codes_by_name():
            return codes_by_name()[text]
    return UNKNOWN


def split_languages(text: str) -> list[tuple[str, str]]:
    """(name, code) of each language in `text`; commas in brackets do not separate."""
    names = (" ".join(part.split()) for part in OUTSIDE_BRACKETS.split(text))
    return [(name, code_for(name)) for name in dict.fromkeys(names) if name]
