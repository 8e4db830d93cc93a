"""Dishes of World Wide Dishes (June 2024) as dishes of ours; one row of the file is one dish."""

import ast
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from django.db.models import Model

from collection.leaderboard.counters import update_leaderboard_counters
from collection.models import (
    Continent,
    Country,
    Dish,
    DishContinent,
    DishCountry,
    DishKind,
    DishLanguage,
    Occasion,
    PhotoLink,
    Source,
    TimeOfDay,
)
from collection.signals import dishes_changed
from collection.vocabularies.places import country_for
from wwd.exchange.published.source import InvalidRowError, Report, Row, check_instance, parse_rows, read_wellformed_rows
from wwd.exchange.published.writing import insert_in_chunks, insert_new

FILE = "WorldWideDishes_2024_June_World_Wide_Dishes.csv"
KEY = "world-wide-dishes-2024"
NONE_EXISTS = "No CC Images Available"
UNKNOWN_LANGUAGE = "Unknown"
COMMA_OUTSIDE_PARENTHESES = re.compile(r",(?![^(]*\))")

TEXTS = (
    "english_name",
    "regions",
    "cultures",
    "time_of_day_more",
    "utensils",
    "drink",
    "occasions_more",
    "ingredients",
    "recipe",
    "more_details",
)
COLUMNS = (
    "id",
    "local_name",
    "language",
    "language_code",
    "countries",
    "continent",
    "time_of_day",
    "type_of_dish",
    "type_of_dish_more",
    "occasions",
    "public_cc_image_url",
    "public_cc_image_caption",
    "uploaded_image_name",
    "uploaded_image_url",
    "uploaded_image_caption",
    *TEXTS,
)
COMPARED = ("number", "local_name", "time_of_day", "kinds", "kinds_more", "occasions", *TEXTS)

# The released wordings in lower case with blanks for underscores, so that variants of spelling meet in one code.
KINDS: Mapping[str, DishKind] = {
    "starter": DishKind.STARTER,
    "soup": DishKind.SOUP,
    "salad": DishKind.SALAD,
    "sauce": DishKind.SAUCE,
    "side dish": DishKind.SIDE,
    "main dish - stand alone (e.g. one pot meal)": DishKind.MAIN_ALONE,
    "main dish - eaten with sides": DishKind.MAIN_SIDES,
    "small plate / bowl for sharing": DishKind.SMALL_SHARED,
    "small plate / bowl served as a part of a collection": DishKind.SMALL_COLLECTION,
    "dessert": DishKind.DESSERT,
    "other": DishKind.OTHER,
}
TIMES: Mapping[str, TimeOfDay] = {time.value: time for time in TimeOfDay}
OCCASIONS: Mapping[str, str] = {
    "": "",
    **{occasion.value: occasion.value for occasion in Occasion},
    # Ticked twice in one row of the release: who eats it on special occasions and both, eats it both ways.
    "special, both": Occasion.BOTH.value,
}


@dataclass
class Parsed:
    """A dish and the rows that belong to it, none of them saved."""

    dish: Dish
    parts: list[Model]


def split_list_cell(cell: str) -> list[str]:
    """The values of a multi-valued cell: commas inside parentheses do not separate."""
    return [part.strip() for part in COMMA_OUTSIDE_PARENTHESES.split(cell) if part.strip()]


def parse_codes(cell: str, known: Mapping[str, TimeOfDay] | Mapping[str, DishKind], column: str) -> list[str]:
    """The stable codes of a cell that holds the text of a Python list; each code once, in the order of the cell."""
    try:
        texts = ast.literal_eval(cell or "[]")
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        texts = None
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise InvalidRowError(f"{column} is not a list of texts: {cell[:80]}")
    plain = [text.casefold().replace("_", " ").strip() for text in texts]
    unknown = [text for text, key in zip(texts, plain, strict=True) if key not in known]
    if unknown:
        raise InvalidRowError(f"{column} has values that are not known: {', '.join(unknown)}")
    return list(dict.fromkeys(known[key].value for key in plain))


def build_dish_languages(row: Row, dish: Dish) -> list[DishLanguage]:
    """Names and codes stand side by side; an unknown language has the code `mis` and keeps the word."""
    names, iso = split_list_cell(row["language"]), split_list_cell(row["language_code"])
    if len(names) != len(iso):
        raise InvalidRowError(f"language names {len(names)} languages, language_code {len(iso)}")
    pairs = enumerate(zip(names, iso, strict=True))
    return [
        DishLanguage(dish=dish, position=position, name=name, code="mis" if code == UNKNOWN_LANGUAGE else code)
        for position, (name, code) in pairs
    ]


