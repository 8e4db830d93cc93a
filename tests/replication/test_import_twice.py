"""The whole release imported twice: the same counts, and no row of any table changed."""

from pathlib import Path

import pytest

from wwd.base.packages import list_models
from wwd.exchange.published.importer import import_all
from wwd.exchange.published.source import Report

COUNTS = {
    "dishes": 765,
    "reviews": 5982,
    "image embeddings": 900,
    "descriptor embeddings": 95,
    "comparison embeddings": 16,
    "asked dishes": 765,
    "answers of language models": 46_665,
    "reference dishes": 4654,
}


def dump() -> dict[str, list[tuple[object, ...]]]:
    return {model.__name__: list(model._default_manager.order_by("pk").values_list()) for model in list_models()}


@pytest.mark.django_db
def test_a_second_import_changes_no_row(published: Path, answered: Report) -> None:
    """Slow: the whole release is imported, with all answers, as a reader of the paper would do it."""
    assert {kind: answered.count(kind).created for kind in COUNTS} == COUNTS
    before = dump()
    again = import_all(published)
    assert dump() == before
    assert {kind: again.count(kind).unchanged for kind in COUNTS} == COUNTS
    assert again.created(*again.counts) == 0
    assert sum(counts.differing for counts in again.counts.values()) == 0
    assert again.problems == []
