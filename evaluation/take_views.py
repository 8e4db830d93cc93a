"""Taking pictures away: terms first, then the log, then the first byte. Not while a plan masks names."""

from collections.abc import Sequence

from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from evaluation import downloads, picture_archive
from evaluation.behind import Behind, Cell, behind
from evaluation.behind_page import image_of
from evaluation.behind_views import with_cell
from evaluation.dashboards import allowed, context
from evaluation.masking import Mask, mask_of_models
from evaluation.models import Outcome
from evaluation.picture_archive import MOST_PICTURES, Taken
from evaluation.picture_views import NOT_KEPT
from evaluation.pictures_page import user_of

METHODS = require_http_methods(["GET", "HEAD", "POST"])


@allowed(downloads.PERMISSION)
@allowed("view_generatedimage")
@METHODS
def one(request: HttpRequest, pk: int) -> HttpResponseBase:
    """One picture as it is stored."""
    chosen = picture_archive.choose([pk])
    if not chosen or chosen[0].why:
        raise Http404
    if not downloads.accepted(request):
        return ask(request, chosen, mask_of_models())
    if mask_of_models().active:
        return ask(request, chosen, mask_of_models())
    content = picture_archive.content_of(chosen[0])
    if content is None:
        raise Http404
    downloads.record(user_of(request), f"picture {pk}", 1)
    image = chosen[0].image
    headers = {**NOT_KEPT, "Content-Disposition": f'attachment; filename="{chosen[0].file}"'}
    return HttpResponse(content, content_type=image.media_type or "application/octet-stream", headers=headers)


@allowed(downloads.PERMISSION)
@allowed("view_generatedimage")
@METHODS
@with_cell
def of_cell(request: HttpRequest, cell: Cell) -> HttpResponseBase:
    """The first pictures behind a cell as an archive."""
    if cell.row is None:
        raise Http404
    chosen = picture_archive.choose(pictures_of(behind(cell)))
    if not downloads.accepted(request) or cell.mask.active:
        return ask(request, chosen, cell.mask)
    out, taken = picture_archive.packed(chosen)
    downloads.record(user_of(request), f"{cell.spec.name} {cell.query}", sum(bool(each.file) for each in taken))
    name = f"{cell.spec.name}.pictures.zip"
    return FileResponse(out, as_attachment=True, filename=name, headers=NOT_KEPT)


def pictures_of(found: Behind) -> list[int]:
    """Ids of the first pictures behind a cell."""
    ids, _more = found.page(0, MOST_PICTURES)
    if found.kind == "pictures":
        return ids
    rows = Outcome.objects.select_related("unit").filter(unit__in=ids).order_by("unit_id")
    return list(dict.fromkeys(image for row in rows if (image := image_of(row))))


def ask(request: HttpRequest, chosen: Sequence[Taken], mask: Mask) -> HttpResponse:
    """The terms, and how many pictures there would be; or why there are none now."""
    more = {
        "n": sum(bool(each.file) for each in chosen),
        "left": sum(not each.file for each in chosen),
        "most": MOST_PICTURES,
        "masked": mask.active,
        "refused": request.method == "POST",
        **downloads.context(),
    }
    status = 422 if request.method == "POST" else 200
    return render(request, "evaluation/pictures/take.html", context(request, _("Take pictures"), **more), status=status)
