"""The last stage: files are written and rows stored while the model is busy with later units."""

import logging
import threading
from collections.abc import Sequence
from uuid import UUID

from evaluation.contracts.study import Result
from evaluation.readers.text_cleaning import clean_foreign_text
from evaluation.runner.stages.file_calls import FileCall, get_writers, wait_for_all
from evaluation.runner.stages.heartbeat import Heartbeat
from evaluation.runner.stages.side_thread import SideThread
from evaluation.runner.transport import LOST, Lease, ResultPairs, Spent, Transport, WorkUnit

# So many batches wait to be stored, or are being stored; who computes faster waits.
MOST_QUEUED = 2
logger = logging.getLogger(__name__)


class ResultWriter:
    """Stores the results of batches in their order. `ended`: units so far; `problem`: why nothing can be stored."""

    def __init__(self, transport: Transport, heartbeat: Heartbeat, thread: SideThread) -> None:
        self.transport, self.heartbeat, self.thread = transport, heartbeat, thread
        self.room = threading.Semaphore(MOST_QUEUED)
        self.ended = 0
        self.problem = ""
        self.lost: Exception | None = None
        self.unstored: dict[UUID, list[tuple[WorkUnit, Result]]] = {}

    def store_meanwhile(self, lease: Lease, pairs: ResultPairs) -> bool:
        """Has results of a batch stored that goes on; False where it should not."""
        self.thread.submit(lambda: self.store_part(lease, pairs))
        return not self.failed and self.heartbeat.holds(lease)

    def finish(self, lease: Lease, pairs: ResultPairs, spent: Spent) -> None:
        """Has the last results of a batch stored, and the batch ended. Waits where too many are behind."""
        self.room.acquire()
        self.thread.submit(lambda: self.store_last(lease, pairs, spent))

    @property
    def failed(self) -> bool:
        return bool(self.problem) or self.lost is not None

    def store_part(self, lease: Lease, pairs: ResultPairs) -> None:
        try:
            if not self.deliver(lease, pairs, None):
                # The units are somebody else's.
                self.heartbeat.let_go(lease)
        except Exception as error:
            # Tried again with the last results of the batch.
            logger.warning("Results of batch %s could not be stored yet (%s).", lease.id, type(error).__name__)
            self.unstored.setdefault(lease.id, []).extend(pairs)

    def store_last(self, lease: Lease, pairs: ResultPairs, spent: Spent) -> None:
        found = [*self.unstored.pop(lease.id, ()), *pairs]
        try:
            if found:
                self.deliver(lease, found, spent)
            else:
                self.transport.release_lease(lease)
        except LOST as error:
            self.lost = error
        except Exception as error:  # A full disk, a storage that is away: no other batch would fare better.
            logger.exception("The results of batch %s could not be stored.", lease.id)
            self.problem = f"The results could not be stored: {clean_foreign_text(f'{type(error).__name__}: {error}')}"
            self.release(lease)
        finally:
            self.heartbeat.let_go(lease)
            self.room.release()

    def release(self, lease: Lease) -> None:
        """Gives a batch back; where the way is lost its lease runs out."""
        try:
            self.transport.release_lease(lease)
        except LOST as error:
            self.lost = error

    def deliver(self, lease: Lease, pairs: ResultPairs, spent: Spent | None) -> int:
        """Files first, then rows; `spent` ends the batch."""
        hashes = self.store_files([result for _, result in pairs])
        stored = self.transport.deliver_results(lease, pairs, hashes, last=spent is not None, spent=spent)
        self.ended += stored
        return stored

    def store_files(self, results: Sequence[Result]) -> dict[str, str]:
        """Writes the images of results, many at once; unit key → SHA-256."""
        contents = {result.key: result.image.content for result in results if result.image and result.image.content}
        calls = [self.start_writing(content) for content in contents.values()]
        return dict(zip(contents, wait_for_all(calls), strict=True))

    def start_writing(self, content: bytes) -> FileCall[str]:
        return FileCall(get_writers(), lambda: self.transport.store_content(content))

    def drain(self) -> None:
        """Waits until all is stored. Raises what `LOST` names where it could not be."""
        self.thread.wait()
        if self.lost is not None:
            raise self.lost
