"""The one table of countries and territories: `data/countries.tsv`, written for this project, with names from CLDR.

A row holds only what CLDR does not have, or names otherwise than people do: an everyday English name, other spellings,
what the reader of answers looks for. `data/country_names.tsv` holds everyday names in the other languages of the public
pages: CLDR's name has a comma there, or means two places.

Places that many people name as their country without being a state of their own (England, Zanzibar, Kurdistan) have
rows of their own, as in the published dataset; they are never counted into another state's row.
"""

import csv
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from django.conf import settings

from collection.vocabularies.cldr import find_territory, load_territory_names

SOURCE = "en"
DATA = Path(__file__).resolve().parent.parent / "data"


class Place(NamedTuple):
    """One line of the table. `code` is ISO 3166-1 alpha-3 where there is one.

    `aliases` are other names that people type. `answers` are all names that the reader of answers knows: not an alias
    that means something else within a sentence. `people` are what people and dishes are called, `parts` well-known
    parts, `within` the state of which the place is a part.
    """

    code: str
    name: str
    continents: list[str]
    aliases: list[str]
    answers: list[str]
    people: list[str]
    parts: list[str]
    within: str


def read_table(name: str) -> Iterator[dict[str, str]]:
    """The rows of a file in `data/`; a cell that a line leaves out is empty."""
    with (DATA / name).open(encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE, restval="")


def split_cell(cell: str) -> list[str]:
    return [part.strip() for part in cell.split(";") if part.strip()]


@lru_cache(maxsize=1)
def all_places() -> tuple[Place, ...]:
    return tuple(make_place(row) for row in read_table("countries.tsv"))


def make_place(row: dict[str, str]) -> Place:
    name = row["name"] or load_territory_names(SOURCE)[find_territory(row["code"])]
    aliases, only_typed = split_cell(row["aliases"]), split_cell(row["only_typed"])
    answers = [name, *(alias for alias in aliases if alias not in only_typed), *split_cell(row["answers"])]
    people, parts = split_cell(row["people"]), split_cell(row["parts"])
    return Place(row["code"], name, split_cell(row["continents"]), aliases, answers, people, parts, row["within"])


@lru_cache(maxsize=1)
def load_place_translations() -> dict[str, dict[str, str]]:
    """Code → language → name. Places that are no states of their own have English names only."""
    own = {(row["code"], row["language"]): row["name"] for row in read_table("country_names.tsv")}
    found: dict[str, dict[str, str]] = {}
    for language in (code for code, _name in settings.LANGUAGES if code != SOURCE):
        names = load_territory_names(language)
        for code in (place.code for place in all_places()):
            if name := own.get((code, language)) or names.get(find_territory(code)):
                found.setdefault(code, {})[language] = name
    return found
