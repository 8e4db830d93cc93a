"""Taking back what should not have come. Other code imports it from `collection.models`."""

from django.conf import settings
from django.db import models


class NetworkKey(models.Model):
    """The random key of a month: with it networks become hashes, and without it nothing leads back to them."""

    month = models.DateField(primary_key=True)
    key = models.CharField(max_length=64)

    def __str__(self) -> str:
        return f"{self.month:%Y-%m}"


class TakeBack(models.Model):
    """Dishes that a steward hid together: whose or from when, why, and what they were before."""

    class State(models.TextChoices):
        ASKED = "asked", "waits for a second steward"
        DONE = "done", "done"
        UNDONE = "undone", "undone"

    choice = models.JSONField(help_text="Which dishes: of a contributor, of a helper, of a network, of a time.")
    reason = models.TextField(max_length=1000)
    state = models.CharField(max_length=6, choices=State)
    former = models.JSONField(default=dict, help_text="Dish to the state that it had.")
    asked_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    asked_at = models.DateTimeField(auto_now_add=True)
    done_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    done_at = models.DateTimeField(null=True, blank=True)
    undone_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    undone_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-pk"]
        verbose_name = "take-back"
        verbose_name_plural = "take-backs"

    def __str__(self) -> str:
        return self.reason[:60]
