"""How many requests of one kind a process works at together, and how many may wait for that.

More at once finish none of them earlier: they only keep everybody else waiting too. Who comes when enough wait already
is told at once to come back, before anything is looked at or stored.
"""

import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings

# Seconds after which somebody who was sent away is asked to come back. Not all at the same moment.
SOONEST, LATEST = 5, 15


class TooManyWaitingError(Exception):
    """Enough requests of this kind wait already; `seconds` says when to come back."""

    def __init__(self) -> None:
        super().__init__()
        self.seconds = random.randint(SOONEST, LATEST)


class Gate:
    """Lets `at_once` requests of this process through, while up to `waiting` more wait for at most `patience` seconds.

    Only a request that has arrived whole may come here: a slow phone would hold a place for as long as it sends.
    """

    def __init__(self, at_once: int, waiting: int, patience: float) -> None:
        self.patience = patience
        self.places = threading.Semaphore(at_once)
        self.room = threading.Semaphore(at_once + waiting)
        self.thread = threading.local()

    @contextmanager
    def place(self) -> Iterator[None]:
        """Raises TooManyWaitingError where no place can be had."""
        if not self.room.acquire(blocking=False):
            raise TooManyWaitingError
        try:
            if not self.places.acquire(timeout=self.patience):
                raise TooManyWaitingError
            self.thread.inside = True
            try:
                yield
            finally:
                self.step_aside()
        finally:
            self.room.release()

    def step_aside(self) -> None:
        """Lets the next one through before this one has ended: what is left is mostly waiting, for the disk."""
        if getattr(self.thread, "inside", False):
            self.thread.inside = False
            self.places.release()


# Half of the threads stay for everybody who only reads.
storing = Gate(settings.WEB_AT_ONCE, max(1, settings.WEB_THREADS // 2 - settings.WEB_AT_ONCE), patience=20)
