"""How much a worker holds of what it fetched ahead."""

import threading
from typing import Protocol

from django.conf import settings


class Holder(Protocol):
    """Anyone for whom bytes are counted. `closed`: it needs nothing any more."""

    closed: bool


class ByteBudget:
    """Counts bytes that are held. Readers wait while it is used up, except for what is waited for at the moment."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.held = 0
        self.most = 0
        self.urgent: Holder | None = None
        self.changed = threading.Condition()

    def take(self, size: int, holder: Holder) -> None:
        """Counts `size` bytes for `holder`, once there is room, or it is waited for, or needs nothing any more."""
        with self.changed:
            self.changed.wait_for(
                lambda: not self.held or self.has_room(size) or self.urgent is holder or holder.closed
            )
            self.held += size
            self.most = max(self.most, self.held)

    def has_room(self, size: int) -> bool:
        return self.held + size <= self.limit

    def give_back(self, size: int) -> None:
        with self.changed:
            self.held -= size
            self.changed.notify_all()

    def hurry(self, holder: Holder) -> None:
        """From now on `holder` gets what it asks for: nothing can be computed before it is there."""
        with self.changed:
            self.urgent = holder
            self.changed.notify_all()


def get_ahead_bytes() -> int:
    """Bytes that one worker process may hold of files and pixels fetched ahead."""
    return settings.AHEAD_MEGABYTES * 1024 * 1024
