"""The whole import, part by part. What was imported before is left as it is; a second run changes nothing.

| file of DIR/wwd | read by | becomes |
|---|---|---|
| WorldWideDishes_2024_June_World_Wide_Dishes.csv | `dishes.py` | dishes with places, languages, links |
| Community_Review_Generated_Dish_Images.csv | `reviews.py`, `release_form.py` | a closed campaign with its reviews |
| clip/continents, clip/descriptors_embeddings*.csv | `embeddings.py` | a finished run of *association* |
| llm/*_compared.csv, *_results.csv, *_failures.csv | `knowledge.py` | a finished run of *knowledge* |
| ../worldcuisines/kb/*.csv, where they are | `references.py` | lists that novelty is counted against |
| clip/descriptors.json, vqa_questions.json | `wordings.py` | versions named *as published* |
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from django.db import transaction

from wwd.base.planner_statistics import refresh_statistics
from wwd.exchange.published import dishes, embeddings, knowledge, references, reviews, wordings
from wwd.exchange.published.models import import_models
from wwd.exchange.published.source import InvalidFileError, Report, SourceError

FOLDER = "wwd"
FILES = (
    dishes.FILE,
    reviews.FILE,
    wordings.QUESTIONS_FILE,
    wordings.DESCRIPTORS_FILE,
    embeddings.WORDS_FILE,
    embeddings.COMPARISON_FILE,
    *knowledge.FILES,
)


def check_folder(folder: Path) -> Path:
    """The folder `wwd` inside `folder`. Raises SourceError that names what is missing, before anything is read."""
    inner = folder / FOLDER
    if not inner.is_dir():
        raise SourceError(f"{folder} holds no folder {FOLDER}. Name the folder that holds it.")
    missing = [name for name in FILES if not (inner / name).is_file()]
    if not embeddings.list_vector_files(inner):
        missing.append(f"{embeddings.IMAGE_FOLDER}/*/*/{embeddings.IMAGE_VECTOR_FILE}")
    if missing:
        raise SourceError(f"{inner} lacks: {', '.join(missing)}.")
    return inner


Part = Callable[[Path, Report], None]
# In this order: reviews link to dishes; reviews and vectors need models.
PARTS: tuple[Part, ...] = (
    import_models,
    wordings.import_prompts,
    wordings.import_questions,
    dishes.import_dishes,
    reviews.import_reviews,
)


# Runs commit in steps and go on next time: never inside a transaction, a dry run excepted.
RUNS: tuple[Part, ...] = (embeddings.import_embeddings, knowledge.import_knowledge, references.import_references)


def import_all(folder: Path, *, dry_run: bool = False, answers: bool = True) -> Report:
    """Loads everything of `folder`/wwd. What could not be loaded is in the report. Raises SourceError.

    With `dry_run` the same is done in one transaction that is rolled back. `answers`: also those of language models,
    which are most of the rows, and the lists that novelty is counted against.
    """
    inner, report = check_folder(folder), Report()
    runs = RUNS if answers else RUNS[:1]
    if not dry_run:
        import_parts(inner, report, runs)
        return report
    with transaction.atomic():
        import_parts(inner, report, runs)
        transaction.set_rollback(True)
    return report


def import_parts(inner: Path, report: Report, runs: tuple[Part, ...] = RUNS) -> None:
    """Each part is stored whole or not at all, runs excepted: they commit in steps and go on next time."""
    for part in PARTS:
        with noting_bad_files(report), transaction.atomic():
            part(inner, report)
        # The parts that follow ask for these rows.
        refresh_statistics()
    for part in runs:
        with noting_bad_files(report):
            part(inner, report)
        refresh_statistics()


@contextmanager
def noting_bad_files(report: Report) -> Iterator[None]:
    """A file that cannot be used is noted, and the other parts go on."""
    try:
        yield
    except InvalidFileError as error:
        report.problem(error.file, error.line, error.reason)
