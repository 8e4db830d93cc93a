"""What a study needs to execute leased units: subjects, models, images, vectors that are stored already."""

from collections.abc import Mapping, Sequence

from evaluation import content_store
from evaluation.contracts.study import ConfigError, Result, Vector, VectorData, Work
from evaluation.models import Embedding, GeneratedImage, Unit, hash_of
from evaluation.runner.catalogue import DatabaseCatalogue, model_data, subject_data
from evaluation.tables.outcomes import find_asked_image, vector_of


def load_works(units: Sequence[Unit], preprocessing: str) -> tuple[list[Work], list[Result]]:
    """The work of these units, all of one model, and the failures of those whose image is gone."""
    images = GeneratedImage.objects.in_bulk([image for unit in units if (image := find_asked_image(unit.payload))])
    vectors = stored_vectors(units, preprocessing)
    earlier: dict[str, list[VectorData]] = {}
    works, failures = [], []
    for unit in units:
        try:
            content = read_unit_image(unit, images)
            of_run = load_run_vectors(unit, earlier)
        except LookupError as error:
            failures.append(Result(unit.key, "failed", reason=str(error.args[0])))
            continue
        works.append(
            Work(
                key=unit.key,
                subject=subject_data(unit.subject) if unit.subject else None,
                model=model_data(unit.model),
                payload=unit.payload,
                image_bytes=content,
                stored_vector=vectors.get(vector_key(unit)),
                vectors=of_run,
            )
        )
    return works, failures


def load_run_vectors(unit: Unit, held: dict[str, list[VectorData]]) -> Sequence[VectorData]:
    """The vectors of the run that a unit names, in `held` once they were read. Raises LookupError."""
    slug = unit.payload.get("vectors")
    if not isinstance(slug, str):
        return ()
    if slug not in held:
        try:
            held[slug] = list(DatabaseCatalogue().vectors(slug))
        except ConfigError:
            raise LookupError("The run whose vectors are needed was removed after this one was planned.") from None
    return held[slug]


def vector_key(unit: Unit) -> int | str:
    """What a vector of this unit would be of: an image's id or a text."""
    return find_asked_image(unit.payload) or str(unit.payload.get("text", ""))


def read_unit_image(unit: Unit, images: Mapping[int, GeneratedImage]) -> bytes | None:
    """The bytes of the unit's image; None where it has none or its image was never held."""
    image = find_asked_image(unit.payload)
    if image is None:
        return None
    if image not in images:
        raise LookupError("The image was removed after the run was planned.")
    if not images[image].sha256:
        return None
    try:
        return content_store.read_content(images[image].sha256)
    except FileNotFoundError:
        raise LookupError("The file of the image is missing in the storage.") from None


def stored_vectors(units: Sequence[Unit], preprocessing: str) -> dict[int | str, Vector]:
    """Image id or text → the vector that the units' model and this preprocessing gave before."""
    images = [image for unit in units if (image := find_asked_image(unit.payload))]
    texts = [unit.payload["text"] for unit in units if isinstance(unit.payload.get("text"), str)]
    if not (images or texts):
        return {}
    of_model = Embedding.objects.filter(model__in={unit.model_id for unit in units}, preprocessing=preprocessing)
    found: dict[int | str, Vector] = {row.image_id or 0: vector_of(row) for row in of_model.filter(image__in=images)}
    hashes = [hash_of(text) for text in texts]
    found.update({row.text: vector_of(row) for row in of_model.filter(image=None, text_hash__in=hashes)})
    return found
