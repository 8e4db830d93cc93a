"""The stewards' page of taking back: choose, see people and dishes, hide, agree as a second one, undo."""

from typing import Any
from urllib.parse import urlencode

from django.contrib import admin, messages
from django.contrib.auth.decorators import permission_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods

from collection.dishes import takeback
from collection.models import TakeBack
from wwd.base.text import count_noun

MOST_ROWS = 50


@require_http_methods(["GET", "HEAD", "POST"])
def show_takeback_page(request: HttpRequest) -> HttpResponse:
    """GET: the form, with `?contributor=…` or others a preview. POST: asks, agrees, or undoes."""
    if request.method == "POST":
        return handle_takeback(request)
    choice = {name: clean_typed_value(request.GET.get(name, "")) for name in takeback.FIELDS}
    context: dict[str, Any] = {**admin.site.each_context(request), "title": "Take dishes back", "choice": choice}
    if any(choice.values()):
        try:
            context["preview"] = takeback.preview_takeback(choice)
        except takeback.TakeBackError as error:
            context["problem"] = str(error)
    rows = TakeBack.objects.select_related("asked_by", "done_by", "undone_by")[:MOST_ROWS]
    # Anyone who agrees looks at the same dishes first.
    context["rows"] = [(row, urlencode(row.choice)) for row in rows]
    return render(request, "collection/admin/takeback.html", context)


def clean_typed_value(text: str) -> str:
    """Without the sign that no database keeps."""
    return text.replace("\0", "").strip()[:64]


def handle_takeback(request: HttpRequest) -> HttpResponse:
    try:
        messages.success(request, run_takeback_action(request))
    except takeback.TakeBackError as error:
        messages.error(request, str(error))
    return redirect("takeback")


def run_takeback_action(request: HttpRequest) -> str:
    """Does what the button says and returns the sentence that tells it."""
    what = request.POST.get("do", "")
    if what == "ask":
        row = takeback.request_takeback(
            {name: clean_typed_value(request.POST.get(name, "")) for name in takeback.FIELDS},
            request.POST.get("reason", "").replace("\0", ""),
            request.user,
        )
        if row.state == TakeBack.State.ASKED:
            return "Some of these dishes are public. A second steward must agree before they are hidden."
        return count_noun(len(row.former), "%(n)d dish is hidden.", "%(n)d dishes are hidden.") % {"n": len(row.former)}
    row = get_object_or_404(TakeBack, pk=request.POST.get("row") if request.POST.get("row", "").isdecimal() else 0)
    if what == "confirm":
        takeback.confirm_takeback(row, request.user)
        return "The dishes are hidden."
    if what == "undo":
        number = takeback.undo_takeback(row, request.user)
        return count_noun(number, "%(n)d dish is what it was.", "%(n)d dishes are what they were.") % {"n": number}
    raise takeback.TakeBackError("Choose what to do.")


takebacks = admin.site.admin_view(
    permission_required("collection.change_dish", raise_exception=True)(show_takeback_page)
)
