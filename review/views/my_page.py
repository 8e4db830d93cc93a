"""A reviewer's own page: progress, earlier answers, notes, what never to see; and, with the code, their rights."""

import json

from django.core.serializers.json import DjangoJSONEncoder
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext

from collection.access import return_codes
from collection.access.form_tokens import BY_CODE_AGE, Proof, read_logical_clock, read_wall_clock
from review import breaks, rights
from review.errors import RequestRefusedError
from review.forms import AvoidForm, BackgroundForm, NoteForm
from review.models import Assignment, Note, Reviewer, ReviewerBackground
from review.personal_export import page_along
from review.views.actions import PURPOSE, Turn, render_personal_page
from wwd.base.middleware import disable_compression

# What a form is about where its page was opened by return code or personal link.
OWN = "own"
LISTED = 50


def proof_of(reviewer: Reviewer, *, by_code: bool) -> Proof:
    return Proof.new(PURPOSE, reviewer.pk, OWN if by_code else "")


def opened_by_code(turn: Turn) -> bool:
    """Whether this request comes from a page that was opened by code or personal link within the hour."""
    age = (read_wall_clock() - turn.made_at) / 1000
    return turn.target == OWN and age <= BY_CODE_AGE.total_seconds()


def show_my_page(turn: Turn, message: str = "", note: NoteForm | None = None, code: str = "") -> HttpResponse:
    reviewer = turn.reviewer
    by_code = opened_by_code(turn)
    done = Assignment.objects.filter(reviewer=reviewer, state=Assignment.State.ANSWERED).select_related("image")
    context = {
        "message": message,
        "by_code": by_code,
        "proof": proof_of(reviewer, by_code=by_code),
        "answered": done.order_by("-handled_at")[:LISTED],
        "notes": reviewer.notes.all()[:LISTED],
        "note": note or NoteForm(),
        "avoid": AvoidForm(initial={"avoids": reviewer.avoids}),
        "background": BackgroundForm(),
        "told": ReviewerBackground.objects.filter(reviewer=reviewer).exists(),
        "contacts": breaks.list_support_contacts(reviewer),
        "code": code,
    }
    return render_personal_page(turn, "review/mine.html", **context)


def save_note(turn: Turn) -> HttpResponse:
    """A note to the team. Sending it twice keeps it once."""
    form = NoteForm(turn.request.POST)
    if not form.is_valid():
        return show_my_page(turn, note=form)
    Note.objects.get_or_create(reviewer=turn.reviewer, text=form.cleaned_data["text"])
    return show_my_page(turn, gettext("Your note is kept. The answer will stand on this page."))


def save_avoided_content(turn: Turn) -> HttpResponse:
    """What never to see, from the next image on."""
    form = AvoidForm(turn.request.POST)
    if not form.is_valid():
        raise RequestRefusedError(gettext("Choose among the answers that are shown."), 400)
    turn.reviewer.avoids = form.cleaned_data["avoids"]
    turn.reviewer.save(update_fields=["avoids"])
    return show_my_page(turn, gettext("Your choice is kept. It counts from the next picture on."))


def save_background(turn: Turn) -> HttpResponse:
    """About oneself, freely; what was told before is replaced and never shown here."""
    form = BackgroundForm(turn.request.POST)
    if form.is_valid():
        ReviewerBackground.objects.update_or_create(reviewer=turn.reviewer, defaults=form.cleaned_data)
        return show_my_page(
            turn, gettext("Your details are kept apart from your answers. Only stewards can read them.")
        )
    raise RequestRefusedError(gettext("One of the texts is too long. Go back and shorten it."), 400)


def new_code(turn: Turn) -> HttpResponse:
    _needs_code(turn)
    return show_my_page(turn, code=return_codes.issue_return_code(turn.reviewer.pk, rights.KIND))


def download_own_data(turn: Turn) -> HttpResponse:
    """Everything that is stored of this person, as one file."""
    _needs_code(turn)
    text = json.dumps(rights.collect_reviewer_data(turn.reviewer), cls=DjangoJSONEncoder, ensure_ascii=False, indent=1)
    headers = {"Content-Disposition": 'attachment; filename="my-answers.json"'}
    return disable_compression(HttpResponse(text, content_type="application/json", headers=headers))


def download_page(turn: Turn) -> HttpResponse:
    """The same for people: a page that a phone shows and prints."""
    _needs_code(turn)
    headers = {"Content-Disposition": 'attachment; filename="my-answers.html"'}
    return disable_compression(HttpResponse(page_along(turn.reviewer), headers=headers))


def withdraw_participation(turn: Turn) -> HttpResponse:
    """Ends taking part, with or without the answers. Seven days to undo."""
    _needs_code(turn)
    how = turn.request.POST.get("answers")
    if how not in ("keep", "delete"):
        return show_my_page(turn, gettext("Choose what happens to your answers."))
    rights.withdraw_reviewer(turn.reviewer, how == "keep")
    turn.reviewer.refresh_from_db()
    return show_withdrawn_page(turn.request, turn.reviewer)


def undo_withdrawal(turn: Turn) -> HttpResponse:
    _needs_code(turn)
    rights.undo_withdrawal(turn.reviewer)
    turn.reviewer.refresh_from_db()
    return show_my_page(turn, gettext("Your withdrawal is undone. Your answers count as before."))


def show_withdrawn_page(request: HttpRequest, reviewer: Reviewer) -> HttpResponse:
    """For somebody who withdrew and proved who they are: what happens when, and how to undo it."""
    proof = proof_of(reviewer, by_code=True)
    until = reviewer.withdrawn_at and reviewer.withdrawn_at + rights.UNDO
    context = {"reviewer": reviewer, "invitation": reviewer.invitation, "proof": proof, "until": until}
    return render(request, "review/gone.html", context)


def open_own_page(request: HttpRequest, reviewer: Reviewer) -> HttpResponse:
    """What a return code or personal link opens."""
    if reviewer.withdrawn_at:
        return show_withdrawn_page(request, reviewer)
    assert reviewer.invitation
    return show_my_page(Turn(request, reviewer.invitation, reviewer, OWN, read_logical_clock()))


def _needs_code(turn: Turn) -> None:
    if not opened_by_code(turn):
        raise RequestRefusedError(
            gettext("This needs your return code or your personal link. Open your own page with it."), 403
        )


ACTIONS = {
    "me": show_my_page,
    "note": save_note,
    "avoid": save_avoided_content,
    "background": save_background,
    "new-code": new_code,
    "download": download_own_data,
    "download-page": download_page,
    "withdraw": withdraw_participation,
    "undo-withdrawal": undo_withdrawal,
}
