"""Countries and territories as people write them: `data/countries.tsv`, version 1, written for this project.

Places that many people name as their country without being a state of their own (England, Zanzibar, Kurdistan) have
rows of their own, as in the published dataset; they are never counted into another state's row.
"""

import csv
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from collection.models import Continent, Country
from collection.words import fold

FILE = Path(__file__).parent / "data" / "countries.tsv"


class Place(NamedTuple):
    """One line of the list."""

    code: str
    name: str
    continents: list[str]
    aliases: list[str]


def parts(cell: str) -> list[str]:
    return [part.strip() for part in cell.split(";") if part.strip()]


@lru_cache(maxsize=1)
def all_places() -> tuple[Place, ...]:
    with FILE.open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        return tuple(
            Place(row["code"], row["name"], parts(row["continents"]), parts(row["aliases"] or "")) for row in rows
        )


@lru_cache(maxsize=1)
def codes() -> dict[str, str]:
    """Folded name or alias → code. Names win over aliases of other places."""
    found = {fold(place.name): place.code for place in all_places()}
    for place in all_places():
        for alias in place.aliases:
            found.setdefault(fold(alias), place.code)
    return found


def code_for(text: str) -> str | None:
    """The code of the place that `text` names, however it is spelled; None where the list does not know it."""
    return codes().get(fold(text))


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
