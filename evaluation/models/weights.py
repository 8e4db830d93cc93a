"""Which weights were fetched. Imported by `evaluation.models`; other code imports them from there."""

from django.db import models
from django.db.models.functions import Now


class FetchedWeights(models.Model):
    """One revision of a model that somebody brought into the cache of the workers.

    A page plans runs on a host that may not see that cache: it asks here. `files`: path, size and SHA-256 of each.
    """

    identifier = models.CharField(max_length=200)
    revision = models.CharField(max_length=80)
    files = models.JSONField()
    fetched = models.DateTimeField(db_default=Now())

    class Meta:
        verbose_name_plural = "fetched weights"
        constraints = [
            models.UniqueConstraint(fields=["identifier", "revision"], name="weights_of_a_revision_once"),
        ]

    def __str__(self) -> str:
        return f"{self.identifier} {self.revision}"
