"""What a reviewer can do with the image in hand. Each action answers with the next page; nothing needs a cookie."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext

from collection.access.form_tokens import Proof, ProofError, read_token
from review import assignment, breaks
from review.campaigns.service import refuse_unless_open, save_review
from review.errors import RequestRefusedError
from review.forms import QuestionForm, Typed, typed_in
from review.models import Assignment, Campaign, Invitation, Review, Reviewer
from review.questionnaires import parse_questions
from review.signed_links import back_address, image_address, large_address
from wwd.base.middleware import disable_compression

PURPOSE = "review"


@dataclass(frozen=True)
class Turn:
    """One request of a reviewer about one image; `about` is the assignment's id as the signed form said it.

    `made_at`: when that form was made, in milliseconds since 1970.
    """

    request: HttpRequest
    invitation: Invitation
    reviewer: Reviewer
    target: str
    made_at: int = 0

    @property
    def campaign(self) -> Campaign:
        return self.invitation.campaign

    @property
    def definition(self) -> dict[str, Any]:
        return dict(self.campaign.questionnaire.definition)

    @property
    def page(self) -> int:
        return 2 if self.request.POST.get("page") == "2" else 1

    def in_hand(self) -> Assignment:
        """The assignment that this request is about. Raises RequestRefusedError where it is none of the reviewer's."""
        found = assignment.find_assignment(self.reviewer, self.target)
        if found.state == Assignment.State.REPORTED:
            raise RequestRefusedError(gettext("You reported this picture. It stays hidden. Go on to the next picture."))
        return found

    def form(self, given: Assignment, page: int, *, sent: bool = False, typed: Typed | None = None) -> QuestionForm:
        """One page of the questions about an image. `sent`: it is validated. `typed`: instead of what was sent."""
        typed = typed_in(self.definition, self.request.POST) if typed is None else typed
        return QuestionForm(self.definition, page, given.image.dish_name, typed, sent=sent)

    def respond(self, template: str, about: object = "", **context: Any) -> HttpResponse:
        shared = {
            "invitation": self.invitation,
            "campaign": self.campaign,
            "proof": Proof.new(PURPOSE, self.reviewer.pk, about),
            "progress": assignment.count_reviewer_progress(self.reviewer),
        }
        return render(self.request, template, {**shared, **context})


def show_next_image(turn: Turn, message: str = "", left: Assignment | None = None, code: str = "") -> HttpResponse:
    """The image in hand or the next one, covered; a rest where one is due; the last page where none is left.

    `left`: the image that was just skipped or reported, about which a reason may be given. `code`: a return code
    that is shown this once.
    """
    asked: dict[str, Any] = {"message": message, "left": left and Proof.new(PURPOSE, turn.reviewer.pk, left.pk)}
    why = breaks.rest_due(turn.reviewer)
    if why:
        return show_rest_page(turn, why, **asked)
    given = assignment.reserve_image(turn.reviewer)
    if given is None:
        return render_personal_page(turn, "review/done.html", reasons=Assignment.Reason.choices, code=code, **asked)
    return _show_image(turn, given, _begun(turn, given), shown=False, code=code, **asked)


def _begun(turn: Turn, given: Assignment) -> QuestionForm:
    """The first questions about an image, or the second ones where the first were answered."""
    return turn.form(given, 2 if given.begun else 1, typed=given.begun)


def loaded_anew(turn: Turn) -> HttpResponse | None:
    """The image in hand once more, covered, for somebody whom the browser knows; it gives out no new one."""
    given = assignment.list_live_assignments(turn.reviewer).select_related("image").first()
    if given is None or turn.reviewer.withdrawn_at or not turn.campaign.is_open() or turn.invitation.revoked_at:
        return None
    return _show_image(turn, given, _begun(turn, given), shown=False)


def show_rest_page(turn: Turn, why: breaks.Why, **context: Any) -> HttpResponse:
    people = breaks.list_support_contacts(turn.reviewer)
    tagged = assignment.has_tagged(turn.campaign)
    shown = {"why": why, "contacts": people, "tagged": tagged, "reasons": Assignment.Reason.choices}
    return render_personal_page(turn, "review/rest.html", **shown, **context)


