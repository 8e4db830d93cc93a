"""Stored outcomes as studies read them: every reader of outcomes takes its data from `read_outcomes`."""

import json
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cache, lru_cache
from typing import Any, NamedTuple

import numpy as np
from django.db.models import Q, QuerySet, TextField
from django.db.models.functions import Cast

from collection.models import Dish
from evaluation.batching import split_into_chunks
from evaluation.contracts.study import UNIT_LABELS, FinalState, OutcomeData, Vector
from evaluation.models import Embedding, GeneratedImage, Outcome, PromptTemplate, Role, Run, RunLabel, Subject
from evaluation.readers import image_decode

CHUNK = 2000
FINAL: dict[str, FinalState] = {
    "done": "done",
    "refused": "refused",
    "filtered": "filtered",
    "empty": "empty",
    "failed": "failed",
}
Labels = Mapping[str, tuple[str, ...]]
NO_LABELS: Labels = {}
# Kinds of subjects whose images are independent: dishes that are not linked to one of ours, and places.
OF_IMAGES = (Subject.Kind.DISH, Subject.Kind.PLACE)
WITHDRAWN = Q(unit__subject__dish__state=Dish.State.WITHDRAWN)


def vector_of(row: Embedding) -> Vector:
    """The stored vector, float32, shape (dimensions,)."""
    return decode_floats(row.vector)


def decode_floats(stored: Any) -> Vector:
    return np.frombuffer(bytes(stored), dtype="<f4").astype(np.float32)


class Row(NamedTuple):
    """An outcome with its unit as the database gives it; JSON columns as text."""

    unit: int
    run: int
    key: str
    state: str
    model: str
    subject: int | None
    name: str | None
    kind: str | None
    subject_key: str | None
    dish: int | None
    text: str
    reason: str
    made: int | None
    embedded: int | None
    vector: Any
    prepared: str | None
    payload: str
    numbers: str
    circumstances: str


COLUMNS = (
    "unit_id",
    "unit__run_id",
    "unit__key",
    "unit__state",
    "unit__model__slug",
    "unit__subject_id",
    "unit__subject__name",
    "unit__subject__kind",
    "unit__subject__source_key",
    "unit__subject__dish_id",
    "text",
    "reason",
    "image_id",
    "embedding__image_id",
    "embedding__vector",
    "embedding__preprocessing",
)
JSON = ("unit__payload", "numbers", "circumstances")


class Maker(NamedTuple):
    """Who made an image: slug of the model, id of the prompt, and whether the model is a camera."""

    model: str
    prompt: int | None = None
    photograph: bool = False


Makers = Callable[[Collection[int]], Mapping[int, Maker]]


def iterate_outcomes(run: Run, subjects: Collection[int] | None = None) -> Iterator[OutcomeData]:
    """All outcomes of a run in the order of its units, in one query, one for the labels, and one per 2,000 images.

    `subjects`: only what is about these, and what is about no subject.
    """
    labels = labels_of(run)
    rows = Outcome.objects.filter(unit__run=run)
    if subjects is not None:
        rows = rows.filter(Q(unit__subject__in=subjects) | Q(unit__subject=None))
    return read_outcomes(rows, lambda subject: labels.get(subject, NO_LABELS), streamed=True)


def read_outcomes(
    rows: QuerySet[Outcome],
    labels: Callable[[int], Labels] = lambda subject: NO_LABELS,
    makers: Makers | None = None,
    streamed: bool = False,
) -> Iterator[OutcomeData]:
    """These outcomes of ended units, in the order of the units.

    `labels`: those of a subject, by its id, 0 for no subject. `makers`: who made images; by default what is stored.
    `streamed`: for many rows, which are read a chunk at a time. Some pages' rows are fetched at once: a cursor of
    PostgreSQL is planned for the first rows.

    What is about a withdrawn dish is left out from the moment of the withdrawal, and so are vectors of another decode.
    There may be millions: rows are no objects of the ORM, and what many share is held once. Nobody may change the
    mappings that they share.
    """
    prompts = cache(lambda: dict(PromptTemplate.objects.values_list("pk", "slug")))
    left_out = cache(other_decodes)
    made_by: dict[int, Maker] = {}
    label = lru_cache(maxsize=4096)(lambda subject, own: {**labels(subject), **dict(own)} if own else labels(subject))
    shared = lru_cache(maxsize=4096)(json.loads)
    chosen = rows.filter(unit__state__in=FINAL).exclude(WITHDRAWN).order_by("unit_id")
    values = chosen.values_list(*COLUMNS, *(Cast(column, TextField()) for column in JSON))
    found = values.iterator(chunk_size=CHUNK) if streamed else iter(values)
    for chunk in split_into_chunks(map(Row._make, found), CHUNK):
        payloads = [json.loads(row.payload) for row in chunk]
        images = [image_from(row.made, row.embedded, payload) for row, payload in zip(chunk, payloads, strict=True)]
        made_by.update((makers or makers_of)({image for image in images if image} - made_by.keys()))
        for row, payload, image in zip(chunk, payloads, images, strict=True):
            maker = made_by.get(image or 0) or Maker("", payload.get("prompt_id"))
            # Of the present decode none is left out, so most reads do not ask which others there are.
            if row.embedded and not is_present_decode(row.prepared) and row.prepared in left_out(row.run):
                row = row._replace(vector=None)
            slug = prompts().get(maker.prompt, "") if maker.prompt else ""
            yield data_of(row, payload, image, label(row.subject or 0, unit_labels(payload)), maker, slug, shared)


