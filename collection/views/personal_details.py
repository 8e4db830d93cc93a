"""The end of one dish: thanks, and the optional *about you*."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from collection.access.form_tokens import Proof
from collection.access.guards import Sent, author_and_dish, author_by_cookie, public_form
from collection.dishes.submit import NameTakenError, store_personal_details
from collection.forms import PersonalDetailsForm
from collection.forms.typed import collect_typed_values
from collection.models import Contributor, Dish
from collection.views.open_collection import require_open_collection
from collection.views.receipt import build_receipt_context, build_way_back_context, protect_code
from collection.views.refused import not_known, render_unsaved_page
from wwd.base.middleware import disable_compression


def render_thanks_page(
    request: HttpRequest,
    contributor: Contributor,
    dish: Dish,
    form: PersonalDetailsForm | None = None,
    *,
    told: bool = False,
    notice: str = "",
    by_token: bool = True,
) -> HttpResponse:
    """The end of one dish. `told`: the personal details have just been stored; `by_token` as for `MorePage`."""
    code = build_way_back_context(request, contributor, dish) if by_token else {}
    context = {
        "go": Proof.new("go", contributor.pk, dish.pk),
        **build_receipt_context(dish),
        **code,
        "form": form or PersonalDetailsForm(),
        "proof": Proof.new("about", contributor.pk, dish.pk),
        "told": told,
        "notice": notice,
    }
    response = render(request, "collection/thanks.html", context)
    return protect_code(disable_compression(response) if form is not None else response, code.get("code"))


@public_form("about", "GET")
@require_open_collection
def save_personal_details(request: HttpRequest, sent: Sent) -> HttpResponse:
    """Personal details, with a consent of their own."""
    if request.method != "POST":
        return redirect("collection:describe")
    if sent.proof is None:
        known = author_by_cookie(request)
        if known is None:
            return render_unsaved_page(request, PersonalDetailsForm)
        form = PersonalDetailsForm(initial=collect_typed_values(request.POST, PersonalDetailsForm))
        return render_thanks_page(request, *known, form, notice=not_known(), by_token=False)
    contributor, dish = author_and_dish(sent)
    form = PersonalDetailsForm(request.POST)
    if not form.is_valid():
        # As in `save_further_answers`: the code was on the page before, and would leave this one uncompressed.
        return render_thanks_page(request, contributor, dish, form, by_token=False)
    try:
        store_personal_details(contributor, form.cleaned_data)
    except NameTakenError:
        form.add_error("alias", _("Somebody else shows this name already. Choose another one."))
        return render_thanks_page(request, contributor, dish, form)
    return render_thanks_page(request, contributor, dish, told=True)
