"""One thread per worker that renews every lease it holds."""

import logging
import threading
from uuid import UUID

from django.db import DatabaseError, connection

from evaluation.runner.transport import Lease, Transport, TransportLostError

logger = logging.getLogger(__name__)


class Heartbeat:
    """Renews all leases that are held, from a thread of its own, three times in the time of one."""

    def __init__(self, transport: Transport) -> None:
        self.transport = transport
        self.stopped = threading.Event()
        self.lock = threading.Lock()
        self.leases: set[UUID] = set()
        self.pause = 0.0
        self.thread: threading.Thread | None = None

    def hold(self, lease: Lease) -> None:
        with self.lock:
            self.leases.add(lease.id)
            self.pause = lease.seconds / 3
            if self.thread is None:
                self.thread = threading.Thread(target=self.beat, name="leases", daemon=True)
                self.thread.start()

    def close(self) -> None:
        self.stopped.set()
        if self.thread:
            self.thread.join()

    def let_go(self, lease: Lease) -> None:
        with self.lock:
            self.leases.discard(lease.id)

    def holds(self, lease: Lease) -> bool:
        """False once a renewal was told that somebody else may have the units."""
        return lease.id in self.leases

    def beat(self) -> None:
        while not self.stopped.wait(self.pause):
            with self.lock:
                held = set(self.leases)
            if not held:
                continue
            try:
                renewed = self.transport.renew_leases(held)
            except (DatabaseError, TransportLostError):
                logger.warning("%d leases could not be renewed.", len(held), exc_info=True)
            else:
                with self.lock:
                    self.leases -= held - renewed
            finally:
                connection.close()
