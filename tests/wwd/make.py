"""Small published folders, written by hand: every file that the import reads, with as many rows as a test needs."""

import csv
import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from wwd.exchange.published import dishes, knowledge, release_form, reviews
from wwd.exchange.published.models import ANSWERERS

DISH: Mapping[str, str] = {
    **dict.fromkeys(dishes.COLUMNS, ""),
    "local_name": "Testsuppe",
    "language": "German",
    "language_code": "deu",
    "countries": "Germany",
    "continent": "Europe",
    "time_of_day": "['lunch']",
    "type_of_dish": "['Soup']",
    "occasions": "regular",
    "ingredients": "water, salt",
}
REVIEW: Mapping[str, str] = {
    **dict.fromkeys(reviews.COLUMNS, ""),
    **dict.fromkeys(reviews.FLAGS, "No"),
    "Country": "Germany",
    "Rater_id": "1",
    "Dish name": "Testsuppe",
    "Model": "Dalle2",
    "Generation_count": "0.0",
    release_form.COLUMN_OF["food"]: "Yes",
}
DESCRIPTORS = {"descriptors": [{"taste": {"positive": ["tasty"], "negative": ["bland"]}}]}
QUESTIONS = {"questions": [{"question_id": "Q1", "text": "Is it soup?", "choices": {"A": "Yes", "B": "No"}}]}
COMPARED: Mapping[str, str] = {
    "id": "1",
    "seed": "0",
    "countries": "Germany",
    "country_llm": "Germany",
    "country_match": "True",
    "ingredients": "water, salt",
    "ingredients_llm": "['salt', 'leeks']",
    "ingredients_intersect": "['salt']",
    "ingredients_union": "['water', 'salt', 'leeks']",
}
RESULT: Mapping[str, str] = {
    **{name: COMPARED[name] for name in knowledge.SHARED},
    "time_of_day": "['lunch']",
    "time_of_day_llm": "['lunch', 'dinner']",
    "type_of_dish": "['Soup']",
    "type_of_dish_llm": "['Soup']",
    "utensils": "spoon",
    "utensils_llm": "['Fork']",
}
DIMENSIONS = 3


def write_csv(path: Path, header: Iterable[str], lines: Iterable[Iterable[str]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(lines)


def write_dishes(folder: Path, *rows: Mapping[str, str]) -> None:
    """Each row overrides some cells of DISH; ids count from 1 where none is given."""
    cells = [{**DISH, "id": str(number), **row} for number, row in enumerate(rows, start=1)]
    write_csv(folder / "wwd" / dishes.FILE, DISH, ([row[column] for column in DISH] for row in cells))


def write_reviews(folder: Path, *rows: Mapping[str, str]) -> None:
    """Each row overrides some cells of REVIEW."""
    cells = [{**REVIEW, **row} for row in rows]
    write_csv(folder / "wwd" / reviews.FILE, REVIEW, ([row[column] for column in REVIEW] for row in cells))


def write_answers(folder: Path, name: str, *rows: Mapping[str, str]) -> None:
    """Both files of one model; each row overrides some cells of COMPARED and RESULT, those of both in both."""
    for what, cells in ((knowledge.COMPARED, COMPARED), (knowledge.RESULTS, RESULT)):
        path = folder / "wwd" / knowledge.FOLDER / f"{name}{what}"
        write_csv(path, cells, ([{**cells, **row}[column] for column in cells] for row in rows))


def write_descriptions(folder: Path, name: str, *rows: Mapping[str, str]) -> None:
    cells = {"id": "1", "seed": "0", "describe": "A soup of water and salt."}
    path = folder / "wwd" / knowledge.FOLDER / f"{name}{knowledge.FAILURES}"
    write_csv(path, cells, ([{**cells, **row}[column] for column in cells] for row in rows))


def write_vectors(path: Path, vectors: Mapping[str, Iterable[float]]) -> None:
    header = ["", *map(str, range(DIMENSIONS))]
    write_csv(path, header, ([name, *map(str, vector)] for name, vector in vectors.items()))


def make_published(folder: Path) -> Path:
    """A folder with one good row of everything."""
    clip = folder / "wwd" / "clip"
    write_dishes(folder, {})
    write_reviews(folder, {})
    write_vectors(clip / "continents" / "Europe" / "dalle2" / "image_embeddings.csv", {"Europe_00.png": (1, 0, 0)})
    words = {"A photo of tasty food.": (1, 1, 0), "A photo of bland food.": (0, 0, 1)}
    write_vectors(clip / "descriptors_embeddings.csv", words)
    write_vectors(clip / "descriptors_embeddings_16.csv", {"a photo of clean food": (0, 1, 0)})
    (clip / "descriptors.json").write_text(json.dumps(DESCRIPTORS), encoding="utf-8")
    (folder / "wwd" / "vqa_questions.json").write_text(json.dumps(QUESTIONS), encoding="utf-8")
    for name in ANSWERERS:
        write_answers(folder, name, {})
    write_descriptions(folder, "gpt35", {})
    return folder
