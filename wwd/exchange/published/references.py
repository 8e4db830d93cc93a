"""The knowledge base of WorldCuisines as reference lists for novelty: all its dishes, and those that it asks about."""

from pathlib import Path

from evaluation.novelty.reference import ReferenceListError, import_reference
from wwd.exchange.published.source import Report

FOLDER = Path("worldcuisines") / "kb"
# Name of the list → file. Both releases of it differ in names and aliases.
LISTS = {"worldcuisines-questions": "food_cleaned.csv", "worldcuisines": "final_data.csv"}
FORM = "worldcuisines"


def import_references(inner: Path, report: Report) -> None:
    """Adds the lists whose file lies beside `inner`; they are no part of the release of dishes and may be absent."""
    for name, file in LISTS.items():
        path = inner.parent / FOLDER / file
        if not path.is_file():
            continue
        try:
            held, added = import_reference(path, name, FORM)
        except ReferenceListError as error:
            report.problem(str(FOLDER / file), 1, str(error))
            continue
        number = held.dishes.count()
        counts = report.count("reference dishes")
        counts.created += number if added else 0
        counts.unchanged += 0 if added else number
