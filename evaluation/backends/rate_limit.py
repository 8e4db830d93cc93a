"""The pace of a provider's key, shared by all workers: one row says when the next call may go out.

The database's clock counts, and a change of the row is one statement: neither the number of workers nor what a
broker forgets can make calls come faster.
"""

import random
import time
from datetime import timedelta

from django.db import connection
from django.db.models import DateTimeField, DurationField, ExpressionWrapper, F, Func
from django.db.models.functions import Greatest, Now

from evaluation.models import TokenBucket
from wwd.base.db_connections import persist

MINUTE = 60.0
# A tenth is left free: what goes out evenly may still arrive in bunches.
SHARE = 0.9
SOONEST = 0.005


class TooSlow(Exception):
    """The next call may go out only after more `seconds` than the caller has patience for."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"The next call may go out in {seconds:.0f} seconds.")
        self.seconds = seconds


def clock() -> Func:
    """The database's time at this moment, also within a statement that had to wait."""
    if connection.vendor == "postgresql":
        return Func(function="clock_timestamp", output_field=DateTimeField())
    return Now()


def wait(name: str, per_minute: float, amount: int = 1, patience: float = 600) -> None:
    """Returns once `amount` may be asked for at `per_minute`, for all callers of `name` together; 0: no limit.

    Raises TooSlow where that is further away than `patience` seconds in all.
    """
    spacing = timedelta(seconds=MINUTE / (per_minute * SHARE) * amount if per_minute else 0)
    end = time.monotonic() + patience
    while not persist(lambda: take(name, spacing)):
        seconds = persist(lambda: until(name))
        if time.monotonic() + seconds > end:
            raise TooSlow(seconds)
        time.sleep(max(seconds, SOONEST) + random.random() * 0.1 * spacing.total_seconds())


def take(name: str, spacing: timedelta) -> bool:
    """True for one caller at a time, who may go now; the next may after `spacing`."""
    due = TokenBucket.objects.filter(pk=name, next_at__lte=clock())
    if due.update(next_at=later(spacing)):
        return True
    TokenBucket.objects.bulk_create([TokenBucket(name=name, next_at=Now())], ignore_conflicts=True)
    return False


def hold(name: str, seconds: float) -> None:
    """Nobody calls for so long: the provider asked to slow down. A longer wait that is known already stays."""
    persist(lambda: move(name, later(timedelta(seconds=seconds))))


def move(name: str, until_then: ExpressionWrapper) -> None:
    if not TokenBucket.objects.filter(pk=name).update(next_at=Greatest(F("next_at"), until_then)):
        TokenBucket.objects.bulk_create([TokenBucket(name=name, next_at=until_then)], ignore_conflicts=True)


def later(span: timedelta) -> ExpressionWrapper:
    return ExpressionWrapper(clock() + span, output_field=DateTimeField())


def until(name: str) -> float:
    """Seconds until the next call may go out, 0 where that is now."""
    left = ExpressionWrapper(F("next_at") - clock(), output_field=DurationField())
    found = TokenBucket.objects.filter(pk=name).annotate(left=left).values_list("left", flat=True).first()
    return max(0.0, found.total_seconds()) if found else 0.0
