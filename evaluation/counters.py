"""Counters of changed inputs: a stored table is stale once one of its inputs was counted on."""

from django.db.models import F

from evaluation.models import InputCounter


def bump_input_counters(*names: str) -> None:
    """Counts a change of the inputs `names` ("reviews", "runs.association"), inside the change's own transaction.

    The counter moves if and only if the change is stored, so no table can look fresh that is not. Names are locked
    in one order: two transactions that bump the same ones cannot wait for each other.
    """
    for name in sorted(set(names)):
        counter = InputCounter.objects.filter(name=name)
        if not counter.update(value=F("value") + 1):
            InputCounter.objects.bulk_create([InputCounter(name=name)], ignore_conflicts=True)
            counter.update(value=F("value") + 1)
