"""Threads of tests that need several database connections at once."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import TypeVar

from django.db import connection

Given = TypeVar("Given")


def together(number: int, act: Callable[[], Given]) -> list[Given]:
    """What `act` returns in so many threads that start at the same moment, each with a connection of its own."""
    start = Barrier(number)

    def one(_number: int) -> Given:
        start.wait()
        try:
            return act()
        finally:
            connection.close()

    with ThreadPoolExecutor(number) as pool:
        return list(pool.map(one, range(number)))
