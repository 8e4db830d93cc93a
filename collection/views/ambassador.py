"""The pages of an ambassador: the invitation that is opened once, and the way back with the return code."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

from collection.access import return_codes
from collection.access.form_tokens import Proof
from collection.access.guards import (
    Sent,
    contributor_from_cookie,
    find_active_contributor,
    finished_form,
    public_form,
    sign_in,
)
from collection.access.request_info import network_of
from collection.consent.ambassadors import ambassador_of, find_invited_ambassador, open_invitation
from collection.consent.readiness import Accepting, get_collection_status
from collection.consent.record import Shown, consent_for, shown_consent, wanted_languages
from collection.forms.consent import ConsentForm
from collection.forms.rights import CodeForm
from collection.models import Ambassador, Contributor, ReturnCode
from collection.views.consent import closed_page, render_form_page, said_on
from collection.views.pages import not_known
from collection.views.return_page import asked_to_wait
from collection.vocabularies.places import translate_place_name
from wwd.base.middleware import disable_compression

# What the form for a code is for.
CODE = "ambassador code"


@public_form("ambassador", "GET")
def accept_invitation(request: HttpRequest, sent: Sent, code: str) -> HttpResponse:
    """An invitation: who one becomes with it, the consent → ready, with one's own return code. Opened once.

    Not before the collection is open: an invitation opened for a demonstration would be used up.
    """
    ambassador = find_invited_ambassador(code)
    if ambassador is None:
        raise Http404
    if get_collection_status() is not Accepting.OPEN:
        return closed_page(request)
    shown = shown_consent(sent.proof) if sent.proof else None
    if shown is None or sent.proof is None:
        return invitation_page(request, ambassador, notice=not_known() if request.method == "POST" else "")
    form = ConsentForm(request.POST)
    if not form.is_valid():
        return invitation_page(request, ambassador, form, shown)
    contributor = open_invitation(ambassador, shown, sent.proof.person)
    if contributor is None:
        return code_page(request, notice=describe_used_invitation())
    own_code = return_codes.issue_first_code(contributor.pk, ReturnCode.Kind.CONTRIBUTOR)
    return sign_in(ready_page(request, contributor, own_code), contributor)


def country_of(ambassador: Ambassador) -> str:
    return translate_place_name(ambassador.country_id, ambassador.country.name).text


def describe_used_invitation() -> str:
    return _("This invitation was opened before. Type the return code that was shown then.")


def invitation_page(
    request: HttpRequest,
    ambassador: Ambassador,
    form: ConsentForm | None = None,
    shown: Shown | None = None,
    notice: str = "",
) -> HttpResponse:
    if ambassador.opened_at:
        return code_page(request, notice=describe_used_invitation())
    shown = shown or consent_for(wanted_languages(request))
    context = {**said_on(request, shown), "ambassador": ambassador, "country": country_of(ambassador), "notice": notice}
    return render_form_page(
        request, "ambassador", Proof.new("ambassador", target=shown.mark), form or ConsentForm(), **context
    )


@public_form("", "GET")
def show_ambassador_page(request: HttpRequest, sent: Sent) -> HttpResponse:
    """Somebody who describes for others comes back: known by the cookie, or by the return code."""
    if request.method != "POST" or finished_form(request):
        known = contributor_from_cookie(request)
        return ready_page(request, known) if known else code_page(request)
    form = CodeForm(request.POST, network=network_of(request))
    if sent.refused:
        return code_page(request, CodeForm(initial={"code": request.POST.get("code", "")}), not_known())
    contributor = find_active_contributor(form.person) if form.is_valid() else None
    return ready_page(request, contributor) if contributor else asked_to_wait(code_page(request, form), form.wait)


def code_page(request: HttpRequest, form: CodeForm | None = None, notice: str = "") -> HttpResponse:
    context = {"form": form or CodeForm(), "notice": notice, "proof": Proof.new(CODE)}
    return disable_compression(render(request, "collection/ambassador_code.html", context))


def ready_page(request: HttpRequest, contributor: Contributor, code: str | None = None) -> HttpResponse:
    """Where one begins to describe for somebody beside one; with one's own code where it was just made."""
    ambassador = ambassador_of(contributor)
    context = {
        "ambassador": ambassador,
        "country": country_of(ambassador) if ambassador else "",
        "code": code,
        "proof": Proof.new("beside", contributor.pk),
    }
    response = disable_compression(render(request, "collection/ambassador_ready.html", context))
    if code:
        response["Cache-Control"] = "no-store"
    return response
