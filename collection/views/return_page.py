"""Coming back with the return code: everything of one's own, to read, take along, correct and take back."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from django.http import FileResponse, Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _

from collection.access import return_codes
from collection.access.form_tokens import BY_CODE, Proof
from collection.access.guards import Sent, finished_form, public_form, sign_in
from collection.access.request_info import network_of
from collection.forms import DishForm, dish_answers
from collection.forms.rights import CodeForm, LostForm
from collection.models import Contributor, Dish, ReturnCode, Withdrawal
from collection.views.pages import dish_page, not_known
from collection.withdrawal import personal_export, rights
from collection.withdrawal import withdraw as withdrawal_withdraw
from wwd.base.middleware import never_compress

View = TypeVar("View", bound=Callable[..., HttpResponse])
# What the form for a code is for.
CODE = "code"
Action = Callable[[HttpRequest, Contributor], HttpResponse]


def forbid_caching(view: View) -> Callable[..., HttpResponse]:
    """Codes and everything of a person: such a page is not compressed and kept by no cache."""

    @wraps(view)
    def inner(*args: Any, **kwargs: Any) -> HttpResponse:
        response = view(*args, **kwargs)
        response["Cache-Control"] = "no-store"
        return response

    return never_compress(inner)


@forbid_caching
@public_form("", "GET")
def enter_return_code(request: HttpRequest, sent: Sent) -> HttpResponse:
    """The code → everything of one's own. A browser that sends it again after *Finish* opens nothing."""
    if request.method != "POST" or finished_form(request):
        return code_form(request, CodeForm())
    if sent.refused:
        return code_form(request, CodeForm(initial={"code": request.POST.get("code", "")}), not_known())
    form = CodeForm(request.POST, network=network_of(request))
    if not form.is_valid():
        return asked_to_wait(code_form(request, form), form.wait)
    contributor = rights.by_code(form.person)
    if contributor is None:
        raise Http404
    return sign_in(own_page(request, contributor), contributor)


def code_form(request: HttpRequest, form: CodeForm, notice: str = "") -> HttpResponse:
    return render(request, "collection/return.html", {"form": form, "notice": notice, "proof": Proof.new(CODE)})


def asked_to_wait(response: HttpResponse, seconds: int) -> HttpResponse:
    """The same page for somebody who tried wrong codes; a right one is taken at any time."""
    if seconds:
        response.status_code = 429
        response["Retry-After"] = str(seconds)
    return response


@forbid_caching
@public_form("", "GET")
def hide_lost_dish(request: HttpRequest, sent: Sent) -> HttpResponse:
    """Receipt number and name hide one dish. The answer is the same whether they were right or wrong."""
    form = LostForm(request.POST) if request.method == "POST" and not sent.refused else LostForm()
    context = {"form": form, "notice": not_known() if sent.refused else "", "done": False}
    if form.is_bound and form.is_valid():
        withdrawal_withdraw.hide_by_receipt(*form.answers(), network_of(request))
        context["done"] = True
    return render(request, "collection/return_lost.html", context)


@forbid_caching
@public_form(BY_CODE, "GET")
def show_own_data(request: HttpRequest, sent: Sent) -> HttpResponse:
    """Everything of one's own, and what the pressed button does to it."""
    if request.method != "POST":
        return redirect("collection:return")
    contributor = rights.by_code(sent.person)
    if contributor is None:
        return code_form(request, CodeForm(), _("Some time has passed. Write your return code again."))
    for name, action in ACTIONS.items():
        if name in request.POST:
            return action(request, contributor)
    return own_page(request, contributor)


def own_page(request: HttpRequest, contributor: Contributor, done: str = "", **more: Any) -> HttpResponse:
    """`done`: a sentence about what has just happened."""
    context = {
        "everything": rights.everything_withdrawn(contributor),
        "dishes": rights.own_dishes(contributor),
        "details": rights.has_details(contributor),
        "proof": Proof.new(BY_CODE, contributor.pk),
        "done": done,
    }
    return render(request, "collection/mine_by_code.html", {**context, **more})


def own_dish(request: HttpRequest, contributor: Contributor, button: str) -> Dish:
    """The dish that the pressed button names, where it is theirs."""
    try:
        return rights.list_unerased_dishes(contributor).get(pk=request.POST[button])
    except (Dish.DoesNotExist, ValueError, OverflowError):
        raise Http404 from None


