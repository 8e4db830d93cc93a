"""Stored outcomes as `summarise` reads them."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from django.db.models import Q

from collection.models import Dish
from evaluation.models import Embedding, GeneratedImage, Outcome, PromptTemplate, Run, RunLabel
from evaluation.runner.units import chunks
from evaluation.studies.base import FinalState, OutcomeData, Vector

CHUNK = 2000
FINAL: dict[str, FinalState] = {
    "done": "done",
    "refused": "refused",
    "filtered": "filtered",
    "empty": "empty",
    "failed": "failed",
}
Labels = Mapping[str, tuple[str, ...]]
WITHDRAWN = Q(unit__subject__dish__state=Dish.State.WITHDRAWN)


def vector_of(row: Embedding) -> Vector:
    """The stored vector, float32, shape (dimensions,)."""
    return np.frombuffer(bytes(row.vector), dtype="<f4").astype(np.float32)


def outcomes(run: Run) -> Iterator[OutcomeData]:
    """All outcomes of a run in the order of its units, in one query per 2,000 and one for the labels.

    What is about a withdrawn dish is left out from the moment of the withdrawal.
    """
    labels = labels_of(run)
    prompts = dict(PromptTemplate.objects.values_list("pk", "slug"))
    rows = Outcome.objects.filter(unit__run=run).exclude(WITHDRAWN)
    rows = rows.select_related("unit__subject", "unit__model", "embedding")
    for chunk in chunks(rows.order_by("unit_id").iterator(chunk_size=CHUNK), CHUNK):
        made = image_makers(chunk)
        makers = {image: model for image, (model, _prompt) in made.items()}
        for row in chunk:
            _model, prompt = made.get(image_of(row) or 0, ("", row.unit.payload.get("prompt_id")))
            yield outcome_data(
                row, labels.get(row.unit.subject_id or 0, {}), makers, prompt=prompts.get(prompt or 0, "")
            )


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
    """The picture that an outcome is about: the one it made, or the one it looked at."""
    if row.image_id:
        return row.image_id
    if row.embedding and row.embedding.image_id:
        return row.embedding.image_id
    image = row.unit.payload.get("image")
    return image if isinstance(image, int) else None


def image_makers(rows: Sequence[Outcome]) -> dict[int, tuple[str, int | None]]:
    """Picture id → slug of the model that made it, and id of its prompt."""
    images = {image for row in rows if (image := image_of(row))}
    found = GeneratedImage.objects.filter(pk__in=images).values_list("pk", "model__slug", "prompt")
    return {image: (slug or "", prompt) for image, slug, prompt in found}


def image_models(rows: Sequence[Outcome]) -> dict[int, str]:
    """Picture id → slug of the model that made it."""
    return {image: model for image, (model, _prompt) in image_makers(rows).items()}


def outcome_data(row: Outcome, labels: Labels, makers: Mapping[int, str], *, prompt: str = "") -> OutcomeData:
    unit, image = row.unit, image_of(row)
    return OutcomeData(
        key=unit.key,
        state=FINAL[unit.state],
        model=unit.model.slug,
        subject=unit.subject.name if unit.subject else "",
        cluster=cluster(row, image),
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


def cluster(row: Outcome, image: int | None) -> str:
    """What may be resampled independently: the dish, else the picture, else the unit."""
    subject = row.unit.subject
    if subject and subject.dish_id:
        return f"dish:{subject.dish_id}"
    return f"image:{image}" if image else f"unit:{row.unit.key}"
