"""Vectors of images that were made before the present decode: renamed, or computed again. See `image_decode.py`."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from django.db import transaction
from django.db.models import Q, QuerySet

from evaluation import content_store
from evaluation.counters import bump_input_counters
from evaluation.models import Embedding, Model, Outcome, Run, Unit
from evaluation.readers import image_decode
from evaluation.readers.image_decode import IMPORTED, UNKNOWN
from evaluation.runner.announcing import announce_run
from evaluation.runner.control import store_earlier_outcomes

CHUNK = 200
# What the vectors of the published release were called before.
AS_PUBLISHED = "as published"
LONGEST_NAME = 80


@dataclass
class Renewal:
    """How many vectors were renamed, are of unknown decode, or are computed again, and in which runs."""

    renamed: int = 0
    unknown: int = 0
    again: int = 0
    runs: set[int] = field(default_factory=set)


def stale_vectors() -> QuerySet[Embedding]:
    """Vectors of images that name neither the present decode nor that theirs is unknown."""
    known = Q(preprocessing__startswith=image_decode.VERSION) | Q(preprocessing__startswith=UNKNOWN)
    return Embedding.objects.exclude(image=None).exclude(known)


def renew_vectors() -> Renewal:
    """Renames vectors where both decodes give equal pixels, marks unknown ones, gives the other units back.

    Goes on where it stopped. Imported vectors keep their numbers and say that their decode is unknown.
    """
    done = Renewal(unknown=rename_published())
    while rows := list(stale_vectors().select_related("image").order_by("pk")[:CHUNK]):
        with transaction.atomic():
            renew_some(rows, done)
    for run in Run.objects.filter(pk__in=done.runs):
        announce_run(run)
    return done


@transaction.atomic
def rename_published() -> int:
    """Gives vectors of the published release, and the encoder that stands for them, the name of their decode."""
    for model in Model.objects.filter(parameters__preprocessing=AS_PUBLISHED):
        model.parameters = {**model.parameters, "preprocessing": IMPORTED}
        model.save(update_fields=["parameters"])
    return Embedding.objects.filter(preprocessing=AS_PUBLISHED).update(preprocessing=IMPORTED)


def renew_some(rows: Sequence[Embedding], done: Renewal) -> None:
    """Renews some vectors, whose images come with them, inside the caller's transaction."""
    outcomes = Outcome.objects.filter(embedding__in=[row.pk for row in rows], unit__run__imported=True)
    imported = set(outcomes.values_list("embedding", flat=True))
    for row in rows:
        prefix = IMPORTED if row.pk in imported else prefix_of(row)
        if not prefix:
            compute_again(row, done)
            continue
        rename_vector(row, f"{prefix} {row.preprocessing}"[:LONGEST_NAME])
        if prefix.startswith(UNKNOWN):
            done.unknown += 1
        else:
            done.renamed += 1


def prefix_of(row: Embedding) -> str:
    """What the name of the vector begins with now; empty where its image has other pixels in the present decode."""
    try:
        content = content_store.read_content(row.image.sha256) if row.image and row.image.sha256 else b""
        header = image_decode.read_header(content)
    except (FileNotFoundError, image_decode.ImageError):
        return UNKNOWN
    return image_decode.VERSION if header.plain else ""


def rename_vector(row: Embedding, name: str) -> None:
    """Gives the vector its name; where one of that name is there already, its outcomes take that one."""
    other = Embedding.objects.filter(model=row.model_id, image=row.image_id, preprocessing=name).first()
    if other is None:
        Embedding.objects.filter(pk=row.pk).update(preprocessing=name)
    else:
        Outcome.objects.filter(embedding=row).update(embedding=other)
        row.delete()


def compute_again(row: Embedding, done: Renewal) -> None:
    """The units that gave the vector wait again; their outcomes are stored as those of an earlier try."""
    units = list(Unit.objects.filter(outcome__embedding=row))
    store_earlier_outcomes(units)
    row.delete()
    Unit.objects.filter(pk__in=[unit.pk for unit in units]).update(state=Unit.State.PENDING, deliveries=0, batch=None)
    # In the same transaction, so that a renewal that is cut short leaves no run done whose units wait.
    runs = Run.objects.filter(pk__in={unit.run_id for unit in units})
    runs.filter(state=Run.State.DONE).update(state=Run.State.RUNNING, finished_at=None, problem="")
    for run in runs:
        bump_input_counters(f"runs.{run.study}")
        done.runs.add(run.pk)
    done.again += 1
