"""Planned units become rows, in chunks, with the labels of their subjects frozen."""

from collections.abc import Iterable, Sequence

from evaluation.batching import CHUNK
from evaluation.contracts.study import ConfigError, SubjectData, UnitPlan
from evaluation.models import Run, RunLabel, Unit
from evaluation.subjects import WRITTEN
from wwd.base.postgresql.bulk_insert import insert_rows

COLUMNS = ("run_id", "key", "subject_id", "model_id", "payload", "affinity", "state", "deliveries")


def insert_units(run: Run, plans: Sequence[UnitPlan], states: Iterable[str]) -> list[Unit]:
    """Inserts units of these states; none of the keys may exist in the run."""
    freeze_labels(run, [plan.subject for plan in plans if plan.subject])
    return Unit.objects.bulk_create(
        Unit(
            run=run,
            key=plan.key,
            subject_id=plan.subject.id if plan.subject else None,
            model_id=plan.model.id,
            payload=dict(plan.payload),
            affinity=plan.affinity,
            state=state,
        )
        for plan, state in zip(plans, states, strict=True)
    )


def insert_waiting_units(run: Run, plans: Sequence[UnitPlan], frozen: set[int]) -> None:
    """Inserts units that wait to be leased, in their order, without making an object for each.

    None of the keys may exist in the run. `frozen`: subjects whose labels are kept already; new ones are added.
    """
    subjects = {plan.subject.id: plan.subject for plan in plans if plan.subject and plan.subject.id not in frozen}
    if subjects:
        freeze_labels(run, subjects.values())
        frozen |= subjects.keys()
    waiting = Unit.State.PENDING.value
    insert_rows(
        Unit,
        COLUMNS,
        (
            (
                run.pk,
                plan.key,
                plan.subject.id if plan.subject else None,
                plan.model.id,
                dict(plan.payload),
                plan.affinity,
                waiting,
                0,
            )
            for plan in plans
        ),
    )


def check_keys(plans: Sequence[UnitPlan], seen: set[str]) -> None:
    """Adds the keys to `seen`. Raises ConfigError for a key that is there already or does not fit."""
    for plan in plans:
        if plan.key in seen:
            raise ConfigError(f"The plan holds the unit {plan.key!r} twice.")
        if not 0 < len(plan.key) <= 120 or not 0 < len(plan.affinity) <= 80:
            raise ConfigError(f"The key or the affinity of unit {plan.key[:130]!r} is empty or too long.")
        seen.add(plan.key)


def freeze_labels(run: Run, subjects: Iterable[SubjectData]) -> None:
    """Keeps the labels as they are now: a later correction of a dish does not change this run's groups."""
    unique = {subject.id: subject for subject in subjects}
    known = set(RunLabel.objects.filter(run=run, subject__in=unique).values_list("subject_id", flat=True))
    rows = (
        RunLabel(run=run, subject_id=subject.id, dimension=dimension, value=value)
        for subject in unique.values()
        if subject.id not in known
        for dimension, values in subject.labels.items()
        if dimension != WRITTEN
        for value in dict.fromkeys(values)
    )
    RunLabel.objects.bulk_create(rows, ignore_conflicts=True, batch_size=CHUNK)


def is_demonstration(plans: Iterable[UnitPlan]) -> bool:
    """True where a stand-in or a demonstration subject takes part: the run's results are no measurement."""
    return any(plan.model.demonstration or (plan.subject and plan.subject.demonstration) for plan in plans)
