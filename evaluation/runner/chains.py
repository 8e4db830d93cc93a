"""Runs that wait for another: a study of images is planned once the images are there."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction
from django.db.models import QuerySet

from evaluation import studies
from evaluation.contracts.study import ConfigError, ModelData
from evaluation.models import Model, Run
from evaluation.runner.catalogue import model_data
from evaluation.runner.planning import create_run, create_waiting, plan_run_units
from evaluation.studies.config import parse_config

Step = tuple[str, Mapping[str, Any]]


def create_chain(steps: Sequence[Step], *, started_by: AbstractBaseUser | None = None) -> list[Run]:
    """The runs of a chain, all of them or none. Announce the first; the others follow by themselves.

    A value `"@generation"` in a configuration stands for the chain's run of that study, which is then waited for.
    Raises ConfigError.
    """
    runs: dict[str, Run] = {}
    with transaction.atomic():
        for study, config in steps:
            named = {key: value[1:] for key, value in config.items() if isinstance(value, str) and value[:1] == "@"}
            missing = [name for name in named.values() if name not in runs]
            if missing:
                raise ConfigError(f"{study}: no earlier step of the chain is {missing[0]!r}.")
            filled = {**config, **{key: runs[name].slug for key, name in named.items()}}
            if named:
                after = runs[next(reversed(named.values()))]
                runs[study] = create_waiting(study, filled, after=after, started_by=started_by)
            else:
                runs[study] = create_run(study, filled, started_by=started_by)
    return list(runs.values())


def list_waiting_encoders(run_id: int, slug: str, queue: str) -> tuple[ModelData, ...]:
    """The encoders that runs that wait for this one will ask about its images, as far as its own workers load them."""
    wanted: set[str] = set()
    for follower in Run.objects.filter(after=run_id, state=Run.State.WAITING):
        study = studies.load_study(follower.study)
        wanted.update(study.list_encoders(parse_config(study, follower.config), slug))
    models = map(model_data, Model.objects.filter(slug__in=wanted).order_by("pk")) if wanted else ()
    return tuple(model for model in models if model.parameters.get("queue", "cpu") == queue)


def plan_due(among: QuerySet[Run] | None = None) -> list[Run]:
    """Plans the runs whose turn has come, each once however many workers look; returns them.

    One that cannot be planned pauses with the reason.
    """
    rows = Run.objects.all() if among is None else among
    due = rows.filter(state=Run.State.WAITING, after__state=Run.State.DONE)
    return [run for pk in list(due.values_list("pk", flat=True)) if (run := plan_one(pk))]


def plan_one(pk: int) -> Run | None:
    """The run with its units, if it still waits to be planned and nobody else is at it."""
    with transaction.atomic():
        rows = Run.objects.select_for_update(skip_locked=True, of=("self",))
        run = rows.filter(pk=pk, state=Run.State.WAITING).first()
        if run is None:
            return None
        try:
            with transaction.atomic():
                plan_run_units(run)
        except ConfigError as error:
            Run.objects.filter(pk=pk).update(state=Run.State.PAUSED, problem=str(error))
            return None
        return run
