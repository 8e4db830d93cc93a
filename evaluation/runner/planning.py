"""From a study and its configuration to a run with all its units."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

from django.contrib.auth.models import AbstractBaseUser
from django.core.exceptions import ValidationError
from django.core.validators import validate_slug
from django.db import transaction

from evaluation import backends, studies
from evaluation.backends.base import BackendError
from evaluation.catalogue import DatabaseCatalogue
from evaluation.config import as_json, parse
from evaluation.models import Run, Unit
from evaluation.runner import units
from evaluation.studies.base import ConfigError, Study, UnitPlan

QUEUES = ("cpu", "gpu", "api")


def create_run(
    study: str,
    config: Mapping[str, Any],
    *,
    slug: str = "",
    queue: str = "",
    started_by: AbstractBaseUser | None = None,
) -> Run:
    """The run of `study` with `config`, planned whole or not at all; it starts when it is announced.

    The same slug, or no slug, and the same configuration: the same run, as it stands. Raises ConfigError.
    """
    found = studies.load(study)
    parsed = parse(found, config)
    written = json.loads(json.dumps(as_json(parsed)))
    slug = checked_slug(slug or default_slug(study, found.version, written))
    with transaction.atomic():
        existing = Run.objects.filter(slug=slug).first()
        if existing:
            return same(existing, found, written)
        run = Run.objects.create(
            study=study,
            study_version=found.version,
            slug=slug,
            config=written,
            started_by_id=started_by.pk if started_by else None,
        )
        plan = found.plan(parsed, DatabaseCatalogue())
        run.definition = json.loads(json.dumps(plan.definition))
        run.demonstration, run.queue = insert_all(run, plan.units, queue)
        run.save()
    return run


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


def same(run: Run, study: Study, config: Mapping[str, Any]) -> Run:
    """The existing run, if it is of this study, version and configuration. Raises ConfigError."""
    wanted = {"study": study.slug, "study_version": study.version, "config": config, "imported": False}
    changed = [name for name, value in wanted.items() if getattr(run, name) != value]
    if changed:
        raise ConfigError(f"The run {run.slug!r} exists with another {' and '.join(changed)}. Choose another name.")
    return run


def insert_all(run: Run, plans: Iterable[UnitPlan], queue: str) -> tuple[bool, str]:
    """Inserts all units; returns whether the run is a demonstration, and its queue."""
    seen: set[str] = set()
    demonstration, queues = False, set()
    for chunk in units.chunks(plans):
        units.check_keys(chunk, seen)
        for model in {plan.model.slug: plan.model for plan in chunk}.values():
            try:
                backends.path_of(model)
            except BackendError as error:
                raise ConfigError(str(error)) from error
            queues.add(str(model.parameters.get("queue", "cpu")))
        units.insert(run, chunk, [Unit.State.PENDING] * len(chunk))
        demonstration = demonstration or units.is_demonstration(chunk)
    if not seen:
        raise ConfigError("The plan holds no unit: there is nothing to compute.")
    return demonstration, checked_queue(queue or max(queues, key=QUEUES.index))


def checked_queue(queue: str) -> str:
    if queue not in QUEUES:
        raise ConfigError(f"queue is {queue!r}. Accepted: {', '.join(QUEUES)}.")
    return queue
