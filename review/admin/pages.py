"""Pages of staff beside the lists: adding images, looking at them first, one reviewer's work, a preview."""

from dataclasses import dataclass

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.core.paginator import Page, Paginator
from django.db import transaction
from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.db.models.functions import Now
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from collection.models import Source
from evaluation.models import Model, Run
from review.admin import progress
from review.campaigns import prepare_job, readiness
from review.models import (
    Campaign,
    CampaignImage,
    ContentTag,
    Exclusion,
    FirstLook,
    Preparation,
    Review,
    Reviewer,
)
from review.signed_links import image_address
from review.tables.agreement import with_others

FIRST = 12
ANSWERS = 200


class AddImages(forms.ModelForm):
    """Which images a campaign gets."""

    countries = forms.CharField(
        required=False,
        label="Countries",
        help_text="One a line, as written in the dishes. Empty: all countries of each dish.",
        widget=forms.Textarea(attrs={"rows": 6}),
    )
    dishes = forms.CharField(
        required=False,
        label="Dishes",
        help_text="Names or numbers, one a line. Empty: all.",
        widget=forms.Textarea(attrs={"rows": 6}),
    )

    class Meta:
        model = Preparation
        fields = ("run", "model", "countries", "dishes")

    def clean_countries(self) -> list[str]:
        return _lines(self.cleaned_data["countries"])

    def clean_dishes(self) -> list[str]:
        return _lines(self.cleaned_data["dishes"])

    def clean(self) -> None:
        if not self.cleaned_data.get("run") and not self.cleaned_data.get("model"):
            raise forms.ValidationError("Choose a run or a model.")


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


@require_http_methods(["GET", "HEAD", "POST"])
def add_images(request: HttpRequest, pk: int) -> HttpResponse:
    """Asks workers to prepare images; how far they are is on the campaign's page."""
    campaign = _campaign(request, pk)
    form = AddImages(request.POST or None, initial={"run": Run.objects.order_by("-pk").first()})
    if request.method == "POST" and form.is_valid():
        if campaign.state == Campaign.State.OPEN and campaign.source != Source.DEMONSTRATION:
            form.add_error(None, "The campaign is open. Set it back to draft first.")
        else:
            preparation = form.save(commit=False)
            preparation.campaign = campaign
            prepare_job.start_preparation(preparation)
            messages.info(request, "Images are being prepared. Progress is shown below.")
            return redirect("admin:review_campaign_change", campaign.pk)
    context = {**admin.site.each_context(request), "form": form, "campaign": campaign, "opts": Campaign._meta}
    return render(request, "review/admin/images.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def show_first_images(request: HttpRequest, pk: int, model: int) -> HttpResponse:
    """A model's images, page by page: tag what reviewers may choose never to see, say that one has looked.

    The first page is what a campaign needs before it opens; `?page=` leads to all the others.
    """
    campaign = _campaign(request, pk)
    by = get_object_or_404(Model, pk=model)
    page = Paginator(select_model_images(campaign, by).prefetch_related("tags"), FIRST).get_page(
        request.GET.get("page")
    )
    if not page.object_list:
        raise Http404
    if request.method == "POST":
        return _looked(request, campaign, by, page)
    context = {
        **admin.site.each_context(request),
        "opts": Campaign._meta,
        "campaign": campaign,
        "model": by,
        "rows": [(image, image_address(image), {row.kind for row in image.tags.all()}) for image in page],
        "kinds": ContentTag.Kind.choices,
        "page": page,
        "seen": Seen(select_model_images(campaign, by).exclude(looked_at=None).count(), page.paginator.count),
    }
    return render(request, "review/admin/look.html", context)


@transaction.atomic
def _looked(request: HttpRequest, campaign: Campaign, model: Model, page: Page) -> HttpResponse:
    """Keeps the tags of a page; on to the next one where staff asked for it."""
    for image in page:
        set_image_tags(image, request.POST.getlist(f"tags-{image.pk}"))
    seen = CampaignImage.objects.filter(campaign=campaign, image__in=[image.image_id for image in page])
    seen.filter(looked_at=None).update(looked_at=Now())
    if page.number == 1:
        FirstLook.objects.get_or_create(campaign=campaign, model=model, defaults={"by": request.user})
        readiness.recheck_open_campaigns()
    if "on" in request.POST and page.has_next():
        address = reverse("admin:review_campaign_look", args=[campaign.pk, model.pk])
        return redirect(f"{address}?page={page.next_page_number()}")
    return redirect("admin:review_campaign_change", campaign.pk)


@dataclass(frozen=True)
class Seen:
    """How many of a model's images staff looked at, of how many."""

    looked: int
    total: int


def looked_at_by_model(campaign: Campaign) -> dict[int, Seen]:
    """For every model of the campaign: all rows of an image are marked when one of them was looked at."""
    rows = CampaignImage.objects.filter(campaign=campaign).exclude(image__model=None).order_by("image__model")
    images = Count("image", distinct=True)
    looked = Count("image", distinct=True, filter=Q(looked_at__isnull=False))
    counted = rows.values_list("image__model").annotate(looked=looked, total=images)
    return {model: Seen(looked, total) for model, looked, total in counted if model}


def select_model_images(campaign: Campaign, model: Model) -> QuerySet[CampaignImage]:
    """One row of each image of the model, in the order of their making."""
    images = progress.exclude_withdrawn_dishes(
        CampaignImage.objects.filter(campaign=campaign, image__model=model)
    ).order_by("image", "pk")
    earlier = CampaignImage.objects.filter(campaign=campaign, image=OuterRef("image"), pk__lt=OuterRef("pk"))
    return images.exclude(Exists(earlier))


def set_image_tags(image: CampaignImage, kinds: list[str]) -> None:
    """Sets the tags of an image, wherever in the campaign it stands."""
    for row in CampaignImage.objects.filter(campaign=image.campaign_id, image=image.image_id):
        row.tags.exclude(kind__in=kinds).delete()
        tags = [ContentTag(image=row, kind=kind) for kind in kinds if kind in ContentTag.Kind.values]
        ContentTag.objects.bulk_create(tags, ignore_conflicts=True)


@require_http_methods(["GET", "HEAD"])
def reviewer_report(request: HttpRequest, pk: str) -> HttpResponse:
    """What one reviewer did, and whether they are left out of the tables."""
    if not request.user.has_perm("review.view_reviewer"):
        raise PermissionDenied
    reviewer = get_object_or_404(Reviewer, pk=pk)
    context = {
        **admin.site.each_context(request),
        "opts": Reviewer._meta,
        "reviewer": reviewer,
        "work": progress.work_of(reviewer),
        "agreement": with_others(reviewer),
        "reviews": progress.exclude_withdrawn_dishes(reviewer.reviews.select_related("image"), "image__").order_by(
            "-created_at"
        )[:ANSWERS],
        "exclusion": Exclusion.objects.filter(reviewer=reviewer).first(),
    }
    return render(request, "review/admin/reviewer.html", context)


def mark_words_read(reviews: QuerySet[Review], user_id: int | None) -> int:
    """A steward read the free text of these answers: exports may hold it."""
    return reviews.update(words_read_by=user_id, words_read_at=Now())


def _campaign(request: HttpRequest, pk: int) -> Campaign:
    """The campaign for staff who may change campaigns. Raises PermissionDenied."""
    if not request.user.has_perm("review.change_campaign"):
        raise PermissionDenied
    return get_object_or_404(Campaign, pk=pk)
