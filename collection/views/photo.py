"""The photo of a dish, whole or in parts, and its caption."""

from typing import IO

from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from collection.access import daily_quotas
from collection.access.form_tokens import Proof
from collection.access.guards import (
    Sent,
    author_and_dish,
    author_by_cookie,
    contributor_for,
    photo_for,
    public_form,
)
from collection.dishes.submit import confirm_photo, discard_photo, photo_sent, submit_photo
from collection.forms import CaptionForm
from collection.models import Contributor, Dish, Photo, Submission
from collection.photos import chunked_upload, process
from collection.photos.upload_limit import limited_upload
from collection.views.open_collection import require_open_collection
from collection.views.personal_details import render_thanks_page
from collection.views.receipt import build_receipt_context
from collection.views.refused import not_known, render_unsaved_page


def render_photo_page(request: HttpRequest, contributor: Contributor, dish: Dish, error: str = "") -> HttpResponse:
    proof = Proof.new("photo", contributor.pk, dish.pk)
    context = {**build_receipt_context(dish), "proof": proof, "error": error}
    return render(request, "collection/photo.html", context)


def render_caption_page(
    request: HttpRequest, contributor: Contributor, photo: Photo, form: CaptionForm | None = None
) -> HttpResponse:
    proof = Proof.new("caption", contributor.pk, photo.pk)
    form = form or CaptionForm(initial={"caption": photo.caption})
    context = {**build_receipt_context(photo.dish), "proof": proof, "form": form}
    return render(request, "collection/caption.html", context)


@limited_upload
@public_form("photo", "GET")
@require_open_collection
def upload_photo(request: HttpRequest, sent: Sent) -> HttpResponse:
    """One file, or *skip* → caption, or thanks."""
    if request.method != "POST":
        return redirect("collection:describe")
    if sent.proof is None:
        known = author_by_cookie(request)
        return render_photo_page(request, *known, not_known()) if known else render_unsaved_page(request)
    contributor, dish = author_and_dish(sent)
    if "skip" in request.POST:
        return render_thanks_page(request, contributor, dish)
    try:
        arrived = arrived_photo(request, sent.proof, contributor, dish)
    except process.PhotoError as error:
        return render_photo_page(request, contributor, dish, str(error))
    return render_caption_page(request, contributor, arrived)


def arrived_photo(request: HttpRequest, proof: Proof, contributor: Contributor, dish: Dish) -> Photo:
    """The photo in this request, or the one whose parts came before it. Raises PhotoError."""
    refuse_more_photos(proof, dish)
    sha256 = request.POST.get("whole", "")
    if not sha256:
        return submit_photo(proof, contributor, dish, process.prepare_photo(get_uploaded_photo(request)))
    try:
        file = chunked_upload.assemble_photo(dish, sha256)
    except process.PhotoError:
        if known := photo_sent(proof, dish, sha256):
            return known
        raise
    with file:
        prepared = process.prepare_photo(file)
    kept = submit_photo(proof, contributor, dish, prepared)
    chunked_upload.delete_photo_parts(dish, sha256)
    return kept


def refuse_more_photos(proof: Proof, dish: Dish) -> None:
    """Before a photo is decoded. Raises PhotoError, but not for a form that brought its photo before."""
    if not Submission.objects.filter(form=proof.form).exists():
        daily_quotas.refuse_full(dish)


def get_uploaded_photo(request: HttpRequest) -> IO[bytes]:
    """The chosen file; it stays on disk. Raises PhotoError where none came or it was too large (`limited_upload`)."""
    upload = request.FILES.get("photo")
    if isinstance(upload, UploadedFile):
        assert upload.file is not None
        return upload.file
    if request.META.get("wwd.upload_cut_off"):
        raise process.PhotoError(process.too_large())
    raise process.PhotoError(_("Choose a photo, or go on without one."))


@limited_upload
@public_form("photo")
@require_open_collection
def photo_part(request: HttpRequest, sent: Sent) -> JsonResponse:
    """A part of a photo → how many bytes of it are here. Without a part it only tells that."""
    if sent.proof is None:
        return JsonResponse({"error": not_known()}, status=403)
    _contributor, dish = author_and_dish(sent)
    upload = request.FILES.get("part")
    data = bytes(upload.read()) if isinstance(upload, UploadedFile) else b""
    try:
        refuse_more_photos(sent.proof, dish)
        part = chunked_upload.read_part(request.POST.get("sha256", ""), request.POST.get("start", ""), data)
        return JsonResponse({"here": chunked_upload.store_photo_part(dish, part)})
    except process.PhotoError as error:
        return JsonResponse({"error": str(error)}, status=400)


@public_form("caption", "GET")
@require_open_collection
def save_caption(request: HttpRequest, sent: Sent) -> HttpResponse:
    """Caption and four confirmations, or *go on without the photo* → thanks."""
    if request.method != "POST":
        return redirect("collection:describe")
    contributor = contributor_for(sent)
    if sent.proof is None or contributor is None:
        return render_unsaved_page(request, CaptionForm)
    photo = photo_for(contributor, sent.proof.target)
    dish = photo.dish
    if "skip" in request.POST:
        if photo.state == photo.State.DRAFT:
            discard_photo(photo)
        return render_thanks_page(request, contributor, dish)
    form = CaptionForm(request.POST)
    if not form.is_valid():
        return render_caption_page(request, contributor, photo, form)
    confirm_photo(photo, form.cleaned_data["caption"])
    return render_thanks_page(request, contributor, dish)
