"""Leases: who works on which units until when. Only the database's clock counts.

Units that were never delivered are leased in whole affinities. A unit whose worker ended without an answer comes
back and is leased alone, so that the one that kills its worker takes no other with it.
"""

import logging
from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import Case, F, QuerySet, Value, When
from django.db.models.expressions import CombinedExpression
from django.db.models.functions import Now

from evaluation.models import Batch, Outcome, Run, Unit
from evaluation.runner import storing

MOST_DELIVERIES = 3
KILLED = f"The worker ended without an answer {MOST_DELIVERIES} times."
logger = logging.getLogger(__name__)


def compute_lease_expiry() -> CombinedExpression:
    """The end of a lease that begins now, by the database's clock."""
    return Now() + timedelta(seconds=settings.LEASE_SECONDS)


def lease_units(run: Run, worker: str, size: int, after: str = "") -> Batch | None:
    """Leases about `size` units to `worker`, whole affinities; None where nothing waits.

    The search begins at the affinity `after`, and from the first one where nothing is found. A worker that says where
    the last lease ended need not read what the index still holds of all that was done before.
    """
    with transaction.atomic():
        found = (
            lock_undelivered_units(run, size, after)
            or (after and lock_undelivered_units(run, size, ""))
            or lock_returned_unit(run)
        )
        if not found:
            return None
        batch = Batch.objects.create(run=run, worker=worker[:120], until=compute_lease_expiry())
        held = Unit.objects.filter(pk__in=found)
        held.update(state=Unit.State.LEASED, deliveries=F("deliveries") + 1, batch=batch)
    return batch


def lock_undelivered_units(run: Run, size: int, start: str) -> list[int]:
    """Locks units that were never delivered, whole affinities from `start` on until `size` are reached.

    Each statement goes along the index `waiting_units`, since the rows of a run are counted when it is planned, and
    none waits for another worker, so that none can wait for us.
    """
    waiting = Unit.objects.filter(run=run, state=Unit.State.PENDING, deliveries=0).order_by("affinity", "pk")
    ahead, found = waiting.filter(affinity__gte=start), list[int]()
    while len(found) < size:
        rows = list(ahead.values_list("affinity", "pk")[: size - len(found)])
        if not rows:
            break
        found += lock_whole_affinities(rows, waiting.filter(affinity__gte=rows[0][0], affinity__lte=rows[-1][0]))
        ahead = waiting.filter(affinity__gt=rows[-1][0])
    return found


def lock_whole_affinities(rows: Iterable[tuple[str, int]], among: QuerySet[Unit]) -> list[int]:
    """Locks those affinities of `rows` whose lowest unit can be locked: its holder has the whole affinity."""
    heads: dict[str, int] = {}
    for affinity, pk in rows:
        heads.setdefault(affinity, pk)
    held = set(lock_units(among.filter(pk__in=heads.values())))
    return lock_units(among.filter(affinity__in=[affinity for affinity, pk in heads.items() if pk in held]))


def lock_returned_unit(run: Run) -> list[int]:
    """Locks one unit that came back from a worker that ended."""
    waiting = Unit.objects.filter(run=run, state=Unit.State.PENDING, deliveries__gt=0)
    return lock_units(waiting.order_by("affinity", "pk")[:1])


def lock_units(units: QuerySet[Unit]) -> list[int]:
    """Ids of those of `units` that nobody else has locked."""
    return list(units.select_for_update(skip_locked=True).values_list("pk", flat=True))


def renew_lease(batch: Batch) -> bool:
    """Prolongs the lease; False where it is no longer held."""
    return bool(Batch.objects.filter(pk=batch.pk, finished_at=None).update(until=compute_lease_expiry()))


def close_batches(batches: Iterable[UUID]) -> int:
    """Ends open batches. Anyone who ends a batch holds its row until the transaction is over: nobody else can."""
    return Batch.objects.filter(pk__in=list(batches), finished_at=None).update(finished_at=Now())


def finish_units(
    batch: Batch, pairs: storing.ResultPairs, *, last: bool = True, hashes: Mapping[str, str] | None = None
) -> int:
    """Ends the units of a batch with their results; returns how many. Units without a result wait again.

    Unless this is the `last` of it: then the lease is renewed and they stay. Zero where the lease ran out and was
    taken back: then nothing is stored, the units are somebody else's. `hashes`: unit key → hash of its file, where the
    files are stored already.
    """
    if hashes is None:
        hashes = storing.store_image_files(result for _, result in pairs)
    given = Unit.objects.filter(batch=batch, pk__in=[unit.pk for unit, _ in pairs])
    with transaction.atomic():
        held = close_batches([batch.pk]) if last else renew_lease(batch)
        # Locked and counted before they change: what was stored already, or erased meanwhile, is not stored again.
        left = (
            set(given.filter(state=Unit.State.LEASED).select_for_update().values_list("pk", flat=True)) if held else ()
        )
        if not left:
            logger.warning("Batch %s came late: its %d results are discarded.", batch.pk, len(pairs))
            if held and last:
                give_back(batch)
            return 0
        stored = [(unit, result) for unit, result in pairs if unit.pk in left]
        Unit.objects.filter(pk__in=left).update(state=final_states(stored))
        if last:
            give_back(batch)
        storing.store_each(batch.run, stored, hashes, batch)
    return len(stored)


def final_states(pairs: storing.ResultPairs) -> Case | Value:
    """The state that each unit ends in, as one expression."""
    of_state: dict[str, list[int]] = defaultdict(list)
    for unit, result in pairs:
        of_state[result.state].append(unit.pk)
    if len(of_state) == 1:
        return Value(next(iter(of_state)))
    whens = (When(pk__in=ids, then=Value(state)) for state, ids in of_state.items())
    return Case(*whens, default=F("state"))


def release_batch(batch: Batch) -> None:
    """Gives the units back as if they had never been delivered."""
    with transaction.atomic():
        if close_batches([batch.pk]):
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
        return close_batches(batches)
