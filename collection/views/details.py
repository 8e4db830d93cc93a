"""What may follow a receipt: the rest of B.4, a photo with its caption, the optional *about you*."""

from typing import IO

from django.core.files.uploadedfile import UploadedFile
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _

from collection.access import daily_quotas
from collection.access.form_tokens import Proof
from collection.access.guards import Sent, contributor_for, contributor_from_cookie, dish_for, photo_for, public_form
from collection.dishes.submit import (
    NameTakenError,
    confirm_photo,
    discard_photo,
    photo_sent,
    store_personal_details,
    submit_more,
    submit_photo,
)
from collection.forms import CaptionForm, MoreForm, PersonalDetailsForm
from collection.models import Contributor, Dish, Photo, Submission
from collection.photos import chunked_upload, process
from collection.photos.upload_limit import limited_upload
from collection.views.consent import limit_concurrent_submissions, require_open_collection
from collection.views.pages import (
    caption_page,
    collect_typed_values,
    more_page,
    not_known,
    photo_page,
    show_unsaved_page,
    thanks_page,
)


@public_form("more", "GET")
@limit_concurrent_submissions
@require_open_collection
def save_further_answers(request: HttpRequest, sent: Sent) -> HttpResponse:
    """The rest of B.4, or *skip* → the photo."""
    if request.method != "POST":
        return redirect("collection:describe")
    if sent.proof is None:
        return refused_more(request)
    contributor, dish = author_and_dish(sent)
    if "skip" in request.POST:
        return photo_page(request, contributor, dish)
    if "speak" in request.POST:
        typed = MoreForm(initial=collect_typed_values(request.POST, MoreForm))
        return more_page(request, contributor, dish, typed, proof=sent.proof)
    form = MoreForm(request.POST)
    if not form.is_valid():
        # The code was on the page before. A page with it is not compressed, and with all its errors too large then.
        return more_page(request, contributor, dish, form, proof=sent.proof, by_token=False)
    submit_more(sent.proof, contributor, dish, form.content)
    return photo_page(request, contributor, dish)


def author_and_dish(sent: Sent) -> tuple[Contributor, Dish]:
    """Who sent the form and the dish that it is about; 404 where the dish is not theirs or gone."""
    contributor = contributor_for(sent)
    if contributor is None or sent.proof is None:
        raise Http404
    return contributor, dish_for(contributor, sent.proof.target)


def author_by_cookie(request: HttpRequest) -> tuple[Contributor, Dish] | None:
    """For a form without a current proof: its dish, where the cookie's contributor told it in the last 24 hours."""
    contributor = contributor_from_cookie(request)
    if contributor is None:
        return None
    try:
        return contributor, dish_for(contributor, request.POST.get("dish"), recent=True)
    except Http404:
        return None


def refused_more(request: HttpRequest) -> HttpResponse:
    known = author_by_cookie(request)
    if known is None:
        return show_unsaved_page(request, MoreForm())
    typed = MoreForm(initial=collect_typed_values(request.POST, MoreForm))
    return more_page(request, *known, typed, notice=not_known(), by_token=False)


@limited_upload
@public_form("photo", "GET")
@require_open_collection
def upload_photo(request: HttpRequest, sent: Sent) -> HttpResponse:
    """One file, or *skip* → caption, or thanks."""
    if request.method != "POST":
        return redirect("collection:describe")
    if sent.proof is None:
        known = author_by_cookie(request)
        return photo_page(request, *known, not_known()) if known else show_unsaved_page(request)
    contributor, dish = author_and_dish(sent)
    if "skip" in request.POST:
        return thanks_page(request, contributor, dish)
    try:
        arrived = arrived_photo(request, sent.proof, contributor, dish)
    except process.PhotoError as error:
        return photo_page(request, contributor, dish, str(error))
    return caption_page(request, contributor, arrived)


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
        return show_unsaved_page(request, CaptionForm())
    photo = photo_for(contributor, sent.proof.target)
    dish = photo.dish
    if "skip" in request.POST:
        if photo.state == photo.State.DRAFT:
            discard_photo(photo)
        return thanks_page(request, contributor, dish)
    form = CaptionForm(request.POST)
    if not form.is_valid():
        return caption_page(request, contributor, photo, form)
    confirm_photo(photo, form.cleaned_data["caption"])
    return thanks_page(request, contributor, dish)


@public_form("about", "GET")
@require_open_collection
def save_personal_details(request: HttpRequest, sent: Sent) -> HttpResponse:
    """Personal details, with a consent of their own."""
    if request.method != "POST":
        return redirect("collection:describe")
    if sent.proof is None:
        known = author_by_cookie(request)
        form = PersonalDetailsForm(initial=collect_typed_values(request.POST, PersonalDetailsForm))
        return (
            thanks_page(request, *known, form, notice=not_known(), by_token=False)
            if known
            else show_unsaved_page(request, PersonalDetailsForm())
        )
    contributor, dish = author_and_dish(sent)
    form = PersonalDetailsForm(request.POST)
    if not form.is_valid():
        # As in `more`: the code was on the page before, and would keep this one from being compressed.
        return thanks_page(request, contributor, dish, form, by_token=False)
    try:
        store_personal_details(contributor, form.cleaned_data)
    except NameTakenError:
        form.add_error("alias", _("Somebody else shows this name already. Choose another one."))
        return thanks_page(request, contributor, dish, form)
    return thanks_page(request, contributor, dish, told=True)
