"""Who may call: a token in the header `Authorization: Bearer …`, and nothing of a session or a cookie.

Every answer is JSON with the header `WWD-Worker`, by which a worker knows it from a page of a proxy between. Refusals
hold one sentence under `problem`.
"""

import json
from collections.abc import Callable, Mapping
from datetime import timedelta
from functools import wraps
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet
from django.db.models.functions import Now
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt

from evaluation.models import Batch, Run, WorkerToken
from evaluation.models.worker_tokens import hash_secret
from evaluation.remote.wire import PROTOCOL

MOST_BYTES = 8 * 1024 * 1024
UNKNOWN = "This token is unknown or was revoked: ask an operator of the site for another."
GRAIN = timedelta(minutes=1)
View = Callable[..., HttpResponseBase]


class WorkerCallError(Exception):
    """A call that is refused, with the status and the sentence of its answer."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


def serve_worker(*methods: str) -> Callable[[View], View]:
    """A view for workers: it gets the token's row, and its refusals become answers."""

    def wrap(view: View) -> View:
        @csrf_exempt
        @never_cache
        @wraps(view)
        def inner(request: HttpRequest, **given: Any) -> HttpResponseBase:
            response: HttpResponseBase
            try:
                token = find_token(request)
                if request.method not in methods:
                    raise WorkerCallError(405, f"This address takes {' and '.join(methods)} only.")
                response = view(request, token, **given)
            except WorkerCallError as error:
                response = JsonResponse({"problem": str(error)}, status=error.status)
            response.headers["WWD-Worker"] = str(PROTOCOL)
            return response

        return inner

    return wrap


def find_token(request: HttpRequest) -> WorkerToken:
    """The row of the token that the call brings. Raises WorkerCallError."""
    kind, _, secret = request.headers.get("Authorization", "").partition(" ")
    token = None
    if kind == "Bearer" and secret:
        token = WorkerToken.objects.filter(secret_hash=hash_secret(secret.strip()), revoked_at=None).first()
    if token is None:
        raise WorkerCallError(401, UNKNOWN)
    due = Q(used_at=None) | Q(used_at__lt=Now() - GRAIN)
    WorkerToken.objects.filter(due, pk=token.pk).update(used_at=Now())
    return token


def select_runs(token: WorkerToken) -> QuerySet[Run]:
    """The runs that the token may know of."""
    runs = Run.objects.filter(queue__in=token.queues, imported=False)
    if not token.provider_keys:
        runs = runs.exclude(queue="api")
    only = list(token.runs.values_list("pk", flat=True))
    return runs.filter(pk__in=only) if only else runs


def find_run(token: WorkerToken, pk: int) -> Run:
    """Raises WorkerCallError where the token does not reach the run, or there is none."""
    run = select_runs(token).filter(pk=pk).first()
    if run is None:
        raise WorkerCallError(404, f"This token reaches no run {pk}.")
    return run


def find_batch(token: WorkerToken, pk: UUID, *, held: bool = False) -> Batch:
    """A batch that a worker with this token leased; `held`: and still holds. Raises WorkerCallError."""
    batch = Batch.objects.select_related("run").filter(pk=pk, access=token).first()
    if batch is None or (held and batch.finished_at is not None):
        raise WorkerCallError(404, f"No worker with this token holds the batch {pk}.")
    return batch


def read_body(request: HttpRequest) -> bytes:
    """The whole body. Raises WorkerCallError for one that is too large."""
    body = request.read(MOST_BYTES + 1)
    if len(body) > MOST_BYTES:
        raise WorkerCallError(413, f"More than {MOST_BYTES} bytes came at once.")
    return body


def read_json(request: HttpRequest) -> Mapping[str, Any]:
    """The object that came. Raises WorkerCallError."""
    try:
        found = json.loads(read_body(request) or b"{}")
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise WorkerCallError(400, "The body is no object of JSON.")
    return found


def read_field(given: Mapping[str, Any], name: str, kind: type, default: Any = None) -> Any:
    """A field of this kind. Raises WorkerCallError where it is another."""
    value = given.get(name, default)
    if not isinstance(value, kind) or (kind is not bool and isinstance(value, bool)):
        raise WorkerCallError(400, f"The field {name} is missing or no {kind.__name__}.")
    return value


def answer(**content: Any) -> HttpResponse:
    return JsonResponse(content)
