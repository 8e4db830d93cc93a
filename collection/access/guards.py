"""The doors of the public pages: who sent this form, and which rows that person may reach.

`public_form` is the one place that lifts Django's CSRF cookie check. It may, because it puts a stronger check in its
place that also works where cookies are refused: the form's signed token (`collection.access.form_tokens`) and the
browser's own statement of where the request came from.
"""

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property, wraps
from typing import Any, Concatenate, ParamSpec

from django.contrib.auth.models import AbstractUser, AnonymousUser
from django.core.exceptions import RequestDataTooBig, TooManyFieldsSent, TooManyFilesSent, ValidationError
from django.db.models import BooleanField, Q
from django.db.models.expressions import RawSQL
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed, UnreadablePostError
from django.http.multipartparser import MultiPartParserError
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt

from collection.access.form_tokens import Proof, ProofError, ProofExpiredError, check_origin, check_request
from collection.access.turns import COOKIE, end_here, has_turn_ended, known_here, open_turn, proofs_in, set_turn_cookie
from collection.admin import country_scope
from collection.models import Contributor, Dish, DishQuerySet, Photo
from collection.withdrawal.withdraw import MAY_WITHDRAW

COOKIE_REACH = timedelta(hours=24)
# Each form asks this, and Django would take longer to write it than the database to answer.
PRESENT = RawSQL(
    "NOT EXISTS (SELECT 1 FROM collection_withdrawal gone WHERE gone.person = collection_contributor.id"
    " AND gone.dish_id IS NULL AND gone.undone_at IS NULL)",
    (),
    output_field=BooleanField(),
)
# The consent's form is for somebody who becomes a person with it: the person whom its token names does not exist yet.
FOR_NOBODY_YET = ("consent",)
UNREADABLE = (RequestDataTooBig, TooManyFieldsSent, TooManyFilesSent, MultiPartParserError, UnreadablePostError)

P = ParamSpec("P")


@dataclass(frozen=True)
class Sent:
    """What a request proved.

    `proof` is set where the form's token is genuine and current. `expired` holds a token that is genuine but too old:
    it says which form that was and proves nothing. `refused` is true for every POST without a current proof: show the
    form again with the typing and a fresh token, store nothing. `finished`: the token is `expired` because its person
    ended their turn after it was made; nothing of that person may be shown.
    """

    proof: Proof | None = None
    expired: Proof | None = None
    refused: bool = False
    finished: bool = False

    @property
    def person(self) -> uuid.UUID | None:
        return self.proof.person if self.proof else None

    @cached_property
    def contributor(self) -> Contributor | None:
        """Who that is, asked once: None for somebody who has not agreed yet."""
        return (
            find_active_contributor(self.proof.person)
            if self.proof and self.proof.purpose not in FOR_NOBODY_YET
            else None
        )


def read_sent(request: HttpRequest, purpose: str) -> Sent:
    """What this request proved; `purpose` empty means a button that concerns nobody, only its origin counts."""
    if request.method != "POST":
        return Sent()
    try:
        if not purpose:
            check_origin(request)
            return Sent()
        proof = check_request(request, purpose)
        if has_turn_ended(proof):
            return Sent(expired=proof, refused=True, finished=True)
        return Sent(proof=proof)
    except ProofExpiredError as error:
        return Sent(expired=error.proof, refused=True)
    except ProofError:
        return Sent(refused=True)


