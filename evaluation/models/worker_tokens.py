"""Tokens of workers without the database, and the files that they send. Imported by `evaluation.models`."""

import hashlib
import secrets

from django.conf import settings
from django.db import models
from django.db.models.functions import Now

PREFIX = "wwd-worker-"
QUEUES = ("cpu", "gpu", "api")


def make_worker_secret() -> str:
    """A new token: 256 random bits, in letters that fit into a header."""
    return PREFIX + secrets.token_urlsafe(32)


def hash_secret(secret: str) -> str:
    """What is stored of a token, 64 hexadecimal digits. Of 256 random bits, no salt and no slow hash is needed."""
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()


class WorkerToken(models.Model):
    """Lets workers over HTTPS work on some queues, or on some runs of them, until it is revoked."""

    name = models.CharField(max_length=80, unique=True, help_text="Whose hosts, such as “cluster of the university”.")
    secret_hash = models.CharField(max_length=64, unique=True, editable=False)
    queues = models.JSONField(default=list, help_text="The queues that its workers may take work from.")
    runs = models.ManyToManyField(
        "evaluation.Run",
        blank=True,
        related_name="worker_tokens",
        help_text="Ids of the only runs that it may work on. Empty: all runs of its queues.",
    )
    provider_keys = models.BooleanField(
        default=False,
        help_text="Whether its workers get the keys of providers that this server knows. Without it they never leave.",
    )
    other_versions = models.BooleanField(
        default=False,
        help_text="Whether workers with other versions of torch or transformers are accepted; outcomes then say so.",
    )
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, editable=False)
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    used_at = models.DateTimeField(null=True, blank=True, editable=False, help_text="Within a minute.")
    revoked_at = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class WorkerUpload(models.Model):
    """A file on its way from a worker: `parts` are size and place of what arrived without a gap, in order.

    Once it is complete, it lies in the storage under its hash, and `parts` is empty.
    """

    access = models.ForeignKey(WorkerToken, on_delete=models.CASCADE, related_name="uploads")
    sha256 = models.CharField(max_length=64)
    size = models.PositiveBigIntegerField(help_text="Of the whole file, in bytes.")
    parts = models.JSONField(default=list)
    complete = models.BooleanField(default=False)
    created_at = models.DateTimeField(db_default=Now(), editable=False, db_index=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["access", "sha256"], name="one_upload_per_token_and_file")]

    def __str__(self) -> str:
        return self.sha256
