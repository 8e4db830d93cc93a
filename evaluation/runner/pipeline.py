"""A worker's three stages: the next batch is fetched, the present one computed, the last one stored, all at once.

The model is called in the thread that calls `work`; nothing else happens there. What a killed worker promises stays:
a unit that came back without an answer is executed while nothing else is in hand.
"""

import logging
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import ExitStack

from evaluation.contracts.study import Study
from evaluation.runner import execution, failure_streaks
from evaluation.runner.stages import batch_size
from evaluation.runner.stages.byte_budget import ByteBudget, get_ahead_bytes
from evaluation.runner.stages.fetching import FetchedBatch
from evaluation.runner.stages.heartbeat import Heartbeat
from evaluation.runner.stages.result_writer import ResultWriter
from evaluation.runner.stages.side_thread import SideThread
from evaluation.runner.transport import LOST, Lease, RunData, Spent, Transport

# Calls of providers take seconds and wait for their turn with those of all workers: a batch must end long before a
# task's time limit, and pause and cancel take hold between batches.
MOST_CALLS = 16
logger = logging.getLogger(__name__)


class Pipeline:
    """Works on one run until `end` (of the monotonic clock), or until `stop`, or until nothing waits."""

    def __init__(
        self, transport: Transport, run: RunData, study: Study, worker: str, end: float, stop: Callable[[], bool]
    ) -> None:
        self.transport, self.run, self.study, self.worker = transport, run, study, worker
        self.end, self.stop = end, stop
        self.aside = transport.allows_threads()
        self.budget = ByteBudget(get_ahead_bytes())
        self.sizer = batch_size.of_run(run.study, run.id, study.batch_size)
        self.heartbeat = Heartbeat(transport)
        self.fetcher = SideThread("fetching", aside=self.aside)
        self.storer = SideThread("storing", aside=self.aside)
        self.storing = ResultWriter(transport, self.heartbeat, self.storer)
        self.ahead: Future[FetchedBatch | None] | None = None
        self.after, self.called, self.postponed, self.problem = "", False, False, ""
        self.computed_at = time.monotonic()

    def work(self, report: Callable[[], None]) -> int:
        """Returns how many units it ended. `report` is called after every batch."""
        with ExitStack() as ending:
            ending.callback(self.heartbeat.close)
            ending.callback(self.storer.close)
            ending.callback(self.fetcher.close)
            try:
                while (fetched := self.get_next()) is not None:
                    self.execute(fetched)
                    report()
            except Exception:
                self.release_ahead()
                raise
            self.release_ahead()
            self.storing.drain()
            report()
            if problem := self.problem or self.storing.problem:
                self.transport.pause_run(self.run, problem)
        return self.storing.ended

    def get_next(self) -> FetchedBatch | None:
        """The batch to be computed now; None where there is none or the worker should not go on."""
        while not (self.problem or self.storing.failed):
            alone = self.ahead is None
            waiting = self.ahead or self.fetcher.submit(lambda: self.fetch(alone=True))
            self.ahead = None
            fetched = waiting.result()
            if fetched is None and self.postponed:
                # What may kill its worker comes when all else is stored.
                self.postponed = False
                self.storing.drain()
            elif fetched is None:
                return None
            elif self.stop() or not (alone or self.may_go_on(fetched.lease)):
                self.release(fetched)
                return None
            else:
                if self.aside and not fetched.lease.suspect and self.run.queue != "api":
                    self.ahead = self.fetcher.submit(lambda: self.fetch(alone=False))
                return fetched
        return None

    def may_go_on(self, lease: Lease) -> bool:
        """Whether what was leased a while ago is still ours and wanted."""
        return self.heartbeat.holds(lease) and self.transport.run_goes_on(self.run.id)

    def fetch(self, *, alone: bool) -> FetchedBatch | None:
        """Leases the next batch and has its files read. `alone`: nothing else is in hand."""
        if time.monotonic() >= self.end or self.stop():
            return None
        size = self.sizer.choose(self.budget.limit)
        if self.run.queue == "api":
            size = min(self.study.batch_size, MOST_CALLS)
        lease = self.transport.lease_units(self.run, self.worker, size, self.after)
        if lease is None:
            return None
        if lease.suspect and not alone:
            self.transport.release_lease(lease)
            self.postponed = True
            return None
        self.heartbeat.hold(lease)
        if not self.called:
            self.called = True
            self.transport.call_others(self.run)
        self.after = max((unit.affinity for unit in lease.units), default="")
        return FetchedBatch(self.transport, lease, self.budget, execution.find_loaded_backends(lease.units))

    def execute(self, fetched: FetchedBatch) -> None:
        """Computes a batch and hands its results on. A backend that cannot go on ends the work."""
        lease, streaks = fetched.lease, failure_streaks.of_run(self.run.id)
        if lease.suspect:
            self.storing.drain()
        try:
            computed = execution.compute_results(
                self.study, fetched, lambda pairs: self.storing.store_meanwhile(lease, pairs), streaks
            )
        finally:
            fetched.close()
        now = time.monotonic()
        spent = Spent(computed.seconds, max(0.0, now - self.computed_at - computed.seconds))
        self.computed_at = now
        self.problem = computed.problem
        if not (computed.problem or computed.stopped):
            self.sizer.note(len(lease.units), computed.seconds, fetched.fetched, computed.backend)
        self.storing.finish(lease, computed.pairs, spent)
        if lease.suspect:
            self.storing.drain()

    def release_ahead(self) -> None:
        """Gives back what was fetched and is not to be computed."""
        waiting, self.ahead = self.ahead, None
        if waiting is None:
            return
        try:
            fetched = waiting.result()
        except LOST:
            return
        if fetched is not None:
            self.release(fetched)

    def release(self, fetched: FetchedBatch) -> None:
        fetched.close()
        self.heartbeat.let_go(fetched.lease)
        self.storing.release(fetched.lease)
