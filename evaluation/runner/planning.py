"""From a study and its configuration to a run with all its units."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

from django.contrib.auth.models import AbstractBaseUser
from django.core.exceptions import ValidationError
from django.core.validators import validate_slug
from django.db import transaction

from evaluation import batching, studies
from evaluation.contracts.backend import BackendError
from evaluation.contracts.study import ConfigError, ModelData, Study, UnitPlan
from evaluation.models import Run, Unit
from evaluation.registry import backend_table
from evaluation.runner import units
from evaluation.runner.catalogue import DatabaseCatalogue
from evaluation.studies.config import as_json, parse_config
from wwd.base.planner_statistics import refresh_statistics

QUEUES = ("cpu", "gpu", "api")
# Units that are checked and inserted together: so many plans are held in memory.
CHUNK = 10_000


def create_run(
    study: str,
    config: Mapping[str, Any],
    *,
    slug: str = "",
    queue: str = "",
    priority: int = 0,
    started_by: AbstractBaseUser | None = None,
) -> Run:
    """The run of `study` with `config`, planned whole or not at all; it starts when it is announced.

    The same slug, or no slug, and the same configuration: the same run, as it stands. Raises ConfigError.
    """
    with transaction.atomic():
        run, new = row_for(study, config, slug, {"queue": queue, "priority": priority}, started_by)
        if new:
            plan_run_units(run)
    return run


def create_waiting(
    study: str, config: Mapping[str, Any], *, after: Run, slug: str = "", started_by: AbstractBaseUser | None = None
) -> Run:
    """A run that is planned once `after` is done. Its configuration is checked now. Raises ConfigError."""
    values = {"after": after, "state": Run.State.WAITING, "queue": "", "priority": after.priority}
    return row_for(study, config, slug, values, started_by)[0]


def row_for(
    study: str, config: Mapping[str, Any], slug: str, values: Mapping[str, Any], started_by: AbstractBaseUser | None
) -> tuple[Run, bool]:
    """The run as a row, without units, and whether it is new. Raises ConfigError."""
    found = studies.load_study(study)
    written = json.loads(json.dumps(as_json(parse_config(found, config))))
    slug = checked_slug(slug or default_slug(study, found.version, written))
    existing = Run.objects.filter(slug=slug).first()
    if existing:
        return check_same_run(existing, found, written), False
    made_by = started_by.pk if started_by else None
    named = {"study": study, "study_version": found.version, "slug": slug, "config": written}
    return Run.objects.create(**named, **values, started_by_id=made_by), True


def plan_run_units(run: Run) -> None:
    """Plans a run that has no units yet, inside the caller's transaction. Raises ConfigError."""
    study = studies.load_study(run.study)
    plan = study.plan(parse_config(study, run.config), DatabaseCatalogue())
    run.definition = json.loads(json.dumps(plan.definition))
    run.demonstration, run.queue = insert_all(run, plan.units, run.queue)
    run.state = Run.State.PLANNED
    run.save()
    refresh_statistics(Unit)


def default_slug(study: str, version: str, config: Mapping[str, Any]) -> str:
    """A name that says the same for the same configuration, so that asking twice gives one run."""
    text = json.dumps([study, version, config], sort_keys=True, ensure_ascii=False)
    return f"{study}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def checked_slug(slug: str) -> str:
    try:
        validate_slug(slug)
    except ValidationError:
        slug = ""
    if not 0 < len(slug) <= 80:
        raise ConfigError("The name of a run holds letters, digits, hyphens and underscores, 80 at most.")
    return slug


def check_same_run(run: Run, study: Study, config: Mapping[str, Any]) -> Run:
    """The existing run, if it is of this study, version and configuration. Raises ConfigError."""
    wanted = {"study": study.slug, "study_version": study.version, "config": config, "imported": False}
    changed = [name for name, value in wanted.items() if getattr(run, name) != value]
    if changed:
        raise ConfigError(f"The run {run.slug!r} exists with another {' and '.join(changed)}. Choose another name.")
    return run


def insert_all(run: Run, plans: Iterable[UnitPlan], queue: str) -> tuple[bool, str]:
    """Inserts all units; returns whether the run is a demonstration, and its queue."""
    seen, frozen = set[str](), set[int]()
    demonstration, queues = False, set()
    for chunk in batching.split_into_chunks(plans, CHUNK):
        units.check_keys(chunk, seen)
        for model in {id(plan.model): plan.model for plan in chunk}.values():
            check_backend(model)
            queues.add(str(model.parameters.get("queue", "cpu")))
        units.insert_waiting_units(run, chunk, frozen)
        demonstration = demonstration or units.is_demonstration(chunk)
    if not seen:
        raise ConfigError("The plan holds no unit: there is nothing to compute.")
    return demonstration, checked_queue(queue or max(queues, key=QUEUES.index))


def check_backend(model: ModelData) -> None:
    """Raises ConfigError where nothing could execute the units of this model."""
    try:
        backend_table.resolve_backend_path(model)
    except BackendError as error:
        raise ConfigError(str(error)) from error


def checked_queue(queue: str) -> str:
    if queue not in QUEUES:
        raise ConfigError(f"queue is {queue!r}. Accepted: {', '.join(QUEUES)}.")
    return queue
