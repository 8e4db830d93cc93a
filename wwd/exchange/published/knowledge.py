"""Answers of three language models about the dishes, made elsewhere: a run of the study *knowledge* that is done.

| file of DIR/wwd/llm, per model | holds |
|---|---|
| `<model>_dish_info_cleaned_compared.csv` | country and ingredients, and what a judge model said about them |
| `<model>_dish_info_cleaned_results.csv` | time of day, kind, utensils; no id: its rows are in the order of the other |
| `<model>_dish_info_failures.csv` | descriptions; not released for Llama 3 8B |

A row is one dish and one sample; the release calls samples seeds. The dish as the contributor knows it is beside
each answer, as the file has it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from tqdm import tqdm

from collection.models import Dish
from evaluation.contracts.study import ModelData, Result, SubjectData, UnitPlan
from evaluation.models import Model, Outcome, Subject
from evaluation.readers.lists import parse_structured_list
from evaluation.runner import import_run
from evaluation.runner.catalogue import AS_PUBLISHED, model_data, subject_data
from evaluation.studies.knowledge.fields import DESCRIPTION
from evaluation.studies.knowledge.study import answer_key, answer_payload
from evaluation.subjects import dish_key, dish_labels
from wwd.exchange.published.dishes import KEY
from wwd.exchange.published.models import ANSWERERS
from wwd.exchange.published.source import (
    InvalidFileError,
    InvalidRowError,
    Report,
    Row,
    parse_rows,
    read_wellformed_rows,
)
from wwd.exchange.published.writing import insert_new

RUN = f"{KEY}-llm"
FOLDER = "llm"
COMPARED, RESULTS, FAILURES = (f"_dish_info_{what}.csv" for what in ("cleaned_compared", "cleaned_results", "failures"))
COMPARED_COLUMNS = (
    "id",
    "seed",
    "countries",
    "country_llm",
    "country_match",
    "ingredients",
    "ingredients_llm",
    "ingredients_intersect",
    "ingredients_union",
)
OPTION_FIELDS = ("time_of_day", "type_of_dish", "utensils")
SHARED = ("country_match", "country_llm", "countries", "ingredients_union")
RESULT_COLUMNS = (*SHARED, *OPTION_FIELDS, *(f"{field}_llm" for field in OPTION_FIELDS))
FAILURE_COLUMNS = ("id", "seed", "describe")
# Those that must be there.
FILES = tuple(f"{FOLDER}/{name}{what}" for name in ANSWERERS for what in (COMPARED, RESULTS))
CONFIG: Mapping[str, object] = {
    "models": list(ANSWERERS.values()),
    "questions": "dish-knowledge",
    "questions_version": AS_PUBLISHED,
}
DEFINITION: Mapping[str, str] = {"questions": f"dish-knowledge {AS_PUBLISHED}"}
VERDICTS = {"True": 1.0, "False": 0.0}
Given = list[tuple[UnitPlan, Result]]
Texts = dict[str, tuple[str, dict[str, float]]]


@dataclass(frozen=True)
class Sample:
    """One answer: to a question about a dish, with what the contributor says and what the judge model said."""

    dish: int
    sample: int
    question: str
    truth: str
    text: str
    numbers: Mapping[str, float]


def parse_digits(row: Row, column: str) -> int:
    cell = row[column]
    if not (cell.isascii() and cell.isdigit() and len(cell) < 10):
        raise InvalidRowError(f"{column} is not a number: {cell[:40]!r}")
    return int(cell)


def count_list_items(row: Row, column: str) -> float:
    """How many items the judge model's list holds."""
    items = parse_structured_list(row[column])
    if items is None:
        raise InvalidRowError(f"{column} is not a list: {row[column][:60]!r}")
    return float(len(items))


class SampleParser:
    """Makes answers of rows; one sample of a dish is once in a file."""

    def __init__(self) -> None:
        self.seen: set[tuple[str, int, int]] = set()

    def key(self, row: Row) -> tuple[int, int]:
        found = parse_digits(row, "id"), parse_digits(row, "seed")
        if (row.file, *found) in self.seen:
            raise InvalidRowError(f"sample {found[1]} of dish {found[0]} is twice in the file")
        self.seen.add((row.file, *found))
        return found

    def compared(self, row: Row) -> list[Sample]:
        dish, sample = self.key(row)
        if row["country_match"] not in VERDICTS:
            raise InvalidRowError(f"country_match is neither True nor False: {row['country_match'][:40]!r}")
        match = {"match": VERDICTS[row["country_match"]]}
        sets = {
            "intersection": count_list_items(row, "ingredients_intersect"),
            "union": count_list_items(row, "ingredients_union"),
        }
        return [
            Sample(dish, sample, "country", row["countries"], row["country_llm"], match),
            Sample(dish, sample, "ingredients", row["ingredients"], row["ingredients_llm"], sets),
        ]

    def described(self, row: Row) -> Sample:
        dish, sample = self.key(row)
        return Sample(dish, sample, DESCRIPTION, "", row["describe"], {})

    def pair(self, first: Row, second: Row) -> list[Sample]:
        """All answers of one row of both files. Raises InvalidFileError where the rows are not about the same
        answer.
        """
        if any(first[column] != second[column] for column in SHARED):
            reason = f"does not go with line {first.line} of {first.file}: which rows belong together is not known"
            raise InvalidFileError(second.file, second.line, reason)
        found = self.compared(first)
        dish, sample = found[0].dish, found[0].sample
        chosen = (Sample(dish, sample, field, second[field], second[f"{field}_llm"], {}) for field in OPTION_FIELDS)
        return [*found, *chosen]


