"""What people decide about a run: pause, go on, cancel, try again, which comes first."""

import logging
from collections.abc import Collection, Sequence

from django.db import transaction
from django.db.models import Count, F, Q, QuerySet, Value
from django.db.models.functions import Concat, Now

from collection.models import Dish
from evaluation.models import EarlierOutcome, GeneratedImage, Outcome, Run, Unit
from evaluation.runner.announcing import announce_run

ACTIVE = (Run.State.PLANNED, Run.State.RUNNING)
OPEN = (Unit.State.PENDING, Unit.State.LEASED)
AGAIN = (Unit.State.FAILED, Unit.State.REFUSED)
CHUNK = 1000
logger = logging.getLogger(__name__)


def pause_run(run: Run, problem: str = "") -> None:
    """Stops leasing; what is leased is finished. `problem` says why, where it was not a person who paused."""
    logger.warning("Run %s paused%s.", run.pk, "; its page says why" if problem else "")
    Run.objects.filter(pk=run.pk, state__in=ACTIVE).update(state=Run.State.PAUSED, problem=problem)


def cancel_run(run: Run) -> None:
    """Ends a run before its end; what is leased is still finished. Its units stay, so that it could be resumed."""
    going = Q(state__in=(*ACTIVE, Run.State.PAUSED, Run.State.WAITING))
    Run.objects.filter(going, pk=run.pk).update(state=Run.State.CANCELLED, finished_at=Now(), problem="")


def resume_run(run: Run) -> None:
    """A paused or cancelled run goes on. One that was not planned yet waits again for the run before it."""
    stopped = Run.objects.filter(pk=run.pk, state__in=(Run.State.PAUSED, Run.State.CANCELLED))
    unplanned = run.after_id is not None and not Unit.objects.filter(run=run).exists()
    stopped.update(state=Run.State.WAITING if unplanned else Run.State.RUNNING, problem="", finished_at=None)
    if not unplanned:
        announce_run(run)


def set_run_priority(run: Run, priority: int) -> None:
    """Among runs of one queue, higher numbers are worked on first, from the next slice of time on."""
    Run.objects.filter(pk=run.pk).update(priority=priority)


def retry_units(run: Run, states: Collection[str] = (Unit.State.FAILED,)) -> int:
    """Has the failed or refused units of a run tried again; returns how many. What they gave before is stored.

    Each outcome moves to `EarlierOutcome` with the number of its try, and the record of a refused image keeps
    its row under a name with that number. Units about withdrawn dishes stay as they are.
    """
    if run.imported or not set(states) <= set(AGAIN):
        raise ValueError("Only failed or refused units of a run that was made here can be tried again.")
    again = Unit.objects.filter(run=run, state__in=states, outcome__isnull=False)
    again = again.exclude(subject__dish__state=Dish.State.WITHDRAWN).order_by("pk")
    tried = 0
    while moved := retry_some(again):
        tried += moved
    if tried:
        Run.objects.filter(pk=run.pk).update(state=Run.State.RUNNING, finished_at=None, problem="")
        announce_run(run)
    return tried


@transaction.atomic
def retry_some(again: QuerySet[Unit]) -> int:
    """Returns up to 1,000 of these units to those that wait, their outcomes moved."""
    units = list(again.select_for_update(of=("self",))[:CHUNK])
    store_earlier_outcomes(units)
    ids = [unit.pk for unit in units]
    Unit.objects.filter(pk__in=ids).update(state=Unit.State.PENDING, deliveries=0, batch=None)
    return len(units)


def store_earlier_outcomes(units: Sequence[Unit]) -> None:
    """Moves the outcomes of these units to those of earlier tries."""
    numbers = dict(
        Unit.objects.filter(pk__in=[unit.pk for unit in units]).annotate(n=Count("earlier")).values_list("pk", "n")
    )
    outcomes = Outcome.objects.filter(unit__in=units)
    rows = [
        EarlierOutcome(
            unit_id=row.unit_id,
            number=numbers[row.unit_id] + 1,
            state=row.unit.state,
            text=row.text,
            numbers=row.numbers,
            image_id=row.image_id,
            reason=row.reason,
            circumstances=row.circumstances,
            created_at=row.created_at,
        )
        for row in outcomes.select_related("unit")
    ]
    EarlierOutcome.objects.bulk_create(rows)
    for number in {row.number for row in rows}:
        images = [row.image_id for row in rows if row.number == number and row.image_id]
        named = Concat(F("source_key"), Value(f"#{number}"))
        GeneratedImage.objects.filter(pk__in=images).update(source_key=named)
    outcomes.delete()
