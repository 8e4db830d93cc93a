"""One's own dishes, the next dish, and the end of one's turn."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from collection.access.form_tokens import Proof
from collection.access.guards import (
    Sent,
    contributor_for,
    contributor_from_cookie,
    dish_for,
    public_form,
    recent_dishes,
    sign_out,
)
from collection.access.turns import end_here
from collection.forms import DishForm, dish_answers
from collection.views.pages import dish_page, empty_dish_page


@public_form("go", "GET")
def start_next_dish(request: HttpRequest, sent: Sent) -> HttpResponse:
    """The next dish; `place` carries place and language over from the one just told."""
    if request.method != "POST" or sent.proof is None:
        return redirect("collection:describe")
    contributor = contributor_for(sent)
    former = dish_for(contributor, sent.proof.target)
    assert contributor is not None
    return empty_dish_page(request, contributor, former if "place" in request.POST else None)


@public_form("go", "GET")
def show_my_dishes(request: HttpRequest, sent: Sent) -> HttpResponse:
    """Dishes of the last 24 hours; a POST may name one of them in `dish` to correct it."""
    contributor = contributor_for(sent) if request.method == "POST" else contributor_from_cookie(request)
    if contributor is None:
        return render(request, "collection/mine.html", {"dishes": None})
    if "dish" in request.POST:
        chosen = dish_for(contributor, request.POST["dish"], recent=True)
        proof = Proof.new("dish", contributor.pk, chosen.pk)
        return dish_page(request, proof, DishForm(initial=dish_answers(chosen)), mode="correct")
    dishes = recent_dishes(contributor).order_by("-created_at")
    context = {"dishes": dishes, "proof": Proof.new("go", contributor.pk)}
    return render(request, "collection/mine.html", context)


@public_form("")
def finish_contributor_turn(request: HttpRequest, sent: Sent) -> HttpResponse:
    """*Finish, or somebody else's turn*: nothing of this person stays behind.

    The page says no more than what happened: a browser without cookies is known by its pages alone, and a page of
    before that names nobody ends nothing.
    """
    if sent.refused:
        return redirect("collection:start")
    here = end_here(request)
    context = {"by_cookie": here.by_cookie, "by_page": here.by_page, "named_by_cookie": False}
    return sign_out(request, render(request, "collection/finished.html", context))
