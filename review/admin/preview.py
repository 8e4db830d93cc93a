"""A campaign as a reviewer would see it. Nothing is stored: no reviewer, no reservation, no answer."""

from dataclasses import dataclass

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from collection.access.form_tokens import Proof
from collection.access.guards import Sent, public_form
from review.admin.progress import exclude_withdrawn_dishes
from review.assignment import Progress
from review.forms import QuestionForm, typed_in
from review.models import Assignment, Campaign, CampaignImage
from review.questionnaires import parse_questions
from review.signed_links import image_address, large_address

PURPOSE = "review.admin.preview_campaign"
IMAGES = 10


@dataclass(frozen=True)
class PreviewRequest:
    """One request of the preview. `place`: which of the first images, from 0."""

    request: HttpRequest
    campaign: Campaign
    images: list[CampaignImage]
    place: int

    def page(self, number: int, *, do: str = "", sent: bool = False, fresh: bool = False) -> HttpResponse:
        image = self.images[self.place]
        definition = self.campaign.questionnaire.definition
        typed = {} if fresh else typed_in(definition, self.request.POST)
        form = QuestionForm(definition, number, image.dish_name, typed, sent=sent)
        shown = do in ("show", "larger") or (do not in ("", "hide") and self.request.POST.get("shown") == "1")
        address = large_address if do == "larger" else image_address
        context = {
            "campaign": self.campaign,
            "preview": self.request.path,
            "proof": Proof.new(PURPOSE, target=self.place),
            "progress": Progress(self.place, len(self.images)),
            "form": form,
            "dish_name": image.dish_name,
            "image": address(image) if shown else "",
            "large": do == "larger",
            "message": "Preview: nothing is stored.",
            "reasons": Assignment.Reason.choices,
        }
        return render(self.request, "review/image.html", context)

    def next(self) -> HttpResponse:
        following = PreviewRequest(self.request, self.campaign, self.images, (self.place + 1) % len(self.images))
        return following.page(1, fresh=True)

    def answered(self) -> HttpResponse:
        """The next page of questions, or the next image."""
        number = 2 if self.request.POST.get("page") == "2" else 1
        definition = self.campaign.questionnaire.definition
        typed = typed_in(definition, self.request.POST)
        form = QuestionForm(definition, number, "", typed, sent=True)
        if not form.is_valid():
            return self.page(number, do="answer", sent=True)
        if number == 1 and any(
            question.page == 2 and question.applies(typed) for question in parse_questions(definition)
        ):
            return self.page(2, do="answer")
        return self.next()


@public_form(PURPOSE, "GET")
def preview_campaign(request: HttpRequest, sent: Sent, pk: int) -> HttpResponse:
    """For staff who may see campaigns."""
    if not request.user.has_perm("review.view_campaign"):
        raise PermissionDenied
    campaign = get_object_or_404(Campaign.objects.select_related("questionnaire"), pk=pk)
    images = list(exclude_withdrawn_dishes(campaign.images.exclude(copy_sha256="")).order_by("pk")[:IMAGES])
    if not images:
        context = {"sentence": "The campaign has no images yet.", "code": ""}
        return render(request, "review/refused.html", context, status=404)
    place = int(sent.proof.target) % len(images) if sent.proof else 0
    preview = PreviewRequest(request, campaign, images, place)
    do = request.POST.get("do", "")
    if do == "answer":
        return preview.answered()
    if do in ("", "show", "larger", "hide", "back"):
        return preview.page(2 if do != "back" and request.POST.get("page") == "2" else 1, do=do)
    return preview.next()
