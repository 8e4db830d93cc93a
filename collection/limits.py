"""Limits as rows: no page needs a cache server, and no address is ever locked out (many people share one)."""

from datetime import UTC, datetime, timedelta

from django.db.models import F
from django.utils import timezone
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext as _

from collection.models import Tries


class TooManyTries(Exception):
    """The limit is reached; the text says when to try again."""

    def __init__(self) -> None:
        super().__init__(_("There were too many tries. Wait an hour and try again."))


def count_try(key: str, most: int, window: timedelta = timedelta(hours=1)) -> None:
    """Counts one try of `key`. Raises TooManyTries past `most` in one window.

    `key` is stored as an HMAC, so that what somebody typed cannot be read from the rows.
    """
    start = window_start(timezone.now(), window)
    hidden = salted_hmac("wwd.limits", key, algorithm="sha256").hexdigest()
    row, _created = Tries.objects.get_or_create(key=hidden, window=start)
    Tries.objects.filter(pk=row.pk).update(number=F("number") + 1)
    row.refresh_from_db(fields=["number"])
    if row.number > most:
        raise TooManyTries


def window_start(now: datetime, window: timedelta) -> datetime:
    """The start of the window that `now` lies in."""
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    return now - (now - epoch) % window


def forget_old_tries(before: timedelta = timedelta(days=2)) -> int:
    """Removes rows of windows long past."""
    removed, _by_model = Tries.objects.filter(window__lt=timezone.now() - before).delete()
    return removed
