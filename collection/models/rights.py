"""Rows behind people's rights: return codes and finished turns. Persons are ids of contributors and reviewers alike.

Imported by `collection.models`; other code imports them from there.
"""

from django.db import models


class ReturnCode(models.Model):
    """The one live code of a person. Neither the digits nor anything that gives them without our key is stored."""

    class Kind(models.TextChoices):
        CONTRIBUTOR = "contributor", "contributor"
        REVIEWER = "reviewer", "reviewer"

    person = models.UUIDField(primary_key=True)
    kind = models.CharField(max_length=11, choices=Kind)
    seed = models.CharField(max_length=43, help_text="Random; gives the digits together with the site's key.")
    digest = models.CharField(max_length=64, unique=True, help_text="HMAC of the digits.")
    created_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return str(self.person)


class PhoneCode(models.Model):
    """A code that a phone made without a network, beside the one of `ReturnCode`. A phone sends no digits: `digest` is
    the HMAC of what it sends, their SHA-256. Without a person: a newer code took its place, and it comes back never."""

    digest = models.CharField(max_length=64, primary_key=True)
    person = models.UUIDField(null=True, blank=True, db_index=True)
    kind = models.CharField(max_length=11, choices=ReturnCode.Kind)
    created_at = models.DateTimeField()

    def __str__(self) -> str:
        return str(self.person)


class Tries(models.Model):
    """How often something limited was tried within one window of time."""

    key = models.CharField(max_length=64)
    window = models.DateTimeField(help_text="Start of the window.")
    number = models.PositiveIntegerField(default=0)
    last_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["key", "window"], name="one_row_per_key_and_window")]

    def __str__(self) -> str:
        return f"{self.key} {self.number}"


class FinishedTurn(models.Model):
    """When *finish* was said. Of a turn: nothing that was served in it proves anything. Of a person: nothing that was
    served to them before. Both are random ids; `person` holds either."""

    person = models.UUIDField(primary_key=True)
    at = models.DateTimeField()

    def __str__(self) -> str:
        return str(self.person)


class Withdrawal(models.Model):
    """Somebody's wish that a dish (or, without a dish, everything of theirs) goes. Hidden at once, erased later.

    `erase_after` is empty while a steward still has to decide.
    """

    class Reason(models.TextChoices):
        OWN = "own", "with the return code"
        EVERYTHING = "everything", "everything of this person, with the return code"
        LOST_CODE = "lost_code", "without the code: receipt number and name of the dish"
        STEWARD = "steward", "by a steward"

    dish = models.ForeignKey("collection.Dish", on_delete=models.CASCADE, null=True, related_name="withdrawals")
    person = models.UUIDField(null=True, db_index=True, help_text="Whose code can undo it.")
    reason = models.CharField(max_length=10, choices=Reason)
    former_state = models.CharField(max_length=12, blank=True)
    merged = models.JSONField(default=list, help_text="Ids of dishes that were merged into this one.")
    at = models.DateTimeField()
    erase_after = models.DateTimeField(null=True, blank=True)
    undone_at = models.DateTimeField(null=True, blank=True)
    erased_at = models.DateTimeField(null=True, blank=True)
    network = models.CharField(
        max_length=24, blank=True, db_index=True, help_text="Without the code: hash of the network's prefix."
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["dish"], condition=models.Q(undone_at=None), name="one_standing_withdrawal_per_dish"
            )
        ]
        indexes = [models.Index(fields=["erase_after"], condition=models.Q(erased_at=None), name="due_withdrawals")]

    def __str__(self) -> str:
        return f"{self.dish_id or self.person} {self.at:%Y-%m-%d}"
