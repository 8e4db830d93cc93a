"""A run's waiting units as a file: with their inputs, what their model is, and the code that executes them."""

import json
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.db.models.functions import Now

from evaluation import studies
from evaluation.models import Batch, Embedding, Run, Unit, hash_of
from evaluation.remote import versions, wire
from evaluation.remote.work_files import WorkFileWriter, write_work_file
from evaluation.runner.completion import FILE_HOLDER
from evaluation.runner.direct_transport import DirectTransport
from evaluation.runner.leases import close_batches
from evaluation.runner.transport import DamagedContentError, Lease
from evaluation.tables.outcomes import vector_of
from wwd.base.packages import PACKAGES

PACKAGE, LEASE, RUNNER = "package.json", "lease.json", "run_work.py"
VECTORS, RUN_VECTORS = "vectors.jsonl", "run_vectors.jsonl"
INPUTS, CODE = "inputs", "code"
ENDINGS = (".py", ".json", ".tsv", ".csv", ".txt")
BESIDE = ("manage.py", "pyproject.toml", "requirements.txt", "requirements-worker.txt", "LICENSE", "NOTICE")
CALLING = "openai"
DAYS = 7


class PackagingError(Exception):
    """Nothing was packed; the text says why."""


@dataclass(frozen=True)
class Packed:
    """What a file of work holds. `missing`: inputs that the storage has no more."""

    id: UUID
    units: int
    inputs: int
    missing: int


def package_work(run: Run, limit: int, target: Path, days: int = DAYS) -> Packed:
    """Writes `target` and holds its units for so many days; after that they wait again. Raises PackagingError."""
    check_packable(run)
    lease = hold_units(run, limit, days)
    try:
        return write_package(lease, target)
    except BaseException:
        give_back_package(lease.id)
        raise


def check_packable(run: Run) -> None:
    version = studies.load_study(run.study).version
    if run.study_version != version:
        raise PackagingError(f"The run is of {run.study} {run.study_version}, this version executes {version}.")
    if run.state not in (Run.State.PLANNED, Run.State.RUNNING):
        raise PackagingError(f"The run {run.slug} is {run.get_state_display()}: nothing of it is packed.")


def hold_units(run: Run, limit: int, days: int) -> Lease:
    """Leases units to a file. They count as never delivered, so that those that do not come back wait as before."""
    direct = DirectTransport()
    with transaction.atomic():
        lease = direct.lease_units(direct.read_run(run.pk), FILE_HOLDER, limit, "")
        if lease is None:
            raise PackagingError(f"No unit of {run.slug} waits.")
        if any(unit.model.backend == CALLING for unit in lease.units):
            raise PackagingError(f"{run.slug} asks a provider: a node without a network cannot do that.")
        Batch.objects.filter(pk=lease.id).update(until=Now() + timedelta(days=days))
        Unit.objects.filter(batch=lease.id).update(deliveries=F("deliveries") - 1)
    return lease


def give_back_package(batch: UUID) -> int:
    """The units that a file still holds wait again; returns how many."""
    with transaction.atomic():
        if not close_batches([batch]):
            return 0
        held = Unit.objects.filter(batch=batch, state=Unit.State.LEASED)
        return held.update(state=Unit.State.PENDING, batch=None)


def write_package(lease: Lease, target: Path) -> Packed:
    run = Run.objects.get(pk=lease.run.id)
    inputs = sorted({unit.image_sha256 for unit in lease.units if unit.image_sha256})
    missing = 0
    with write_work_file(target) as file:
        file.add_json(
            PACKAGE,
            {
                "package": str(lease.id),
                "project": versions.read_project_version(),
                "study": run.study,
                "study_version": run.study_version,
                "definition": run.definition,
                "pins": dict(versions.read_pinned_versions()),
                "units": len(lease.units),
            },
        )
        file.add_file(RUNNER, Path(__file__).with_name(RUNNER))
        add_code(file)
        file.add_json(LEASE, wire.encode_lease(lease))
        file.add_bytes(VECTORS, b"".join(list_vectors(lease)))
        file.add_bytes(RUN_VECTORS, b"".join(list_run_vectors(lease)))
        for sha256 in inputs:
            try:
                file.add_bytes(f"{INPUTS}/{sha256}", DirectTransport().read_content(sha256))
            except (FileNotFoundError, DamagedContentError):
                missing += 1
    return Packed(lease.id, len(lease.units), len(inputs) - missing, missing)


def list_code_files() -> Iterator[tuple[str, Path]]:
    """Name and path of every file that executing units may need."""
    root = Path(settings.BASE_DIR)
    yield from ((name, root / name) for name in BESIDE if (root / name).is_file())
    for package in PACKAGES:
        for path in sorted((root / package).rglob("*")):
            if path.is_file() and path.suffix in ENDINGS and "__pycache__" not in path.parts:
                yield path.relative_to(root).as_posix(), path


def add_code(file: WorkFileWriter) -> None:
    for name, path in list_code_files():
        file.add_file(f"{CODE}/{name}", path)


def list_run_vectors(lease: Lease) -> Iterable[bytes]:
    """The vectors of each earlier run that these units name, a line of JSON a run. A run that is gone has none."""
    for run in wire.list_named_runs(lease.units):
        with suppress(LookupError):
            found = {"run": run, "vectors": wire.encode_run_vectors(DirectTransport().find_run_vectors(lease, run))}
            yield json.dumps(found, ensure_ascii=False).encode() + b"\n"


def list_vectors(lease: Lease) -> Iterable[bytes]:
    """Vectors that exist already for these units, a line of JSON each, with model and preprocessing."""
    images = {unit.image_id for unit in lease.units if unit.image_id}
    texts = {hash_of(str(unit.payload["text"])) for unit in lease.units if isinstance(unit.payload.get("text"), str)}
    of_models = Embedding.objects.filter(model__in={unit.model.id for unit in lease.units})
    for rows in (of_models.filter(image__in=images), of_models.filter(image=None, text_hash__in=texts)):
        for row in rows.iterator(chunk_size=1000):
            found = {
                "model": row.model_id,
                "preprocessing": row.preprocessing,
                "of": row.image_id or row.text,
                "vector": wire.encode_vector(vector_of(row)),
            }
            yield json.dumps(found, ensure_ascii=False).encode() + b"\n"