def build_photo_links(row: Row, dish: Dish) -> list[PhotoLink]:
    """Links to images, or the statement that no free image exists. Addresses stay as written, `data:` ones too."""
    url, caption = row["public_cc_image_url"], row["public_cc_image_caption"]
    none_exists = url == NONE_EXISTS
    found = []
    if url or caption:
        public = PhotoLink(dish=dish, url="" if none_exists else url, caption=caption, none_exists=none_exists)
        found.append(public)
    name, uploaded = row["uploaded_image_name"], row["uploaded_image_url"]
    if name or uploaded:
        caption = row["uploaded_image_caption"]
        kind = PhotoLink.Kind.UPLOADED
        found.append(PhotoLink(dish=dish, kind=kind, url=uploaded, name=name, caption=caption))
    return found


class DishParser:
    """Makes dishes of rows; remembers which ids it has seen and which country a writing means."""

    def __init__(self) -> None:
        self._seen: set[int] = set()
        self._countries: dict[str, Country | None] = {}

    def __call__(self, row: Row) -> Parsed:
        dish = check_instance(self._dish(row), "time_of_day", "kinds")
        parts: list[Model] = [*build_dish_languages(row, dish), *self._places(row, dish), *build_photo_links(row, dish)]
        for part in parts:
            check_instance(part)
        self._seen.add(dish.number)
        return Parsed(dish, parts)

    def _dish(self, row: Row) -> Dish:
        number = self._number(row["id"])
        if row["occasions"] not in OCCASIONS:
            raise InvalidRowError(f"occasions has a value that is not known: {row['occasions'][:80]}")
        return Dish(
            number=number,
            source=Source.IMPORT,
            source_key=f"{KEY}/{number}",
            state=Dish.State.ACCEPTED,
            local_name=unicodedata.normalize("NFC", row["local_name"]),
            time_of_day=parse_codes(row["time_of_day"], TIMES, "time_of_day"),
            kinds=parse_codes(row["type_of_dish"], KINDS, "type_of_dish"),
            kinds_more=row["type_of_dish_more"],
            occasions=OCCASIONS[row["occasions"]],
            **{text: row[text] for text in TEXTS},
        )

    def _number(self, cell: str) -> int:
        if not (cell.isascii() and cell.isdigit() and len(cell) < 10):
            raise InvalidRowError(f"id is not a number: {cell[:40]!r}")
        if int(cell) in self._seen:
            raise InvalidRowError(f"id {cell} is twice in the file")
        return int(cell)

    def _places(self, row: Row, dish: Dish) -> list[DishCountry | DishContinent]:
        """Countries keep the contributor's spelling; continents are those stated in the file."""
        countries, continents = split_list_cell(row["countries"]), split_list_cell(row["continent"])
        if not countries:
            raise InvalidRowError("countries is empty")
        unknown = [name for name in continents if name not in Continent.values]
        if unknown:
            raise InvalidRowError(f"continent has values that are not known: {', '.join(unknown)}")
        return [
            *(
                DishCountry(dish=dish, position=position, name=name, country=self._country(name))
                for position, name in enumerate(countries)
            ),
            *(DishContinent(dish=dish, continent=name) for name in dict.fromkeys(continents)),
        ]

    def _country(self, name: str) -> Country | None:
        if name not in self._countries:
            self._countries[name] = country_for(name)
        return self._countries[name]


def without_taken_numbers(found: list[tuple[Row, Parsed]], report: Report) -> list[Parsed]:
    """Dishes whose number is free or already theirs; a number is never used twice."""
    numbers = [parsed.dish.number for _row, parsed in found]
    taken = dict(Dish.objects.filter(number__in=numbers).values_list("number", "source_key"))
    free = []
    for row, each in found:
        if taken.get(each.dish.number, each.dish.source_key) == each.dish.source_key:
            free.append(each)
        else:
            report.problem(row.file, row.line, f"id {each.dish.number} belongs to another dish here")
    return free


def import_dishes(folder: Path, report: Report) -> None:
    """Adds the dishes that are not here yet. A dish that was corrected here since is left as it is."""
    parser = DishParser()
    found = list(
        parse_rows(
            read_wellformed_rows(folder, FILE, COLUMNS, report), lambda row: (row, parser(row)), report, "dishes"
        )
    )
    wanted = without_taken_numbers(found, report)
    dishes = [each.dish for each in wanted]
    stored = insert_new(Dish.objects.all(), dishes, "source_key", COMPARED, report.count("dishes"), "dishes")
    new = [each for each in wanted if stored[each.dish.source_key] is each.dish]
    by_model: dict[type[Model], list[Model]] = {}
    for part in (part for each in new for part in each.parts):
        by_model.setdefault(type(part), []).append(part)
    for model, parts in by_model.items():
        insert_in_chunks(parts, str(model._meta.verbose_name_plural))
    if new:
        pks = [each.dish.pk for each in new]
        update_leaderboard_counters(pks)
        dishes_changed.send(Dish, dishes=pks)
