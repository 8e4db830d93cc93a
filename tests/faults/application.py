"""The worker application of fault tests: a study that can be slow and deadly, on a host whose clock may be off.

`FAULT_HOURS` moves everything that this process takes for the time, before Django is there to read it.
`FAULT_STORAGE` names a fault of the storage, see `faulty_storage`.
"""

import datetime
import os
import time
from typing import Any


class Moved(type):
    def __instancecheck__(cls, found: object) -> bool:
        return isinstance(found, REAL)


REAL = datetime.datetime
SHIFT = datetime.timedelta(hours=float(os.environ.get("FAULT_HOURS", "0")))


class MovedDatetime(REAL, metaclass=Moved):
    @classmethod
    def now(cls, tz: Any = None) -> Any:
        return REAL.now(tz) + SHIFT

    @classmethod
    def utcnow(cls) -> Any:
        return REAL.now(datetime.UTC).replace(tzinfo=None) + SHIFT


def move_clock() -> None:
    right = time.time
    vars(time)["time"] = lambda: right() + SHIFT.total_seconds()
    vars(datetime)["datetime"] = MovedDatetime


if SHIFT:
    move_clock()

from django.conf import settings  # noqa: E402  (the clock comes first)

from wwd.celery import app  # noqa: E402

__all__ = ["app", "register"]


def register() -> None:
    """Makes the study known to this process."""
    from evaluation import studies

    studies.STUDIES["deadly"] = "tests.faults.killing_study:Deadly"
    if fault := os.environ.get("FAULT_STORAGE"):
        options = {"BACKEND": "tests.faults.faulty_storage.FaultyStorage", "OPTIONS": {"fault": fault}}
        settings.STORAGES = {**settings.STORAGES, "default": options}


register()
