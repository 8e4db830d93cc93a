"""Photos that arrive in pieces: anyone who sends one over a bad line goes on where it stopped, also after a reload.

A part is a file of its own with a row that names it. Sending a part twice changes nothing. Rows keep the limits:
what one dish may hold, and what all unfinished photos together may hold.
"""

import hashlib
import re
import secrets
from dataclasses import dataclass
from datetime import timedelta
from tempfile import SpooledTemporaryFile
from typing import IO

from django.conf import settings
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import IntegrityError, transaction
from django.db.models import Sum
from django.utils import timezone
from django.utils.translation import gettext as _

from collection.models import Dish, PhotoPart
from collection.photos.process import PhotoError, delete_stored_files, too_large

FOLDER = "parts"
LIFE = timedelta(days=1)
LARGEST_PART = 512 * 1024
MOST_PARTS = 400
# Three photos of the largest size: one under way, two given up.
MOST_BYTES_A_DISH = 3 * settings.MAX_PHOTO_BYTES
MOST_BYTES_IN_ALL = 4 * 1024**3
SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class Part:
    """A piece as its sender describes it: hash of the whole photo in hexadecimal, bytes before this piece, bytes."""

    sha256: str
    start: int
    data: bytes


def read_part(sha256: str, start: str, data: bytes) -> Part:
    """A part from what arrived. Raises PhotoError where it is none."""
    if not SHA256.fullmatch(sha256) or not (start.isascii() and start.isdigit()) or len(start) > 9:
        raise PhotoError(_("A part of the photo could not be read. Send the photo again, or go on without it."))
    if len(data) > LARGEST_PART or int(start) + len(data) > settings.MAX_PHOTO_BYTES:
        raise PhotoError(too_large())
    return Part(sha256, int(start), data)


def rows_of(dish: Dish, sha256: str) -> list[PhotoPart]:
    return list(PhotoPart.objects.filter(dish=dish, sha256=sha256).order_by("start"))


def arrived_bytes(dish: Dish, sha256: str) -> int:
    """How many bytes of this photo are here without a gap from its beginning."""
    end = 0
    for row in rows_of(dish, sha256):
        if row.start != end:
            break
        end += row.size
    return end


def store_photo_part(dish: Dish, part: Part) -> int:
    """Stores the part where it is the next one, and says how many bytes are here now. Never call it in a transaction.

    A part that came before, or too early, is left alone: the answer tells its sender where to go on.
    """
    here = arrived_bytes(dish, part.sha256)
    if not part.data or part.start != here:
        return here
    check_limits(dish, len(part.data))
    path = f"{FOLDER}/{secrets.token_hex(16)}"
    default_storage.save(path, ContentFile(part.data))
    try:
        with transaction.atomic():
            PhotoPart.objects.create(dish=dish, sha256=part.sha256, start=part.start, size=len(part.data), file=path)
    except IntegrityError:
        # The same part came over another line at the same moment.
        delete_stored_files(path)
    return arrived_bytes(dish, part.sha256)


def check_limits(dish: Dish, size: int) -> None:
    rows = PhotoPart.objects.filter(dish=dish)
    held = rows.aggregate(size=Sum("size"))["size"] or 0
    in_all = PhotoPart.objects.aggregate(size=Sum("size"))["size"] or 0
    if held + size > MOST_BYTES_A_DISH or rows.count() >= MOST_PARTS or in_all + size > MOST_BYTES_IN_ALL:
        raise PhotoError(_("Too much has been sent here today. Try again tomorrow, or go on without the photo."))


def assemble_photo(dish: Dish, sha256: str) -> IO[bytes]:
    """The photo out of its parts, on disk. Raises PhotoError where a part is missing or another photo came out."""
    file = SpooledTemporaryFile(LARGEST_PART)  # noqa: SIM115  (the caller closes it)
    digest = hashlib.sha256()
    for row in rows_of(dish, sha256) if SHA256.fullmatch(sha256) else ():
        part = read_part_file(row.file)
        digest.update(part)
        file.write(part)
    if digest.hexdigest() != sha256:
        file.close()
        raise PhotoError(_("The photo did not arrive whole. Send it again, or go on without it."))
    file.seek(0)
    return file


def read_part_file(path: str) -> bytes:
    try:
        with default_storage.open(path) as file:
            return bytes(file.read())
    except FileNotFoundError:
        return b""


def delete_photo_parts(dish: Dish, sha256: str) -> None:
    """Removes the parts of a photo, rows first, then files. Never call it in a transaction."""
    delete_part_rows([row.pk for row in rows_of(dish, sha256)])


def delete_part_rows(pks: list[int]) -> None:
    rows = PhotoPart.objects.filter(pk__in=pks)
    files = list(rows.values_list("file", flat=True))
    rows.delete()
    delete_stored_files(*files)


def delete_stale_parts() -> int:
    """Removes what nobody went on with for a day; returns how many parts. Files that no row names go with them."""
    oldest = timezone.now() - LIFE
    old = list(PhotoPart.objects.filter(created_at__lt=oldest).values_list("pk", flat=True))
    delete_part_rows(old)
    named = set(PhotoPart.objects.values_list("file", flat=True))
    delete_stored_files(
        *(path for path in list_part_files() if path not in named and default_storage.get_modified_time(path) < oldest)
    )
    return len(old)


def list_part_files() -> list[str]:
    """Paths of all parts in the storage."""
    try:
        return [f"{FOLDER}/{name}" for name in default_storage.listdir(FOLDER)[1]]
    except FileNotFoundError:
        return []
