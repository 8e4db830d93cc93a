"""Bundles and reports that workers make. Imported by `evaluation.models`; other code imports them from there."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now


class ExportJob(models.Model):
    """One file that somebody asked for: what goes into it, how far it is, and where it lies until it is removed.

    Anyone who works on it holds `token` until `leased_until`, by the database's clock.
    """

    class Kind(models.TextChoices):
        BUNDLE = "bundle", "bundle"
        REPORT = "report", "report"

    class State(models.TextChoices):
        WAITING = "waiting", "waiting for a worker"
        WORKING = "working", "being made"
        DONE = "done", "ready"
        FAILED = "failed", "failed"
        REMOVED = "removed", "removed"

    kind = models.CharField(max_length=8, choices=Kind)
    name = models.CharField(max_length=60)
    views = models.JSONField(help_text="Tables, with filters as in the addresses of their pages.")
    pictures = models.BooleanField(default=False)
    language = models.CharField(max_length=12, default="en")
    asked = models.CharField(max_length=64, help_text="Hash of what was asked for: asked twice, it is made once.")
    state = models.CharField(max_length=8, choices=State, default=State.WAITING)
    progress = models.CharField(max_length=300, blank=True)
    deliveries = models.PositiveSmallIntegerField(default=0)
    token = models.UUIDField(null=True, editable=False)
    leased_until = models.DateTimeField(null=True)
    said = models.JSONField(default=list, help_text="What the bundle's own script said of each table.")
    equal = models.BooleanField(null=True, help_text="Whether it gave the same tables.")
    picture_count = models.PositiveIntegerField(default=0)
    error = models.TextField(blank=True)
    sha256 = models.CharField(max_length=64, blank=True, db_index=True)
    size = models.PositiveBigIntegerField(default=0, help_text="Bytes.")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    finished_at = models.DateTimeField(null=True, db_index=True)

    class Meta:
        ordering = ["-pk"]
        verbose_name = "bundle or report"
        verbose_name_plural = "bundles and reports"
        constraints = [
            models.UniqueConstraint(
                fields=["asked"], condition=Q(state__in=["waiting", "working"]), name="one_open_export"
            )
        ]
        indexes = [
            models.Index(fields=["leased_until"], condition=Q(state__in=["waiting", "working"]), name="open_exports")
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"
