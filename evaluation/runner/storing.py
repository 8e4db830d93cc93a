"""What units gave becomes rows: files first, then images, vectors and outcomes in one transaction."""

import logging
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from django.db import DataError, IntegrityError, ProgrammingError, transaction

from evaluation import content_store
from evaluation.contracts.study import ImageResult, Result
from evaluation.models import Batch, Embedding, GeneratedImage, Model, Outcome, Run, Unit, hash_of
from evaluation.readers import text_cleaning
from evaluation.readers.text_cleaning import make_text_storable
from wwd.base.postgresql import bulk_insert

ResultPairs = Sequence[tuple[Unit, Result]]
IMAGE_STATES = {
    "done": GeneratedImage.State.HELD,
    "refused": GeneratedImage.State.REFUSED,
    "filtered": GeneratedImage.State.FILTERED,
    "empty": GeneratedImage.State.HELD_BACK,
}
OUTCOME = ("unit_id", "batch_id", "text", "numbers", "image_id", "embedding_id", "reason", "circumstances")
# What a row that no database takes raises, in Django or in a driver.
UNSTORABLE = (DataError, IntegrityError, ProgrammingError, TypeError, ValueError, OverflowError)
logger = logging.getLogger(__name__)


def clean_result(result: Result) -> Result:
    """The result with storable texts and circumstances; failed where a number or vector is not finite."""
    told = {
        text_cleaning.make_text_storable(str(name)): text_cleaning.convert_to_plain_json(value)
        for name, value in result.circumstances.items()
    }
    result = replace(
        result, text=make_text_storable(result.text), reason=make_text_storable(result.reason), circumstances=told
    )
    bad = [name for name, value in result.numbers.items() if not is_finite(value)]
    if result.vector is not None and not np.isfinite(result.vector.vector).all():
        bad.append("the vector")
    if not bad:
        return result
    reason = make_text_storable(f"Not a finite number: {', '.join(map(str, bad))}.")
    return Result(result.key, "failed", text=result.text, reason=reason, circumstances=told)


def is_finite(value: Any) -> bool:
    try:
        return math.isfinite(value)
    except (TypeError, ValueError, OverflowError):
        return False


def store_image_files(results: Iterable[Result]) -> dict[str, str]:
    """Writes the images of `results` and returns unit key → SHA-256. Never called inside a transaction."""
    held = (result for result in results if result.image and result.image.content)
    return {result.key: content_store.store_content(result.image.content) for result in held if result.image}


def store_each(run: Run, pairs: ResultPairs, hashes: Mapping[str, str], batch: Batch | None = None) -> None:
    """As `store`; where that fails each unit by itself, so that a result that no row can hold takes no other with it.

    A unit whose result cannot be stored fails, and says so.
    """
    try:
        with transaction.atomic():
            store_results(run, pairs, hashes, batch)
    except UNSTORABLE as error:
        if len(pairs) > 1:
            for pair in pairs:
                store_each(run, [pair], hashes, batch)
            return
        for unit, _ in pairs:
            fail_unit(unit, error, batch)


def fail_unit(unit: Unit, error: Exception, batch: Batch | None) -> None:
    """Ends a unit whose result cannot be stored."""
    logger.warning("The result of unit %s could not be stored: %s", unit.pk, type(error).__name__)
    reason = (
        f"The result could not be stored: {text_cleaning.clean_foreign_text(f'{type(error).__name__}: {error}', 300)}"
    )
    Unit.objects.filter(pk=unit.pk).update(state=Unit.State.FAILED)
    Outcome.objects.create(unit=unit, batch=batch, reason=reason)


def store_results(run: Run, pairs: ResultPairs, hashes: Mapping[str, str], batch: Batch | None = None) -> None:
    """Inserts images, vectors and outcomes of units. Called inside the transaction that ends the units."""
    images = store_images(run, pairs, hashes)
    store_encoded(pairs, images)
    vectors = store_vectors(pairs)
    token = batch.pk if batch else None
    rows = [
        (
            unit.pk,
            token,
            result.text,
            dict(result.numbers),
            image.pk if (image := images.get(unit.key)) else None,
            vectors.get(unit.key),
            result.reason,
            dict(result.circumstances),
        )
        for unit, result in pairs
    ]
    bulk_insert.insert_rows(Outcome, OUTCOME, rows)


