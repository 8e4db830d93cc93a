"""What workers call, one view a step of `Transport`. A token sees its runs' units and inputs and nothing else."""

import time
from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse

from evaluation.models import Batch, GeneratedImage, Model, Outcome, Run, Unit, WorkerToken
from evaluation.readers.text_cleaning import clean_foreign_text
from evaluation.remote import wire
from evaluation.remote.versions import read_project_version
from evaluation.runner import completion, storing
from evaluation.runner.catalogue import model_data
from evaluation.runner.direct_transport import DirectTransport, describe_units
from evaluation.runner.transport import DamagedContentError, Lease, RunData, Spent
from evaluation.worker_api import uploads
from evaluation.worker_api import versions as worker_versions
from evaluation.worker_api.access import (
    WorkerCallError,
    answer,
    find_batch,
    find_run,
    read_body,
    read_field,
    read_json,
    select_runs,
    serve_worker,
)
from evaluation.worker_api.provider_keys import list_keys

MOST_UNITS = 2048
MOST_RUNS = 20
LONGEST = 86_400.0
DIRECT = DirectTransport()


@serve_worker("POST")
def greet(request: HttpRequest, token: WorkerToken) -> HttpResponse:
    """Says whether this worker's versions fit, and the server's time in seconds since 1970."""
    worker_versions.check_worker(token, read_json(request))
    return answer(project=read_project_version(), queues=token.queues, name=token.name, time=time.time())


@serve_worker("GET")
def list_waiting_runs(request: HttpRequest, token: WorkerToken) -> HttpResponse:
    """The runs with work for this token, the most urgent first."""
    runs = completion.filter_waiting_runs(select_runs(token)).order_by("-priority", "pk")[:MOST_RUNS]
    return answer(runs=[vars(describe_run(run)) for run in runs])


@serve_worker("GET")
def list_models(request: HttpRequest, token: WorkerToken) -> HttpResponse:
    """The models of the runs with work for this token: what a worker must have."""
    runs = completion.filter_waiting_runs(select_runs(token)).order_by("-priority", "pk")[:MOST_RUNS]
    found: dict[int, Model] = {}
    for run in list(runs):
        units = Unit.objects.filter(run=run, state=Unit.State.PENDING).order_by("pk")
        while unit := units.exclude(model__in=found).select_related("model").first():
            found[unit.model_id] = unit.model
    return answer(models=[vars(model_data(model)) for model in found.values()])


def describe_run(run: Run) -> RunData:
    return RunData(run.pk, run.slug, run.study, run.study_version, run.queue)


@serve_worker("GET")
def show_run(request: HttpRequest, token: WorkerToken, run: int) -> HttpResponse:
    row = find_run(token, run)
    return answer(run=vars(describe_run(row)), goes_on=DIRECT.run_goes_on(row.pk))


@serve_worker("POST")
def lease_units(request: HttpRequest, token: WorkerToken, run: int) -> HttpResponse:
    """A lease, or null. The same `request` again gives the same lease: an answer that was lost leases nothing twice."""
    given = read_json(request)
    row = find_run(token, run)
    found = worker_versions.check_worker(token, given)
    worker_versions.check_run(row, found)
    try:
        asked = UUID(read_field(given, "request", str))
    except ValueError:
        raise WorkerCallError(400, "The field request is no UUID.") from None
    size = min(max(1, read_field(given, "size", int)), MOST_UNITS)
    worker = f"{token.name}: {clean_foreign_text(read_field(given, 'worker', str), 80)}"
    after = read_field(given, "after", str, "")[:80]
    earlier = Batch.objects.filter(request=asked, access=token, run=row).first()
    if earlier:
        lease = None if earlier.finished_at else read_lease(earlier)
    else:
        lease = lease_new(token, row, asked, worker, size, after)
    try:
        keys = list_keys(token, {unit.model.id: unit.model for unit in lease.units}.values()) if lease else {}
    except WorkerCallError:
        if lease:
            DIRECT.release_lease(lease)
        raise
    return answer(lease=wire.encode_lease(lease) if lease else None, keys=keys)


def lease_new(token: WorkerToken, run: Run, asked: UUID, worker: str, size: int, after: str) -> Lease | None:
    try:
        with transaction.atomic():
            lease = DIRECT.lease_units(describe_run(run), worker, size, after)
            if lease:
                Batch.objects.filter(pk=lease.id).update(access=token, request=asked)
            return lease
    except IntegrityError:
        raise WorkerCallError(503, "Another call with this request is on its way.") from None


def read_lease(batch: Batch) -> Lease:
    """The units that a batch still holds."""
    rows = Unit.objects.filter(batch=batch, state=Unit.State.LEASED).select_related("subject", "model").order_by("pk")
    found = list(rows)
    suspect = any(row.deliveries > 1 for row in found)
    return Lease(batch.pk, describe_run(batch.run), tuple(describe_units(found)), settings.LEASE_SECONDS, suspect)


@serve_worker("POST")
def renew_leases(request: HttpRequest, token: WorkerToken) -> HttpResponse:
    named = read_ids(read_field(read_json(request), "leases", list))
    own = Batch.objects.filter(pk__in=named, access=token).values_list("pk", flat=True)
    return answer(held=sorted(str(pk) for pk in DIRECT.renew_leases(own)))


def read_ids(given: Iterable[object]) -> list[UUID]:
    try:
        return [UUID(str(each)) for each in given][:1000]
    except ValueError:
        raise WorkerCallError(400, "A lease is named by its UUID.") from None