def go_on(turn: Turn) -> HttpResponse:
    """After a rest."""
    breaks.go_on(turn.reviewer)
    return show_next_image(turn)


def continue_without_tagged(turn: Turn) -> HttpResponse:
    """After a rest, from now on without tagged content."""
    breaks.only_milder(turn.reviewer)
    breaks.go_on(turn.reviewer)
    return show_next_image(turn, gettext("From now on you see no picture that the team has marked as upsetting."))


def show_image(turn: Turn) -> HttpResponse:
    given = turn.in_hand()
    assignment.mark_shown(given)
    return _show_image(turn, given, turn.form(given, turn.page), shown=True)


def show_enlarged_image(turn: Turn) -> HttpResponse:
    given = turn.in_hand()
    assignment.mark_shown(given)
    return _show_image(turn, given, turn.form(given, turn.page), shown=True, large=True)


def cover_image(turn: Turn) -> HttpResponse:
    given = turn.in_hand()
    return _show_image(turn, given, turn.form(given, turn.page), shown=False)


def switch_language(turn: Turn) -> HttpResponse:
    """The same page in another language, which the address names; what was typed is stored."""
    given = turn.in_hand()
    return _show_image(turn, given, turn.form(given, turn.page), shown=_was_shown(turn))


def show_first_questions(turn: Turn) -> HttpResponse:
    """The first questions again, with what was typed on both pages."""
    given = turn.in_hand()
    return _show_image(turn, given, turn.form(given, 1), shown=_was_shown(turn))


def submit_answers(turn: Turn) -> HttpResponse:
    """Checks a page of answers; asks what depends on them on one more page, or keeps them."""
    given = turn.in_hand()
    form = turn.form(given, turn.page, sent=True)
    if form.is_valid() and given.shown_at is None:
        form.add_error(None, gettext("You have not seen the picture. Show it, or skip it."))
    if not form.is_valid():
        return _show_image(turn, given, form, shown=_was_shown(turn))
    if turn.page == 1 and _more_to_ask(turn, form):
        return _show_image(turn, given, turn.form(given, 2), shown=_was_shown(turn))
    changing = _changing(turn)
    saved = save_review(turn.reviewer, given.image, form.answers, correction=changing, repeat=given.repeat)
    if saved.how == "differs":
        return turn.respond("review/again.html", given.pk, form=form, dish_name=given.image.dish_name)
    changed = gettext("Your answers are changed.")
    return show_next_image(turn, changed if changing else gettext("Your answers are kept."))


def correct_answers(turn: Turn) -> HttpResponse:
    """Replaces an earlier answer, after the reviewer said that it is a correction."""
    given = turn.in_hand()
    form = turn.form(given, 2, sent=True)
    if not form.is_valid():
        return _show_image(turn, given, turn.form(given, 1, sent=True), shown=False)
    save_review(turn.reviewer, given.image, form.answers, correction=True, repeat=given.repeat)
    return show_next_image(turn, gettext("Your answers are changed."))


def edit_answers(turn: Turn) -> HttpResponse:
    """Earlier answers, to be changed; the image is covered. Raises RequestRefusedError where nothing was answered."""
    turn = replace(turn, target=turn.request.POST.get("which", turn.target))
    given = turn.in_hand()
    said = Review.objects.filter(reviewer=turn.reviewer, image=given.image, repeat=given.repeat).first()
    if said is None:
        raise RequestRefusedError(gettext("You have not answered the questions about this picture."))
    return _show_image(turn, given, turn.form(given, 1, typed=said.answers), shown=False, changing=True)


def undo_last_action(turn: Turn) -> HttpResponse:
    """The last image once more: its answers to be changed, or in hand again where it was skipped or reported."""
    last = assignment.last_handled(turn.reviewer)
    if last is None:
        raise RequestRefusedError(gettext("There is nothing to take back."))
    if last.state == Assignment.State.ANSWERED:
        return edit_answers(replace(turn, target=str(last.pk)))
    assignment.take_back(last)
    return show_next_image(turn, gettext("It is taken back. The picture is yours again."))


