"""Runs that wait for another: a study of images is planned once the images are there."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction
from django.db.models import QuerySet

from evaluation import studies
from evaluation.contracts.study import ConfigError, ModelData, RunOf, find_mark
from evaluation.models import Model, Run
from evaluation.runner.catalogue import model_data
from evaluation.runner.planning import create_run, create_waiting, plan_run_units
from evaluation.studies.config import parse_config

Step = tuple[str, Mapping[str, Any]]
CHAIN = "@"
# Runs that still give something, by and by.
UNDER_WAY = (Run.State.WAITING, Run.State.PLANNED, Run.State.RUNNING, Run.State.PAUSED)


def list_chain_names(config: Mapping[str, Any]) -> list[str]:
    """The studies whose run in the chain a configuration names, as `"@generation"`."""
    return [value[1:] for value in config.values() if isinstance(value, str) and value.startswith(CHAIN)]


def order_steps(steps: Sequence[Step]) -> list[Step]:
    """The steps, each after those of the chain that it names, else as they were given.

    Where that cannot be, the rest stays as it was: what is missing is said by whoever looks for it.
    """
    left, found = list(steps), list[Step]()
    while left:
        open_ = {study for study, _ in left}
        ready = next((step for step in left if not open_ & set(list_chain_names(step[1]))), left[0])
        left.remove(ready)
        found.append(ready)
    return found


def create_chain(steps: Sequence[Step], *, started_by: AbstractBaseUser | None = None) -> list[Run]:
    """The runs of a chain, all of them or none. Announce the first; the others follow by themselves.

    A value `"@generation"` in a configuration stands for the chain's run of that study, which is then waited for.
    Raises ConfigError.
    """
    runs: dict[str, Run] = {}
    with transaction.atomic():
        for study, config in order_steps(steps):
            named = {key: value[1:] for key, value in config.items() if isinstance(value, str) and value[:1] == CHAIN}
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
        if other := find_open_run(run):
            # It is planned once all runs that it names are done, one after the other.
            Run.objects.filter(pk=pk).update(after=other)
            return None
        try:
            with transaction.atomic():
                plan_run_units(run)
        except ConfigError as error:
            Run.objects.filter(pk=pk).update(state=Run.State.PAUSED, problem=str(error))
            return None
        return run


def find_open_run(run: Run) -> Run | None:
    """A run that the configuration of `run` names and that is not done yet, if there is one."""
    if run.study not in studies.STUDIES:
        return None
    fields = studies.load_study(run.study).Config.model_fields
    names = [run.config.get(name) for name, field in fields.items() if find_mark(field, RunOf)]
    slugs = [name for name in names if isinstance(name, str) and name]
    return Run.objects.filter(slug__in=slugs, state__in=UNDER_WAY).exclude(pk=run.pk).order_by("pk").first()
