"""A run goes, with everything that only it brought: by a job, in chunks, never by hand.

Each chunk is a transaction of its own. A purge that was killed goes on where it stopped when it is asked for again.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from django.db import transaction
from django.db.models import Exists, Model, OuterRef, Q, QuerySet

from evaluation import counters
from evaluation.models import (
    Batch,
    EarlierOutcome,
    Embedding,
    GeneratedImage,
    Outcome,
    Plan,
    Run,
    RunLabel,
    StoredTable,
    Unit,
)

CHUNK = 1000
ENDED = (Run.State.DONE, Run.State.CANCELLED)
GOING = "It is being purged: what is left of it counts in no table."


class RunNeededError(ValueError):
    """The run cannot go yet; the text says all the reasons."""


def list_purge_obstacles(run: Run) -> list[str]:
    """Why `run` cannot be purged, one sentence each: what still works on it, comes after it, names or shows it."""
    found = []
    if run.state not in ENDED:
        found.append("It has not ended. Cancel it first.")
    named = sorted({*run.followers.values_list("slug", flat=True), *runs_that_name(run)})
    if named:
        found.append("Other runs were made from it: {runs}.".format(runs=", ".join(named)))
    if plans := [plan.slug for plan in Plan.objects.order_by("slug") if plan_names(plan, run.slug)]:
        found.append("Plans name it: {plans}.".format(plans=", ".join(plans)))
    if GeneratedImage.objects.filter(run=run, campaignimage__isnull=False).exists():
        found.append("Images of it are shown to reviewers.")
    return found


def runs_that_name(run: Run) -> Iterator[str]:
    """Slugs of other runs whose configuration holds the slug of this one."""
    for slug, config in Run.objects.exclude(pk=run.pk).values_list("slug", "config"):
        if isinstance(config, dict) and run.slug in config.values():
            yield slug


def plan_names(plan: Plan, slug: str) -> bool:
    listed = [table.get("filters", {}).get("run") for table in plan.tables if isinstance(table, dict)]
    return slug in plan.runs or slug in listed


def purge_run(run: Run) -> Counter[str]:
    """Removes `run`; returns how many rows of what went. Files without a row go with the daily job. Raises
    RunNeededError.

    From its first moment on no table is made from the run.
    """
    if reasons := list_purge_obstacles(run):
        raise RunNeededError(" ".join(reasons))
    with transaction.atomic():
        Run.objects.filter(pk=run.pk).update(state=Run.State.CANCELLED, problem=GOING)
        counters.bump_input_counters(f"runs.{run.study}")
    gone: Counter[str] = Counter()
    for step in (purge_units, purge_images, purge_labels, purge_batches):
        while removed := step(run):
            gone += removed
    gone += removed_from(StoredTable.objects.filter(filters__run=run.slug))
    gone += removed_from(Run.objects.filter(pk=run.pk))
    return gone


@transaction.atomic
def purge_units(run: Run) -> Counter[str]:
    """Up to 1,000 units with what they gave; a vector goes where no other unit gave the same one."""
    ids = list_first_ids(Unit.objects.filter(run=run))
    outcomes = Outcome.objects.filter(unit__in=ids)
    vectors = list(outcomes.exclude(embedding=None).values_list("embedding", flat=True))
    gone = removed_from(EarlierOutcome.objects.filter(unit__in=ids)) + removed_from(outcomes)
    gone += removed_from(Unit.objects.filter(pk__in=ids))
    still = Exists(Outcome.objects.filter(embedding=OuterRef("pk")))
    return gone + removed_from(Embedding.objects.filter(~still, pk__in=vectors))


@transaction.atomic
def purge_images(run: Run) -> Counter[str]:
    """Up to 1,000 images that the run made, with vectors of them."""
    ids = list_first_ids(GeneratedImage.objects.filter(run=run))
    gone = removed_from(Embedding.objects.filter(image__in=ids))
    return gone + removed_from(GeneratedImage.objects.filter(pk__in=ids))


@transaction.atomic
def purge_labels(run: Run) -> Counter[str]:
    return removed_from(RunLabel.objects.filter(pk__in=list_first_ids(RunLabel.objects.filter(run=run))))


@transaction.atomic
def purge_batches(run: Run) -> Counter[str]:
    return removed_from(Batch.objects.filter(pk__in=list_first_ids(Batch.objects.filter(run=run))))


def list_first_ids(rows: QuerySet[Any]) -> list[Any]:
    return list(rows.order_by("pk").values_list("pk", flat=True)[:CHUNK])


def removed_from(rows: QuerySet[Any]) -> Counter[str]:
    """Deletes `rows`; how many of which kind went with them."""
    _n, kinds = rows.delete()
    return Counter({label.partition(".")[2]: n for label, n in kinds.items() if n})


def describe_counts(gone: Counter[str]) -> str:
    """The numbers in words, the largest first."""
    return ", ".join(f"{n} {kind}" for kind, n in gone.most_common()) or "nothing"


def count_purgeable_rows(run: Run) -> dict[str, int]:
    """How many rows would go: units and images."""
    of_run: dict[str, type[Model]] = {"units": Unit, "images": GeneratedImage}
    return {name: model._default_manager.filter(Q(run=run)).count() for name, model in of_run.items()}
