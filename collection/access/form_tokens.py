"""Proof of being the author: a signed token in the body of every public form.

It replaces the CSRF cookie on these forms, so that a refused or lost cookie costs nothing: only our own pages
can make a token, it is bound to one form, one person and one purpose, and it runs out by the server's clock. It also
names the turn in which its page was served, so that the end of that turn (`collection.access.turns`) spends it.
"""

import time
import uuid
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import timedelta

from django.core import signing
from django.http import HttpRequest

MAX_AGE = timedelta(days=90)
# Made only for somebody who typed their return code; short, because such a page can take everything away.
BY_CODE = "by code"
BY_CODE_AGE = timedelta(hours=1)
SALT = "wwd.proof"
# Gives the turn that the request in progress belongs to, and hears whether a token for somebody whom we know is made
# in it; `collection.access.turns.open_turn` sets it.
TURN: ContextVar[Callable[[bool], uuid.UUID | None]] = ContextVar("turn", default=lambda _named: None)


class ProofError(Exception):
    """The token is missing, altered, made for another form, or came from another site."""


class ProofExpiredError(ProofError):
    """The token is genuine but older than `MAX_AGE`; `proof` says what it was for."""

    def __init__(self, proof: "Proof") -> None:
        super().__init__("expired")
        self.proof = proof


def read_wall_clock() -> int:
    """Milliseconds since 1970 by the server's clock, which may be set back at any time."""
    return time.time_ns() // 1_000_000


# The latest moment that this process knows of: of tokens and cookies that came, of turns that were finished.
_latest = 0


def read_logical_clock() -> int:
    """The moment for what is made now, in milliseconds since 1970: never before anything that this process knows of.

    So the order of what was made and what was finished stays as it happened where the clock is set back, also between
    processes: each learns from the tokens of the others (a hybrid logical clock, Kulkarni et al. 2014).
    """
    return max(read_wall_clock(), _latest)


def advance_logical_clock(at: int) -> None:
    """Something of this moment is known from now on."""
    global _latest
    _latest = max(_latest, at)


@dataclass(frozen=True)
class Proof:
    """What a token says. `person` is a contributor's or reviewer's id, `about` the row that the form is for.

    `at`: when it was made, in milliseconds since 1970; what was made before its person finished proves nothing.
    `turn`: the turn in which its page was served; once that is over, the token proves nothing either.
    `named`: whether `person` is somebody whom we know, rather than the id of somebody who may yet agree.
    """

    purpose: str
    form: uuid.UUID
    person: uuid.UUID
    target: str = ""
    at: int = field(default_factory=read_logical_clock, compare=False)
    turn: uuid.UUID | None = field(default=None, compare=False)
    named: bool = field(default=True, compare=False)

    def __post_init__(self) -> None:
        advance_logical_clock(self.at)

    @classmethod
    def new(
        cls, purpose: str, person: uuid.UUID | None = None, target: object = "", turn: uuid.UUID | None = None
    ) -> "Proof":
        """A proof for a form that is about to be served; without `person`, for somebody not yet known.

        `turn` is the one of this request where none is given.
        """
        turn = turn or TURN.get()(person is not None)
        return cls(purpose, uuid.uuid4(), person or uuid.uuid4(), str(target), turn=turn, named=person is not None)

    @property
    def token(self) -> str:
        """The signed text for the form's hidden field."""
        turn = self.turn.hex if self.turn else ""
        content = [self.purpose, self.form.hex, self.person.hex, self.target, self.at, turn, int(self.named)]
        return signing.dumps(content, salt=SALT)


def read_token(token: str, purpose: str) -> Proof:
    """The proof in `token`. Raises ProofExpiredError past its age and ProofError for anything not genuine."""
    proof = decode_token(token)
    if proof.purpose != purpose:
        raise ProofError("made for another form")
    try:
        signing.loads(token, salt=SALT, max_age=BY_CODE_AGE if purpose == BY_CODE else MAX_AGE)
    except signing.SignatureExpired:
        raise ProofExpiredError(proof) from None
    return proof


def decode_token(token: str) -> Proof:
    """What a token of any purpose and age says. Raises ProofError for anything that we did not make."""
    try:
        # Tokens that were made before there were turns end with `at`.
        purpose, form, person, target, at, *more = signing.loads(token, salt=SALT)
        turn, named = more or ("", 1)
        turn = uuid.UUID(turn) if turn else None
        return Proof(purpose, uuid.UUID(form), uuid.UUID(person), target, int(at), turn, bool(named))
    except (signing.BadSignature, ValueError, TypeError) as error:
        raise ProofError("forged") from error


def check_origin(request: HttpRequest) -> None:
    """Refuses requests that, by the browser's own statement, another site caused."""
    site = request.headers.get("Sec-Fetch-Site", "none")
    origin = request.headers.get("Origin", "")
    own = f"{request.scheme}://{request.get_host()}"
    if site in ("cross-site", "same-site") or (origin not in ("", "null", own)):
        raise ProofError("from another site")


def check_request(request: HttpRequest, purpose: str) -> Proof:
    """The proof that a POST carries in its field `proof`; refuses requests that another site caused."""
    check_origin(request)
    return read_token(request.POST.get("proof", ""), purpose)
