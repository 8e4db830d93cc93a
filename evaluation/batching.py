"""Splits long sequences into batches."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TypeVar
from evaluation.models import Run, RunLabel, Unit
from evaluation.studies.base import ConfigError, SubjectData, UnitPlan
from evaluation.subjects import WRITTEN

CHUNK = 1000
Item = TypeVar("Item")


def chunks(items: Iterable[Item], size: int = CHUNK) -> Iterator[list[Item]]:
    """Lists of at most `size` items."""
    source = iter(items)
    while chunk := list(islice(source, size)):
        yield chunk
