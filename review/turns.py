"""What a reviewer can do with the picture in hand. Each action answers with the next page; nothing needs a cookie."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext

from collection.proof import Proof
from review import assignment
from review.campaigns import refuse_unless_open, save_review
from review.forms import QuestionForm, typed_in
from review.links import back_address, picture_address
from review.models import Assignment, Campaign, Invitation, Reviewer
from review.questionnaires import questions
from review.refused import Refused

PURPOSE = "review"


@dataclass(frozen=True)
class Turn:
    """One request of a reviewer about one picture; `about` is the picture's id as the signed form said it."""

    request: HttpRequest
    invitation: Invitation
    reviewer: Reviewer
    about: str

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
        """The assignment that this request is about. Raises Refused where it is none of the reviewer's."""
        found = assignment.given(self.reviewer, self.about)
        if found.state == Assignment.State.REPORTED:
            raise Refused(gettext("You reported this picture. It stays hidden. Go on to the next picture."))
        return found

    def form(self, given: Assignment, page: int, *, sent: bool = False) -> QuestionForm:
        typed = typed_in(self.definition, self.request.POST)
        return QuestionForm(self.definition, page, given.image.dish_name, typed, sent=sent)

    def respond(self, template: str, about: object = "", **context: Any) -> HttpResponse:
        shared = {
            "invitation": self.invitation,
            "campaign": self.campaign,
            "proof": Proof.new(PURPOSE, self.reviewer.pk, about),
            "progress": assignment.progress(self.reviewer),
        }
        return render(self.request, template, {**shared, **context})


def next_picture(turn: Turn, message: str = "") -> HttpResponse:
    """The picture in hand or the next one, covered; the last page where none is left."""
    given = assignment.reserve(turn.reviewer)
    if given is None:
        return personal(turn, "review/done.html", message=message)
    form = QuestionForm(turn.definition, 1, given.image.dish_name, {})
    return _picture(turn, given, form, shown=False, message=message)


def show(turn: Turn) -> HttpResponse:
    given = turn.in_hand()
    assignment.mark_shown(given)
    return _picture(turn, given, turn.form(given, turn.page), shown=True)


def hide(turn: Turn) -> HttpResponse:
    given = turn.in_hand()
    return _picture(turn, given, turn.form(given, turn.page), shown=False)


def back(turn: Turn) -> HttpResponse:
    """The first questions again, with what was typed on both pages."""
    given = turn.in_hand()
    return _picture(turn, given, turn.form(given, 1), shown=_was_shown(turn))


def answer(turn: Turn) -> HttpResponse:
    """Checks a page of answers; asks what depends on them on one more page, or keeps them."""
    given = turn.in_hand()
    form = turn.form(given, turn.page, sent=True)
    if form.is_valid() and given.shown_at is None:
        form.add_error(None, gettext("You have not seen the picture. Show it, or skip it."))
    if not form.is_valid():
        return _picture(turn, given, form, shown=_was_shown(turn))
    if turn.page == 1 and _more_to_ask(turn, form):
        return _picture(turn, given, turn.form(given, 2), shown=_was_shown(turn))
    saved = save_review(turn.reviewer, given.image, form.answers)
    if saved.how == "differs":
        return turn.respond("review/again.html", given.image.pk, form=form, dish_name=given.image.dish_name)
    return next_picture(turn, gettext("Your answers are kept."))


def correct(turn: Turn) -> HttpResponse:
    """Replaces an earlier answer, after the reviewer said that it is a correction."""
    given = turn.in_hand()
    form = turn.form(given, 2, sent=True)
    if not form.is_valid():
        return _picture(turn, given, turn.form(given, 1, sent=True), shown=False)
    save_review(turn.reviewer, given.image, form.answers, correction=True)
    return next_picture(turn, gettext("Your answers are changed."))


def skip(turn: Turn) -> HttpResponse:
    assignment.skip(turn.in_hand())
    return next_picture(turn, gettext("You skipped a picture. That is fine."))


def report(turn: Turn) -> HttpResponse:
    assignment.report(turn.in_hand())
    return next_picture(turn, gettext("The picture is reported. It stays hidden until the team has looked at it."))


def stop(turn: Turn) -> HttpResponse:
    return personal(turn, "review/stop.html")


def personal(turn: Turn, template: str, **context: Any) -> HttpResponse:
    """A page that holds the personal way back; it is never compressed beside that secret."""
    address = turn.request.build_absolute_uri(back_address(turn.reviewer))
    response = turn.respond(template, back_address=address, **context)
    response.never_compress = True  # type: ignore[attr-defined]
    return response


def _was_shown(turn: Turn) -> bool:
    return turn.request.POST.get("shown") == "1"


def _more_to_ask(turn: Turn, form: QuestionForm) -> bool:
    return any(question.page == 2 and question.applies(form.answers) for question in questions(turn.definition))


def _picture(turn: Turn, given: Assignment, form: QuestionForm, *, shown: bool, message: str = "") -> HttpResponse:
    """The page with the frame. The picture's address is in it only where the picture is to be shown."""
    address = picture_address(given.image) if shown else ""
    return turn.respond(
        "review/picture.html",
        given.image.pk,
        form=form,
        dish_name=given.image.dish_name,
        picture=address,
        message=message,
    )


ACTIONS: dict[str, Callable[[Turn], HttpResponse]] = {
    "next": next_picture,
    "show": show,
    "hide": hide,
    "back": back,
    "answer": answer,
    "correct": correct,
    "skip": skip,
    "report": report,
    "stop": stop,
}
ALWAYS = ("stop",)


def act(turn: Turn, name: str) -> HttpResponse:
    """Does what a button asked for. Raises Refused, for example where the campaign is closed."""
    if name not in ACTIONS:
        raise Refused(gettext("This button is not known here. Open your invitation again."), 400)
    if name not in ALWAYS:
        refuse_unless_open(turn.campaign, turn.invitation)
    return ACTIONS[name](turn)
