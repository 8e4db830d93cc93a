"""Taking images away: terms first, then the log, then the first byte. Not while a plan masks names."""

from collections.abc import Sequence

from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_http_methods

from evaluation.drilldown.cells import Cell, Drilldown, load_drilldown
from evaluation.images import archive, download_log
from evaluation.images.archive import MOST_IMAGES, Taken
from evaluation.models import Outcome
from evaluation.plans.mask import Mask, mask_of_models
from evaluation.presentation.cell import image_of
from evaluation.presentation.images import user_of
from evaluation.views.cells import with_cell
from evaluation.views.images import NO_STORE
from evaluation.views.tables import build_admin_context, require_permission

METHODS = require_http_methods(["GET", "HEAD", "POST"])


@require_permission(download_log.PERMISSION)
@require_permission("view_generatedimage")
@METHODS
def download_image(request: HttpRequest, pk: int) -> HttpResponseBase:
    """One image as it is stored."""
    chosen = archive.choose_archive_images([pk])
    if not chosen or chosen[0].why:
        raise Http404
    if not download_log.is_terms_accepted(request):
        return show_download_terms(request, chosen, mask_of_models())
    if mask_of_models().active:
        return show_download_terms(request, chosen, mask_of_models())
    content = archive.content_of(chosen[0])
    if content is None:
        raise Http404
    download_log.record_download(user_of(request), f"image {pk}", 1)
    image = chosen[0].image
    headers = {**NO_STORE, "Content-Disposition": f'attachment; filename="{chosen[0].file}"'}
    return HttpResponse(content, content_type=image.media_type or "application/octet-stream", headers=headers)


@require_permission(download_log.PERMISSION)
@require_permission("view_generatedimage")
@METHODS
@with_cell
def of_cell(request: HttpRequest, cell: Cell) -> HttpResponseBase:
    """The first images behind a cell as an archive."""
    if cell.row is None:
        raise Http404
    chosen = archive.choose_archive_images(list_image_ids(load_drilldown(cell)))
    if not download_log.is_terms_accepted(request) or cell.mask.active:
        return show_download_terms(request, chosen, cell.mask)
    out, taken = archive.pack_archive(chosen)
    download_log.record_download(
        user_of(request), f"{cell.spec.name} {cell.query}", sum(bool(each.file) for each in taken)
    )
    name = f"{cell.spec.name}.pictures.zip"
    return FileResponse(out, as_attachment=True, filename=name, headers=NO_STORE)


def list_image_ids(found: Drilldown) -> list[int]:
    """Ids of the first images behind a cell."""
    ids, _more = found.page(0, MOST_IMAGES)
    if found.kind == "images":
        return ids
    rows = Outcome.objects.select_related("unit").filter(unit__in=ids).order_by("unit_id")
    return list(dict.fromkeys(image for row in rows if (image := image_of(row))))


def show_download_terms(request: HttpRequest, chosen: Sequence[Taken], mask: Mask) -> HttpResponse:
    """The terms, and how many images there would be; or why there are none now."""
    more = {
        "n": sum(bool(each.file) for each in chosen),
        "left": sum(not each.file for each in chosen),
        "most": MOST_IMAGES,
        "masked": mask.active,
        "refused": request.method == "POST",
        **download_log.build_terms_context(),
    }
    status = 422 if request.method == "POST" else 200
    return render(
        request,
        "evaluation/images/take.html",
        build_admin_context(request, "Take images", **more),
        status=status,
    )
