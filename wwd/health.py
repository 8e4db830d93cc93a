"""`/healthz`: the process answers. `/readyz`: database and storage work; a missing broker only degrades."""

from collections.abc import Callable

from django.core.files.storage import default_storage
from django.db import DatabaseError, connection
from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from wwd.celery import app


def database_works() -> bool:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return False
    return True


def storage_works() -> bool:
    try:
        default_storage.exists("readyz")
    except Exception:
        return False
    return True


def broker_works() -> bool:
    try:
        with app.connection_for_write() as broker:
            broker.ensure_connection(max_retries=1, timeout=1)
    except Exception:
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
