"""`/healthz`: the process answers. `/readyz`: database, storage and disks work; a missing broker only degrades."""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.files.storage import default_storage
from django.db import DatabaseError, connection
from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from wwd.celery import app

SECONDS = 3


def database_works() -> bool:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return False
    return True


def folder_works(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK | os.X_OK)


def bucket_works(storage: Any) -> bool:
    """Whether the bucket of a GoogleCloudStorage answers; asks once, without the client's minutes of patience."""
    try:
        list(storage.client.list_blobs(storage.bucket_name, max_results=1, timeout=SECONDS, retry=None))
    except Exception:  # the client raises its own, google-auth's and requests' errors alike
        return False
    return True


def storage_works() -> bool:
    try:
        folder = Path(default_storage.path(""))
    except NotImplementedError:
        return bucket_works(default_storage)
    return folder_works(folder)


def written_folders() -> Iterator[Path]:
    """The folders of this host that pages write to: files, the database where it is one, what arrives in pieces."""
    yield settings.VAR_DIR
    yield Path(tempfile.gettempdir())
    if connection.vendor == "sqlite":
        yield Path(str(connection.settings_dict["NAME"])).parent
    with suppress(NotImplementedError):
        yield Path(default_storage.path(""))


def room_left() -> bool:
    """Whether every disk that pages write to has `WWD_LEAST_FREE_MEGABYTES` left."""
    least = settings.LEAST_FREE_MEGABYTES * 1024 * 1024
    try:
        return all(free_at(folder) >= least for folder in written_folders())
    except OSError:
        return False


def free_at(folder: Path) -> int:
    """Free bytes on the disk of a folder, which need not exist yet."""
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return shutil.disk_usage(folder).free


def broker_works() -> bool:
    try:
        with app.connection_for_write() as broker:
            broker.ensure_connection(max_retries=1, timeout=1)
    except Exception:  # each transport raises errors of its own kind
        return False
    return True


CHECKS: dict[str, Callable[[], bool]] = {"database": database_works, "storage": storage_works, "disk": room_left}


@require_safe
@never_cache
def check_liveness(request: HttpRequest) -> JsonResponse:
    return JsonResponse({"status": "ok"})


@require_safe
@never_cache
def check_readiness(request: HttpRequest) -> JsonResponse:
    parts = {name: check() for name, check in CHECKS.items()}
    if not all(parts.values()):
        return JsonResponse({"status": "failed", **parts}, status=503)
    broker = broker_works()
    return JsonResponse({"status": "ok" if broker else "degraded", **parts, "broker": broker})