def correct_own_dish(request: HttpRequest, contributor: Contributor) -> HttpResponse:
    dish = own_dish(request, contributor, "correct")
    if dish.state == Dish.State.WITHDRAWN:
        return own_page(request, contributor, _("This dish is withdrawn. Undo that first."))
    proof = Proof.new("dish", contributor.pk, dish.pk)
    return dish_page(request, proof, DishForm(initial=dish_answers(dish)), mode="correct")


def withdraw_own_dish(request: HttpRequest, contributor: Contributor) -> HttpResponse:
    dish = own_dish(request, contributor, "withdraw")
    if "sure" not in request.POST:
        return render_withdrawal_prompt(request, contributor, "withdraw", dish)
    known = withdrawal_withdraw.withdraw_dish(dish, Withdrawal.Reason.OWN, contributor.pk)
    withdrawal_withdraw.confirm_withdrawals(Withdrawal.objects.filter(pk=known.pk))
    return own_page(request, contributor, _("The dish is withdrawn. Nobody sees it any more."))


def undo_own_withdrawal(request: HttpRequest, contributor: Contributor) -> HttpResponse:
    standing = (
        withdrawal_withdraw.list_undoable_withdrawals().filter(dish=own_dish(request, contributor, "undo")).first()
    )
    done = standing is not None and withdrawal_withdraw.restore_withdrawn_dish(standing)
    return own_page(request, contributor, _("The dish is as it was before.") if done else "")


def remove_own_details(request: HttpRequest, contributor: Contributor) -> HttpResponse:
    if "sure" not in request.POST:
        return render_withdrawal_prompt(request, contributor, "details")
    withdrawal_withdraw.remove_details(contributor)
    contributor.refresh_from_db()
    return own_page(request, contributor, _("What you told about yourself is removed."))


def withdraw_all_data(request: HttpRequest, contributor: Contributor) -> HttpResponse:
    if "sure" not in request.POST:
        return render_withdrawal_prompt(request, contributor, "everything")
    withdrawal_withdraw.withdraw_everything(contributor)
    return own_page(request, contributor, _("Everything of yours is withdrawn. Nobody sees it any more."))


def undo_everything(request: HttpRequest, contributor: Contributor) -> HttpResponse:
    done = withdrawal_withdraw.undo_everything(contributor.pk)
    return own_page(request, contributor, _("Everything is as it was before.") if done else "")


def render_withdrawal_prompt(
    request: HttpRequest, contributor: Contributor, what: str, dish: Dish | None = None
) -> HttpResponse:
    """One page between the button and the deed: what will happen, and until when it can be undone."""
    context = {"what": what, "dish": dish, "proof": Proof.new(BY_CODE, contributor.pk)}
    return render(request, "collection/withdraw.html", context)


def new_code(request: HttpRequest, contributor: Contributor) -> HttpResponse:
    code = return_codes.issue_return_code(contributor.pk, ReturnCode.Kind.CONTRIBUTOR)
    address = request.build_absolute_uri(reverse("collection:return"))
    done = _("This is your new code. The old one is worth nothing any more.")
    return own_page(request, contributor, done, **rights.code_context(code, address))


def export_personal_data(request: HttpRequest, contributor: Contributor) -> HttpResponse:
    """Everything of theirs: a page to read and print, a ZIP with the photos, or JSON for programs."""
    how, name = request.POST["download"], personal_export.file_name()
    if how == "zip":
        made = personal_export.zip_along(contributor)
        # Sent piece by piece. The door asks nothing of an answer that this one lacks.
        sent = FileResponse(made, as_attachment=True, filename=f"{name}.zip", content_type="application/zip")
        return cast(HttpResponse, sent)
    if how == "page":
        response = HttpResponse(personal_export.page_along(contributor))
        response["Content-Disposition"] = f'attachment; filename="{name}.html"'
        return response
    content = rights.export_contributor(contributor, with_photos=how == "photos")
    response = JsonResponse(content, json_dumps_params={"ensure_ascii": False, "indent": 1})
    response["Content-Disposition"] = f'attachment; filename="{name}.json"'
    return response


ACTIONS: dict[str, Action] = {
    "correct": correct_own_dish,
    "withdraw": withdraw_own_dish,
    "undo": undo_own_withdrawal,
    "details": remove_own_details,
    "everything": withdraw_all_data,
    "undo_everything": undo_everything,
    "new_code": new_code,
    "download": export_personal_data,
}
