"""One thread beside the one that computes, with a connection to the database of its own."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from django.db import connection

Given = TypeVar("Given")


class SideThread:
    """Does one thing after the other beside its caller; or, without `aside`, at once and in the caller's thread.

    The latter is for a caller inside a transaction: no other connection sees what it has done so far.
    """

    def __init__(self, name: str, *, aside: bool) -> None:
        self.executor = ThreadPoolExecutor(1, thread_name_prefix=name) if aside else None

    def submit(self, act: Callable[[], Given]) -> "Future[Given]":
        if self.executor:
            future = self.executor.submit(act)
        else:
            future = Future()
            future.set_result(act())
        return future

    def wait(self) -> None:
        """Until all is done that was asked for before."""
        if self.executor:
            self.executor.submit(lambda: None).result()

    def close(self) -> None:
        """Ends the thread, once all is done."""
        if self.executor:
            self.executor.submit(connection.close)
            self.executor.shutdown()
