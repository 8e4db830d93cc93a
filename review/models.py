"""Community review: campaigns, invitations, reviewers, assignments and what people said of each picture."""

import secrets
import uuid

from django.db import models
from django.db.models import F, Q
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from collection.models import Country, Source
from evaluation.models import GeneratedImage


class Questionnaire(models.Model):
    """A questionnaire as versioned data; a changed word is a new version. `definition` as in the data file."""

    slug = models.SlugField(max_length=80)
    version = models.CharField(max_length=40)
    title = models.CharField(max_length=120)
    source = models.CharField(max_length=200, blank=True)
    definition = models.JSONField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["slug", "version"], name="one_questionnaire_per_version")]

    def __str__(self) -> str:
        return f"{self.slug} {self.version}"


class Campaign(models.Model):
    """Pictures to be judged, by whom, how often, with which questionnaire."""

    class State(models.TextChoices):
        DRAFT = "draft", _("draft")
        OPEN = "open", _("open")
        CLOSED = "closed", _("closed")

    slug = models.SlugField(max_length=80, unique=True)
    title = models.CharField(max_length=120)
    questionnaire = models.ForeignKey(Questionnaire, on_delete=models.PROTECT)
    wanted_opinions = models.PositiveSmallIntegerField(default=3)
    state = models.CharField(max_length=8, choices=State, default=State.DRAFT)
    opens_at = models.DateTimeField(null=True, blank=True)
    closes_at = models.DateTimeField(null=True, blank=True)
    source = models.CharField(max_length=16, choices=Source, default=Source.FORM)

    def __str__(self) -> str:
        return self.title

    def is_open(self) -> bool:
        now = timezone.now()
        started = self.opens_at is None or self.opens_at <= now
        ended = self.closes_at is not None and self.closes_at <= now
        return self.state == self.State.OPEN and started and not ended


