"""Event loops of tests."""

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

T = TypeVar("T")


def run(work: Coroutine[Any, Any, T]) -> T:
    """In a thread of its own: browser tests before this one may have left their loop in ours."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()
