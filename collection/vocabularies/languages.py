"""Languages as people name them → ISO 639-3, as a suggestion. The list is `data/languages.tsv`, version 1.

One line per language: code; names that CLDR does not give below; CLDR's code where it is another one. Names in English
and the other languages of the public pages come from CLDR. The list holds those of the IANA language subtag registry
(CC0), what a language calls itself (CLDR too: at run time one file for each language would have to be read) and
everyday names written for this project ("Pidgin", "Darija"). Where a name means several languages, the better known
comes first.
"""

import re
from functools import lru_cache

from django.conf import settings
from django.utils.translation import get_language

from collection.text import fold_spelling
from collection.vocabularies.cldr import load_language_names as load_cldr_names
from collection.vocabularies.country_table import SOURCE, read_table, split_cell
from collection.vocabularies.places import Named

UNKNOWN = "mis"
# Where these have no name for a language, CLDR gives the English one.
ENGLISH_WITHIN = ("ha", "sw", "yo")
OUTSIDE_BRACKETS = re.compile(r"[,;\n،؛、，；/]\s*(?![^(]*\))")
WRAPPING = re.compile(r"^(?:language|langue|lengua|lingua|bahasa)\s+|\s+(?:language|dialect|langue)$")


@lru_cache(maxsize=1)
def read_languages() -> tuple[tuple[str, list[str], str], ...]:
    """(ISO 639-3 code, names that are ours, CLDR's code) of each language."""
    rows = read_table("languages.tsv")
    return tuple((row["code"], split_cell(row["names"]), row["cldr"] or row["code"]) for row in rows)


@lru_cache(maxsize=1)
def names_by_code() -> dict[str, list[str]]:
    """ISO 639-3 code → its names: the usual English one, the language's own, others."""
    english, translations = load_cldr_names(SOURCE), load_language_names()
    found: dict[str, list[str]] = {}
    for code, names, cldr in read_languages():
        translated = translations.get(code, {})
        first = [english[cldr]] if cldr in english else []
        own = [translated[cldr]] if cldr in translated else []
        spellings: dict[str, str] = {}
        for name in (*first, *own, *names, *translated.values()):
            spellings.setdefault(fold_spelling(name), name)
        found[code] = list(spellings.values())
    return found


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
    """Code → language of the public pages → name, where CLDR has one that is not English."""
    english = load_cldr_names(SOURCE)
    found: dict[str, dict[str, str]] = {}
    for language in (code for code, _name in settings.LANGUAGES if code != SOURCE):
        names = load_cldr_names(language)
        for code, _names, cldr in read_languages():
            if cldr in names and (language not in ENGLISH_WITHIN or names[cldr] != english.get(cldr)):
                found.setdefault(code, {})[language] = names[cldr]
    return found


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
