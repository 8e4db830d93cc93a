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
from wwd.base.db_connections import retry_on_lost_connection

MINUTE = 60.0
# A tenth is left free: what goes out evenly may still arrive in bunches.
SHARE = 0.9
SOONEST = 0.005


class WaitTooLongError(Exception):
    """The next call may go out only after more `seconds` than the caller has patience for."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"The next call may go out in {seconds:.0f} seconds.")
        self.seconds = seconds


def get_database_time() -> Func:
    """The database's time at this moment, also within a statement that had to wait."""
    if connection.vendor == "postgresql":
        return Func(function="clock_timestamp", output_field=DateTimeField())
    return Now()


def wait_for_slot(name: str, per_minute: float, amount: int = 1, patience: float = 600) -> None:
    """Returns once `amount` may be asked for at `per_minute`, for all callers of `name` together; 0: no limit.

    Raises WaitTooLongError where that is further away than `patience` seconds in all.
    """
    spacing = timedelta(seconds=MINUTE / (per_minute * SHARE) * amount if per_minute else 0)
    end = time.monotonic() + patience
    while not retry_on_lost_connection(lambda: try_take_slot(name, spacing)):
        seconds = retry_on_lost_connection(lambda: compute_wait_seconds(name))
        if time.monotonic() + seconds > end:
            raise WaitTooLongError(seconds)
        time.sleep(max(seconds, SOONEST) + random.random() * 0.1 * spacing.total_seconds())


def try_take_slot(name: str, spacing: timedelta) -> bool:
    """True for one caller at a time, who may go now; the next may after `spacing`."""
    due = TokenBucket.objects.filter(pk=name, next_at__lte=get_database_time())
    if due.update(next_at=add_to_database_time(spacing)):
        return True
    TokenBucket.objects.bulk_create([TokenBucket(name=name, next_at=Now())], ignore_conflicts=True)
    return False


def pause_calls(name: str, seconds: float) -> None:
    """Nobody calls for so long: the provider asked to slow down. A longer wait that is known already stays."""
    retry_on_lost_connection(lambda: postpone_next_call(name, add_to_database_time(timedelta(seconds=seconds))))


def postpone_next_call(name: str, until_then: ExpressionWrapper) -> None:
    if not TokenBucket.objects.filter(pk=name).update(next_at=Greatest(F("next_at"), until_then)):
        TokenBucket.objects.bulk_create([TokenBucket(name=name, next_at=until_then)], ignore_conflicts=True)


def add_to_database_time(span: timedelta) -> ExpressionWrapper:
    return ExpressionWrapper(get_database_time() + span, output_field=DateTimeField())


def compute_wait_seconds(name: str) -> float:
    """Seconds until the next call may go out, 0 where that is now."""
    left = ExpressionWrapper(F("next_at") - get_database_time(), output_field=DurationField())
    found = TokenBucket.objects.filter(pk=name).annotate(left=left).values_list("left", flat=True).first()
    return max(0.0, found.total_seconds()) if found else 0.0
