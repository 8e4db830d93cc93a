"""Community review: campaigns, invitations, reviewers, assignments and what people said of each image."""

import secrets
import uuid
from typing import Self

from django.conf import settings
from django.core.validators import MaxValueValidator
from django.db import models
from django.db.models import F, Q
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from collection.models import Country, Source
from evaluation.models import GeneratedImage, Model, Run

# No signs that look alike: a short code is read out, or copied from paper.
SHORT_SIGNS = "abcdefghjkmnpqrstuvwxyz23456789"


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
    """Images to be judged, by whom, how often, with which questionnaire."""

    class State(models.TextChoices):
        DRAFT = "draft", _("draft")
        OPEN = "open", _("open")
        CLOSED = "closed", _("closed")

    slug = models.SlugField(max_length=80, unique=True)
    title = models.CharField(max_length=120)
    questionnaire = models.ForeignKey(Questionnaire, on_delete=models.PROTECT)
    wanted_opinions = models.PositiveSmallIntegerField(default=3)
    state = models.CharField(max_length=8, choices=State, default=State.DRAFT)
    real_percent = models.PositiveSmallIntegerField(
        default=5,
        validators=[MaxValueValidator(50)],
        help_text="Unmarked real photographs among the pictures, in per cent.",
    )
    repeat_percent = models.PositiveSmallIntegerField(
        default=5,
        validators=[MaxValueValidator(50)],
        help_text="Pictures that a person is asked about once more after a while, in per cent of their answers.",
    )
    ethics_reference = models.CharField(max_length=200, blank=True, help_text="Who approved the study, and the number.")
    opens_at = models.DateTimeField(null=True, blank=True)
    closes_at = models.DateTimeField(null=True, blank=True)
    source = models.CharField(max_length=16, choices=Source, default=Source.FORM)
    held_back_at = models.DateTimeField(
        null=True,
        editable=False,
        help_text="Since when an open campaign shows no pictures, because something that it needs is missing.",
    )

    def __str__(self) -> str:
        return self.title

    def is_open(self) -> bool:
        if self.held_back_at:
            return False
        now = timezone.now()
        started = self.opens_at is None or self.opens_at <= now
        ended = self.closes_at is not None and self.closes_at <= now
        return self.state == self.State.OPEN and started and not ended


class CampaignText(models.Model):
    """What a campaign says of itself before anybody joins, in one language."""

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="texts")
    language = models.CharField(max_length=12, help_text="Language tag: en, ar, pt-br.")
    title = models.CharField(max_length=120)
    introduction = models.TextField(max_length=2000, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["campaign", "language"], name="one_text_per_campaign_language")]

    def __str__(self) -> str:
        return f"{self.title} ({self.language})"


class SupportContact(models.Model):
    """Somebody whom reviewers of a country can call when images upset them."""

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="contacts")
    country = models.CharField(max_length=120, help_text="As the pictures' country is written.")
    name = models.CharField(max_length=120)
    phone = models.CharField(max_length=40, help_text="With the country's code: +234 …")
    note = models.CharField(max_length=200, blank=True, help_text="Languages and hours, for example.")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["campaign", "country", "phone"], name="one_contact_per_campaign_country")
        ]

    def __str__(self) -> str:
        return f"{self.name} ({self.country})"


class FirstLook(models.Model):
    """Somebody of the staff looked at the first images of a model before reviewers do."""

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="looks")
    model = models.ForeignKey(Model, on_delete=models.CASCADE)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["campaign", "model"], name="one_first_look_per_model")]

    def __str__(self) -> str:
        return f"{self.campaign_id} {self.model_id}"


