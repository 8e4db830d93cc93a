"""Answers, images and vectors made elsewhere enter as a run whose units are done."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.db import transaction
from django.db.models.functions import Now

from evaluation import batching, studies
from evaluation.contracts.study import ConfigError, Result, UnitPlan
from evaluation.counters import bump_input_counters
from evaluation.models import Embedding, GeneratedImage, Outcome, Run, RunLabel, Unit
from evaluation.runner import storing, units
from wwd.base.planner_statistics import refresh_statistics

Given = Sequence[tuple[UnitPlan, Result]]
CHUNK = 500


def import_run(
    study: str,
    slug: str,
    config: Mapping[str, Any],
    results: Iterable[tuple[UnitPlan, Result]],
    *,
    version: str = "",
    definition: Mapping[str, Any] | None = None,
) -> tuple[Run, int]:
    """Stores results made elsewhere as the run `slug`; returns it and how many units are new.

    Keys that the run holds already are left as they are, so a second import changes nothing, and one that was
    cut short goes on. Commits chunk by chunk and writes files: never call it inside a transaction.
    Raises ConfigError for an unknown study or a slug that stands for something else.
    """
    version = version or studies.load_study(study).version
    run = run_for(study, slug, {"config": dict(config), "study_version": version, "definition": dict(definition or {})})
    new = sum(import_chunk(run, chunk) for chunk in batching.split_into_chunks(results, CHUNK))
    if new:
        refresh_statistics(Unit, RunLabel, Outcome, GeneratedImage, Embedding)
    with transaction.atomic():
        finished = Run.objects.filter(pk=run.pk, finished_at=None).update(state=Run.State.DONE, finished_at=Now())
        if new or finished:
            bump_input_counters(f"runs.{study}")
    run.refresh_from_db()
    return run, new


def run_for(study: str, slug: str, values: dict[str, Any]) -> Run:
    """The imported run of this slug, made where it does not exist."""
    run, _ = Run.objects.get_or_create(
        slug=slug, defaults={"study": study, "imported": True, "state": Run.State.RUNNING, **values}
    )
    if not run.imported or run.study != study:
        raise ConfigError(f"The run {slug!r} exists and was not imported for study {study!r}. Choose another name.")
    changed = [name for name, value in values.items() if getattr(run, name) != value]
    if changed:
        raise ConfigError(f"The run {slug!r} was imported with another {' and '.join(changed)}. Choose another name.")
    return run


def import_chunk(run: Run, given: Given) -> int:
    """Stores those of `given` that the run does not hold yet, files before rows; returns their number."""
    units.check_keys([plan for plan, _ in given], set())
    keys = [plan.key for plan, _ in given]
    held = set(Unit.objects.filter(run=run, key__in=keys).values_list("key", flat=True))
    fresh = [(plan, storing.clean_result(result)) for plan, result in given if plan.key not in held]
    if not fresh:
        return 0
    for plan, result in fresh:
        if plan.key != result.key:
            raise ConfigError(f"The result {result.key!r} is paired with the unit {plan.key!r}.")
    hashes = storing.store_image_files(result for _, result in fresh)
    plans, results = [plan for plan, _ in fresh], [result for _, result in fresh]
    with transaction.atomic():
        rows = units.insert_units(run, plans, [result.state for result in results])
        storing.store_results(run, list(zip(rows, results, strict=True)), hashes)
        if units.is_demonstration(plans) and not run.demonstration:
            run.demonstration = True
            run.save(update_fields=["demonstration"])
    return len(fresh)
