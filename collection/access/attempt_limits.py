"""Counted tries as rows: no page needs a cache server, and nobody's tries can refuse what is right.

A failure is counted for the network that it came from (`circumstances.network_of`). After some free ones the answer
asks for a wait that grows with each further failure. Anyone who calls this decides what the wait applies to: a right
return code is always taken, a password of a device that is not known is not looked at meanwhile.
"""

from datetime import UTC, datetime, timedelta
from typing import Any

from django.db import connection
from django.db.models import F, Field, Model, Sum
from django.utils import timezone
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext as _

from collection.models import Tries

HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
# The free failures of a network in an hour. An evening of 400 people behind one prefix mistypes about 40 codes in all.
FREE = 60
LONGEST_WAIT = 60
# One statement, so that two at the same moment are two.
COUNT = """INSERT INTO collection_tries (key, "window", number, last_at) VALUES (%s, %s, %s, %s)
  ON CONFLICT (key, "window") DO UPDATE
  SET number = collection_tries.number + excluded.number, last_at = excluded.last_at RETURNING number"""


class TooManyAttemptsError(Exception):
    """What was tried is wrong, and so was much else of this network; `seconds` says how long to wait."""

    def __init__(self, seconds: int) -> None:
        self.seconds = seconds
        text = _(
            "Nobody has this code. There were many wrong codes from your network: wait %(seconds)d seconds and "
            "compare it with your note. A right code is always taken."
        )
        super().__init__(text % {"seconds": seconds})


def count_try(key: str, window: timedelta = HOUR) -> int:
    """Counts one try of `key` and returns how many this window has with it. Call it outside transactions.

    `key` is stored as an HMAC, so that what somebody typed cannot be read from the rows.
    """
    now = timezone.now()
    given = {"key": hash_limit_key(key), "window": window_start(now, window), "number": 1, "last_at": now}
    values = [column_of(Tries, name).get_db_prep_value(value, connection) for name, value in given.items()]
    with connection.cursor() as cursor:
        cursor.execute(COUNT, values)
        return int(cursor.fetchone()[0])


def column_of(model: type[Model], name: str) -> "Field[Any, Any]":
    """A column of a model, for statements of our own."""
    field = model._meta.get_field(name)
    assert isinstance(field, Field)
    return field


def take_back_try(key: str, window: timedelta = HOUR) -> None:
    """Counts one try of `key` less: it was right in the end."""
    counted = Tries.objects.filter(key=hash_limit_key(key), window=window_start(timezone.now(), window), number__gt=0)
    counted.update(number=F("number") - 1)


def count_attempts(key: str, window: timedelta = HOUR) -> int:
    """How often `key` was tried in this window."""
    row = row_of(key, window)
    return row.number if row else 0


def tries_of_a_day(key: str) -> int:
    """How often `key` was tried within 24 hours, where it is counted by the hour."""
    rows = Tries.objects.filter(key=hash_limit_key(key), window__gte=timezone.now() - DAY)
    return rows.aggregate(all=Sum("number"))["all"] or 0


def wait_after(number: int, free: int = FREE) -> int:
    """Seconds to wait after so many failures: none after the free ones, then 2, 4, 8 … up to a minute."""
    return min(2 ** min(number - free, 6), LONGEST_WAIT) if number > free else 0


def left_to_wait(key: str, free: int) -> int:
    """Seconds until the next try of `key` is looked at; never more than the wait itself, whatever the clock did."""
    row = row_of(key, HOUR)
    if row is None or row.last_at is None:
        return 0
    wait = wait_after(row.number, free)
    passed = (timezone.now() - row.last_at).total_seconds()
    return min(wait, max(0, round(wait - passed)))


def row_of(key: str, window: timedelta) -> Tries | None:
    return Tries.objects.filter(key=hash_limit_key(key), window=window_start(timezone.now(), window)).first()


def hash_limit_key(key: str) -> str:
    return salted_hmac("wwd.limits", key, algorithm="sha256").hexdigest()


def window_start(now: datetime, window: timedelta) -> datetime:
    """The start of the window that `now` lies in."""
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    return now - (now - epoch) % window


def forget_old_tries(before: timedelta = timedelta(days=2)) -> int:
    """Removes rows of windows long past."""
    removed, _by_model = Tries.objects.filter(window__lt=timezone.now() - before).delete()
    return removed
