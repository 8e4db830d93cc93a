"""What a study needs to execute leased units: the bytes of images, vectors that are stored already."""

from collections.abc import Mapping, Sequence

from evaluation.contracts.study import Result, Vector, Work
from evaluation.runner.transport import DamagedContentError, Lease, Transport, WorkUnit


def load_works(
    transport: Transport, lease: Lease, units: Sequence[WorkUnit], preprocessing: str
) -> tuple[list[Work], list[Result]]:
    """The work of these units, all of one model, and the failures of those whose image is gone."""
    vectors = transport.find_vectors(lease, units, preprocessing)
    contents: dict[str, bytes] = {}
    works, failures = [], []
    for unit in units:
        try:
            content = read_unit_image(transport, unit, contents)
        except LookupError as error:
            failures.append(Result(unit.key, "failed", reason=str(error.args[0])))
            continue
        works.append(make_work(unit, content, vectors))
    return works, failures


def make_work(unit: WorkUnit, content: bytes | None, vectors: Mapping[int | str, Vector]) -> Work:
    """The unit as its study sees it."""
    return Work(
        key=unit.key,
        subject=unit.subject,
        model=unit.model,
        payload=unit.payload,
        image_bytes=content,
        stored_vector=vectors.get(unit.image_id or str(unit.payload.get("text", ""))),
    )


def read_unit_image(transport: Transport, unit: WorkUnit, contents: dict[str, bytes]) -> bytes | None:
    """The bytes of the unit's image, read once for all of `contents`; None where it has none or none is held.

    Raises LookupError with the reason for which the unit cannot be executed.
    """
    if unit.problem:
        raise LookupError(unit.problem)
    if unit.image_sha256 is None:
        return None
    if unit.image_sha256 not in contents:
        try:
            contents[unit.image_sha256] = transport.read_content(unit.image_sha256)
        except FileNotFoundError:
            raise LookupError("The file of the image is missing in the storage.") from None
        except DamagedContentError:
            raise LookupError("The file of the image is damaged in the storage.") from None
    return contents[unit.image_sha256]
