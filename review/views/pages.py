"""Pages of the review. Thin: who asks, what for; `turns` holds what a reviewer can do."""

import hashlib
import uuid
from collections.abc import Callable
from datetime import timedelta
from functools import wraps
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.views.decorators.http import condition, require_safe

from collection.access import return_codes
from collection.access.form_tokens import Proof, ProofError, check_origin
from collection.access.guards import Sent, finished_form, public_form, sign_out
from collection.access.request_info import network_of
from collection.access.turns import COOKIE, end_here, finish_turn, known_here, open_turn, set_turn_cookie
from evaluation import content_store
from review import rights, signed_links
from review.campaigns.service import (
    AlreadyBegunError,
    countries_of,
    current_consent,
    draft_beside,
    join_campaign,
    others_joined,
    refuse_unless_open,
    text_of,
)
from review.errors import RequestRefusedError
from review.forms import JoinForm, own_words
from review.languages import review_languages
from review.models import Invitation, Reviewer, ReviewerConsent
from review.views import my_page
from review.views.actions import PURPOSE, Turn, loaded_anew, perform_action, show_next_image
from wwd.base.languages import offer_languages
from wwd.base.middleware import disable_compression, never_compress

JOIN = "review.join"
START = "review.start"
# Buttons of their own names beside those that say in `do` what to do.
OTHER_BUTTONS = (("why", "reason"), ("speak", "speak"))
COOKIE_REACH = timedelta(days=30)


