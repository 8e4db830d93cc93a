"""Turns: what one person, or several with one helper, do at one browser until somebody says *finish*.

Every token and every cookie names the turn in which it was made, and the server keeps which turns are over. What a turn
made proves nothing after its end, whomever it was made for and on whichever page *Finish* was pressed. A person's id
ends too, so that pages of another turn of theirs (a browser without cookies has no memory of it) end with it.
"""

import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property

from django.conf import settings
from django.core import signing
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from collection.access.form_tokens import (
    MAX_AGE,
    TURN,
    Proof,
    ProofError,
    advance_logical_clock,
    decode_token,
    read_logical_clock,
)
from collection.models import FinishedTurn

# Every cookie that says who is describing or reviewing has a name that starts with this: *Finish* clears them all.
COOKIE = "turn"
COOKIE_SALT = "wwd.turn"
# Names a turn and nobody: for a browser on which somebody wrote for others, or came with a code.
HERE = f"{COOKIE}-here"


@dataclass(frozen=True)
class Remembered:
    """What a cookie says: a turn, and the person who goes on in it; nobody where somebody only wrote for others."""

    turn: uuid.UUID
    person: uuid.UUID | None
    at: int

    def __post_init__(self) -> None:
        advance_logical_clock(self.at)

    def younger_than(self, age: timedelta) -> bool:
        return read_logical_clock() - self.at <= age.total_seconds() * 1000


def set_turn_cookie(
    response: HttpResponse, person: uuid.UUID | None, name: str = COOKIE, age: timedelta | None = None
) -> None:
    """Lets this browser name the turn of this request and, where given, who goes on in it; for the session or `age`."""
    response.set_signed_cookie(
        name,
        f"{person.hex if person else ''}.{read_logical_clock()}.{this_turn().hex}",
        salt=COOKIE_SALT,
        max_age=age,
        httponly=True,
        samesite="Lax",
        secure=settings.SESSION_COOKIE_SECURE,
    )


def read_turn_cookies(request: HttpRequest) -> dict[str, Remembered]:
    """All that this browser's cookies say, by the cookie's name, whether their turns are over or not."""
    found = {}
    for name in request.COOKIES:
        if name.startswith(COOKIE):
            try:
                value = request.get_signed_cookie(name, salt=COOKIE_SALT, max_age=MAX_AGE) or ""
                person, at, turn = value.split(".")
                found[name] = Remembered(uuid.UUID(turn), uuid.UUID(person) if person else None, int(at))
            except (ValueError, signing.BadSignature):
                continue
    return found


def known_here(request: HttpRequest) -> dict[str, Remembered]:
    """What the cookies say of turns that go on; asked of the database once for each request."""
    known: dict[str, Remembered] | None = getattr(request, "known_turns", None)
    if known is None:
        said = read_turn_cookies(request)
        ended = dict(FinishedTurn.objects.filter(person__in=ids_of(said.values())).values_list("person", "at"))
        known = {name: row for name, row in said.items() if not ended_before(row, ended)}
        request.known_turns = known  # type: ignore[attr-defined]
    return known


def ids_of(rows: Iterable[Remembered]) -> set[uuid.UUID]:
    return {pk for row in rows for pk in (row.turn, row.person) if pk}


def ended_before(row: Remembered, ended: dict[uuid.UUID, datetime]) -> bool:
    return row.turn in ended or (row.person in ended and ended[row.person] >= convert_to_datetime(row.at))


def convert_to_datetime(at: int) -> datetime:
    return datetime.fromtimestamp(at / 1000, UTC)


@dataclass
class Belonging:
    """Which turn a request belongs to: the one of its form, else the one of this browser, else a new one."""

    request: HttpRequest
    proof: Proof | None
    named: bool = False

    @cached_property
    def turn(self) -> uuid.UUID:
        proved = self.proof if not getattr(self.request, "turn_ended", False) else None
        sent = [proved] if proved else [proof for proof in proofs_in(self.request) if not has_turn_ended(proof)]
        for proof in sent:
            if proof.turn:
                return proof.turn
        return next((row.turn for row in known_here(self.request).values()), None) or uuid.uuid4()

    def ask(self, named: bool) -> uuid.UUID:
        """For the maker of a token: the turn. `named`: the token is somebody's whom we know."""
        self.named = self.named or named
        return self.turn

    def leave_in(self, response: HttpResponse) -> None:
        """Where the page holds a token of somebody: lets the browser name the turn on pages that hold none."""
        known = {row.turn for row in known_here(self.request).values()}
        given = any(name.startswith(COOKIE) for name in response.cookies)
        if self.named and not given and self.turn not in known:
            set_turn_cookie(response, None, HERE)