def unit_labels(payload: Mapping[str, Any]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The labels of a unit itself: dimension and values of each."""
    own = payload.get(UNIT_LABELS)
    return tuple((name, (value,)) for name, value in own.items()) if own else ()


def is_present_decode(preparation: str | None) -> bool:
    return (preparation or "").startswith(image_decode.VERSION)


def other_decodes(run: int) -> set[str]:
    """Preparations of a run's images whose vectors nobody takes, since another one is there: none is mixed.

    The present decode comes first. The others wait for `manage.py renew_vectors`.
    """
    vectors = Embedding.objects.filter(outcome__unit__run=run).exclude(image=None)
    found = set(vectors.order_by().values_list("preprocessing", flat=True).distinct())
    if len(found) < 2:
        return set()
    first = max(found, key=lambda name: (is_present_decode(name), name))
    return found - {first}


def data_of(
    row: Row,
    payload: Mapping[str, Any],
    image: int | None,
    labels: Labels,
    maker: Maker,
    prompt: str,
    shared: Callable[[str], Any],
) -> OutcomeData:
    return OutcomeData(
        key=row.key,
        state=FINAL[row.state],
        model=row.model,
        subject=row.name or "",
        cluster=cluster_of(row, image),
        labels=labels,
        payload=payload,
        text=row.text,
        numbers=shared(row.numbers),
        image_model=maker.model,
        image_id=image,
        vector=decode_floats(row.vector) if row.vector is not None else None,
        reason=row.reason,
        unit_id=row.unit,
        run_id=row.run,
        prompt=prompt,
        circumstances=shared(row.circumstances),
        photograph=maker.photograph,
        subject_kind=row.kind or "",
        subject_key=row.subject_key or "",
    )


def subjects_of(run: Run) -> set[int]:
    """Subjects that an outcome is about."""
    rows = Outcome.objects.filter(unit__run=run, unit__subject__isnull=False).exclude(WITHDRAWN).order_by()
    return {subject for subject in rows.values_list("unit__subject", flat=True).distinct() if subject}


def withdrawn_dishes(run: Run) -> int:
    """How many dishes of this run were withdrawn since."""
    rows = Outcome.objects.filter(WITHDRAWN, unit__run=run).order_by()
    return rows.values("unit__subject__dish").distinct().count()


def labels_of(run: Run) -> dict[int, Labels]:
    """Subject id → the labels frozen for this run."""
    found: dict[int, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for label in RunLabel.objects.filter(run=run).order_by("pk"):
        found[label.subject_id][label.dimension].append(label.value)
    return {
        subject: {name: tuple(values) for name, values in dimensions.items()} for subject, dimensions in found.items()
    }


def find_images(units: Collection[int]) -> dict[int, int]:
    """Unit id → the image that its outcome made or looked at, where there is one, in the order of the units."""
    rows = Outcome.objects.filter(unit__in=units).order_by("unit_id")
    values = rows.values_list("unit_id", "image_id", "embedding__image_id", "unit__payload")
    return {unit: image for unit, *about in values if (image := image_from(*about))}


def image_from(made: int | None, embedded: int | None, payload: Mapping[str, Any]) -> int | None:
    """The image that an outcome is about: the one it made, or the one it looked at."""
    return made or embedded or find_asked_image(payload)


def find_asked_image(payload: Mapping[str, Any]) -> int | None:
    """The image that a unit asks about."""
    image = payload.get("image")
    return image if isinstance(image, int) else None


def makers_of(images: Collection[int]) -> dict[int, Maker]:
    """Image id → who made it."""
    if not images:
        return {}
    found = GeneratedImage.objects.filter(pk__in=images).values_list("pk", "model__slug", "prompt", "model__role")
    return {image: Maker(slug or "", prompt, role == Role.CAMERA) for image, slug, prompt, role in found}


def cluster_of(row: Row, image: int | None) -> str:
    """What may be resampled independently where the study does not say it: see `Study.cluster_of`."""
    if row.dish:
        return f"dish:{row.dish}"
    if row.kind and row.kind not in OF_IMAGES:
        return f"subject:{row.subject_key}"
    return f"image:{image}" if image else f"unit:{row.key}"
