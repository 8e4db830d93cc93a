"""Files that workers send in parts and go on with where they stopped. Sending a part twice changes nothing."""

import hashlib
import re
import secrets
from collections.abc import Iterable
from datetime import timedelta
from tempfile import SpooledTemporaryFile

from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db.models import Sum
from django.utils import timezone

from evaluation import content_store
from evaluation.models import WorkerToken, WorkerUpload
from evaluation.worker_api.access import WorkerCallError
from wwd.base import fetching

FOLDER = "worker-parts"
SHA256 = re.compile(r"[0-9a-f]{64}")
LARGEST = fetching.MOST_BYTES
# What all files of one token that are on their way may hold together.
MOST_HELD = 2 * 1024**3
LIFE = timedelta(days=1)


def find_upload(token: WorkerToken, sha256: str) -> WorkerUpload | None:
    if not SHA256.fullmatch(sha256):
        raise WorkerCallError(404, "No file has such a hash.")
    return WorkerUpload.objects.filter(access=token, sha256=sha256).first()


def arrived_bytes(row: WorkerUpload | None) -> int:
    """How many bytes are here without a gap from the beginning."""
    if row is None:
        return 0
    return row.size if row.complete else sum(size for size, _ in row.parts)


def store_part(token: WorkerToken, sha256: str, start: int, size: int, data: bytes) -> WorkerUpload:
    """Adds a part where it is the next one; one that came before or too early is left alone. Raises WorkerCallError."""
    row = find_upload(token, sha256)
    if row and not row.complete and arrived_bytes(row) == row.size:
        # Its sender ended before it was put together, or is at it.
        complete_upload(row)
        return row
    if not 0 < size <= LARGEST or not 0 <= start < size or start + len(data) > size:
        raise WorkerCallError(400, f"A file has 1 to {LARGEST} bytes, and a part lies within it.")
    if row is None:
        row = begin_upload(token, sha256, size)
    if row.complete or row.size != size or start != arrived_bytes(row) or not data:
        return row
    path = default_storage.save(f"{FOLDER}/{row.pk}/{start}-{secrets.token_hex(8)}", ContentFile(data))
    before = list(row.parts)
    # Of two that send the same part at once, one is counted.
    counted = WorkerUpload.objects.filter(pk=row.pk, parts=before, complete=False)
    if not counted.update(parts=[*before, [len(data), path]]):
        default_storage.delete(path)
    row.refresh_from_db()
    if arrived_bytes(row) == size and not row.complete:
        complete_upload(row)
    return row


def begin_upload(token: WorkerToken, sha256: str, size: int) -> WorkerUpload:
    open_rows = WorkerUpload.objects.filter(access=token, complete=False)
    held = open_rows.aggregate(total=Sum("size"))["total"] or 0
    if held + size > MOST_HELD:
        raise WorkerCallError(507, "Too many unfinished files of this token are on their way: finish some first.")
    return WorkerUpload.objects.get_or_create(access=token, sha256=sha256, defaults={"size": size})[0]


def complete_upload(row: WorkerUpload) -> None:
    """Puts the parts together and stores them under their hash. Raises WorkerCallError where another file came out."""
    with SpooledTemporaryFile(max_size=8 * 1024 * 1024) as whole:
        for _, path in row.parts:
            with default_storage.open(path) as part:
                whole.write(part.read())
        whole.seek(0)
        content = whole.read()
    if hashlib.sha256(content).hexdigest() != row.sha256:
        remove_upload(row)
        raise WorkerCallError(422, "What came is another file than its hash says: send it again from the beginning.")
    try:
        fetching.check_image_bytes(content)
    except fetching.FetchError as error:
        remove_upload(row)
        raise WorkerCallError(422, str(error)) from error
    content_store.store_content(content)
    paths = list_paths(row)
    WorkerUpload.objects.filter(pk=row.pk).update(complete=True, parts=[])
    row.complete = True
    delete_parts(paths)


def list_paths(row: WorkerUpload) -> list[str]:
    return [path for _, path in row.parts]


def remove_upload(row: WorkerUpload) -> None:
    """Removes the row first, then its parts."""
    paths = list_paths(row)
    row.delete()
    delete_parts(paths)


def delete_parts(paths: Iterable[str]) -> None:
    for path in paths:
        default_storage.delete(path)


def delete_stale_uploads() -> int:
    """Removes what nobody went on with for a day, and the records of files that arrived; returns how many."""
    rows = list(WorkerUpload.objects.filter(created_at__lt=timezone.now() - LIFE)[:1000])
    for row in rows:
        remove_upload(row)
    return len(rows)


def require_uploads(token: WorkerToken, hashes: set[str]) -> None:
    """Raises WorkerCallError where a file is named that no worker with this token sent."""
    sent = WorkerUpload.objects.filter(access=token, complete=True, sha256__in=hashes).values_list("sha256", flat=True)
    if missing := hashes - set(sent):
        raise WorkerCallError(424, f"The file {min(missing)} was not sent before the results that name it.")
