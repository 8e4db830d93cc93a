"""Countries and territories as people write them: `data/countries.tsv`, version 1, written for this project.

Their names in the other languages of the public pages are in `data/country_names.tsv`: from CLDR (Unicode licence) by
way of Babel (BSD), with a few corrected by hand where a name holds a comma or means two places.

Places that many people name as their country without being a state of their own (England, Zanzibar, Kurdistan) have
rows of their own, as in the published dataset; they are never counted into another state's row.
"""

import csv
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from django.utils.translation import get_language

from collection.models import Continent, Country
from collection.text import fold_spelling

SOURCE = "en"
DATA = Path(__file__).resolve().parent.parent / "data"
FILE = DATA / "countries.tsv"
TRANSLATED = DATA / "country_names.tsv"


class Place(NamedTuple):
    """One line of the list."""

    code: str
    name: str
    continents: list[str]
    aliases: list[str]


class Named(NamedTuple):
    """A name as a page shows it; `language` is set where it is in another one than the page."""

    text: str
    language: str = ""


def split_cell(cell: str) -> list[str]:
    return [part.strip() for part in cell.split(";") if part.strip()]


@lru_cache(maxsize=1)
def all_places() -> tuple[Place, ...]:
    with FILE.open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        return tuple(
            Place(row["code"], row["name"], split_cell(row["continents"]), split_cell(row["aliases"] or ""))
            for row in rows
        )


@lru_cache(maxsize=1)
def map_place_names_to_codes() -> dict[str, str]:
    """Folded name or alias → code, in any language. Names win over aliases, both over names in other languages."""
    found = {fold_spelling(place.name): place.code for place in all_places()}
    for place in all_places():
        for alias in place.aliases:
            found.setdefault(fold_spelling(alias), place.code)
    for code, names in load_place_translations().items():
        for name in names.values():
            found.setdefault(fold_spelling(name), code)
    return found


@lru_cache(maxsize=1)
def load_place_translations() -> dict[str, dict[str, str]]:
    """Code → language → name. Places that are no states of their own have English names only."""
    return names_by_language(TRANSLATED)


def names_by_language(path: Path) -> dict[str, dict[str, str]]:
    """A file whose columns are a code and one language each; empty cells are left out."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        return {row.pop("code"): {language: name for language, name in row.items() if name} for row in rows}


def translate_place_name(code: str | None, told: str) -> Named:
    """What a page in the current language calls this place: `told` where it is not known, English where nothing else
    is."""
    if code is None or code not in english_names():
        return Named(told)
    language = (get_language() or SOURCE).partition("-")[0]
    if language == SOURCE:
        return Named(english_names()[code])
    name = load_place_translations().get(code, {}).get(language)
    return Named(name) if name else Named(english_names()[code], SOURCE)


@lru_cache(maxsize=1)
def english_names() -> dict[str, str]:
    return {place.code: place.name for place in all_places()}


def all_names() -> list[str]:
    """All places in the language of the page, by name."""
    return sorted((translate_place_name(place.code, place.name).text for place in all_places()), key=fold_spelling)


def code_for(text: str) -> str | None:
    """The code of the place that `text` names, however it is spelled; None where the list does not know it."""
    return map_place_names_to_codes().get(fold_spelling(text))


def country_for(text: str) -> Country | None:
    """The row of the country that `text` names; None where it is not known to mean one."""
    code = code_for(text)
    return Country.objects.filter(code=code).first() if code else None


def countries_for(names: Iterable[str]) -> dict[str, Country]:
    """Name → country for those names that are known, in one query."""
    known = {name: code for name in names if (code := code_for(name))}
    rows = Country.objects.in_bulk(set(known.values()))
    return {name: rows[code] for name, code in known.items() if code in rows}


def continents_of(countries: Iterable[Country]) -> tuple[str, ...]:
    """The continents of `countries`, each once, in the order of `Continent`."""
    found = {continent for country in countries for continent in country.continents}
    return tuple(continent.value for continent in Continent if continent.value in found)
