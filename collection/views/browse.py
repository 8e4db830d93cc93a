"""Public dishes, and the way to say that one should not be shown like this. Looking changes nothing."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from collection.access.form_tokens import Proof
from collection.access.guards import Sent, public_form
from collection.access.request_info import network_of
from collection.dishes.browse import (
    dishes_of,
    list_dish_answers,
    list_places_with_dishes,
    page_of,
    place_shown,
    places_of,
    public_dish,
    public_photo,
)
from collection.dishes.reports import Target, file_report
from collection.forms import ReportForm
from collection.models import Source
from collection.views.pages import collect_typed_values, not_known


@require_safe
def list_public_dishes(request: HttpRequest) -> HttpResponse:
    """Places with dishes, or with `place` the dishes of one."""
    place = request.GET.get("place", "").replace("\0", "")
    page = page_of(dishes_of(place) if place else list_places_with_dishes(), request.GET.get("page", ""))
    if place and not page.object_list:
        raise Http404
    context = {"place": place, "shown": place_shown(place), "page": page}
    return render(request, "collection/public_dishes.html", context)


@require_safe
def show_public_dish(request: HttpRequest, number: int) -> HttpResponse:
    found = public_dish(number)
    context = {
        "dish": found,
        "answers": list_dish_answers(found),
        "places": places_of(found),
        "languages": found.languages.all(),
        "demonstration": found.source == Source.DEMONSTRATION,
    }
    return render(request, "collection/public_dish.html", context)


@public_form("report", "GET")
def report_dish(request: HttpRequest, sent: Sent, number: int) -> HttpResponse:
    return answer_report(request, sent, Target(public_dish(number)))


@public_form("report", "GET")
def report_photo(request: HttpRequest, sent: Sent, pk: str) -> HttpResponse:
    photo = public_photo(pk)
    return answer_report(request, sent, Target(photo.dish, photo))


def answer_report(request: HttpRequest, sent: Sent, target: Target) -> HttpResponse:
    """GET: what is wrong with it? POST: the report is entered."""
    if request.method != "POST":
        return report_page(request, target, ReportForm())
    if sent.proof is None or sent.proof.target != target.mark:
        return report_page(
            request, target, ReportForm(initial=collect_typed_values(request.POST, ReportForm)), not_known()
        )
    form = ReportForm(request.POST)
    if not form.is_valid():
        return report_page(request, target, form)
    file_report(target, form.cleaned_data["reason"], form.cleaned_data["words"], network_of(request))
    return render(request, "collection/report_thanks.html", {"target": target})


def report_page(request: HttpRequest, target: Target, form: ReportForm, notice: str = "") -> HttpResponse:
    proof = Proof.new("report", target=target.mark)
    context = {"target": target, "form": form, "proof": proof, "notice": notice}
    return render(request, "collection/report.html", context)
