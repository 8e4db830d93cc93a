"""The database while it comes and goes: what was paid for is stored on a new connection."""

import logging
import time
from collections.abc import Callable
from typing import TypeVar

from django.db import InterfaceError, OperationalError, connection

# What drivers raise where the connection is gone. Neither says anything about what was to be stored.
LOST = (OperationalError, InterfaceError)
PAUSE = 0.1
LONGEST_PAUSE = 5.0
logger = logging.getLogger(__name__)
Given = TypeVar("Given")


def retry_on_lost_connection(act: Callable[[], Given], seconds: float = 30.0) -> Given:
    """What `act` returns, tried again on a new connection for about `seconds` where the present one is lost.

    `act` must be one transaction that does no harm twice. Inside a transaction of the caller nothing is tried again:
    what went before in it is lost too.
    """
    end, pause = time.monotonic() + seconds, PAUSE
    while True:
        try:
            return act()
        except LOST as error:
            if connection.in_atomic_block or time.monotonic() + pause > end:
                raise
            logger.warning("The connection to the database was lost (%s); trying a new one.", type(error).__name__)
            connection.close()
            time.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)
