"""Splits long sequences into batches."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

CHUNK = 1000
Item = TypeVar("Item")


def split_into_chunks(items: Iterable[Item], size: int = CHUNK) -> Iterator[list[Item]]:
    """Lists of at most `size` items."""
    source = iter(items)
    while chunk := list(islice(source, size)):
        yield chunk
