"""The loop of a worker over HTTPS: the most urgent run that it may work on, slice after slice, until it is stopped."""

import logging
import time
from collections.abc import Callable

from evaluation.remote.client import WorkerRefusedError
from evaluation.remote.https_transport import HttpsTransport
from evaluation.runner.loop import process_run
from evaluation.runner.transport import TransportLostError

POLL_SECONDS = 5.0
LONGEST_POLL = 60.0
logger = logging.getLogger(__name__)


def serve_runs(
    transport: HttpsTransport,
    worker: str,
    *,
    until_empty: bool = False,
    stop: Callable[[], bool] = lambda: False,
    report: Callable[[str], None] = lambda sentence: None,
    poll: float = POLL_SECONDS,
) -> int:
    """Works until `stop`, or until nothing waits; returns how many units it ended. Raises WorkerRefusedError.

    A way that is lost is waited for: what was leased returns to the others by itself.
    """
    ended, pause = 0, poll
    while not stop():
        try:
            runs = transport.list_runs()
            for run in runs[:1]:
                ended += process_run(run.id, worker, stop=stop, transport=transport)
            if runs:
                pause = poll
                continue
            if until_empty:
                return ended
        except WorkerRefusedError:
            raise
        except TransportLostError as error:
            report(str(error))
            logger.warning("%s", error)
            pause = min(2 * pause, LONGEST_POLL)
        wait_or_stop(pause, stop)
    return ended


def wait_or_stop(seconds: float, stop: Callable[[], bool]) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end and not stop():
        time.sleep(min(0.2, seconds))
