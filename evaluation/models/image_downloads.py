"""Who took images away. Imported by `evaluation.models`; other code imports it from there."""

from django.conf import settings
from django.db import models
from django.db.models.functions import Now


class ImageDownload(models.Model):
    """One download of images: written before the first byte leaves, never changed. Holds no image's name."""

    by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.PROTECT,
        related_name="+",
        help_text="Whoever took pictures is never deleted from the list of users, only made inactive.",
    )
    at = models.DateTimeField(db_default=Now(), editable=False, db_index=True)
    what = models.CharField(max_length=300, help_text="Page or archive, with its filters.")
    number = models.PositiveIntegerField(help_text="How many pictures.")
    terms = models.CharField(max_length=20, help_text="Version of the terms that were shown and accepted.")

    class Meta:
        ordering = ["-pk"]
        verbose_name = "download of pictures"
        verbose_name_plural = "downloads of pictures"

    def __str__(self) -> str:
        return self.what
