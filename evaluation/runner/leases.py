"""Leases: who works on which units until when. Only the database's clock counts.

Units that were never delivered are leased in whole affinities. A unit whose worker ended without an answer comes
back and is leased alone, so that the one that kills its worker takes no other with it.
"""

import logging
import threading
from collections import defaultdict
from collections.abc import Iterable
from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.db import DatabaseError, connection, transaction
from django.db.models import Case, F, Value, When
from django.db.models.expressions import CombinedExpression
from django.db.models.functions import Now

from evaluation.models import Batch, Outcome, Run, Unit
from evaluation.runner import storing

MOST_DELIVERIES = 3
KILLED = f"The worker ended without an answer {MOST_DELIVERIES} times."
logger = logging.getLogger(__name__)

# One row per affinity is locked, its lowest unit: whoever holds that has the whole affinity. Workers that come at
# the same moment pass over each other's. Affinities are taken until `size` units are reached.
LEASE = """
WITH heads AS (
    SELECT head.affinity FROM evaluation_unit head
    WHERE head.run_id = %(run)s AND head.state = 'pending' AND head.deliveries = 0 AND NOT EXISTS (
        SELECT 1 FROM evaluation_unit lower
        WHERE lower.run_id = head.run_id AND lower.state = 'pending' AND lower.deliveries = 0
        AND lower.affinity = head.affinity AND lower.id < head.id
    )
    ORDER BY head.affinity LIMIT %(size)s {lock}
), counted AS (
    SELECT affinity, SUM(COUNT(*)) OVER (ORDER BY affinity) - COUNT(*) AS before FROM evaluation_unit
    WHERE run_id = %(run)s AND state = 'pending' AND deliveries = 0 AND affinity IN (SELECT affinity FROM heads)
    GROUP BY affinity
)
UPDATE evaluation_unit SET state = 'leased', deliveries = 1, batch_id = %(batch)s
WHERE run_id = %(run)s AND state = 'pending' AND deliveries = 0
AND affinity IN (SELECT affinity FROM counted WHERE before < %(size)s)
RETURNING id
"""
LEASE_ONE = """
WITH returned AS (
    SELECT id FROM evaluation_unit WHERE run_id = %(run)s AND state = 'pending' AND deliveries > 0
    ORDER BY id LIMIT 1 {lock}
)
UPDATE evaluation_unit SET state = 'leased', deliveries = deliveries + 1, batch_id = %(batch)s
WHERE id IN (SELECT id FROM returned) AND state = 'pending'
RETURNING id
"""


def expiry() -> CombinedExpression:
    """The end of a lease that begins now, by the database's clock."""
    return Now() + timedelta(seconds=settings.LEASE_SECONDS)


def lease(run: Run, worker: str, size: int) -> Batch | None:
    """Leases about `size` units to `worker`, whole affinities; None where nothing waits."""
    with transaction.atomic():
        batch = Batch.objects.create(run=run, worker=worker[:120], until=expiry())
        if take(LEASE, batch, size) or take(LEASE_ONE, batch, 1):
            return batch
        batch.delete()
    return None


def take(statement: str, batch: Batch, size: int) -> int:
    """Runs one of the two statements for this batch; returns how many units it got."""
    lock = "FOR UPDATE SKIP LOCKED" if connection.features.has_select_for_update_skip_locked else ""
    token = Batch._meta.pk.get_db_prep_value(batch.token, connection)
    with connection.cursor() as cursor:
        cursor.execute(statement.format(lock=lock), {"run": batch.run_id, "size": size, "batch": token})
        return len(cursor.fetchall())


def renew(batch: Batch) -> bool:
    """Prolongs the lease; False where it is no longer held."""
    return bool(Batch.objects.filter(pk=batch.pk, finished_at=None).update(until=expiry()))


def close(batches: Iterable[UUID]) -> int:
    """Ends open batches. Whoever ends a batch holds its row until the transaction is over: nobody else can."""
    return Batch.objects.filter(pk__in=list(batches), finished_at=None).update(finished_at=Now())


def finish(batch: Batch, pairs: storing.Pairs) -> int:
    """Ends the units of a batch with their results; returns how many. Units without a result wait again.

    Zero where the lease ran out and was taken back: then nothing is stored, the units are somebody else's.
    """
    hashes = storing.keep_files(result for _, result in pairs)
    given = [unit.pk for unit, _ in pairs]
    with transaction.atomic():
        held = Unit.objects.filter(batch=batch, state=Unit.State.LEASED)
        if not (close([batch.pk]) and held.filter(pk__in=given).update(state=final_states(pairs))):
            logger.warning("Batch %s came late: its %d results are discarded.", batch.pk, len(pairs))
            return 0
        give_back(batch)
        left = set(Unit.objects.filter(batch=batch).values_list("pk", flat=True))
        stored = [(unit, result) for unit, result in pairs if unit.pk in left]
        storing.store(batch.run, stored, hashes, batch)
    return len(stored)


def final_states(pairs: storing.Pairs) -> Case:
    """The state that each unit ends in, as one expression."""
    of_state: dict[str, list[int]] = defaultdict(list)
    for unit, result in pairs:
        of_state[result.state].append(unit.pk)
    whens = (When(pk__in=ids, then=Value(state)) for state, ids in of_state.items())
    return Case(*whens, default=F("state"))


def release(batch: Batch) -> None:
    """Gives the units back as if they had never been delivered."""
    with transaction.atomic():
        if close([batch.pk]):
            give_back(batch)


def give_back(batch: Batch) -> None:
    """What the batch still holds waits again, and this delivery does not count."""
    held = Unit.objects.filter(batch=batch, state=Unit.State.LEASED)
    held.update(state=Unit.State.PENDING, deliveries=F("deliveries") - 1, batch=None)


def release_expired(most: int = 500) -> int:
    """Takes back leases that ran out; returns their number. Units delivered three times fail with the reason."""
    expired = Batch.objects.filter(finished_at=None, until__lt=Now())
    if not expired.exists():
        return 0
    with transaction.atomic():
        rows = expired.select_for_update(skip_locked=True).order_by("until")[:most]
        batches = list(rows.values_list("pk", flat=True))
        held = Unit.objects.filter(batch__in=batches, state=Unit.State.LEASED)
        killers = list(held.filter(deliveries__gte=MOST_DELIVERIES))
        Unit.objects.filter(pk__in=[unit.pk for unit in killers]).update(state=Unit.State.FAILED)
        Outcome.objects.bulk_create(Outcome(unit=unit, batch_id=unit.batch_id, reason=KILLED) for unit in killers)
        held.update(state=Unit.State.PENDING, batch=None)
        return close(batches)


class Heartbeat:
    """Renews a lease from a thread of its own while its units are worked on."""

    def __init__(self, batch: Batch) -> None:
        self.batch = batch
        self.stop = threading.Event()
        self.thread = threading.Thread(target=self.beat, name=f"lease-{batch.pk}", daemon=True)

    def __enter__(self) -> None:
        self.thread.start()

    def __exit__(self, *_: object) -> None:
        self.stop.set()
        self.thread.join()

    def beat(self) -> None:
        while not self.stop.wait(settings.LEASE_SECONDS / 3):
            try:
                if not renew(self.batch):
                    return
            except DatabaseError:
                logger.warning("The lease of batch %s could not be renewed.", self.batch.pk, exc_info=True)
            finally:
                connection.close()
