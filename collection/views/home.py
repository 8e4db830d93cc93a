"""Pages that anybody may look at: start, leaderboard, accepted photos."""

from django.core.files.storage import default_storage
from django.db.models import Q
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from collection.access.guards import contributor_from_cookie, photo_to_show
from collection.consent.readiness import current_opening
from collection.leaderboard.counters import CountKind
from collection.leaderboard.read import PERIODS, build_leaderboard, count_pending_dishes
from collection.vocabularies.ingredients import suggest_ingredients
from wwd.base.prepared_pages import render_prepared

FIRST_PLACES = 5


@require_safe
def show_home_page(request: HttpRequest) -> HttpResponse:
    context = {"board": build_leaderboard(limit=FIRST_PLACES), "by_script": True}
    return render_prepared(request, "collection/start.html", context, same=("board", "by_script"))


@require_safe
def show_leaderboard(request: HttpRequest) -> HttpResponse:
    """Countries of a period, or public names where the campaign shows them; one's own waiting dishes to oneself."""
    when = request.GET.get("when", "")
    by_name = request.GET.get("by") == "name" and names_shown()
    when = when if when in PERIODS else ""
    me = contributor_from_cookie(request)
    found = build_leaderboard(when, CountKind.ALIAS if by_name else CountKind.COUNTRY)
    context = {
        "board": found,
        "when": when,
        "by_name": by_name,
        "names": by_name or found.names,
        "waiting": count_pending_dishes(me) if me else 0,
    }
    return render(request, "collection/leaderboard.html", context)


def names_shown() -> bool:
    """Whether the campaign shows public names."""
    opening = current_opening()
    return bool(opening and opening.aliases)


@require_safe
def show_translation_help(request: HttpRequest) -> HttpResponse:
    """What a draft translation is, and how to help with it."""
    return render(request, "collection/translation.html", {"opening": current_opening()})


@require_safe
def autocomplete_ingredients(request: HttpRequest) -> JsonResponse:
    """Ingredients of accepted dishes that begin with `q`, for the phone that asks while somebody writes."""
    response = JsonResponse({"names": suggest_ingredients(request.GET.get("q", ""))})
    response["Cache-Control"] = "public, max-age=600"
    return response


@require_safe
def photo_file(request: HttpRequest, name: str) -> HttpResponseBase:
    """A photo or its thumbnail by its random name: accepted ones for everybody, others for staff."""
    path = f"photos/{name}"
    photo_to_show(request.user, Q(file=path) | Q(thumbnail=path))
    try:
        file = default_storage.open(path)
    except FileNotFoundError:
        raise Http404 from None
    response = FileResponse(file, content_type="image/jpeg")
    # Short, because a photo that is hidden must disappear everywhere at once.
    response["Cache-Control"] = "private, max-age=600"
    return response
