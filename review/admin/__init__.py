"""Pages of staff: campaigns with their invitations and progress, images, reviewers, what was reported."""

from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.auth.models import User
from django.db.models import Exists, Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.views.generic import RedirectView

from collection.models import Source
from evaluation import cached_counts
from review import rights
from review.admin import pages
from review.admin.cached_progress import get_campaign_progress
from review.admin.preview import preview_campaign
from review.campaigns import readiness
from review.models import (
    Assignment,
    Campaign,
    CampaignImage,
    CampaignText,
    Exclusion,
    Invitation,
    Note,
    Questionnaire,
    Review,
    Reviewer,
    ReviewerBackground,
    ReviewerConsent,
    SupportContact,
)
from review.signed_links import image_address, reviewer_of
from review.unappetising import text_codes
from wwd.base.admin_lists import PlainSelect, ReadOnly, StaffList


class Invitations(admin.TabularInline):
    """The links to a campaign; a new one gets its code when it is saved."""

    model = Invitation
    extra = 0
    fields = ("country", "meant_for", "limit", "used", "short", "link", "revoked_at")
    readonly_fields = ("used", "short", "link")

    def get_formset(self, request: HttpRequest, obj: Model | None = None, **more: Any) -> Any:
        self.request = request
        return super().get_formset(request, obj, **more)

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **more: Any) -> Any:
        """The choices are read once, not again for each invitation."""
        field: Any = super().formfield_for_foreignkey(db_field, request, **{**more, "widget": PlainSelect()})
        # By an iterator, which is not asked for its length first.
        field.choices = list(iter(field.choices))
        return field

    @admin.display(description="link")
    def link(self, invitation: Invitation) -> str:
        if invitation.pk is None:
            return "—"
        return format_html('<a href="{0}">{0}</a>', self.request.build_absolute_uri(invitation.get_absolute_url()))


class Texts(admin.StackedInline):
    model = CampaignText
    extra = 0


class Contacts(admin.TabularInline):
    model = SupportContact
    extra = 0


class CampaignForm(forms.ModelForm):
    """Opening is refused with the list of what is missing."""

    class Meta:
        model = Campaign
        fields = "__all__"  # noqa: DJ007  (staff see every field of a campaign)

    def clean_source(self) -> str:
        source = str(self.cleaned_data["source"])
        if source == Source.IMPORT and self.instance.source != Source.IMPORT:
            raise forms.ValidationError("Published data enters by its import only.")
        return source

    def clean(self) -> dict[str, Any] | None:
        cleaned = super().clean() or {}
        for name in ("source", "opens_at", "closes_at"):
            setattr(self.instance, name, cleaned.get(name, getattr(self.instance, name)))
        if cleaned.get("state") == Campaign.State.OPEN:
            lacking = readiness.list_missing_steps(self.instance, cleaned.get("ethics_reference", ""))
            if lacking:
                self.add_error("state", ["The campaign cannot open yet. Save it as a draft first.", *lacking])
        return cleaned


@admin.register(Campaign)
class CampaignAdmin(StaffList):
    form = CampaignForm
    list_display = (
        "title",
        "state",
        "held_back_at",
        "questionnaire",
        "wanted_opinions",
        "source",
        "opens_at",
        "closes_at",
    )
    list_filter = ("state", "source")
    search_fields = ("title__icontains", "slug__icontains")
    prepopulated_fields = {"slug": ("title",)}
    inlines = (Texts, Contacts, Invitations)
    change_form_template = "review/admin/campaign.html"

    def get_readonly_fields(self, request: HttpRequest, obj: Campaign | None = None) -> tuple[str, ...]:
        return ("source",) if obj else ()

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view
        own = [
            path("<int:pk>/images/", view(pages.add_images), name="review_campaign_images"),
            # The address until November 2026.
            path("<int:pk>/pictures/", RedirectView.as_view(pattern_name="admin:review_campaign_images")),
            path("<int:pk>/look/<int:model>/", view(pages.show_first_images), name="review_campaign_look"),
            path("<int:pk>/preview/", view(preview_campaign), name="review_campaign_preview"),
        ]
        return [*own, *super().get_urls()]

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        """Contacts are saved after the campaign: one that was taken away is missing from now on."""
        super().save_related(request, form, formsets, change)
        readiness.recheck_open_campaigns()

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Campaign | None:
        """With what its page needs to know. Read once for each request to look at it."""
        held = request.__dict__.setdefault("campaigns", {}) if request.method == "GET" else {}
        if object_id not in held:
            rows = self.get_queryset(request).filter(pk=object_id) if object_id.isdecimal() else Campaign.objects.none()
            large = cached_counts.is_large(CampaignImage.objects.all(), "campaign")
            held[object_id] = rows.annotate(large=large, consented=Exists(readiness.confirmed_texts())).first()
        found: Campaign | None = held[object_id]
        return found

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        campaign = self.get_object(request, object_id)
        shown = build_campaign_context(campaign) if campaign else {}
        return super().change_view(request, object_id, form_url, {**(extra_context or {}), **shown})