class CampaignImage(models.Model):
    """An image in a campaign, judged for one country. `id` is random: it reveals nothing of model or order."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="images")
    image = models.ForeignKey(GeneratedImage, on_delete=models.CASCADE)
    country = models.CharField(max_length=120)
    dish_name = models.CharField(max_length=200, help_text="As the contributor wrote it.")
    copy_sha256 = models.CharField(
        max_length=64, blank=True, help_text="The review copy, equal in kind for all models."
    )
    opinions = models.PositiveIntegerField(
        default=0, editable=False, help_text="Counted reviews, kept in the transaction of each change."
    )
    large_sha256 = models.CharField(max_length=64, blank=True, help_text="The larger copy, shown on request.")
    looked_at = models.DateTimeField(
        null=True, editable=False, help_text="When somebody of the staff first looked at it before reviewers do."
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["campaign", "image", "country"], name="one_image_per_campaign_country")
        ]
        indexes = [
            models.Index(fields=["campaign", "country"]),
            models.Index(fields=["dish_name"], opclasses=["varchar_pattern_ops"], name="campaign_images_by_dish"),
            models.Index(fields=["country", "image"], name="campaign_images_of_countries"),
        ]

    def __str__(self) -> str:
        return str(self.id)


class ContentTag(models.Model):
    """Something in an image that reviewers may choose never to see."""

    class Kind(models.TextChoices):
        BLOOD = "blood", _("blood or raw meat")
        ANIMALS = "animals", _("whole animals or their heads")
        INSECTS = "insects", _("insects")
        PORK = "pork", _("pork")
        ALCOHOL = "alcohol", _("alcohol")
        PEOPLE = "people", _("distorted people, hands or faces")
        SPOILED = "spoiled", _("food that looks spoiled or dirty")
        INSULTING = "insulting", _("something that may insult a people or a faith")

    image = models.ForeignKey(CampaignImage, on_delete=models.CASCADE, related_name="tags")
    kind = models.CharField(max_length=12, choices=Kind)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["image", "kind"], name="one_tag_of_a_kind_per_image")]

    def __str__(self) -> str:
        return self.get_kind_display()


class Preparation(models.Model):
    """Images that are being prepared for a campaign, away from any request. The lease is by the database's clock."""

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="preparations")
    run = models.ForeignKey(Run, on_delete=models.CASCADE, null=True, blank=True)
    model = models.ForeignKey(Model, on_delete=models.CASCADE, null=True, blank=True)
    countries = models.JSONField(default=list, help_text="Of the dishes; empty for all.")
    dishes = models.JSONField(default=list, help_text="Names or numbers; empty for all.")
    total = models.PositiveIntegerField(default=0)
    done = models.PositiveIntegerField(default=0)
    added = models.PositiveIntegerField(default=0)
    last = models.PositiveBigIntegerField(default=0, help_text="Where to go on: the last picture that was handled.")
    left_out = models.JSONField(default=dict, help_text="Why pictures were left out, and how many.")
    leased_until = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"{self.done} / {self.total}"


def invitation_code() -> str:
    return secrets.token_urlsafe(12)


def short_code() -> str:
    return "".join(secrets.choice(SHORT_SIGNS) for _ in range(8))


class Invitation(models.Model):
    """A link that lets people join a campaign; counted when consent is given, never by looking."""

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="invitations")
    code = models.CharField(max_length=32, unique=True, default=invitation_code)
    short = models.CharField(
        max_length=8, unique=True, default=short_code, help_text="To be read out, or written on paper."
    )
    country = models.ForeignKey(Country, on_delete=models.PROTECT, null=True, blank=True)
    meant_for = models.CharField(max_length=120, blank=True, help_text="A person or group; only staff see it.")
    limit = models.PositiveIntegerField(
        null=True, blank=True, help_text="How many people may join; empty for any number."
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
    warning = models.JSONField(help_text="Sentences shown first.")
    sentences = models.JSONField(help_text="At most eight sentences, in order.")
    confirmed_by = models.CharField(max_length=120, blank=True, help_text="Who read it and stands for its words.")
    confirmed_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["version", "language"], name="one_reviewer_consent_per_version_language")
        ]

    def __str__(self) -> str:
        return f"{self.version} ({self.language})"


