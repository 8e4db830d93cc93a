"""Calls of the storage: many at once, each tried again where it fails, none waited for without end."""

import logging
import queue
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Generic, TypeVar

from django.conf import settings

# Storages answer in tens of milliseconds, and a card asks for a thousand images a second.
READERS = 64
WRITERS = 32
TRIES = 5
PAUSE = 0.1
LONGEST_PAUSE = 5.0
# Another try would end the same way.
FINAL = (FileNotFoundError, NotADirectoryError, PermissionError)
logger = logging.getLogger(__name__)
Given = TypeVar("Given")


class StorageSilentError(OSError):
    """The storage did not answer in time, several times."""


@dataclass
class CallPool:
    """Threads that call the storage. They are daemons: one that hangs keeps no process from ending."""

    name: str
    most: int
    waiting: "queue.SimpleQueue[tuple[Future[Any], Callable[[], Any]]]" = field(default_factory=queue.SimpleQueue)
    threads: list[threading.Thread] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def submit(self, act: Callable[[], Given]) -> "Future[Given]":
        """Has `act` called soon; the first waits for a thread where all are busy."""
        future: Future[Given] = Future()
        self.waiting.put((future, act))
        with self.lock:
            if len(self.threads) < self.most:
                self.threads.append(start_thread(self.name, self.serve))
        return future

    def submit_aside(self, act: Callable[[], Given]) -> "Future[Given]":
        """As `submit`, on a thread of its own: for a call whose threads may all hang."""
        future: Future[Given] = Future()
        start_thread(self.name, lambda: perform_call(future, act))
        return future

    def serve(self) -> None:
        while True:
            perform_call(*self.waiting.get())


def start_thread(name: str, act: Callable[[], None]) -> threading.Thread:
    thread = threading.Thread(target=act, name=name, daemon=True)
    thread.start()
    return thread


def perform_call(future: "Future[Given]", act: Callable[[], Given]) -> None:
    """Calls `act` and keeps what came in `future`, unless that was cancelled before."""
    if not future.set_running_or_notify_cancel():
        return
    try:
        future.set_result(act())
    except BaseException as error:
        future.set_exception(error)


@cache
def get_readers() -> CallPool:
    """One pool per process."""
    return CallPool("reading", READERS)


@cache
def get_writers() -> CallPool:
    """One pool per process."""
    return CallPool("writing", WRITERS)


def call_again(act: Callable[[], Given]) -> Given:
    """What `act` returns, tried again after a pause where it fails. Raises what it raised last."""
    pause = PAUSE
    for _ in range(TRIES - 1):
        try:
            return act()
        except FINAL:
            raise
        except Exception as error:
            logger.warning("The storage failed (%s); trying again.", type(error).__name__)
            time.sleep(pause)
            pause = min(4 * pause, LONGEST_PAUSE)
    return act()


class FileCall(Generic[Given]):
    """A call that is under way. `act` must do no harm twice: it is called again where no answer comes."""

    def __init__(self, pool: CallPool, act: Callable[[], Given]) -> None:
        self.pool, self.act = pool, act
        self.future = pool.submit(lambda: call_again(act))

    def cancel(self) -> None:
        self.future.cancel()

    def wait(self) -> Given:
        """What came. Raises StorageSilentError, or what `act` raised."""
        for attempt in range(TRIES):
            try:
                return self.future.result(settings.STORAGE_SECONDS)
            except TimeoutError:
                if self.future.done() and self.future.exception() is not None:
                    raise
                logger.warning("The storage did not answer within %d s.", settings.STORAGE_SECONDS)
                if attempt + 1 < TRIES:
                    self.future = self.pool.submit_aside(lambda: call_again(self.act))
        raise StorageSilentError("The storage does not answer.")


def wait_for_all(calls: Sequence[FileCall[Given]]) -> list[Given]:
    """What all calls gave, in their order. Raises what the first one that failed raised; the others are cancelled."""
    try:
        return [call.wait() for call in calls]
    except BaseException:
        for call in calls:
            call.cancel()
        raise
