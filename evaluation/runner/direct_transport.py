"""The way of a worker beside the database: rows by the ORM, files by the project's storage."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from uuid import UUID

from django.conf import settings
from django.db import connection
from django.db.models import QuerySet

from evaluation import content_store
from evaluation.contracts.study import ConfigError, ModelData, SubjectData, Vector, VectorData
from evaluation.models import Batch, Embedding, GeneratedImage, Run, Unit, hash_of
from evaluation.runner import chains, completion, control, leases
from evaluation.runner.announcing import announce_run
from evaluation.runner.catalogue import DatabaseCatalogue, model_data, subject_data
from evaluation.runner.transport import RUN_REMOVED, DamagedContentError, Lease, ResultPairs, RunData, Spent, WorkUnit
from evaluation.tables.outcomes import find_asked_image, vector_of
from wwd.base.db_connections import retry_on_lost_connection

REMOVED = "The image was removed after the run was planned."


class DirectTransport:
    """See `Transport`. Has no state: one serves any number of runs and threads."""

    def allows_threads(self) -> bool:
        # Connections of several threads to one SQLite database in memory lock each other's tables.
        in_memory = connection.vendor == "sqlite" and connection.is_in_memory_db()  # type: ignore[attr-defined]
        return not (connection.in_atomic_block or in_memory)

    def read_run(self, run_id: int) -> RunData:
        run = Run.objects.get(pk=run_id)
        return RunData(run.pk, run.slug, run.study, run.study_version, run.queue)

    def run_goes_on(self, run_id: int) -> bool:
        return retry_on_lost_connection(Run.objects.filter(pk=run_id, state__in=control.ACTIVE).exists)

    def lease_units(self, run: RunData, worker: str, size: int, after: str) -> Lease | None:
        taken = leases.take_units(Run(pk=run.id), worker, size, after, control.ACTIVE)
        if taken is None:
            return None
        batch, rows = taken
        if not after:
            Run.objects.filter(pk=run.id, state=Run.State.PLANNED).update(state=Run.State.RUNNING)
        suspect = any(row.deliveries > 1 for row in rows)
        encoders = () if suspect else chains.list_waiting_encoders(run.id, run.slug, run.queue)
        return Lease(batch.pk, run, tuple(describe_units(rows)), settings.LEASE_SECONDS, suspect, encoders)

    def call_others(self, run: RunData) -> None:
        row = completion.filter_waiting_runs(Run.objects.filter(pk=run.id)).first()
        if row:
            announce_run(row)

    def renew_leases(self, held: Iterable[UUID]) -> set[UUID]:
        return {lease for lease in held if leases.renew_lease(Batch(pk=lease))}

    def read_content(self, sha256: str) -> bytes:
        content = content_store.read_for_worker(sha256)
        if hashlib.sha256(content).hexdigest() != sha256:
            raise DamagedContentError(f"{len(content)} bytes were read, and their hash is another than {sha256}.")
        return content

    def find_vectors(self, lease: Lease, units: Sequence[WorkUnit], preprocessing: str) -> Mapping[int | str, Vector]:
        images = {unit.image_id: unit.image_sha256 for unit in units if unit.image_id}
        texts = [unit.payload["text"] for unit in units if isinstance(unit.payload.get("text"), str)]
        if not (images or texts):
            return {}
        of_model = Embedding.objects.filter(model__in={unit.model.id for unit in units}, preprocessing=preprocessing)
        found: dict[int | str, Vector] = {
            row.image_id or 0: vector_of(row) for row in of_model.filter(image__in=images)
        }
        missing = {pk: sha256 for pk, sha256 in images.items() if sha256 and pk not in found}
        found.update(find_vectors_of_equals(missing, of_model))
        hashes = [hash_of(text) for text in texts]
        found.update({row.text: vector_of(row) for row in of_model.filter(image=None, text_hash__in=hashes)})
        return found

    def find_run_vectors(self, lease: Lease, run: str) -> Sequence[VectorData]:
        try:
            return list(DatabaseCatalogue().vectors(run))
        except ConfigError:
            raise LookupError(RUN_REMOVED) from None

    def store_content(self, content: bytes) -> str:
        sha256 = content_store.store_content(content)
        content_store.copy_for_worker(content, sha256)
        return sha256

    def deliver_results(
        self, lease: Lease, pairs: ResultPairs, hashes: Mapping[str, str], *, last: bool, spent: Spent | None = None
    ) -> int:
        batch = make_batch_row(lease)
        rows = [(make_unit_row(lease, unit), result) for unit, result in pairs]
        return retry_on_lost_connection(
            lambda: leases.finish_units(batch, rows, last=last, hashes=hashes, spent=spent), settings.LEASE_SECONDS
        )

    def release_lease(self, lease: Lease) -> None:
        retry_on_lost_connection(lambda: leases.release_batch(make_batch_row(lease)))

    def pause_run(self, run: RunData, problem: str) -> None:
        retry_on_lost_connection(lambda: pause_open_run(run.id, problem))

    def complete_run(self, run: RunData) -> None:
        retry_on_lost_connection(lambda: complete_one_run(run.id))


def pause_open_run(run_id: int, problem: str) -> None:
    """Pauses a run that has open units."""
    if Unit.objects.filter(run=run_id, state__in=control.OPEN).exists():
        control.pause_run(Run(pk=run_id), problem)


def complete_one_run(run_id: int) -> None:
    """Ends the run where no unit is open, and lets those follow that waited for it. Does no harm twice."""
    completion.complete_finished_runs(Run.objects.filter(pk=run_id))
    completion.announce_followers(run_id)


def find_vectors_of_equals(images: Mapping[int, str], among: QuerySet[Embedding]) -> dict[int | str, Vector]:
    """Image id → the vector of another image whose file is the same, byte for byte. `images`: id → hash."""
    rows = among.filter(image__sha256__in=set(images.values())).select_related("image") if images else ()
    of_hash = {row.image.sha256: vector_of(row) for row in rows if row.image}
    return {pk: of_hash[sha256] for pk, sha256 in images.items() if sha256 in of_hash}


def make_batch_row(lease: Lease) -> Batch:
    """The row of a lease, not read: its id and its run are all that ending it takes."""
    return Batch(pk=lease.id, run=Run(pk=lease.run.id, slug=lease.run.slug))


def make_unit_row(lease: Lease, unit: WorkUnit) -> Unit:
    """The row of a leased unit, not read again."""
    subject = unit.subject.id if unit.subject else None
    return Unit(pk=unit.id, run_id=lease.run.id, key=unit.key, subject_id=subject, model_id=unit.model.id)


def describe_units(rows: Sequence[Unit]) -> Iterable[WorkUnit]:
    """Leased rows as a worker sees them, with the hashes of the images that they ask about."""
    asked = {image for row in rows if (image := find_asked_image(row.payload))}
    hashes = dict(GeneratedImage.objects.filter(pk__in=asked).values_list("pk", "sha256")) if asked else {}
    models: dict[int, ModelData] = {}
    subjects: dict[int, SubjectData] = {}
    for row in rows:
        if row.model_id not in models:
            models[row.model_id] = model_data(row.model)
        if row.subject and row.subject.pk not in subjects:
            subjects[row.subject.pk] = subject_data(row.subject)
        image = find_asked_image(row.payload)
        yield WorkUnit(
            id=row.pk,
            key=row.key,
            affinity=row.affinity,
            subject=subjects[row.subject.pk] if row.subject else None,
            model=models[row.model_id],
            payload=row.payload,
            image_id=image,
            image_sha256=hashes.get(image or 0) or None,
            problem=REMOVED if image and image not in hashes else "",
        )
