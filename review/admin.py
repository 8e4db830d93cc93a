"""Pages of staff: campaigns with their invitations and progress, pictures, reviewers, what was reported."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods

from evaluation.models import Run
from review.campaigns import prepare
from review.links import picture_address, reviewer_of
from review.models import Assignment, Campaign, CampaignImage, Invitation, Questionnaire, Review, Reviewer
from review.overview import missing_pictures, progress_by_country

AT_ONCE = 200


class Kept(admin.ModelAdmin):
    """Rows that are made elsewhere: staff look at them, and where it says so remove them."""

    show_full_result_count = False

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


class AddPictures(forms.Form):
    """Which run's pictures a campaign gets."""

    run = forms.ModelChoiceField(Run.objects.all(), label=_("Run"))
    country = forms.CharField(
        max_length=120,
        required=False,
        label=_("Country"),
        help_text=_("Who judges them. Empty: the countries of each dish."),
    )


class Invitations(admin.TabularInline):
    """The links to a campaign; a new one gets its code when it is saved."""

    model = Invitation
    extra = 0
    fields = ("country", "limit", "used", "link", "revoked_at")
    readonly_fields = ("used", "link")

    def get_formset(self, request: HttpRequest, obj: Model | None = None, **more: Any) -> Any:
        self.request = request
        return super().get_formset(request, obj, **more)

    @admin.display(description=_("link"))
    def link(self, invitation: Invitation) -> str:
        if invitation.pk is None:
            return "—"
        return format_html('<a href="{0}">{0}</a>', self.request.build_absolute_uri(invitation.get_absolute_url()))


@admin.register(Campaign)
class CampaignAdmin(admin.ModelAdmin):
    list_display = ("title", "state", "questionnaire", "wanted_opinions", "source", "opens_at", "closes_at")
    list_filter = ("state", "source")
    search_fields = ("title", "slug")
    prepopulated_fields = {"slug": ("title",)}
    readonly_fields = ("source",)
    inlines = (Invitations,)
    change_form_template = "review/admin/campaign.html"

    def get_urls(self) -> list[URLPattern]:
        own = path("<int:pk>/pictures/", self.admin_site.admin_view(self.add_pictures), name="review_campaign_pictures")
        return [own, *super().get_urls()]

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        campaign = self.get_object(request, object_id)
        rows = progress_by_country(campaign) if campaign else []
        context = {**(extra_context or {}), "progress": rows}
        return super().change_view(request, object_id, form_url, context)

    def add_pictures(self, request: HttpRequest, pk: int) -> HttpResponse:
        return add_pictures(request, self, pk)


@require_http_methods(["GET", "HEAD", "POST"])
def add_pictures(request: HttpRequest, site: CampaignAdmin, pk: int) -> HttpResponse:
    """Adds pictures of a run, some at once: making copies takes its time, and sending again goes on."""
    campaign = get_object_or_404(Campaign, pk=pk)
    if not site.has_change_permission(request, campaign):
        raise PermissionDenied
    form = AddPictures(request.POST or None)
    if request.method == "POST" and form.is_valid():
        lacking = missing_pictures(campaign, form.cleaned_data["run"])
        done = prepare(campaign, lacking[:AT_ONCE], form.cleaned_data["country"].strip())
        for key, reason in list(done.left_out.items())[:10]:
            messages.warning(request, gettext("Left out: %(key)s (%(reason)s).") % {"key": key, "reason": reason})
        counts = {"added": done.added, "left": lacking.count()}
        messages.info(request, gettext("Pictures added: %(added)d. Of this run not there: %(left)d.") % counts)
        return redirect("admin:review_campaign_change", campaign.pk)
    context = {**site.admin_site.each_context(request), "form": form, "campaign": campaign, "opts": Campaign._meta}
    return render(request, "review/admin/pictures.html", context)


@admin.register(Invitation)
class InvitationAdmin(admin.ModelAdmin):
    list_display = ("code", "campaign", "country", "used", "limit", "revoked_at")
    list_filter = ("campaign",)
    list_select_related = ("campaign", "country")
    readonly_fields = ("code", "used", "address")
    actions = ("revoke",)

    @admin.display(description=_("address"))
    def address(self, invitation: Invitation) -> str:
        return invitation.get_absolute_url() if invitation.pk else "—"

    @admin.action(description=_("Withdraw: nobody joins or answers with this link any more"))
    def revoke(self, request: HttpRequest, rows: QuerySet[Invitation]) -> None:
        rows.filter(revoked_at=None).update(revoked_at=timezone.now())


@admin.register(CampaignImage)
class CampaignImageAdmin(Kept):
    list_display = ("blurred", "dish_name", "country", "campaign")
    list_filter = ("campaign", "country")
    search_fields = ("dish_name__startswith",)
    list_select_related = ("campaign",)

    class Media:
        css = {"all": ("review/admin.css",)}

    @admin.display(description=_("picture"))
    def blurred(self, image: CampaignImage) -> SafeString | str:
        if not image.copy_sha256:
            return gettext("not held")
        return format_html(
            '<img class="blurred" tabindex="0" src="{}" alt="" width="96" height="96" loading="lazy">',
            picture_address(image),
        )


@admin.register(Reviewer)
class ReviewerAdmin(Kept):
    """Searching takes a personal link too: whoever brings theirs can have their answers removed."""

    list_display = ("id", "campaign", "country", "role", "source", "created_at")
    list_filter = ("campaign", "role", "source")
    search_fields = ("id",)
    search_help_text = _("An id, or the personal link that a reviewer brings.")

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Reviewer], search_term: str
    ) -> tuple[QuerySet[Reviewer], bool]:
        found = reviewer_of(search_term.strip().rstrip("/").rsplit("/", 1)[-1])
        if found:
            return queryset.filter(pk=found.pk), False
        return super().get_search_results(request, queryset, search_term)


@admin.register(Assignment)
class AssignmentAdmin(Kept):
    """What was reported stays hidden until somebody looked at it and shows it again."""

    list_display = ("picture", "state", "created_at")
    list_filter = ("state", "image__campaign")
    list_select_related = ("image",)
    actions = ("show_again",)

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        """Without *delete*: only whole reviewers go, otherwise somebody could get a picture twice."""
        return {name: action for name, action in super().get_actions(request).items() if name != "delete_selected"}

    @admin.display(description=_("picture"))
    def picture(self, assignment: Assignment) -> SafeString:
        address = reverse("admin:review_campaignimage_changelist")
        return format_html('<a href="{}?id={}">{}</a>', address, assignment.image_id, assignment.image.dish_name)

    @admin.action(description=_("Show the reported picture again (not to who reported it)"))
    def show_again(self, request: HttpRequest, rows: QuerySet[Assignment]) -> None:
        if not request.user.has_perm("review.change_assignment"):
            raise PermissionDenied
        rows.filter(state=Assignment.State.REPORTED).update(state=Assignment.State.SKIPPED)


@admin.register(Review)
class ReviewAdmin(Kept):
    list_display = ("image", "reviewer", "food", "correct_dish", "quality", "match", "disturbing", "surplus")
    list_filter = ("image__campaign", "surplus")
    list_select_related = ("image", "reviewer")


@admin.register(Questionnaire)
class QuestionnaireAdmin(Kept):
    list_display = ("slug", "version", "title", "source")

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False