def skip_image(turn: Turn) -> HttpResponse:
    given = turn.in_hand()
    assignment.skip_assignment(given)
    return show_next_image(turn, gettext("You skipped a picture. That is fine."), given)


def report_image(turn: Turn) -> HttpResponse:
    given = turn.in_hand()
    assignment.report_assignment(given)
    said = gettext("The picture is reported. It stays hidden until the team has looked at it.")
    return show_next_image(turn, said, given)


def save_skip_reason(turn: Turn) -> HttpResponse:
    """Why an image was skipped or reported; freely told, afterwards. What was typed for the next one is stored."""
    given = assignment.find_assignment(turn.reviewer, _left(turn))
    assignment.give_reason(given, turn.request.POST.get("why", ""))
    said = gettext("Your reason is kept.")
    if not turn.target or breaks.rest_due(turn.reviewer):
        return show_next_image(turn, said)
    current = turn.in_hand()
    return _show_image(turn, current, turn.form(current, turn.page), shown=_was_shown(turn), message=said)


def show_stop_page(turn: Turn) -> HttpResponse:
    return render_personal_page(turn, "review/stop.html", contacts=breaks.list_support_contacts(turn.reviewer))


def render_personal_page(turn: Turn, template: str, **context: Any) -> HttpResponse:
    """A page that holds the personal way back; it is never compressed beside that secret."""
    address = turn.request.build_absolute_uri(back_address(turn.reviewer))
    return disable_compression(turn.respond(template, back_address=address, **context))


def _left(turn: Turn) -> str:
    """The assignment that was just skipped or reported, as the page says; nothing where the page is not ours."""
    try:
        proof = read_token(turn.request.POST.get("left", ""), PURPOSE)
    except ProofError:
        return ""
    return proof.target if proof.person == turn.reviewer.pk else ""


def _changing(turn: Turn) -> bool:
    return turn.request.POST.get("changing") == "1"


def _was_shown(turn: Turn) -> bool:
    return turn.request.POST.get("shown") == "1"


def _more_to_ask(turn: Turn, form: QuestionForm) -> bool:
    return any(question.page == 2 and question.applies(form.answers) for question in parse_questions(turn.definition))


def _show_image(
    turn: Turn, given: Assignment, form: QuestionForm, *, shown: bool, large: bool = False, **context: Any
) -> HttpResponse:
    """The page with the frame. The image's address is in it only where the image is to be shown."""
    address = large_address if large else image_address
    if form.page == 2 and form.typed != given.begun:
        assignment.store_first_page(given, form.chosen())
    shared = {
        "form": form,
        "dish_name": given.image.dish_name,
        "image": address(given.image) if shown else "",
        "large": large,
        "changing": _changing(turn),
        "speak": form.page,
        "speak_at": f"/review/{turn.invitation.code}/pictures/",
        "reasons": Assignment.Reason.choices,
    }
    response = turn.respond("review/image.html", given.pk, **{**shared, **context})
    return disable_compression(response) if context.get("code") else response


ACTIONS: dict[str, Callable[[Turn], HttpResponse]] = {
    "next": show_next_image,
    "show": show_image,
    "speak": switch_language,
    "larger": show_enlarged_image,
    "hide": cover_image,
    "back": show_first_questions,
    "answer": submit_answers,
    "correct": correct_answers,
    "edit": edit_answers,
    "undo": undo_last_action,
    "skip": skip_image,
    "report": report_image,
    "reason": save_skip_reason,
    "on": go_on,
    "milder": continue_without_tagged,
    "stop": show_stop_page,
}
ALWAYS = ("stop",)


def perform_action(turn: Turn, name: str) -> HttpResponse:
    """Does what a button asked for. Raises RequestRefusedError, for example where the campaign is closed."""
    if name not in ACTIONS:
        raise RequestRefusedError(gettext("This button is not known here. Open your invitation again."), 400)
    if turn.reviewer.withdrawn_at:
        raise RequestRefusedError(
            gettext("You ended taking part. Open your own page with your return code to undo it."), 403
        )
    if name not in ALWAYS:
        refuse_unless_open(turn.campaign, turn.invitation)
    return ACTIONS[name](turn)
