"""Stored outcomes as `summarise` reads them."""

import json
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from django.db.models import Q, TextField
from django.db.models.functions import Cast

from collection.models import Dish
from evaluation.batching import split_into_chunks
from evaluation.contracts.study import FinalState, OutcomeData, Vector
from evaluation.models import Embedding, GeneratedImage, Outcome, PromptTemplate, Run, RunLabel
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
WITHDRAWN = Q(unit__subject__dish__state=Dish.State.WITHDRAWN)


def vector_of(row: Embedding) -> Vector:
    """The stored vector, float32, shape (dimensions,)."""
    return decode_floats(row.vector)


def decode_floats(stored: Any) -> Vector:
    return np.frombuffer(bytes(stored), dtype="<f4").astype(np.float32)


class Row(NamedTuple):
    """An outcome with its unit as the database gives it; JSON columns as text."""

    unit: int
    key: str
    state: str
    model: str
    subject: int | None
    name: str | None
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
    "unit__key",
    "unit__state",
    "unit__model__slug",
    "unit__subject_id",
    "unit__subject__name",
    "unit__subject__dish_id",
    "text",
    "reason",
    "image_id",
    "embedding__image_id",
    "embedding__vector",
    "embedding__preprocessing",
)
JSON = ("unit__payload", "numbers", "circumstances")


def iterate_outcomes(run: Run, subjects: Collection[int] | None = None) -> Iterator[OutcomeData]:
    """All outcomes of a run in the order of its units, in one query, one for the labels, and one per 2,000 images.

    `subjects`: only what is about these, and what is about no subject.
    What is about a withdrawn dish is left out from the moment of the withdrawal. There may be millions: rows are no
    objects of the ORM, and what many share is held once. Nobody may change the mappings that they share.
    """
    labels = labels_of(run)
    prompts = dict(PromptTemplate.objects.values_list("pk", "slug"))
    makers: dict[int, tuple[str, int | None]] = {}
    shared = lru_cache(maxsize=4096)(json.loads)
    rows = Outcome.objects.filter(unit__run=run).exclude(WITHDRAWN).order_by("unit_id")
    left_out = other_decodes(run)
    if subjects is not None:
        rows = rows.filter(Q(unit__subject__in=subjects) | Q(unit__subject=None))
    found = rows.values_list(*COLUMNS, *(Cast(column, TextField()) for column in JSON)).iterator(chunk_size=CHUNK)
    for chunk in split_into_chunks(map(Row._make, found), CHUNK):
        payloads = [json.loads(row.payload) for row in chunk]
        images = [image_from(row.made, row.embedded, payload) for row, payload in zip(chunk, payloads, strict=True)]
        makers.update(makers_of({image for image in images if image} - makers.keys()))
        for row, payload, image in zip(chunk, payloads, images, strict=True):
            maker, prompt = makers.get(image or 0, ("", payload.get("prompt_id")))
            about = labels.get(row.subject or 0, NO_LABELS)
            if row.prepared in left_out:
                row = row._replace(vector=None)
            yield data_of(row, payload, image, about, maker, prompts.get(prompt or 0, ""), shared)


def other_decodes(run: Run) -> set[str]:
    """Preparations of this run's images whose vectors no table takes, since another one is there: none is mixed.

    The present decode comes first. The others wait for `manage.py renew_vectors`.
    """
    vectors = Embedding.objects.filter(outcome__unit__run=run).exclude(image=None)
    found = set(vectors.order_by().values_list("preprocessing", flat=True).distinct())
    if len(found) < 2:
        return set()
    first = max(found, key=lambda name: (name.startswith(image_decode.VERSION), name))
    return found - {first}


def data_of(
    row: Row,
    payload: Mapping[str, Any],
    image: int | None,
    labels: Labels,
    maker: str,
    prompt: str,
    shared: Callable[[str], Any],
) -> OutcomeData:
    return OutcomeData(
        key=row.key,
        state=FINAL[row.state],
        model=row.model,
        subject=row.name or "",
        cluster=cluster_of(row.dish, image, row.key),
        labels=labels,
        payload=payload,
        text=row.text,
        numbers=shared(row.numbers),
        image_model=maker,
        image_id=image,
        vector=decode_floats(row.vector) if row.vector is not None else None,
        reason=row.reason,
        unit_id=row.unit,
        prompt=prompt,
        circumstances=shared(row.circumstances),
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


def image_of(row: Outcome) -> int | None:
    """The image that an outcome is about: the one it made, or the one it looked at."""
    return image_from(row.image_id, row.embedding.image_id if row.embedding else None, row.unit.payload)


def image_from(made: int | None, embedded: int | None, payload: Mapping[str, Any]) -> int | None:
    if found := made or embedded:
        return found
    image = payload.get("image")
    return image if isinstance(image, int) else None


def makers_of(images: Collection[int]) -> dict[int, tuple[str, int | None]]:
    """Image id → slug of the model that made it, and id of its prompt."""
    if not images:
        return {}
    found = GeneratedImage.objects.filter(pk__in=images).values_list("pk", "model__slug", "prompt")
    return {image: (slug or "", prompt) for image, slug, prompt in found}


def outcome_data(row: Outcome, labels: Labels, makers: Mapping[int, str], *, prompt: str = "") -> OutcomeData:
    unit, image = row.unit, image_of(row)
    return OutcomeData(
        key=unit.key,
        state=FINAL[unit.state],
        model=unit.model.slug,
        subject=unit.subject.name if unit.subject else "",
        cluster=find_outcome_cluster(row, image),
        labels=labels,
        payload=unit.payload,
        text=row.text,
        numbers=row.numbers,
        image_model=makers.get(image, "") if image else "",
        image_id=image,
        vector=vector_of(row.embedding) if row.embedding else None,
        reason=row.reason,
        unit_id=unit.pk,
        prompt=prompt,
        circumstances=row.circumstances,
    )


def find_outcome_cluster(row: Outcome, image: int | None) -> str:
    """What may be resampled independently: the dish, else the image, else the unit."""
    return cluster_of(row.unit.subject.dish_id if row.unit.subject else None, image, row.unit.key)


def cluster_of(dish: int | None, image: int | None, key: str) -> str:
    if dish:
        return f"dish:{dish}"
    return f"image:{image}" if image else f"unit:{key}"
