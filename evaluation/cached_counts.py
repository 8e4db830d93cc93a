"""Counts that take longer than somebody waits: a worker makes them, a page shows them with their time.

Unlike a stored table they hold no estimates and need not be exact to the second: how far a run or a campaign is. What
is small is counted in the request, as long as it is (`large`).
"""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.db.models.functions import Now
from django.utils import timezone

from evaluation.models import KeptReport
from evaluation.queue import request_tables
from wwd.base.leases import RequestLease

# Up to so many rows are counted while somebody waits.
LARGE = 5000
# A count that may have changed is made anew when it is looked at after so long.
AGE = timedelta(minutes=1)
REQUESTS = RequestLease(timedelta(minutes=10))
Content = Mapping[str, Any]
logger = logging.getLogger(__name__)

# Kind → what counts the thing with an id; None where it is gone.
makers: dict[str, Callable[[int], Content | None]] = {}


@dataclass(frozen=True)
class CachedCount:
    """`content` None while it is first being counted."""

    content: Content | None
    counted_at: datetime | None


def exceeds_count_limit(rows: QuerySet[Any]) -> bool:
    """Whether there are too many to be counted in a request."""
    return rows.order_by().values("pk")[LARGE : LARGE + 1].exists()


def is_large(rows: QuerySet[Any], key: str) -> Exists:
    """The same for each row of another query: `rows` whose `key` it is."""
    return Exists(rows.filter(**{key: OuterRef("pk")}).order_by().values("pk")[LARGE : LARGE + 1])


def read_cached_counts(
    kind: str, pks: list[int], *, settled: Mapping[int, datetime | None] | None = None
) -> dict[int, CachedCount]:
    """What is stored of these, in one query; asks a worker for what is missing or old.

    `settled`: when something last changed of those that change no more: counted after that, they are never old.
    """
    names = {f"{kind}:{pk}": pk for pk in pks}
    rows = {names[row.name]: row for row in KeptReport.objects.filter(name__in=names)}
    due = [pk for pk in pks if is_stale(rows.get(pk), (settled or {}).get(pk))]
    if missing := [f"{kind}:{pk}" for pk in due if pk not in rows]:
        create_missing_rows(missing)
    if due and request_recount([f"{kind}:{pk}" for pk in due]):
        transaction.on_commit(request_tables)
    return {
        pk: CachedCount(rows[pk].content, rows[pk].counted_at) if pk in rows else CachedCount(None, None) for pk in pks
    }


def is_stale(row: KeptReport | None, settled: datetime | None) -> bool:
    if row is None or row.counted_at is None:
        return True
    return row.counted_at < settled if settled else row.counted_at < timezone.now() - AGE


def create_missing_rows(names: list[str]) -> None:
    """Rows for what was never counted."""
    KeptReport.objects.bulk_create([KeptReport(name=name) for name in names], ignore_conflicts=True)


def request_recount(names: list[str]) -> bool:
    """Notes that somebody waits; True where a worker should be told."""
    return REQUESTS.request_rows(KeptReport.objects.filter(name__in=names))


def list_requested_counts() -> QuerySet[KeptReport]:
    return REQUESTS.select_free_rows(KeptReport.objects.all())


def recount_wanted() -> int:
    """Counts all that was asked for; returns how many. Each is claimed once, however many workers look."""
    return sum(refresh_cached_count(row) for row in REQUESTS.claim_each_row(KeptReport.objects.all()))


def refresh_cached_count(row: KeptReport) -> bool:
    """Counts one; what goes wrong is logged and keeps nobody else from being counted."""
    kind, _colon, pk = row.name.partition(":")
    try:
        content = makers[kind](int(pk)) if kind in makers else None
    except Exception:
        logger.exception("%s could not be counted", row.name)
        REQUESTS.release_rows(KeptReport.objects.filter(pk=row.pk))
        return False
    if content is None:
        KeptReport.objects.filter(pk=row.pk).delete()
        return False
    REQUESTS.release_rows(KeptReport.objects.filter(pk=row.pk), content=content, counted_at=Now())
    return True
