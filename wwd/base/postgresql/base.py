"""Django's PostgreSQL backend, with connections that a web process keeps between requests.

A request that opens a connection of its own costs the database a new process: more than all else that it does for a
dish. `CONN_MAX_AGE` keeps one connection for each thread, and many threads wait for slow phones; Django's pool needs
psycopg 3. Here a connection that one request closes waits for the next request of any thread. Nothing is kept unless a
process asks for it, as `wwd/wsgi.py` does.
"""

import os
import select
import threading
import time
from typing import Any, NamedTuple

from django.db.backends.postgresql import base
from psycopg2 import extensions

# Seconds that a connection lives: its process in the database grows with what it is asked.
LONGEST = 600.0


class Opened(NamedTuple):
    """A connection, what it was opened with, and when (of the monotonic clock)."""

    connection: Any
    key: str
    at: float

    @property
    def works(self) -> bool:
        """Whether it is young and the server has not ended it: an idle connection has nothing to read but its end."""
        if self.connection.closed or time.monotonic() - self.at > LONGEST:
            return False
        asked = select.poll()
        asked.register(self.connection.fileno(), select.POLLIN | select.POLLHUP | select.POLLERR)
        return not asked.poll(0)

    @property
    def clean(self) -> bool:
        """Whether it is between two transactions and was not broken in one."""
        if self.connection.closed:
            return False
        return bool(self.connection.info.transaction_status == extensions.TRANSACTION_STATUS_IDLE)


class IdleConnections:
    """Open connections that nobody uses now, at most `most`; the one that was used last is taken first."""

    def __init__(self) -> None:
        self.most = 0
        self.forget()
        os.register_at_fork(after_in_child=self.forget)

    def forget(self) -> None:
        """In a child process: the connections are its parent's, so they are neither used nor closed."""
        self.parents = getattr(self, "idle", [])
        self.lock, self.idle = threading.Lock(), list[Opened]()

    def take(self, key: str) -> Opened | None:
        """One that was opened with `key` and works; None where there is none."""
        while (found := self.last(key)) is not None:
            if found.works:
                return found
            found.connection.close()
        return None

    def last(self, key: str) -> Opened | None:
        with self.lock:
            for place in range(len(self.idle) - 1, -1, -1):
                if self.idle[place].key == key:
                    return self.idle.pop(place)
        return None

    def give(self, opened: Opened) -> None:
        """Keeps it where there is room, otherwise closes it."""
        if opened.clean:
            with self.lock:
                if len(self.idle) < self.most:
                    self.idle.append(opened)
                    return
        opened.connection.close()


idle_connections = IdleConnections()


class DatabaseWrapper(base.DatabaseWrapper):
    """Closing hands the connection over to `idle_connections`; opening takes one from there first."""

    opened: Opened | None = None

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        key = repr(sorted((name, str(value)) for name, value in conn_params.items()))
        self.opened = idle_connections.take(key)
        if self.opened is None:
            self.opened = Opened(super().get_new_connection(conn_params), key, time.monotonic())
        else:
            self.isolation_level = extensions.ISOLATION_LEVEL_READ_COMMITTED
        return self.opened.connection

    def _close(self) -> Any:
        opened, self.opened = self.opened, None
        if opened is None or opened.connection is not self.connection or self.in_atomic_block or self.errors_occurred:
            return super()._close()  # type: ignore[misc]
        return idle_connections.give(opened)