def side_by_side(folder: Path, name: str, report: Report) -> Iterator[tuple[Row, Row]]:
    """Rows of both files that belong together. Raises InvalidFileError where one has more rows than the other."""
    first, second = f"{FOLDER}/{name}{COMPARED}", f"{FOLDER}/{name}{RESULTS}"
    pairs = zip_longest(
        read_wellformed_rows(folder, first, COMPARED_COLUMNS, report),
        read_wellformed_rows(folder, second, RESULT_COLUMNS, report),
    )
    for one, other in tqdm(pairs, desc=name, unit=" rows", disable=None):
        if one is None or other is None:
            raise InvalidFileError(
                second, 1, f"has not as many good rows as {first}: which belong together is not known"
            )
        yield one, other


def read_answers(folder: Path, name: str, report: Report) -> Iterator[Sample]:
    """All answers of one model in the order of the files. Raises InvalidFileError."""
    parser = SampleParser()
    for first, second in side_by_side(folder, name, report):
        try:
            yield from parser.pair(first, second)
        except InvalidRowError as error:
            report.problem(first.file, first.line, str(error))
    failures = f"{FOLDER}/{name}{FAILURES}"
    if (folder / failures).is_file():
        yield from parse_rows(
            read_wellformed_rows(folder, failures, FAILURE_COLUMNS, report), parser.described, report, name
        )


def answers_of(folder: Path, name: str, report: Report) -> list[Sample]:
    """All answers of one model, or none where its files cannot be used: the other models' can."""
    try:
        return list(read_answers(folder, name, report))
    except InvalidFileError as error:
        report.problem(error.file, error.line, error.reason)
        return []


def dish_subjects(numbers: Sequence[int], report: Report) -> dict[int, SubjectData]:
    """Number in the release → subject of the dish that was imported under it; withdrawn ones are left out."""
    keys = {f"{KEY}/{number}": number for number in numbers}
    rows_ = Dish.objects.filter(source_key__startswith=f"{KEY}/").exclude(state=Dish.State.WITHDRAWN)
    dishes = rows_.prefetch_related("places__country", "continents", "languages").order_by("number")
    found = [dish for dish in dishes if dish.source_key in keys]
    wanted = [
        Subject(
            kind=Subject.Kind.DISH,
            name=dish.local_name,
            dish=dish,
            labels=dish_labels(dish),
            source_key=dish_key(dish),
        )
        for dish in found
    ]
    counts = report.count("asked dishes")
    stored = insert_new(Subject.objects.all(), wanted, "source_key", ("name", "dish_id"), counts, "asked dishes")
    return {keys[str(dish.source_key)]: subject_data(stored[dish_key(dish)]) for dish in found}


def build_sample_units(samples: Sequence[Sample], model: ModelData, subjects: Mapping[int, SubjectData]) -> Given:
    given = []
    for each in samples:
        if each.dish in subjects:
            subject = subjects[each.dish]
            key = answer_key(subject.id, model.slug, each.question, each.sample)
            payload = answer_payload(each.question, each.sample, each.truth)
            plan = UnitPlan(key, model, subject, payload, f"subject:{subject.id}")
            given.append((plan, Result(key, text=each.text, numbers=each.numbers)))
    return given


def count_answers(given: Given, report: Report) -> None:
    """Counts which of these answers are here already, and equal. Called before they are stored."""
    stored = Outcome.objects.filter(unit__run__slug=RUN)
    held: Texts = {key: (text, numbers) for key, text, numbers in stored.values_list("unit__key", "text", "numbers")}
    counts = report.count("answers of language models")
    for plan, result in given:
        if plan.key in held:
            counts.found(same=held[plan.key] == (result.text, dict(result.numbers)))
        else:
            counts.created += 1


def import_knowledge(folder: Path, report: Report) -> None:
    """Adds answers and their run. Needs models and dishes. Commits in steps: what was cut short goes on next time."""
    samples = {slug: answers_of(folder, name, report) for name, slug in ANSWERERS.items()}
    numbers = {each.dish for found in samples.values() for each in found}
    subjects = dish_subjects(sorted(numbers), report)
    models = {row.slug: model_data(row) for row in Model.objects.filter(slug__in=samples)}
    given = [pair for slug, found in samples.items() for pair in build_sample_units(found, models[slug], subjects)]
    count_answers(given, report)
    import_run("knowledge", RUN, CONFIG, given, definition=DEFINITION)
