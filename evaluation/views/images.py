"""Pages of single images and of one subject across models; the contents of images, to those who may see them."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.http import http_date
from django.views.decorators.http import require_safe

from collection.models import Dish
from evaluation.images import files
from evaluation.models import GeneratedImage, Subject
from evaluation.presentation.images import RequestedImages, build_image_controls, user_of
from evaluation.presentation.images import build_image_list_context as images
from evaluation.presentation.subject import grid_of, photos_of
from evaluation.readers.image_decode import ImageError
from evaluation.views.tables import build_admin_context, for_researchers, require_permission

NO_STORE = {"Cache-Control": "no-store", "Expires": http_date(0), "Cross-Origin-Resource-Policy": "same-origin"}


def find_shown_image(pk: int) -> GeneratedImage:
    """An image whose content may be shown now, or 404. Whether the person may see images is asked before."""
    image = GeneratedImage.objects.select_related("subject__dish", "model").filter(pk=pk).first()
    if image is None or files.why_not([image])[image.pk]:
        raise Http404
    return image


@require_permission("view_generatedimage")
@require_safe
def serve_image_file(request: HttpRequest, pk: int, size: str) -> HttpResponse:
    """An image as JPEG in one of two sizes. Never kept by a browser: what is withdrawn vanishes at once."""
    if size not in files.SIZES:
        raise Http404
    try:
        content = files.read_reduced_image(find_shown_image(pk), size)
    except (FileNotFoundError, ImageError):
        raise Http404 from None
    return HttpResponse(content, content_type="image/jpeg", headers=NO_STORE)


@for_researchers
def show_image(request: HttpRequest, pk: int) -> HttpResponse:
    """One image with everything that is known of it."""
    shown = images(request, [pk])
    if not shown["rows"]:
        raise Http404
    title = f"Image {pk}"
    return render(request, "evaluation/images/one.html", build_admin_context(request, title, **shown))


@for_researchers
def show_subject_images(request: HttpRequest, pk: int) -> HttpResponse:
    """The same dish across models and seeds, with its contributor's photo."""
    live = Subject.objects.exclude(dish__state=Dish.State.WITHDRAWN).exclude(name="")
    subject = get_object_or_404(live.select_related("dish"), pk=pk)
    user, asked = user_of(request), RequestedImages.of(request)
    more = {
        "subject": subject,
        "photos": photos_of(subject, user, asked),
        "grid": grid_of(subject, user, asked, after_of(request)),
        **build_image_controls(request, asked),
    }
    return render(request, "evaluation/images/subject.html", build_admin_context(request, subject.name, **more))


def after_of(request: HttpRequest) -> int:
    """The id after which a page goes on, 0 for the first page. Raises Http404 for anything that is no id."""
    value = request.GET.get("after", "0")
    if not (value.isascii() and value.isdigit() and len(value) <= 18):
        raise Http404
    return int(value)