def store_images(run: Run, pairs: ResultPairs, hashes: Mapping[str, str]) -> dict[str, GeneratedImage]:
    """Inserts the images, and the records of refused, filtered or absent ones; unit key → row."""
    rows = {
        unit.key: image_row(run, unit, result, result.image, hashes.get(unit.key, ""))
        for unit, result in pairs
        if result.image is not None and is_image_recorded(result) and unit.subject_id
    }
    GeneratedImage.objects.bulk_create(rows.values())
    return rows


def is_image_recorded(result: Result) -> bool:
    """Whether an image or its absence is recorded. Where nothing came at all there is nothing to say about it."""
    return result.state in IMAGE_STATES and not (
        result.state == "empty" and not (result.image and result.image.content)
    )


def image_row(run: Run, unit: Unit, result: Result, image: ImageResult, sha256: str) -> GeneratedImage:
    assert unit.subject_id is not None
    state = IMAGE_STATES[result.state]
    if state == GeneratedImage.State.HELD and not sha256:
        state = GeneratedImage.State.NOT_HELD
    return GeneratedImage(
        subject_id=unit.subject_id,
        model_id=unit.model_id,
        run=run,
        prompt_id=image.prompt_id,
        prompt_sent=make_text_storable(image.prompt_sent),
        prompt_revised=make_text_storable(image.prompt_revised),
        seed=image.seed,
        sample=image.sample,
        state=state,
        sha256=sha256,
        media_type=image.media_type,
        width=image.width or None,
        height=image.height or None,
        source_key=f"run:{run.slug}/{unit.key}",
    )


def store_encoded(pairs: ResultPairs, images: Mapping[str, GeneratedImage]) -> None:
    """Inserts the vectors that came with images that are held."""
    held = {key: row for key, row in images.items() if row.state == GeneratedImage.State.HELD}
    found = [(held[unit.key], given) for unit, result in pairs if unit.key in held for given in result.encoded]
    if not found:
        return
    known = set(Model.objects.filter(pk__in={given.model for _, given in found}).values_list("pk", flat=True))
    Embedding.objects.bulk_create(
        [
            Embedding(
                model_id=given.model,
                preprocessing=given.preprocessing,
                image=row,
                dimensions=len(given.vector),
                vector=given.vector.astype("<f4").tobytes(),
            )
            for row, given in found
            if given.model in known
        ],
        ignore_conflicts=True,
    )


def store_vectors(pairs: ResultPairs) -> dict[str, int]:
    """Inserts vectors that are not stored yet; unit key → id of the embedding, new or old."""
    found = [(unit, result.vector) for unit, result in pairs if result.vector is not None]
    rows = [
        Embedding(
            model_id=unit.model_id,
            preprocessing=given.preprocessing,
            image_id=given.image_id,
            text=make_text_storable(given.text),
            text_hash=hash_of(make_text_storable(given.text)),
            dimensions=len(given.vector),
            vector=given.vector.astype("<f4").tobytes(),
        )
        for unit, given in found
    ]
    Embedding.objects.bulk_create(rows, ignore_conflicts=True)
    stored = find_stored_embeddings(rows)
    keys = [(row.model_id, row.preprocessing, row.image_id, row.text) for row in rows]
    return {unit.key: stored[key] for (unit, _), key in zip(found, keys, strict=True)}


def find_stored_embeddings(rows: Sequence[Embedding]) -> dict[tuple[int, str, int | None, str], int]:
    """Ids of the stored embeddings that stand for `rows`, two queries at most per encoder."""
    stored: dict[tuple[int, str, int | None, str], int] = {}
    for model in {row.model_id for row in rows}:
        of_model = Embedding.objects.filter(model=model)
        images = [row.image_id for row in rows if row.model_id == model and row.image_id]
        texts = [row.text_hash for row in rows if row.model_id == model and not row.image_id]
        for part in (of_model.filter(image__in=images), of_model.filter(image=None, text_hash__in=texts)):
            for row in part.only("model_id", "preprocessing", "image_id", "text"):
                stored[(row.model_id, row.preprocessing, row.image_id, row.text)] = row.pk
    return stored
