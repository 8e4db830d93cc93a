"""Static files with hashed names, compressed beforehand."""

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
