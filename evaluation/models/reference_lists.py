"""Lists of dishes that others collected, against which novelty is counted."""

from django.db import models


class ReferenceList(models.Model):
    """A dataset of dishes as one file of its makers; `sha256` says which. Another file is another list."""

    slug = models.SlugField(max_length=80, unique=True)
    title = models.CharField(max_length=200)
    source = models.CharField(max_length=300, help_text="Where it comes from, with its licence.")
    sha256 = models.CharField(max_length=64)
    fields = models.JSONField(
        default=dict, help_text="Our field to the columns that say the same there; fields that it lacks are absent."
    )
    demonstration = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["slug"]

    def __str__(self) -> str:
        return self.slug


class ReferenceDish(models.Model):
    """One entry of a list. Names as written there; `countries` are codes of ours."""

    reference = models.ForeignKey(ReferenceList, on_delete=models.CASCADE, related_name="dishes")
    position = models.PositiveIntegerField(help_text="Row of the file, counted from 1.")
    name = models.CharField(max_length=300)
    aliases = models.JSONField(default=list)
    countries = models.JSONField(default=list)
    filled = models.JSONField(default=list, help_text="Our fields of which the entry says something.")

    class Meta:
        verbose_name_plural = "reference dishes"
        constraints = [models.UniqueConstraint(fields=["reference", "position"], name="one_reference_dish_per_row")]

    def __str__(self) -> str:
        return self.name
