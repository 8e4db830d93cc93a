"""Answers about dishes from a CSV file enter as an imported run of the study *knowledge*.

Columns: `subject` (a dish's number, its name where no other dish has the same, or a subject's key), `model` (a chat
model's name here), `question` (`description` or a field), `sample` (a number from 0), `answer`, and, if there is one,
`state` (`done` where it says nothing, or `refused`).
"""

import csv
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from evaluation.contracts.study import ConfigError, DishData, FinalState, ModelData, Result, SubjectData, UnitPlan
from evaluation.ingest.image_folder import known_subjects
from evaluation.models import Run
from evaluation.runner import import_run
from evaluation.runner.catalogue import DatabaseCatalogue
from evaluation.studies.chat import chat_model
from evaluation.studies.knowledge.fields import DESCRIPTION, FIELDS
from evaluation.studies.knowledge.study import MOST_SAMPLES, answer_key, answer_payload, get_expected_answer
from evaluation.suggestions import describe_unknown_name
from wwd.base.csv_files import CsvReader, open_reader

COLUMNS = ("subject", "model", "question", "sample", "answer")
QUESTIONS = (DESCRIPTION, *FIELDS)
STATES = ("done", "refused")


@dataclass
class Report:
    """What became of the rows: how many answers are new or known, and which rows were left out, with the reason."""

    new: int = 0
    known: int = 0
    left_out: list[tuple[int, str]] = field(default_factory=list)


def import_answers(file: Path, slug: str) -> tuple[Run, Report]:
    """Imports the answers of `file`. A second import changes nothing. Raises ConfigError where none fits."""
    report = Report()
    found = list(plan_answer_units(read_answer_rows(file, report), report))
    if not found:
        why = "; ".join(f"line {line}: {reason}" for line, reason in report.left_out[:3])
        raise ConfigError(f"{file} holds no answer that fits{f' ({why})' if why else ''}.")
    models = sorted({plan.model.slug for plan, _ in found})
    run, report.new = import_run("knowledge", slug, {"file": file.name}, found, definition={"models": models})
    report.known = len(found) - report.new
    return run, report


def read_answer_rows(file: Path, report: Report) -> Iterator[tuple[int, Mapping[str, str]]]:
    """Line and cells of each whole row. Raises ConfigError for a file without the columns."""
    try:
        opened = file.open(encoding="utf-8-sig", errors="surrogateescape", newline="")
    except OSError as error:
        raise ConfigError(f"{file} cannot be read: {error.strerror}.") from error
    with opened:
        reader = open_reader(opened, COLUMNS)
        if missing := reader.missing(COLUMNS):
            raise ConfigError(f"{file} {missing}.")
        yield from whole_rows(reader, report)


def whole_rows(reader: CsvReader, report: Report) -> Iterator[tuple[int, Mapping[str, str]]]:
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            report.left_out.append((reader.line, f"not readable as CSV: {error}"))
            continue
        if cells and len(cells) != len(reader.header):
            report.left_out.append((reader.line, "has not as many cells as the header"))
        elif cells:
            yield reader.line, dict(zip(reader.header, cells, strict=True))


class Parser:
    """Makes units of rows; knows the dishes and models of this installation."""

    def __init__(self) -> None:
        self.catalogue = DatabaseCatalogue()
        self.subjects: Mapping[str, SubjectData] = known_subjects()
        self.dishes: Mapping[int, DishData] = self.catalogue.dishes(list(self.subjects.values()))
        self.models: dict[str, ModelData] = {}
        self.seen: set[str] = set()

    def __call__(self, row: Mapping[str, str]) -> tuple[UnitPlan, Result]:
        """Raises ConfigError for a row that cannot be loaded."""
        subject, model = self.subject(row["subject"]), self.model(row["model"])
        question, state = row["question"], row.get("state") or "done"
        for name, given, accepted in (("question", question, QUESTIONS), ("state", state, STATES)):
            if given not in accepted:
                raise ConfigError(describe_unknown_name(name, given, accepted))
        sample = parse_sample_number(row["sample"])
        key = answer_key(subject.id, model.slug, question, sample)
        if key in self.seen:
            raise ConfigError("this answer is twice in the file")
        self.seen.add(key)
        payload = answer_payload(question, sample, get_expected_answer(self.dishes[subject.id], question))
        plan = UnitPlan(key, model, subject, payload, f"subject:{subject.id}")
        return plan, Result(key, cast(FinalState, state), text=row["answer"])

    def subject(self, name: str) -> SubjectData:
        found = self.subjects.get(name)
        if found is None:
            raise ConfigError(describe_unknown_name("subject", name, self.subjects))
        if found.id not in self.dishes:
            raise ConfigError(f"{name} is no dish")
        return found

    def model(self, slug: str) -> ModelData:
        if slug not in self.models:
            self.models[slug] = chat_model(self.catalogue, slug)
        return self.models[slug]


def parse_sample_number(cell: str) -> int:
    if not (cell.isascii() and cell.isdigit() and len(cell) < 6 and int(cell) < MOST_SAMPLES):
        raise ConfigError(f"sample is {cell[:40]!r}. Accepted: a whole number from 0 to {MOST_SAMPLES - 1}")
    return int(cell)


def plan_answer_units(
    found: Iterable[tuple[int, Mapping[str, str]]], report: Report
) -> Iterator[tuple[UnitPlan, Result]]:
    """Unit and result of each row that can be loaded; the others go into the report."""
    parser = Parser()
    for line, row in found:
        try:
            yield parser(row)
        except ConfigError as error:
            report.left_out.append((line, str(error)))