@contextmanager
def open_turn(request: HttpRequest, proof: Proof | None = None) -> Iterator[Belonging]:
    """Tokens and cookies that are made within belong to the turn of `request`; `proof`: what its form proved."""
    belonging = Belonging(request, proof)
    before = TURN.set(belonging.ask)
    try:
        yield belonging
    finally:
        TURN.reset(before)


def this_turn() -> uuid.UUID:
    """The turn of the request in progress."""
    return TURN.get()(False) or uuid.uuid4()


def finish_turn(*ended: uuid.UUID) -> None:
    """These turns are over. A person's id: anyone who comes as this person proves it anew, with the return code."""
    at = read_logical_clock()
    for pk in ended:
        FinishedTurn.objects.update_or_create(person=pk, defaults={"at": convert_to_datetime(at)})
    advance_logical_clock(at + 1)


def come_back(person: uuid.UUID) -> None:
    """Somebody proved anew who they are: what is made for them now is later than the end of their last turn.

    That holds where the clock was set back since, too.
    """
    row = FinishedTurn.objects.filter(person=person).first()
    if row:
        advance_logical_clock(int(row.at.timestamp() * 1000) + 2)


def has_turn_ended(proof: Proof) -> bool:
    """Whether the token's turn is over, or its person finished after it was made."""
    ended = Q(person=proof.person, at__gte=convert_to_datetime(proof.at))
    return FinishedTurn.objects.filter(ended | Q(person=proof.turn) if proof.turn else ended).exists()


@dataclass(frozen=True)
class Here:
    """Whom a *Finish* names. `ids`: turns and persons that go on until now; `by_cookie`: this browser knew somebody;
    `by_page`: the page or its script did."""

    ids: frozenset[uuid.UUID]
    by_cookie: bool
    by_page: bool


def named_here(request: HttpRequest) -> Here:
    """Everybody whom the cookies of this browser and the tokens of this POST name.

    A token that is spent ends nothing again: its person may have come back elsewhere since.
    """
    ids = ids_of(known_here(request).values())
    proofs = list(proofs_in(request))
    for proof in proofs:
        if not has_turn_ended(proof):
            ids |= {pk for pk in (proof.turn, proof.person if proof.named else None) if pk}
    by_page = any(proof.named for proof in proofs)
    return Here(frozenset(ids), bool(read_turn_cookies(request)), by_page)


def end_here(request: HttpRequest) -> Here:
    """Ends the turns of everybody named here. What is made for this request from now on belongs to a new turn."""
    here = named_here(request)
    finish_turn(*here.ids)
    request.known_turns = {}  # type: ignore[attr-defined]
    request.turn_ended = True  # type: ignore[attr-defined]
    return here


def proofs_in(request: HttpRequest) -> Iterator[Proof]:
    """The genuine tokens of this POST, of any purpose and age."""
    tokens = request.POST.getlist("proof")[:4] if request.method == "POST" else []
    for token in tokens:
        try:
            yield decode_token(token)
        except ProofError:
            continue


def forget_old_turns() -> int:
    """Removes rows that no token still asks for."""
    removed, _by_model = FinishedTurn.objects.filter(at__lt=timezone.now() - MAX_AGE - timedelta(days=1)).delete()
    return removed


def build_turn_context(request: HttpRequest) -> dict[str, object]:
    """For templates: `named_by_cookie`, whether this browser's cookies name anybody, so that *Finish* ends something.

    A page that asks is another one for every browser, which `wwd.base.middleware.HeadersMiddleware` tells caches.
    """

    def named() -> bool:
        found = bool(read_turn_cookies(request))
        request.asked_cookies = found  # type: ignore[attr-defined]
        return found

    return {"named_by_cookie": named}
