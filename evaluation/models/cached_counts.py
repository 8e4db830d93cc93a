"""Counts of pages that are too large to be made in a request. Imported by `evaluation.models`."""

from django.db import models


class KeptReport(models.Model):
    """What a worker counted for a page: see evaluation/cached_counts.py."""

    name = models.CharField(max_length=80, unique=True, help_text="Kind and id: run:12.")
    content = models.JSONField(null=True)
    wanted_at = models.DateTimeField(null=True, db_index=True, help_text="When a page last asked for it.")
    counted_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return self.name