def says_no(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Answers in a language of the review, and `Refused` with its sentence. No page is stored by a browser or proxy."""

    @wraps(view)
    def inner(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        with offer_languages(request, review_languages()):
            try:
                response = view(request, *args, **kwargs)
            except RequestRefusedError as no:
                context = {"sentence": no.sentence, "code": kwargs.get("code", ""), "typed": no.typed}
                response = disable_compression(render(request, "review/refused.html", context, status=no.status))
        response.headers["Cache-Control"] = "no-store"
        return response

    return inner


@public_form(JOIN, "GET")
@says_no
def show_invitation(request: HttpRequest, sent: Sent, code: str) -> HttpResponse:
    """Warning, what is asked, consent. Only sending the form changes anything."""
    found = invitation_for(code)
    if "forget" in request.POST:
        return _forget(request, found)
    if request.method == "POST":
        return _join(request, sent, found)
    refuse_unless_open(found.campaign, found)
    known = _from_cookies(request, found)
    asked = known is not None or others_joined(found.campaign)
    return _welcome(request, found, _join_form(found, asked=asked), known=known)


def _join_form(found: Invitation, data: QueryDict | None = None, *, asked: bool = False) -> JoinForm:
    """The form of an invitation: empty, or with what was sent. `asked`: it asks whether one has begun already."""
    return JoinForm(countries_of(found), data, asked=asked)


def _join(request: HttpRequest, sent: Sent, found: Invitation) -> HttpResponse:
    """Makes one reviewer of one person: asks before it makes a second in a browser, or beside others."""
    known = _from_cookies(request, found)
    another = known is not None and sent.person not in (None, known.pk)
    asked = another or "begun" in request.POST
    # What somebody chose whose turn is over is not shown to anyone who has the phone now.
    data = None if sent.finished else request.POST.copy()
    consent, draft, before = _agreed(found, sent.proof)
    if data and known and another and before != known.pk:
        # That they begin now was said on a page that did not know of the one who has begun here.
        data.pop("begun", None)
    form = _join_form(found, data, asked=asked)
    if sent.finished:
        return _welcome(request, found, form, message=gettext("The turn of the person before is over. Begin anew."))
    if consent is None or sent.proof is None:
        form.add_error(None, gettext("This page was open for too long, or did not come from here. Send it once more."))
    elif request.POST.get("begun") == "yes":
        return _go_on(request, known, found)
    elif form.is_valid():
        chosen = (form.cleaned_data["country"], form.cleaned_data["role"])
        try:
            reviewer = join_campaign(found.code, sent.proof.person, *chosen, consent, draft, asked=asked)
        except AlreadyBegunError:
            return _welcome(request, found, _join_form(found, data, asked=True))
        if (reviewer.country, reviewer.role) == chosen:
            return _begin(request, reviewer, known, found)
        form = _join_form(found, data, asked=True)
        form.add_error(None, gettext("Somebody already began with this page. Send it once more to begin as yourself."))
    return _welcome(request, found, form, known)


def _go_on(request: HttpRequest, known: Reviewer | None, found: Invitation) -> HttpResponse:
    """For somebody who has begun already: the next image where this browser knows them, else the form for a code."""
    if known is None:
        return _code_page(request)
    return perform_action(Turn(request, known.invitation or found, known, ""), "next")


def _begin(request: HttpRequest, reviewer: Reviewer, known: Reviewer | None, found: Invitation) -> HttpResponse:
    """The first image with the return code; ends the turn of another reviewer whom this browser knew."""
    if known and known.pk != reviewer.pk:
        finish_turn(known.pk)
    code = rights.first_code(reviewer)
    return _remember(show_next_image(Turn(request, found, reviewer, ""), code=code), reviewer, found)


@public_form(PURPOSE, "GET")
@says_no
def handle_review_turn(request: HttpRequest, sent: Sent, code: str) -> HttpResponse:
    """One image after another; which button was pressed is in `do`."""
    found = invitation_for(code)
    if request.method != "POST":
        known = _from_cookies(request, found)
        turn = Turn(request, found, known, "") if known and known.invitation_id == found.pk else None
        return (turn and loaded_anew(turn)) or redirect(found)
    if sent.proof is None:
        if sent.finished:
            raise RequestRefusedError(
                gettext("The turn of the person before is over. Open the invitation to begin anew."), 403
            )
        sentence = gettext("This page is too old, or did not come from here. Open your invitation again.")
        raise RequestRefusedError(sentence, 403, own_words(found.campaign.questionnaire.definition, request.POST))
    reviewer = reviewer_for(found, sent.proof.person)
    turn = Turn(request, found, reviewer, sent.proof.target, sent.proof.at)
    name = next((name for sent_as, name in OTHER_BUTTONS if sent_as in request.POST), request.POST.get("do", ""))
    return my_page.ACTIONS[name](turn) if name in my_page.ACTIONS else perform_action(turn, name)


@public_form("", "GET")
@never_compress
@says_no
def show_code_entry(request: HttpRequest, sent: Sent) -> HttpResponse:
    """Two codes may be typed here: a short one that invites, or the return code of somebody who takes part."""
    if request.method != "POST" or sent.refused or finished_form(request):
        return _code_page(request)
    typed = request.POST.get("code", "")
    found = invitation_with(typed)
    if found:
        return redirect(found)
    try:
        reviewer = rights.reviewer_by_code(typed, network_of(request))
    except return_codes.TooManyAttemptsError as error:
        response = _code_page(request, str(error), typed)
        response.status_code = 429
        response.headers["Retry-After"] = str(error.seconds)
        return response
    except return_codes.MistypedCodeError as error:
        return _code_page(request, str(error), typed)
    if reviewer is None:
        return _code_page(request, gettext("Nobody has this code. Compare it with your note."), typed)
    return my_page.open_own_page(request, reviewer)


def _code_page(request: HttpRequest, error: str = "", typed: str = "") -> HttpResponse:
    """The form for a code. Its token lets *Finish* spend it: Back and reload type nobody's code a second time."""
    context = {"error": error, "typed": typed[:40], "proof": Proof.new(START)}
    return render(request, "review/start.html", context, status=409 if error else 200)


@require_safe
@never_compress
@says_no
def open_personal_link(request: HttpRequest, token: str) -> HttpResponse:
    """Where a personal link leads: a button that goes on. Nothing changes by looking."""
    reviewer = signed_links.reviewer_of(token)
    if reviewer is None or reviewer.invitation is None:
        raise RequestRefusedError(gettext("This link is too old or not complete. Open your invitation again."), 404)
    with open_turn(request) as turn:
        context = {"invitation": reviewer.invitation, "proof": my_page.proof_of(reviewer, by_code=True)}
        response = render(request, "review/back.html", context)
        turn.leave_in(response)
    return response


def _etag(request: HttpRequest, token: str) -> str | None:
    """Of the copy, never of the image that it was made of."""
    copy = signed_links.copy_of(token)
    return f'"{hashlib.sha256(copy.encode()).hexdigest()[:32]}"' if copy else None


@require_safe
@never_compress
@condition(etag_func=_etag)
def serve_review_image(request: HttpRequest, token: str) -> HttpResponse:
    """A review copy. Nothing in the address or the headers tells which model, prompt, seed or file it is."""
    copy = signed_links.copy_of(token)
    try:
        content = content_store.read_content(copy) if copy else None
    except FileNotFoundError:
        content = None
    if content is None:
        raise Http404
    headers = {
        "Cache-Control": f"private, max-age={signed_links.IMAGE_SECONDS}",
        "Cross-Origin-Resource-Policy": "same-origin",
    }
    return HttpResponse(content, content_type="image/jpeg", headers=headers)


def invitation_with(short: str) -> Invitation | None:
    """The invitation whose short code this is, in capitals or not, with blanks or dashes or not."""
    signs = "".join(str(int(sign)) if sign.isdecimal() else sign for sign in short.casefold() if sign.isalnum())
    return Invitation.objects.filter(short=signs).first() if len(signs) == 8 else None


def invitation_for(code: str) -> Invitation:
    """The invitation with this code. Raises RequestRefusedError where there is none."""
    rows = Invitation.objects.select_related("campaign__questionnaire", "country")
    found = rows.filter(code=code).first()
    if found is None:
        raise RequestRefusedError(
            gettext("This link leads to no review. Ask the person who sent it for a new one."), 404
        )
    return found


def reviewer_for(found: Invitation, person: uuid.UUID) -> Reviewer:
    """The reviewer who joined with this invitation. Raises RequestRefusedError for everybody else."""
    rows = Reviewer.objects.select_related("campaign__questionnaire", "invitation")
    reviewer = rows.filter(pk=person, invitation=found).first()
    if reviewer is None:
        raise RequestRefusedError(gettext("You have not joined with this invitation. Open it and begin there."), 403)
    return reviewer


def _welcome(
    request: HttpRequest,
    found: Invitation,
    form: JoinForm,
    known: Reviewer | None = None,
    message: str = "",
    *,
    forgotten: bool = False,
) -> HttpResponse:
    """What one agrees to before the first image. `forgotten`: this answer takes the browser's cookies away."""
    full = found.limit is not None and found.used >= found.limit
    consent = current_consent()
    draft = draft_beside(consent)
    context = {
        "invitation": found,
        "campaign": found.campaign,
        "consent": consent,
        "draft": draft,
        "text": text_of(found.campaign),
        "form": form,
        "full": full,
        "message": message,
        "proof": Proof.new(
            JOIN, target=f"{found.code} {consent.pk} {draft.pk if draft else ''} {known.pk if known else ''}"
        ),
        "known": Proof.new(PURPOSE, known.pk) if known else None,
        "known_by": (known.invitation or found) if known else None,
    }
    return render(request, "review/welcome.html", {**context, "named_by_cookie": False} if forgotten else context)


def _agreed(
    found: Invitation, proof: Proof | None
) -> tuple[ReviewerConsent | None, ReviewerConsent | None, uuid.UUID | None]:
    """What was on the page which was sent: the consent text, the draft beside it, and who was known there.

    None where that was no page of this invitation.
    """
    code, text, draft, known = ([*proof.target.split(" "), "", "", ""] if proof else [""] * 4)[:4]
    if code != found.code or not text:
        return None, None, None
    texts = ReviewerConsent.objects.in_bulk([int(key) for key in (text, draft) if key])
    return texts.get(int(text)), texts.get(int(draft or 0)), uuid.UUID(known) if known else None


def _forget(request: HttpRequest, found: Invitation) -> HttpResponse:
    """Ends somebody's turn: neither the review nor the collection knows them on this phone any more."""
    try:
        check_origin(request)
    except ProofError:
        return redirect(found)
    here, message = end_here(request), ""
    if here.by_cookie:
        message = gettext("This phone does not remember you any more. Your answers are kept.")
    elif here.by_page:
        message = gettext("The pages of this turn can show and change nothing any more. Your answers are kept.")
    return sign_out(request, _welcome(request, found, _join_form(found), message=message, forgotten=True))


def _remember(response: HttpResponse, reviewer: Reviewer, found: Invitation) -> HttpResponse:
    """Lets this browser lead back here for a month. The cookie is one of the turn, so that any *Finish* clears it."""
    set_turn_cookie(response, reviewer.pk, _cookie_of(found), COOKIE_REACH)
    return response


def _cookie_of(found: Invitation) -> str:
    return f"{COOKIE}-{found.pk}"


def _from_cookies(request: HttpRequest, found: Invitation) -> Reviewer | None:
    """Who of this campaign has begun in this browser, with this invitation or another one; the last of them."""
    rows = [row for name, row in known_here(request).items() if name.startswith(f"{COOKIE}-")]
    began = {row.person: row.at for row in rows if row.person and row.younger_than(COOKIE_REACH)}
    people = Reviewer.objects.filter(pk__in=began, campaign=found.campaign).exclude(invitation=None)
    return max(people.select_related("invitation"), key=lambda one: began[one.pk], default=None)