class Reviewer(models.Model):
    """Somebody who judges images in one campaign; nothing that names a person is stored here."""

    class Role(models.TextChoices):
        VOLUNTEER = "volunteer", _("volunteer")
        AMBASSADOR = "ambassador", _("ambassador")
        AUTHOR = "author", _("author of the study")

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="reviewers")
    invitation = models.ForeignKey(Invitation, on_delete=models.SET_NULL, null=True, blank=True)
    country = models.CharField(max_length=120, help_text="Whose dishes are theirs to judge.")
    role = models.CharField(max_length=10, choices=Role, blank=True)
    consent = models.ForeignKey(ReviewerConsent, on_delete=models.PROTECT, null=True)
    consent_draft = models.ForeignKey(
        ReviewerConsent,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        help_text="The unconfirmed translation that stood beside it.",
    )
    consent_at = models.DateTimeField(null=True)
    avoids = models.JSONField(default=list, blank=True, help_text="Kinds of content that this person never sees.")
    rested_at = models.DateTimeField(null=True, blank=True, help_text="When they last went on after a pause.")
    withdrawn_at = models.DateTimeField(null=True, blank=True)
    keep_answers = models.BooleanField(default=False, help_text="Withdrew, and leaves the answers without a name.")
    source = models.CharField(max_length=16, choices=Source, default=Source.FORM)
    source_key = models.CharField(max_length=120, unique=True, null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True, db_index=True)

    def __str__(self) -> str:
        return str(self.id)


class ReviewerBackground(models.Model):
    """What reviewers told about themselves, freely. Only stewards may read it; no export contains it."""

    reviewer = models.OneToOneField(Reviewer, on_delete=models.CASCADE, primary_key=True, related_name="background")
    countries = models.TextField(max_length=500, blank=True)
    cultures = models.TextField(max_length=500, blank=True)
    languages = models.TextField(max_length=500, blank=True)
    lived = models.TextField(max_length=500, blank=True)
    told_at = models.DateTimeField(auto_now=True)

    class Meta:
        verbose_name = "background of a reviewer"
        verbose_name_plural = "backgrounds of reviewers"

    def __str__(self) -> str:
        return str(self.reviewer_id)


class Note(models.Model):
    """A note of a reviewer to the team, and the team's answer."""

    reviewer = models.ForeignKey(Reviewer, on_delete=models.CASCADE, related_name="notes")
    text = models.TextField(max_length=2000)
    at = models.DateTimeField(auto_now_add=True)
    answer = models.TextField(max_length=2000, blank=True)
    answered_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True)
    answered_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-at"]

    def __str__(self) -> str:
        return self.text[:60]


class Exclusion(models.Model):
    """A reviewer left out of the tables, with the reason; tables can be shown with and without."""

    reviewer = models.OneToOneField(Reviewer, on_delete=models.CASCADE, primary_key=True, related_name="exclusion")
    reason = models.TextField(max_length=1000)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT)
    at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.reason[:60]


