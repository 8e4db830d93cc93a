"""The ways from a worker to units and back, each with what it needs to be there."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

from evaluation.runner.direct_transport import DirectTransport
from evaluation.runner.transport import Transport


@contextmanager
def open_direct() -> Iterator[Transport]:
    yield DirectTransport()


# Name → what opens it. Every fault is tried over each.
TRANSPORTS: dict[str, Callable[[], AbstractContextManager[Transport]]] = {"direct": open_direct}
