"""Bundles and reports made by workers. The row is the record: a worker holds a lease and renews it with each step.

A killed worker's job is begun again once its lease ran out, three times at most. Asked twice, a thing is made once.
"""

import errno
import hashlib
import json
import logging
import uuid
from collections.abc import Callable, Sequence
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth.base_user import AbstractBaseUser
from django.db import IntegrityError, transaction
from django.db.models import F, QuerySet
from django.db.models.functions import Now
from django.utils import translation

from evaluation import content_store
from evaluation.models import ExportJob
from evaluation.queue import send_task
from wwd.base.leases import Lease
from wwd.exchange.bundles import build, pdf, table_views
from wwd.exchange.bundles.build import DataChangedError, Request, TableComputationError
from wwd.exchange.bundles.pdf import PdfUnavailableError
from wwd.exchange.bundles.snapshot import clear_workshops, open_temporary_folder
from wwd.exchange.bundles.table_views import ChosenError
from wwd.exchange.bundles.verification import verify_bundle

LEASE = Lease(timedelta(minutes=10))
MOST_DELIVERIES = 3
State = ExportJob.State
logger = logging.getLogger(__name__)


class JobLeaseLostError(Exception):
    """Somebody else works on the job now, or it was taken back."""


def start_export_job(kind: str, request: Request, by: AbstractBaseUser | None) -> ExportJob:
    """Stores what is asked for and announces it; the job that is open already where the same was asked for before."""
    values: dict[str, Any] = {
        "kind": kind,
        "name": request.name,
        "views": [view.address for view in request.views],
        "pictures": request.images,
        "language": translation.get_language() or "en",
    }
    asked = hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()
    try:
        with transaction.atomic():
            job = ExportJob.objects.create(**values, asked=asked, by_id=by.pk if by else None)
    except IntegrityError:
        return ExportJob.objects.filter(asked=asked).latest("pk")
    transaction.on_commit(partial(announce_export_job, job.pk))
    return job


def announce_export_job(pk: int) -> None:
    send_task("wwd.tasks.export", pk)


def list_waiting_exports() -> list[int]:
    """Jobs that nobody works on: new ones, and those of workers that were killed."""
    return LEASE.list_free_ids(_select_open_jobs())


def _select_open_jobs() -> QuerySet[ExportJob]:
    return ExportJob.objects.filter(state__in=(State.WAITING, State.WORKING))


def run_export_job(pk: int) -> None:
    """Makes the file of a job that nobody works on. Whatever goes wrong is told in the row."""
    token = uuid.uuid4()
    row = _select_open_jobs().filter(pk=pk)
    worn_out = LEASE.select_free_rows(row).filter(deliveries__gte=MOST_DELIVERIES)
    if worn_out.update(state=State.FAILED, error=_killed(), finished_at=Now()):
        return
    if LEASE.claim_rows(row, state=State.WORKING, token=token, deliveries=F("deliveries") + 1, progress=""):
        job = ExportJob.objects.get(pk=pk)
        with translation.override(job.language):
            _work(job)


def _killed() -> str:
    return "It was begun three times, and each time the worker was gone before the end. Its memory may not suffice."


def _work(job: ExportJob) -> None:
    try:
        done = _made(job)
    except JobLeaseLostError:
        logger.info("Export %d is not gone on with: it is no longer ours.", job.pk)
    except (ChosenError, DataChangedError, PdfUnavailableError, TableComputationError) as error:
        _end(job, state=State.FAILED, error=str(error))
    except OSError as error:
        logger.warning("Export %d could not be written.", job.pk, exc_info=True)
        _end(job, state=State.FAILED, error=describe_disk_error(error))
    except Exception as error:  # One job must not end the worker.
        logger.exception("Export %d went wrong.", job.pk)
        _end(
            job,
            state=State.FAILED,
            error=f"It failed ({type(error).__name__}). The log of the worker says where.",
        )
    else:
        if not _end(job, state=State.DONE, **done):
            content_store.remove_unnamed([done["sha256"]])


def describe_disk_error(error: OSError) -> str:
    """What a researcher may know of a trouble with the disk: never a path."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return "There is no space left where the file was being written. Nothing of it was stored. Ask the operator."
    return "The file could not be written ({reason}). Ask the operator.".format(reason=error.strerror or "?")


def _made(job: ExportJob) -> dict[str, Any]:
    """Makes, tries and keeps the file; returns the columns to store."""
    step = partial(_step, job)
    request = Request(job.name, table_views.parse_views(job.views), job.pictures)
    with open_temporary_folder() as folder:
        path = folder / "file"
        found = MAKERS[job.kind](request, path, step)
        step("The file is being stored.")
        return {**found, "sha256": content_store.store_file(path), "size": path.stat().st_size}


def _bundle(request: Request, path: Path, step: Callable[[str], None]) -> dict[str, Any]:
    count = build.write_bundle(request, path, step)
    verdict = verify_bundle(path, partial(step, "The tables are being computed again from the bundle."))
    said = [*verdict.lines, *([verdict.trouble] if verdict.trouble else [])]
    return {"picture_count": count, "said": said, "equal": verdict.equal}


def _report(request: Request, path: Path, step: Callable[[str], None]) -> dict[str, Any]:
    return {"picture_count": pdf.write_pdf_report(request, path, step)}


MAKERS: dict[str, Callable[[Request, Path, Callable[[str], None]], dict[str, Any]]] = {
    ExportJob.Kind.BUNDLE: _bundle,
    ExportJob.Kind.REPORT: _report,
}


def _step(job: ExportJob, text: str) -> None:
    """Says what is being done and renews the lease. Raises JobLeaseLostError."""
    if not LEASE.renew_rows(_mine(job), progress=text[:300]):
        raise JobLeaseLostError


def _end(job: ExportJob, **values: Any) -> bool:
    """Ends the job, once; False where it is no longer ours."""
    return LEASE.release_rows(_mine(job), **values, finished_at=Now(), token=None, progress="")


def _mine(job: ExportJob) -> QuerySet[ExportJob]:
    return ExportJob.objects.filter(pk=job.pk, token=job.token, state=State.WORKING)


def remove_old() -> None:
    """Files that could be fetched for long enough go, and what killed workers left here; the rows stay."""
    clear_workshops()
    remove_export_jobs(ExportJob.objects.filter(finished_at__lt=Now() - timedelta(days=settings.EXPORT_DAYS)))


def remove_all(dishes: Sequence[int]) -> None:
    """A dish was withdrawn: files made before may hold it, so they go, and what is being made is begun anew."""
    LEASE.release_rows(ExportJob.objects.filter(state=State.WORKING), state=State.WAITING, token=None)
    hashes = _forget(ExportJob.objects.all())
    transaction.on_commit(partial(content_store.remove_unnamed, hashes))


def remove_export_jobs(jobs: QuerySet[ExportJob]) -> None:
    content_store.remove_unnamed(_forget(jobs))


def _forget(jobs: QuerySet[ExportJob]) -> list[str]:
    held = list(jobs.filter(state=State.DONE).exclude(sha256="").values_list("pk", "sha256"))
    ExportJob.objects.filter(pk__in=[pk for pk, _sha in held]).update(state=State.REMOVED, sha256="")
    return [sha256 for _pk, sha256 in held]