def build_campaign_context(campaign: Any) -> dict[str, Any]:
    """What the page of a campaign shows beside its fields."""
    now = get_campaign_progress(campaign, large=campaign.large)
    images = campaign.large or bool(now["progress"]["country"])
    return {
        "missing": readiness.list_missing_steps(campaign, None, now["to_look_at"], images, campaign.consented),
        "preparations": campaign.preparations.order_by("-pk")[:5],
        **now,
    }


@admin.register(Invitation)
class InvitationAdmin(StaffList):
    list_display = ("code", "short", "campaign", "country", "meant_for", "used", "limit", "revoked_at")
    list_filter = ("campaign",)
    list_select_related = ("campaign", "country")
    search_fields = ("code__startswith", "short__startswith", "meant_for__istartswith")
    readonly_fields = ("code", "short", "used", "address")
    actions = ("revoke",)

    @admin.display(description="address")
    def address(self, invitation: Invitation) -> str:
        return invitation.get_absolute_url() if invitation.pk else "—"

    @admin.action(description="Withdraw: nobody joins or answers with this link any more", permissions=["change"])
    def revoke(self, request: HttpRequest, rows: QuerySet[Invitation]) -> None:
        rows.filter(revoked_at=None).update(revoked_at=timezone.now())


@admin.register(CampaignImage)
class CampaignImageAdmin(ReadOnly):
    dish_path = "image__subject__dish"
    list_display = ("blurred", "dish_name", "country", "campaign")
    list_filter = ("campaign",)
    search_fields = ("dish_name__startswith", "pk__exact")
    list_select_related = ("campaign",)

    class Media:
        css = {"all": ("review/admin.css",)}

    @admin.display(description="image")
    def blurred(self, image: CampaignImage) -> SafeString | str:
        if not image.copy_sha256:
            return "not held"
        return format_html(
            '<img class="blurred" tabindex="0" src="{}" alt="" width="96" height="96" loading="lazy">',
            image_address(image),
        )


@admin.register(Reviewer)
class ReviewerAdmin(ReadOnly):
    """Searching takes a personal link too: anyone who brings theirs can have their answers withdrawn."""

    list_display = ("id", "campaign", "country", "role", "source", "created_at", "withdrawn_at", "report")
    list_filter = ("campaign", "role", "source")
    list_select_related = ("campaign",)
    search_fields = ("pk__exact",)
    search_help_text = "An id, or the personal link that a reviewer brings."
    actions = ("withdraw",)
    ordering = ("-created_at",)

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(pages.reviewer_report)
        return [path("<uuid:pk>/report/", view, name="review_reviewer_report"), *super().get_urls()]

    @admin.action(
        description="Withdraw: their answers count no more and are erased after seven days", permissions=["act"]
    )
    def withdraw(self, request: HttpRequest, rows: QuerySet[Reviewer]) -> None:
        for reviewer in rows:
            rights.withdraw_reviewer(reviewer, keep_answers=False)

    @admin.display(description="what they did")
    def report(self, reviewer: Reviewer) -> SafeString:
        address = reverse("admin:review_reviewer_report", args=[reviewer.pk])
        return format_html('<a href="{}">{}</a>', address, "answers, speed, agreement")

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Reviewer], search_term: str
    ) -> tuple[QuerySet[Reviewer], bool]:
        found = reviewer_of(search_term.strip().rstrip("/").rsplit("/", 1)[-1])
        if found:
            return queryset.filter(pk=found.pk), False
        return super().get_search_results(request, queryset, search_term)


@admin.register(Assignment)
class AssignmentAdmin(ReadOnly):
    """What was reported stays hidden until somebody looked at it and shows it again."""

    dish_path = "image__image__subject__dish"
    list_display = ("thumbnail", "state", "reason", "repeat", "created_at")
    list_filter = ("state", "reason", "image__campaign")
    list_select_related = ("image",)
    search_fields = ("image__exact", "reviewer__exact", "pk__exact")
    search_help_text = "The id of an image of the campaign, of a reviewer, or of the row."
    actions = ("show_again",)
    ordering = ("-created_at",)

    @admin.display(description="image")
    def thumbnail(self, assignment: Assignment) -> SafeString:
        address = reverse("admin:review_campaignimage_changelist")
        return format_html('<a href="{}?id={}">{}</a>', address, assignment.image_id, assignment.image.dish_name)

    @admin.action(description="Show the reported image again (not to who reported it)", permissions=["act"])
    def show_again(self, request: HttpRequest, rows: QuerySet[Assignment]) -> None:
        rows.filter(state=Assignment.State.REPORTED).update(state=Assignment.State.SKIPPED)