class Assignment(models.Model):
    """An image reserved for a reviewer, then answered or skipped. Once per person, and once more as a repeat."""

    class State(models.TextChoices):
        RESERVED = "reserved", _("reserved")
        ANSWERED = "answered", _("answered")
        SKIPPED = "skipped", _("skipped")
        REPORTED = "reported", _("reported")
        EXPIRED = "expired", _("expired")

    class Reason(models.TextChoices):
        UPSETTING = "upsetting", _("It upsets me")
        UNKNOWN = "unknown", _("I do not know the dish")
        UNCLEAR = "unclear", _("I cannot tell what to answer")
        BROKEN = "broken", _("The picture did not arrive")
        OTHER = "other", _("Something else")

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    reviewer = models.ForeignKey(Reviewer, on_delete=models.CASCADE, related_name="assignments")
    image = models.ForeignKey(CampaignImage, on_delete=models.CASCADE, related_name="assignments")
    repeat = models.BooleanField(default=False)
    state = models.CharField(max_length=8, choices=State, default=State.RESERVED)
    reason = models.CharField(max_length=10, choices=Reason, blank=True, help_text="Of a skip or a report.")
    until = models.DateTimeField()
    begun = models.JSONField(
        default=dict,
        blank=True,
        editable=False,
        help_text="What was chosen on the first page of questions while the second one is asked; no free words.",
    )
    shown_at = models.DateTimeField(null=True, blank=True)
    handled_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True, db_index=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["reviewer", "image", "repeat"], name="one_assignment_per_person_and_image")
        ]
        indexes = [
            models.Index(fields=["image", "state"]),
            models.Index(fields=["reviewer", "handled_at"]),
            models.Index(fields=["image"], condition=Q(state="reported"), name="reported_pictures"),
            models.Index(fields=["image", "until"], condition=Q(state="reserved"), name="reserved_pictures"),
            models.Index(fields=["reason", "created_at"], condition=~Q(reason=""), name="assignments_by_reason"),
        ]

    def __str__(self) -> str:
        return f"{self.reviewer_id} {self.image_id}"


class ReviewQuerySet(models.QuerySet["Review"]):
    """The one definition of which reviews tables count."""

    def counted(self, include_excluded: bool = False) -> Self:
        """Not surplus, no repeat, not by somebody who withdrew their answers; left out persons only when asked for."""
        kept = self.present().filter(surplus=False, repeat=False)
        return kept if include_excluded else kept.filter(reviewer__exclusion=None)

    def present(self) -> Self:
        """Everything except answers that their reviewer withdrew: surplus and repeats included."""
        return self.filter(Q(reviewer__withdrawn_at=None) | Q(reviewer__keep_answers=True))


class Review(models.Model):
    """One person's judgement of one image.

    `answers` is what was said, by question code of the campaign's questionnaire. The columns are the constructs
    that every version of E.2 shares, filled once by `derive_construct_columns`; None is unanswered.
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
    quality = models.PositiveSmallIntegerField(null=True, help_text="0 to 5; the release has 1 to 5.")
    food = models.BooleanField(null=True)
    correct_dish = models.BooleanField(null=True)
    match = models.CharField(max_length=10, choices=Match, blank=True)
    disturbing = models.BooleanField(null=True)
    published_flags = models.JSONField(null=True, blank=True, help_text="Derived columns of the release, as released.")
    surplus = models.BooleanField(default=False, help_text="Came after the wanted number of opinions was reached.")
    repeat = models.BooleanField(default=False, help_text="The same picture asked about once more.")
    words_read_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        help_text="Who read the free text and found nothing that tells who somebody is; exports need it.",
    )
    words_read_at = models.DateTimeField(null=True, blank=True)
    source_key = models.CharField(max_length=300, unique=True, null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = ReviewQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["reviewer", "image", "repeat"], name="one_review_per_person_and_image")
        ]
        # For lists of staff, whichever of them is rare.
        indexes = [
            models.Index(fields=["id"], condition=Q(surplus=True), name="surplus_reviews"),
            models.Index(fields=["id"], condition=Q(repeat=True), name="repeated_reviews"),
            models.Index(fields=["id"], condition=Q(words_read_at=None), name="reviews_to_be_read"),
            models.Index(fields=["id"], condition=Q(words_read_at__isnull=False), name="reviews_read"),
        ]
        permissions = [("read_answers", "Can read single answers of reviewers beside pictures, without any name")]

    def __str__(self) -> str:
        return f"{self.reviewer_id} {self.image_id}"


class ReviewChange(models.Model):
    """One correction of a review by its reviewer: the answers that was there before."""

    review = models.ForeignKey(Review, on_delete=models.CASCADE, related_name="changes")
    at = models.DateTimeField(auto_now_add=True)
    before = models.JSONField(help_text="The former answers.")

    class Meta:
        ordering = ["-at"]

    def __str__(self) -> str:
        return f"{self.review_id} {self.at:%Y-%m-%d}"
