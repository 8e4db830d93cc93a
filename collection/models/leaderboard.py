"""What the leaderboard counts, kept as it changes. Other code imports it from `collection.models`."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class BoardName(models.Model):
    """A place, language, region or public name of which dishes were heard. `key` is its one form for all spellings."""

    class Kind(models.TextChoices):
        COUNTRY = "country", _("country")
        LANGUAGE = "language", _("language")
        REGION = "region", _("region")
        ALIAS = "alias", _("public name")

    kind = models.CharField(max_length=8, choices=Kind)
    key = models.CharField(max_length=240)
    label = models.CharField(max_length=200, help_text="As its first dish has it.")
    first_at = models.DateTimeField(help_text="When its first dish was told.")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["kind", "key"], name="one_board_name_per_key")]
        indexes = [models.Index(fields=["kind", "-first_at"])]

    def __str__(self) -> str:
        return self.label


class Heard(models.Model):
    """A counted dish stands for this name. Says what the counters hold, so that counting twice changes nothing."""

    dish = models.ForeignKey("collection.Dish", on_delete=models.CASCADE, related_name="heard")
    name = models.ForeignKey(BoardName, on_delete=models.CASCADE, related_name="heard")
    contributor = models.ForeignKey("collection.Contributor", on_delete=models.CASCADE, null=True)
    label = models.CharField(max_length=200)
    at = models.DateTimeField(help_text="When the dish was told.")
    imported = models.BooleanField(default=False, help_text="Told elsewhere: it counts for no day and no month.")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["dish", "name"], name="one_hearing_per_dish_and_name")]
        indexes = [models.Index(fields=["name", "at"]), models.Index(fields=["name", "contributor"])]

    def __str__(self) -> str:
        return f"{self.dish_id} {self.name_id}"


class Tally(models.Model):
    """How many dishes a name has in a period that begins at `start` (UTC), and how many people told them."""

    class Period(models.TextChoices):
        DAY = "day", _("today")
        MONTH = "month", _("this month")
        EVER = "ever", _("ever")

    name = models.ForeignKey(BoardName, on_delete=models.CASCADE, related_name="tallies")
    kind = models.CharField(max_length=8, choices=BoardName.Kind, help_text="As its name's: what lists search by.")
    period = models.CharField(max_length=5, choices=Period)
    start = models.DateField()
    dishes = models.PositiveIntegerField(default=0)
    people = models.PositiveIntegerField(default=0, help_text="Of countries, over all time.")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["name", "period", "start"], name="one_tally_per_name_and_period")
        ]
        indexes = [models.Index(fields=["kind", "period", "start", "-dishes"])]

    def __str__(self) -> str:
        return f"{self.name_id} {self.period} {self.start}: {self.dishes}"