@admin.register(Review)
class ReviewAdmin(ReadOnly):
    dish_path = "image__image__subject__dish"
    list_display = ("image", "reviewer", "food", "correct_dish", "quality", "match", "disturbing", "surplus", "words")
    list_filter = ("image__campaign", "surplus", "repeat", ("words_read_at", admin.EmptyFieldListFilter))
    list_select_related = ("image", "reviewer")
    search_fields = ("image__exact", "reviewer__exact", "image__dish_name__startswith")
    search_help_text = "The id of an image of the campaign or of a reviewer, or the beginning of a dish's name."
    actions = ("words_read",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Review]:
        """Campaigns apart: a questionnaire is long, and many reviews have the same one."""
        return super().get_queryset(request).prefetch_related("reviewer__campaign__questionnaire")

    @admin.display(description="in their own words")
    def words(self, review: Review) -> str:
        codes = text_codes(review.reviewer.campaign.questionnaire.definition)
        return " · ".join(str(review.answers[code]) for code in codes if review.answers.get(code))

    @admin.action(description="I read the words: nothing in them tells who somebody is", permissions=["act"])
    def words_read(self, request: HttpRequest, rows: QuerySet[Review]) -> None:
        pages.mark_words_read(rows, request.user.pk)


@admin.register(ReviewerConsent)
class ReviewerConsentAdmin(ReadOnly):
    """The words are data files; staff only say who confirmed them."""

    list_display = ("version", "language", "confirmed_by", "confirmed_at")

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return request.user.has_perm("review.change_reviewerconsent")

    def get_readonly_fields(self, request: HttpRequest, obj: ReviewerConsent | None = None) -> tuple[str, ...]:
        words = ("version", "language", "warning", "sentences", "confirmed_at")
        return (*words, "confirmed_by") if obj and obj.confirmed_at else words

    def save_model(self, request: HttpRequest, obj: ReviewerConsent, form: forms.ModelForm, change: bool) -> None:
        if obj.confirmed_by.strip() and not obj.confirmed_at:
            obj.confirmed_at = timezone.now()
        super().save_model(request, obj, form, change)
        readiness.recheck_open_campaigns()


@admin.register(ReviewerBackground)
class ReviewerBackgroundAdmin(ReadOnly):
    """Shown only to people who hold the permission to view it."""

    list_display = ("reviewer", "countries", "cultures", "languages", "lived")
    search_fields = ("pk__exact",)


@admin.register(Note)
class NoteAdmin(ReadOnly):
    """Notes of reviewers; the answer is on the reviewer's own page."""

    list_display = ("text", "reviewer", "at", "answered_at")
    list_select_related = ("reviewer",)
    list_filter = (("answered_at", admin.EmptyFieldListFilter),)
    readonly_fields = ("reviewer", "text", "at", "answered_by", "answered_at")

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return request.user.has_perm("review.change_note")

    def save_model(self, request: HttpRequest, obj: Note, form: forms.ModelForm, change: bool) -> None:
        obj.answered_by_id, obj.answered_at = request.user.pk, timezone.now()
        super().save_model(request, obj, form, change)


@admin.register(Exclusion)
class ExclusionAdmin(StaffList):
    """Leaving somebody out of the tables needs a reason; every table says with and without."""

    list_display = ("reviewer", "reason", "by", "at")
    list_select_related = ("reviewer", "by")
    search_fields = ("pk__exact",)
    actions = ("count_again",)
    fields = ("reviewer", "reason")
    raw_id_fields = ("reviewer",)

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    @admin.action(description="Count their answers again", permissions=["add"])
    def count_again(self, request: HttpRequest, rows: QuerySet[Exclusion]) -> None:
        rows.delete()

    def save_model(self, request: HttpRequest, obj: Exclusion, form: forms.ModelForm, change: bool) -> None:
        assert isinstance(request.user, User)
        obj.by = request.user
        super().save_model(request, obj, form, change)


@admin.register(Questionnaire)
class QuestionnaireAdmin(ReadOnly):
    list_display = ("slug", "version", "title", "source")
