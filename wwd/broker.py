"""The broker that needs no server: messages are files in a folder, each whole before anybody can see it.

The transport of kombu writes under the final name: a worker that looks at that moment reads half a message and ends.
It also looks up each queue in a file that others may be writing, and drops the message where the file is still empty.
"""

import time
import uuid
from pathlib import Path
from typing import Any

from kombu.transport import TRANSPORT_ALIASES, filesystem
from kombu.utils.json import dumps

from wwd.base.atomic_files import write_text_atomically

SCHEME = "filesystem"


class Channel(filesystem.Channel):
    # The stubs of kombu give this method two signatures that exclude each other.
    def _put(self, queue: str, payload: dict[str, Any], **_: Any) -> None:  # type: ignore[override]
        """Adds a message to the folder of `queue`, in the order of time."""
        name = f"{time.time_ns()}_{uuid.uuid4()}.{queue}.msg"
        write_text_atomically(Path(self.data_folder_out) / name, dumps(payload))

    def _queue_bind(self, exchange: str, routing_key: str, pattern: str | None, queue: str) -> None:
        if exchange != queue:
            super()._queue_bind(exchange, routing_key, pattern, queue)

    def _lookup(self, exchange: str, routing_key: str, default: str | None = None) -> list[str]:
        """A queue with an exchange of its own name, as all of ours have, is in no file."""
        if exchange == routing_key:
            return [routing_key]
        return list(super()._lookup(exchange, routing_key, default))


class Transport(filesystem.Transport):
    Channel = Channel


def register_transport() -> None:
    """Makes `filesystem://` mean this transport."""
    TRANSPORT_ALIASES[SCHEME] = "wwd.broker:Transport"
