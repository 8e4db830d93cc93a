"""Static files with hashed names, compressed beforehand; the edition of what pages are made of."""

import hashlib
from functools import cache
from pathlib import Path

from django.conf import settings
from django.contrib.staticfiles.finders import find
from whitenoise.storage import CompressedManifestStaticFilesStorage


class HashedStaticStorage(CompressedManifestStaticFilesStorage):
    """Hashed and pre-compressed; the plain name is used where nothing was collected yet (tests, development)."""

    manifest_strict = False

    def stored_name(self, name: str) -> str:
        """The hashed name of `name`. A name that exists nowhere still raises: a page must not name it."""
        try:
            return str(super().stored_name(name))
        except ValueError:
            if find(name) is None:
                raise
            return name


@cache
def compute_page_edition(language: str) -> str:
    """Changes whenever a page without rows could: phones fetch theirs again where it is of another edition."""
    digest = hashlib.sha256()
    for part in ("templates", "static", "collection/data", "requirements.txt", f"locale/{language}"):
        place = Path(settings.BASE_DIR) / part
        for path in sorted(place.rglob("*")) if place.is_dir() else [place]:
            digest.update(path.read_bytes() if path.is_file() else b"")
    return digest.hexdigest()[:12]
