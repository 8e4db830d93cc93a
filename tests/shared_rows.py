"""Rows that several files of tests look at: made once a process, and taken back after the last of these files.

tests/scheduling.py keeps such files together. Each sees them in a transaction of its own, so that none sees what
another wrote.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, TypeVar

from django.db import transaction
from pytest_django.plugin import DjangoDbBlocker

Made = TypeVar("Made")
# At most one entry: the name of the fixture → how to take its rows back, what making them gave.
_shared: dict[str, tuple[ExitStack, Any]] = {}


@contextmanager
def rolled_back() -> Iterator[None]:
    """A transaction that leaves nothing."""
    with transaction.atomic():
        try:
            yield
        finally:
            transaction.set_rollback(True)


@contextmanager
def share_rows(name: str, make: Callable[[], Made], blocker: DjangoDbBlocker) -> Iterator[Made]:
    """What `make` gives, and its rows, for one file of tests. `name`: the fixture that asks.

    Where rows of another name are there already, in the same file, these come on top and are made anew.
    """
    with blocker.unblock():
        if not _shared:
            with ExitStack() as stack:
                stack.enter_context(blocker.unblock())
                stack.enter_context(rolled_back())
                made = make()
                _shared[name] = stack.pop_all(), made
        with rolled_back():
            yield _shared[name][1] if name in _shared else make()


def release_rows() -> None:
    """Takes shared rows back: called where the next test belongs to other files than those that share them."""
    for name in [*_shared]:
        _shared.pop(name)[0].close()
