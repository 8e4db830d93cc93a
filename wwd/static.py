"""Static files with hashed names, compressed beforehand."""

from whitenoise.storage import CompressedManifestStaticFilesStorage


class HashedStaticStorage(CompressedManifestStaticFilesStorage):
    """Hashed and pre-compressed; an unhashed name is used where nothing was collected yet (tests, development)."""

    manifest_strict = False