@serve_worker("GET")
def read_input(request: HttpRequest, token: WorkerToken, lease: UUID, sha256: str) -> HttpResponse:
    """The bytes of an image that a unit of this batch asks about."""
    batch = find_batch(token, lease, held=True)
    images = list(GeneratedImage.objects.filter(sha256=sha256).values_list("pk", flat=True)) if sha256 else []
    if not Unit.objects.filter(batch=batch, state=Unit.State.LEASED, payload__image__in=images).exists():
        raise WorkerCallError(404, "No unit of this batch asks about such a file.")
    try:
        content = DIRECT.read_content(sha256)
    except FileNotFoundError:
        raise WorkerCallError(410, "The file of the image is missing in the storage.") from None
    except DamagedContentError as error:
        raise WorkerCallError(422, str(error)) from None
    return HttpResponse(content, content_type="application/octet-stream")


@serve_worker("POST")
def find_vectors(request: HttpRequest, token: WorkerToken, lease: UUID) -> HttpResponse:
    """The vectors that exist already for units of this batch, of one model and one preprocessing."""
    given = read_json(request)
    ids = set(read_field(given, "units", list))
    held = read_lease(find_batch(token, lease, held=True))
    units = [unit for unit in held.units if unit.id in ids]
    if not units:
        return answer(vectors=[])
    found = DIRECT.find_vectors(held, units, read_field(given, "preprocessing", str)[:80])
    return answer(vectors=wire.encode_vectors(found))


@serve_worker("POST")
def find_run_vectors(request: HttpRequest, token: WorkerToken, lease: UUID) -> HttpResponse:
    """The vectors of an earlier run that units of this batch name."""
    run = read_field(read_json(request), "run", str)
    held = read_lease(find_batch(token, lease, held=True))
    if run not in wire.list_named_runs(held.units):
        raise WorkerCallError(404, "No unit of this batch names that run.")
    try:
        return answer(vectors=wire.encode_run_vectors(DIRECT.find_run_vectors(held, run)))
    except LookupError as error:
        return answer(vectors=[], problem=str(error.args[0]))


@serve_worker("GET", "POST")
def take_upload(request: HttpRequest, token: WorkerToken, sha256: str) -> HttpResponse:
    """GET: how many bytes of this file have arrived. POST: the next part, from the byte `start` of `size` on."""
    row = uploads.find_upload(token, sha256)
    if request.method == "POST":
        start, size = (request.GET.get(name, "") for name in ("start", "size"))
        if not (start.isascii() and start.isdigit() and size.isascii() and size.isdigit()) or len(start + size) > 24:
            raise WorkerCallError(400, "The address of a part says start and size in bytes.")
        row = uploads.store_part(token, sha256, int(start), int(size), read_body(request))
    return answer(arrived=uploads.arrived_bytes(row), complete=bool(row and row.complete))


@serve_worker("POST")
def deliver_results(request: HttpRequest, token: WorkerToken, lease: UUID) -> HttpResponse:
    """Ends units with their results. What this batch delivered before counts as ended and is not stored again."""
    given = read_json(request)
    batch = find_batch(token, lease)
    try:
        results = wire.parse_results(given.get("results"))
    except wire.WireError as error:
        raise WorkerCallError(400, str(error)) from error
    if len(results) > MOST_UNITS * 4:
        raise WorkerCallError(400, "More results came than a batch has units.")
    before = Outcome.objects.filter(batch=batch, unit__key__in=[result.key for result, _ in results])
    ended = set(before.values_list("unit__key", flat=True))
    held = read_lease(batch)
    keys = {unit.key for unit in held.units}
    try:
        pairs, hashes = wire.pair_results(held.units, [found for found in results if found[0].key in keys])
    except wire.WireError as error:
        raise WorkerCallError(400, str(error)) from error
    uploads.require_uploads(token, set(hashes.values()))
    cleaned = [(unit, storing.clean_result(result)) for unit, result in pairs]
    last = read_field(given, "last", bool)
    stored = DIRECT.deliver_results(held, cleaned, hashes, last=last, spent=read_spent(given) if last else None)
    return answer(ended=stored + len(ended))


def read_spent(given: Mapping[str, Any]) -> Spent | None:
    """Seconds that a batch took, where the worker says them; numbers of a day at most."""
    said = given.get("spent")
    if not isinstance(said, list) or len(said) != 2 or not all(is_seconds(value) for value in said):
        return None
    return Spent(*map(float, said))


def is_seconds(value: object) -> bool:
    return isinstance(value, int | float) and 0 <= value <= LONGEST


@serve_worker("POST")
def release_lease(request: HttpRequest, token: WorkerToken, lease: UUID) -> HttpResponse:
    batch = find_batch(token, lease)
    if batch.finished_at is None:
        DIRECT.release_lease(read_lease(batch))
    return answer()


@serve_worker("POST")
def pause_run(request: HttpRequest, token: WorkerToken, run: int) -> HttpResponse:
    """Pauses a run that a worker of this token cannot go on with, with its words."""
    problem = clean_foreign_text(read_field(read_json(request), "problem", str))
    row = find_run(token, run)
    if not Batch.objects.filter(run=row, access=token).exists():
        raise WorkerCallError(404, "No worker with this token has worked on this run.")
    DIRECT.pause_run(describe_run(row), problem)
    return answer()


@serve_worker("POST")
def complete_run(request: HttpRequest, token: WorkerToken, run: int) -> HttpResponse:
    """Ends the run where nothing of it is open, and calls the next idle worker where something waits."""
    row = find_run(token, run)
    DIRECT.complete_run(describe_run(row))
    return answer()


@serve_worker("POST")
def call_others(request: HttpRequest, token: WorkerToken, run: int) -> HttpResponse:
    DIRECT.call_others(describe_run(find_run(token, run)))
    return answer()