class CampaignImage(models.Model):
    """A picture in a campaign, judged for one country. `id` is random: it tells nothing of model or order."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="images")
    image = models.ForeignKey(GeneratedImage, on_delete=models.CASCADE)
    country = models.CharField(max_length=120)
    dish_name = models.CharField(max_length=200, help_text=_("As the contributor wrote it."))
    copy_sha256 = models.CharField(
        max_length=64, blank=True, help_text=_("The review copy, equal in kind for all models.")
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["campaign", "image", "country"], name="one_image_per_campaign_country")
        ]
        indexes = [models.Index(fields=["campaign", "country"])]

    def __str__(self) -> str:
        return str(self.id)


def invitation_code() -> str:
    return secrets.token_urlsafe(12)


class Invitation(models.Model):
    """A link that lets people join a campaign; counted when consent is given, never by looking."""

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="invitations")
    code = models.CharField(max_length=32, unique=True, default=invitation_code)
    country = models.ForeignKey(Country, on_delete=models.PROTECT, null=True, blank=True)
    limit = models.PositiveIntegerField(
        null=True, blank=True, help_text=_("How many people may join; empty for any number.")
    )
    used = models.PositiveIntegerField(default=0)
    revoked_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(limit=None) | Q(used__lte=F("limit")), name="invitation_within_limit")
        ]

    def __str__(self) -> str:
        return self.code

    def get_absolute_url(self) -> str:
        return reverse("review:invitation", args=[self.code])


class ReviewerConsent(models.Model):
    """Warning and consent as shown to reviewers; never changed once somebody agreed, a new version is added."""

    version = models.PositiveIntegerField()
    language = models.CharField(max_length=12)
    warning = models.JSONField(help_text=_("Sentences shown first."))
    sentences = models.JSONField(help_text=_("At most eight sentences, in order."))
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["version", "language"], name="one_reviewer_consent_per_version_language")
        ]

    def __str__(self) -> str:
        return f"{self.version} ({self.language})"


class Reviewer(models.Model):
    """Somebody who judges pictures in one campaign; nothing that names a person is stored here."""

    class Role(models.TextChoices):
        VOLUNTEER = "volunteer", _("volunteer")
        AMBASSADOR = "ambassador", _("ambassador")
        AUTHOR = "author", _("author of the study")

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="reviewers")
    invitation = models.ForeignKey(Invitation, on_delete=models.SET_NULL, null=True, blank=True)
    country = models.CharField(max_length=120, help_text=_("Whose dishes are theirs to judge."))
    role = models.CharField(max_length=10, choices=Role, blank=True)
    consent = models.ForeignKey(ReviewerConsent, on_delete=models.PROTECT, null=True)
    consent_at = models.DateTimeField(null=True)
    source = models.CharField(max_length=16, choices=Source, default=Source.FORM)
    source_key = models.CharField(max_length=120, unique=True, null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return str(self.id)


class Assignment(models.Model):
    """A picture reserved for a reviewer, then answered or skipped. A person gets a picture once."""

    class State(models.TextChoices):
        RESERVED = "reserved", _("reserved")
        ANSWERED = "answered", _("answered")
        SKIPPED = "skipped", _("skipped")
        REPORTED = "reported", _("reported")
        EXPIRED = "expired", _("expired")

    reviewer = models.ForeignKey(Reviewer, on_delete=models.CASCADE, related_name="assignments")
    image = models.ForeignKey(CampaignImage, on_delete=models.CASCADE, related_name="assignments")
    state = models.CharField(max_length=8, choices=State, default=State.RESERVED)
    until = models.DateTimeField()
    shown_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["reviewer", "image"], name="one_assignment_per_person_and_image")
        ]
        indexes = [models.Index(fields=["image", "state"])]

    def __str__(self) -> str:
        return f"{self.reviewer_id} {self.image_id}"


class Review(models.Model):
    """One person's judgement of one picture.

    `answers` is what was said, by question code of the campaign's questionnaire. The columns are the constructs
    that every version of E.2 shares, filled once by `review.questionnaires.constructs`; None is unanswered.
    """

    class Familiarity(models.TextChoices):
        NOT = "not", _("not at all")
        SOMEWHAT = "somewhat", _("somewhat")
        VERY = "very", _("very")

    class Match(models.TextChoices):
        EXACT = "exact", _("very close, looks exactly like it")
        RESEMBLES = "resembles", _("resembles it, but not what I expect")
        NONE = "none", _("not at all like it")
        ADDED = "added", _("the dish, with components that should not be there")
        MISSING = "missing", _("misses key components")
        UNEXPECTED = "unexpected", _("resembles it, with unexpected components (release only)")
        UNKNOWN = "unknown", _("reviewer did not know (release only)")

    reviewer = models.ForeignKey(Reviewer, on_delete=models.CASCADE, related_name="reviews")
    image = models.ForeignKey(CampaignImage, on_delete=models.CASCADE, related_name="reviews")
    answers = models.JSONField(default=dict)
    associates = models.BooleanField(null=True)
    familiarity = models.CharField(max_length=10, choices=Familiarity, blank=True)
    quality = models.PositiveSmallIntegerField(null=True, help_text=_("0 to 5; the release has 1 to 5."))
    food = models.BooleanField(null=True)
    correct_dish = models.BooleanField(null=True)
    match = models.CharField(max_length=10, choices=Match, blank=True)
    disturbing = models.BooleanField(null=True)
    published_flags = models.JSONField(
        null=True, blank=True, help_text=_("Derived columns of the release, as released.")
    )
    surplus = models.BooleanField(default=False, help_text=_("Came after the wanted number of opinions was reached."))
    source_key = models.CharField(max_length=300, unique=True, null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["reviewer", "image"], name="one_review_per_person_and_image")]

    def __str__(self) -> str:
        return f"{self.reviewer_id} {self.image_id}"


class ReviewChange(models.Model):
    """One correction of a review by its reviewer: the answers that stood there before."""

    review = models.ForeignKey(Review, on_delete=models.CASCADE, related_name="changes")
    at = models.DateTimeField(auto_now_add=True)
    before = models.JSONField(help_text=_("The former answers."))

    class Meta:
        ordering = ["-at"]

    def __str__(self) -> str:
        return f"{self.review_id} {self.at:%Y-%m-%d}"