def public_form(
    purpose: str, *methods: str
) -> Callable[[Callable[Concatenate[HttpRequest, Sent, P], HttpResponse]], Callable[..., HttpResponse]]:
    """A page that strangers may send to. The view is called as `view(request, sent, …)`, for GET with an empty `Sent`.

    `methods` other than POST and those given (GET includes HEAD) are answered with 405. Forms that cannot be read at
    all (too long, cut off) get a page that says so.
    """
    allowed = ("POST", *methods, *(("HEAD",) if "GET" in methods else ()))

    def decorate(view: Callable[Concatenate[HttpRequest, Sent, P], HttpResponse]) -> Callable[..., HttpResponse]:
        @csrf_exempt
        @wraps(view)
        def inner(request: HttpRequest, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
            if request.method not in allowed:
                return HttpResponseNotAllowed(allowed)
            try:
                sent = read_sent(request, purpose)
            except UNREADABLE:
                response = render(request, "unreadable.html", status=413)
            else:
                with open_turn(request, sent.proof) as turn:
                    response = view(request, sent, *args, **kwargs)
                    turn.leave_in(response)
            # Not `no-store`: Back to a page that answered a POST must show it again instead of an error.
            response.headers.setdefault("Cache-Control", "private, no-cache")
            return response

        return inner

    return decorate


def sign_in(response: HttpResponse, contributor: Contributor) -> HttpResponse:
    """Lets this browser session go on as `contributor`, as far as a cookie alone may (see `recent_dishes`)."""
    set_turn_cookie(response, contributor.pk)
    return response


def sign_out(request: HttpRequest, response: HttpResponse) -> HttpResponse:
    """Ends the turn of everybody named here, on the server too: no cookie that starts with `turn`, no page for Back."""
    end_here(request)
    for name in request.COOKIES:
        if name.startswith(COOKIE):
            response.delete_cookie(name, samesite="Lax")
    response.headers["Clear-Site-Data"] = '"cache"'
    return response


def finished_form(request: HttpRequest) -> Proof | None:
    """What this form says, where it was served to somebody who has finished since."""
    return next((proof for proof in proofs_in(request) if has_turn_ended(proof)), None)


def contributor_from_cookie(request: HttpRequest) -> Contributor | None:
    known = known_here(request).get(COOKIE)
    return (
        find_active_contributor(known.person) if known and known.person and known.younger_than(COOKIE_REACH) else None
    )


def find_active_contributor(person: uuid.UUID) -> Contributor | None:
    """The contributor, unless they have withdrawn everything."""
    return next(iter(Contributor.objects.filter(PRESENT, pk=person)), None)


def contributor_for(sent: Sent) -> Contributor | None:
    """The contributor that the form proved, None for somebody who has not agreed yet."""
    return sent.contributor


def own_dishes(contributor: Contributor) -> DishQuerySet:
    """Their live dishes."""
    return Dish.objects.filter(contributor=contributor).live()


def recent_dishes(contributor: Contributor) -> DishQuerySet:
    """Their live dishes of the last 24 hours: all that a cookie alone may reach."""
    return own_dishes(contributor).filter(created_at__gte=timezone.now() - COOKIE_REACH)


def photo_for(contributor: Contributor, pk: Any) -> Photo:
    """A photo of one of their own live dishes, or 404."""
    try:
        return Photo.objects.select_related("dish").get(pk=pk, dish__in=own_dishes(contributor))
    except (Photo.DoesNotExist, ValueError, ValidationError):
        raise Http404 from None


def photo_to_show(user: AbstractUser | AnonymousUser, which: Q) -> Photo:
    """An accepted photo of an accepted dish for everybody, any other for staff who may see it; otherwise 404."""
    photo = Photo.objects.filter(which).first()
    if photo is None:
        raise Http404
    public = photo.state == Photo.State.ACCEPTED and Dish.objects.accepted().filter(pk=photo.dish_id).exists()
    if not (public or (user.is_active and user.has_perm("collection.view_photo")) or of_own_country(user, photo)):
        raise Http404
    if photo.dish.state == Dish.State.WITHDRAWN and not user.has_perm(MAY_WITHDRAW):
        raise Http404
    return photo


def of_own_country(user: AbstractUser | AnonymousUser, photo: Photo) -> bool:
    """Whether a photo that was sent is of a dish of the country that somebody is ambassador of."""
    if photo.state == Photo.State.DRAFT or country_scope.country_of(user) is None:
        return False
    return country_scope.dishes_for(user).filter(pk=photo.dish_id).exists()


def dish_for(contributor: Contributor | None, pk: Any, *, recent: bool = False) -> Dish:
    """Their own live dish, or 404 for everybody else's."""
    if contributor is None:
        raise Http404
    dishes = recent_dishes(contributor) if recent else own_dishes(contributor)
    try:
        return dishes.get(pk=pk)
    except (Dish.DoesNotExist, ValueError, TypeError, OverflowError):
        raise Http404 from None


def author_and_dish(sent: Sent) -> tuple[Contributor, Dish]:
    """Who sent the form and the dish that it is about; 404 where the dish is not theirs or gone."""
    contributor = contributor_for(sent)
    if contributor is None or sent.proof is None:
        raise Http404
    return contributor, dish_for(contributor, sent.proof.target)


def author_by_cookie(request: HttpRequest) -> tuple[Contributor, Dish] | None:
    """For a form without a current proof: its dish, where the cookie's contributor told it in the last 24 hours."""
    contributor = contributor_from_cookie(request)
    if contributor is None:
        return None
    try:
        return contributor, dish_for(contributor, request.POST.get("dish"), recent=True)
    except Http404:
        return None
