"""Rows behind consent: the texts, what staff fill in before anything is collected, ambassadors.

Imported by `collection.models`; other code imports them from there.
"""

import secrets
import string
from datetime import date
from typing import Any, Self

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q
from django.utils import timezone

MOST_SENTENCES = 8
QUESTIONS = 3
# What the sentences may leave open; `Opening` and the text's own sentences about payment fill it.
PLACEHOLDERS = frozenset(
    {"controller", "contact", "ethics", "payment", "thanks", "kilobytes", "megabytes", "words", "photos"}
)


def find_placeholders(sentence: str) -> set[str]:
    """Names in braces. Raises ValidationError where braces are out of order."""
    try:
        return {name for _text, name, _spec, _conversion in string.Formatter().parse(sentence) if name is not None}
    except ValueError:
        raise ValidationError("A brace is missing in: %(sentence)s", params={"sentence": sentence}) from None


def check_sentences(value: Any) -> None:
    """A list of texts that leave open only what can be filled in."""
    if not isinstance(value, list) or not all(isinstance(sentence, str) and sentence.strip() for sentence in value):
        raise ValidationError('Write a list of sentences: ["…", "…"].')
    unknown = {name for sentence in value for name in find_placeholders(sentence)} - PLACEHOLDERS
    if unknown:
        raise ValidationError("Nothing fills in %(names)s.", params={"names": ", ".join(sorted(unknown))})


def check_eight(value: Any) -> None:
    check_sentences(value)
    if not 0 < len(value) <= MOST_SENTENCES:
        raise ValidationError("Write one to eight sentences.")


def check_one(value: Any) -> None:
    check_sentences([value])


def check_questions(value: Any) -> None:
    """Three of {"text": …, "answer": true or false, "sentence": index of the sentence that says so}."""
    entries = value if isinstance(value, list) else []
    good = [
        entry
        for entry in entries
        if isinstance(entry, dict)
        and isinstance(entry.get("text"), str)
        and isinstance(entry.get("answer"), bool)
        and isinstance(entry.get("sentence"), int)
        and 0 <= entry["sentence"] < MOST_SENTENCES
    ]
    if len(entries) != QUESTIONS or len(good) != QUESTIONS:
        raise ValidationError(
            'Write three questions: [{"text": "…", "answer": true, "sentence": 1}, …]. Sentences count from 0.'
        )


class ConsentText(models.Model):
    """One consent text in one language; never changed once it exists, a new version is added instead.

    It is a draft until a person who knows the language confirmed it.
    """

    version = models.PositiveIntegerField()
    language = models.CharField(max_length=12, help_text="As browsers write it: en, pt, zh-hant.")
    sentences = models.JSONField(
        validators=[check_eight],
        help_text="At most eight sentences, in order. {controller}, {contact}, {payment} and others are filled in.",
    )
    unpaid = models.CharField(max_length=300, default="", validators=[check_one], help_text="{payment} without any.")
    paid = models.CharField(max_length=300, default="", validators=[check_one], help_text="{payment} with {thanks}.")
    questions = models.JSONField(default=list, validators=[check_questions])
    aloud = models.JSONField(
        default=list,
        validators=[check_sentences],
        help_text="The short text that is read to somebody who does not read it.",
    )
    licence_words = models.CharField(max_length=60, default="CC-BY-4.0")
    licence_photos = models.CharField(max_length=60, default="CC-BY-NC-4.0")
    confirmed_by = models.CharField(
        max_length=120, blank=True, help_text="Name of the person who knows this language and stands for the text."
    )
    confirmed_on = models.DateField(null=True, blank=True)
    recording = models.CharField(max_length=40, blank=True, editable=False, db_index=True)
    recording_bytes = models.PositiveIntegerField(default=0, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["version", "language"], name="one_consent_per_version_language"),
            models.CheckConstraint(
                name="consent_confirmed_by_name_and_date",
                condition=Q(confirmed_by="", confirmed_on=None) | (~Q(confirmed_by="") & Q(confirmed_on__isnull=False)),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.version} ({self.language})"

    def clean(self) -> None:
        """The questions ask about sentences that exist; what is wrong in one field alone its validator says."""
        if isinstance(self.sentences, list) and isinstance(self.questions, list):
            asked = [entry.get("sentence") for entry in self.questions if isinstance(entry, dict)]
            if any(isinstance(place, int) and place >= len(self.sentences) for place in asked):
                raise ValidationError("A question is about a sentence that is not there. Sentences count from 0.")

    @property
    def confirmed(self) -> bool:
        return self.confirmed_on is not None


class Opening(models.Model):
    """What must be known before anything is collected. A change is a new row: the newest one counts, and each
    consent names the row whose values was in its text."""

    controller = models.CharField(max_length=200, blank=True, help_text="Who is responsible for the collection.")
    contact = models.CharField(
        max_length=200, blank=True, help_text="How to reach them without the web: a telephone number, an address."
    )
    ethics_reference = models.CharField(max_length=200, blank=True, help_text="Of the ethics committee's approval.")
    ethics_until = models.DateField(
        null=True, blank=True, help_text="The last day on which anything is collected, by the server's date (UTC)."
    )
    thanks = models.CharField(
        max_length=200,
        blank=True,
        help_text="What people get for taking part. Empty: the text says that it is unpaid.",
    )
    aliases = models.BooleanField(
        default=False, help_text="The leaderboard also shows the names that people chose to show."
    )
    kilobytes = models.PositiveIntegerField(
        default=50,
        validators=[MinValueValidator(1)],
        help_text="Data that one dish without a photo costs, in kB; stands in the consent text.",
    )
    megabytes = models.PositiveIntegerField(
        default=15, validators=[MinValueValidator(1), MaxValueValidator(15)], help_text="Data of the largest photo."
    )
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-pk"]
        verbose_name = "opening of the collection"
        verbose_name_plural = "opening of the collection"

    def __str__(self) -> str:
        return f"{self.ethics_reference or '–'} ({self.created_at:%Y-%m-%d})"


def new_invitation() -> str:
    return secrets.token_urlsafe(12)


class AmbassadorQuerySet(models.QuerySet["Ambassador"]):
    def active(self, today: date | None = None) -> Self:
        """Opened and not over yet, by the server's date."""
        return self.filter(contributor__isnull=False, until__gte=today or timezone.localdate())


class Ambassador(models.Model):
    """Somebody whom staff named to help others in one country, with raised limits until a day."""

    label = models.CharField(max_length=60, help_text="So that staff know who this is. Nobody else sees it.")
    country = models.ForeignKey("collection.Country", on_delete=models.PROTECT)
    until = models.DateField(help_text="The last day of the raised limits.")
    invitation = models.CharField(max_length=32, unique=True, default=new_invitation, editable=False)
    contributor = models.OneToOneField(
        "collection.Contributor", on_delete=models.SET_NULL, null=True, blank=True, editable=False
    )
    account = models.OneToOneField(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="as_ambassador",
        limit_choices_to={"groups__name": "ambassador"},
        help_text="A staff account of the group ambassador: until the last day it sees dishes of this country.",
    )
    opened_at = models.DateTimeField(null=True, editable=False)
    named_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, editable=False)
    named_at = models.DateTimeField(auto_now_add=True)

    objects = AmbassadorQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return self.label
