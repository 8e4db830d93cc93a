"""Leases and results as JSON: what goes over HTTPS, and into and out of files of work.

What a worker sends is a stranger's word: `parse_results` accepts exactly these fields, within these ranges.
"""

import base64
import binascii
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Annotated, Any, Literal
from uuid import UUID

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from evaluation.contracts.study import (
    FinalState,
    ImageResult,
    ModelData,
    Result,
    SubjectData,
    Vector,
    VectorData,
    VectorResult,
)
from evaluation.runner.transport import Lease, ResultPairs, RunData, WorkUnit

# Both sides name it: another number is another protocol.
PROTOCOL = 1
MOST_TEXT = 1_000_000
MEDIA_TYPES = Literal["image/png", "image/jpeg", "image/webp", "image/gif", ""]
LARGEST = 2**63 - 1


class WireError(ValueError):
    """What came is no lease or result; the text says in a sentence where."""


class WireModel(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class WireImage(WireModel):
    """An image without its bytes. `sha256`: of the bytes, empty where there are none."""

    sha256: Annotated[str, Field(pattern=r"^([0-9a-f]{64})?$")]
    media_type: MEDIA_TYPES
    width: Annotated[int, Field(ge=0, le=100_000)]
    height: Annotated[int, Field(ge=0, le=100_000)]
    prompt_sent: Annotated[str, Field(max_length=MOST_TEXT)]
    prompt_revised: Annotated[str, Field(max_length=MOST_TEXT)] = ""
    prompt_id: Annotated[int, Field(ge=1, le=LARGEST)] | None = None
    seed: Annotated[int, Field(ge=-LARGEST, le=LARGEST)] | None = None
    sample: Annotated[int, Field(ge=0, le=2**31 - 1)] | None = None


class WireVector(WireModel):
    """A vector: little-endian float32 in base64."""

    vector: Annotated[str, Field(max_length=MOST_TEXT)]
    preprocessing: Annotated[str, Field(max_length=80)] = ""
    image_id: Annotated[int, Field(ge=1, le=LARGEST)] | None = None
    text: Annotated[str, Field(max_length=MOST_TEXT)] = ""


class WireResult(WireModel):
    """What one unit gave."""

    key: Annotated[str, Field(min_length=1, max_length=120)]
    state: FinalState
    text: Annotated[str, Field(max_length=MOST_TEXT)] = ""
    numbers: Annotated[dict[str, float], Field(max_length=1000)] = {}
    reason: Annotated[str, Field(max_length=MOST_TEXT)] = ""
    circumstances: Annotated[dict[str, Any], Field(max_length=100)] = {}
    asked: bool = True
    image: WireImage | None = None
    vector: WireVector | None = None


RESULTS = TypeAdapter(list[WireResult])


def encode_vector(vector: Vector) -> str:
    """Little-endian float32 in base64."""
    return base64.b64encode(np.asarray(vector).astype("<f4").tobytes()).decode()


def decode_vector(text: str) -> Vector:
    """The vector, float32. Raises WireError."""
    try:
        content = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        content = b"?"
    if not content or len(content) % 4:
        raise WireError("A vector that came is none: it is base64 of float32.")
    return np.frombuffer(content, dtype="<f4").astype(np.float32)


def encode_result(result: Result, sha256: str = "") -> dict[str, Any]:
    """A result as JSON. `sha256`: of the bytes of its image, which travel by themselves."""
    image, vector = result.image, result.vector
    found: dict[str, Any] = {
        "key": result.key,
        "state": result.state,
        "text": result.text,
        "numbers": {name: float(value) for name, value in result.numbers.items()},
        "reason": result.reason,
        "circumstances": dict(result.circumstances),
        "asked": result.asked,
    }
    if image is not None:
        plain = {name: value for name, value in vars(image).items() if name not in ("content", "pixels")}
        found["image"] = {**plain, "sha256": sha256}
    if vector is not None:
        found["vector"] = {**vars(vector), "vector": encode_vector(vector.vector)}
    return found


def parse_results(given: Any) -> list[tuple[Result, str]]:
    """Results and the hashes of their images from JSON of a worker. Raises WireError that names the first fault."""
    try:
        rows = RESULTS.validate_python(given)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise WireError(f"These are no results: {place}: {first['msg']}.") from None
    return [(decode_result(row), row.image.sha256 if row.image else "") for row in rows]


def decode_result(row: WireResult) -> Result:
    image = vector = None
    if row.image:
        image = ImageResult(content=b"", **row.image.model_dump(exclude={"sha256"}))
    if row.vector:
        vector = VectorResult(
            decode_vector(row.vector.vector), row.vector.preprocessing, row.vector.image_id, row.vector.text
        )
    plain = row.model_dump(exclude={"image", "vector"})
    return Result(**plain, image=image, vector=vector)


def check_answers_unit(unit: WorkUnit, result: Result, sha256: str) -> str:
    """Why the result is none of this unit, in a sentence; empty where it is."""
    image, vector = result.image, result.vector
    if vector is not None and (vector.image_id or vector.text) != (unit.image_id or unit.payload.get("text")):
        return f"The vector of {unit.key!r} is of another image or text."
    if image is not None and image.prompt_id not in (None, unit.payload.get("prompt_id")):
        return f"The image of {unit.key!r} names another prompt."
    if sha256 and (image is None or not image.media_type):
        return f"The file of {unit.key!r} is no image."
    return ""


def encode_lease(lease: Lease) -> dict[str, Any]:
    """A lease as JSON; every model and subject once."""
    models = {unit.model.id: asdict(unit.model) for unit in lease.units}
    subjects = {unit.subject.id: asdict(unit.subject) for unit in lease.units if unit.subject}
    return {
        "id": str(lease.id),
        "run": asdict(lease.run),
        "seconds": lease.seconds,
        "suspect": lease.suspect,
        "models": list(models.values()),
        "subjects": list(subjects.values()),
        "units": [encode_unit(unit) for unit in lease.units],
    }


def encode_unit(unit: WorkUnit) -> dict[str, Any]:
    named = {"subject": unit.subject.id if unit.subject else None, "model": unit.model.id}
    return {**{name: value for name, value in vars(unit).items() if name not in named}, **named}


def decode_lease(given: Mapping[str, Any]) -> Lease:
    """The lease that the server sent. Raises WireError where it is none."""
    try:
        models = {row["id"]: ModelData(**row) for row in given["models"]}
        subjects = {row["id"]: decode_subject(row) for row in given["subjects"]}
        units = tuple(decode_unit(row, models, subjects) for row in given["units"])
        run = RunData(**given["run"])
        return Lease(UUID(given["id"]), run, units, float(given["seconds"]), bool(given["suspect"]))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise WireError(f"The server sent no lease that this version can read ({type(error).__name__}).") from error


def decode_subject(row: Mapping[str, Any]) -> SubjectData:
    labels = {dimension: tuple(values) for dimension, values in row["labels"].items()}
    return SubjectData(**{**row, "labels": labels})


def decode_unit(
    row: Mapping[str, Any], models: Mapping[int, ModelData], subjects: Mapping[int, SubjectData]
) -> WorkUnit:
    subject = subjects[row["subject"]] if row["subject"] is not None else None
    return WorkUnit(**{**row, "subject": subject, "model": models[row["model"]]})


def encode_vectors(vectors: Mapping[int | str, Vector]) -> list[dict[str, Any]]:
    """Vectors of images (`of` is a number) and texts as JSON."""
    return [{"of": of, "vector": encode_vector(vector)} for of, vector in vectors.items()]


def decode_vectors(given: Sequence[Mapping[str, Any]]) -> dict[int | str, Vector]:
    """Image id or text → vector. Raises WireError."""
    try:
        return {row["of"]: decode_vector(row["vector"]) for row in given}
    except (KeyError, TypeError) as error:
        raise WireError("The server sent no vectors that this version can read.") from error


def encode_run_vectors(vectors: Iterable[VectorData]) -> list[dict[str, Any]]:
    """Vectors of an earlier run as JSON."""
    return [{**asdict(each), "vector": encode_vector(each.vector)} for each in vectors]


def decode_run_vectors(given: Iterable[Mapping[str, Any]]) -> list[VectorData]:
    """Vectors of an earlier run. Raises WireError."""
    try:
        return [
            VectorData(
                **{
                    **row,
                    "subject": decode_subject(row["subject"]) if row["subject"] else None,
                    "vector": decode_vector(row["vector"]),
                }
            )
            for row in given
        ]
    except (KeyError, TypeError, AttributeError) as error:
        raise WireError("No vectors of an earlier run came that this version can read.") from error


def list_named_runs(units: Iterable[WorkUnit]) -> list[str]:
    """Slugs of the runs whose vectors these units ask for."""
    return sorted({run for unit in units if isinstance(run := unit.payload.get("vectors"), str)})


def pair_results(
    units: Sequence[WorkUnit], results: Sequence[tuple[Result, str]]
) -> tuple[ResultPairs, dict[str, str]]:
    """Units with their results, and unit key → hash of its file. Raises WireError where a result is no unit's."""
    of_key = {unit.key: unit for unit in units}
    pairs: list[tuple[WorkUnit, Result]] = []
    hashes: dict[str, str] = {}
    for result, sha256 in results:
        unit = of_key.get(result.key)
        if unit is None:
            raise WireError(f"No unit of this batch is called {result.key!r}.")
        if problem := check_answers_unit(unit, result, sha256):
            raise WireError(problem)
        pairs.append((unit, result))
        if sha256:
            hashes[unit.key] = sha256
    return pairs, hashes
