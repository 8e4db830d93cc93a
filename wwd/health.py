"""`/healthz`: the process answers. `/readyz`: database and storage work; a missing broker only degrades."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

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


def broker_works() -> bool:
    try:
        with app.connection_for_write() as broker:
            broker.ensure_connection(max_retries=1, timeout=1)
    except Exception:  # each transport raises errors of its own kind
        return False
    return True


CHECKS: dict[str, Callable[[], bool]] = {"database": database_works, "storage": storage_works}


@require_safe
@never_cache
def healthz(request: HttpRequest) -> JsonResponse:
    return JsonResponse({"status": "ok"})


@require_safe
@never_cache
def readyz(request: HttpRequest) -> JsonResponse:
    parts = {name: check() for name, check in CHECKS.items()}
    if not all(parts.values()):
        return JsonResponse({"status": "failed", **parts}, status=503)
    broker = broker_works()
    return JsonResponse({"status": "ok" if broker else "degraded", **parts, "broker": broker})
