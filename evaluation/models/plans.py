"""Plans made before the data: what will be counted and how, frozen with time and hash, never changed afterwards."""

import secrets
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models.functions import Now

FROZEN = "A frozen plan is never changed. Make a new plan that names this one."


class PlanFrozenError(ValueError):
    """A frozen plan is never changed: an amendment is a new plan that names the old one."""


class PlanQuerySet(models.QuerySet["Plan"]):
    """Changes of many rows at once stop at frozen plans too."""

    def update(self, **values: Any) -> int:
        self._refuse_frozen()
        return super().update(**values)

    def delete(self) -> tuple[int, dict[str, int]]:
        self._refuse_frozen()
        return super().delete()

    def _refuse_frozen(self) -> None:
        if self.exclude(frozen_at=None).exists():
            raise PlanFrozenError(str(FROZEN))


def mask_seed() -> str:
    return secrets.token_hex(16)


class Plan(models.Model):
    """A draft until `frozen_at`; then `sha256` is the hash of what `evaluation.plans.freezing` makes of it.

    `tables`: what will be looked at, [{"table", "version", "filters", "metrics"}]. `evidence`: how much data there was
    when it was frozen, [{"kind", "part", "run", "count"}].
    """

    class Family(models.TextChoices):
        TABLE_METRIC = "table-metric", "Holm, within each table and metric"
        PLAN = "plan", "Holm, over all tests of this plan"
        NONE = "none", "none: there is one test only"

    slug = models.SlugField(max_length=80, unique=True)
    title = models.CharField(max_length=120)
    hypotheses = models.TextField(max_length=5000)
    tables = models.JSONField(default=list)
    primary_table = models.CharField(max_length=80)
    primary_metric = models.CharField(max_length=80)
    groups = models.TextField(max_length=2000, help_text="Which groups are compared, and what is left out as small.")
    exclusions = models.TextField(max_length=2000, help_text="Which answers, people, pictures are left out, and why.")
    family = models.CharField(max_length=12, choices=Family, default=Family.TABLE_METRIC)
    stopping = models.TextField(max_length=2000, help_text="When no more data is added.")
    stop_reviews = models.PositiveIntegerField(
        null=True, blank=True, help_text="The data is not complete with fewer reviews than this."
    )
    stop_on = models.DateField(null=True, blank=True, help_text="The data is not complete before this day.")
    campaigns = models.JSONField(default=list, blank=True)
    runs = models.JSONField(default=list, blank=True)
    studies = models.JSONField(default=list, blank=True)
    masked = models.BooleanField(
        default=False, help_text="Models are called A, B, C until the analyses of the plan ran."
    )
    mask_places = models.BooleanField(default=False, help_text="Countries and continents too.")
    mask_seed = models.CharField(max_length=32, default=mask_seed, editable=False)
    amends = models.ForeignKey("self", on_delete=models.PROTECT, null=True, blank=True, related_name="amendments")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    frozen_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    frozen_at = models.DateTimeField(null=True, editable=False, help_text="By the database's clock.")
    evidence = models.JSONField(default=list, editable=False)
    sha256 = models.CharField(max_length=64, blank=True, editable=False)

    objects = PlanQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at", "-pk"]
        permissions = [("unmask_plan", "Can say which model is A, B, C")]

    def __str__(self) -> str:
        return self.title

    def save(self, *args: Any, **values: Any) -> None:
        if self.pk and Plan.objects.filter(pk=self.pk).exclude(frozen_at=None).exists():
            raise PlanFrozenError(str(FROZEN))
        super().save(*args, **values)

    def delete(self, *args: Any, **values: Any) -> tuple[int, dict[str, int]]:
        if self.frozen_at:
            raise PlanFrozenError(str(FROZEN))
        return super().delete(*args, **values)

    @property
    def before_data(self) -> bool:
        """Whether it was frozen before the first answer or unit."""
        counts = [found["count"] for found in self.evidence]
        return self.frozen_at is not None and bool(counts) and not any(counts)


class PlanAct(models.Model):
    """What somebody did about the mask of a plan: recorded once, never changed."""

    class Kind(models.TextChoices):
        UNMASKED = "unmasked", "unmasked after the analyses ran"
        EARLY = "early", "unmasked before the analyses ran"
        LOOKED = "looked", "looked once at a table without the mask"

    plan = models.ForeignKey(Plan, on_delete=models.PROTECT, related_name="acts")
    kind = models.CharField(max_length=8, choices=Kind)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    name = models.CharField(max_length=150, help_text="Who, or the account of the host where it was a command.")
    reason = models.TextField(max_length=2000, blank=True)
    at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        ordering = ["at", "pk"]

    def __str__(self) -> str:
        return f"{self.get_kind_display()}: {self.name}"


class MaskedName(models.Model):
    """What a model or place is called while a plan is masked. Given once, in an order drawn from the plan's seed.

    `kind`: "model", or a dimension that is masked, see `evaluation/metrics/dimensions.py`.
    """

    MODEL = "model"

    plan = models.ForeignKey(Plan, on_delete=models.CASCADE, related_name="names")
    kind = models.CharField(max_length=20)
    value = models.CharField(max_length=200)
    shown = models.CharField(max_length=40)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["plan", "kind", "value"], name="one_masked_name_per_value"),
            models.UniqueConstraint(fields=["plan", "kind", "shown"], name="one_value_per_masked_name"),
        ]

    def __str__(self) -> str:
        return self.shown
