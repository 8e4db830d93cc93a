"""The end of somebody's turn, held by the server: forms and cookies from before it prove nothing any more."""

import uuid
from datetime import UTC, datetime, timedelta

from django.utils import timezone

from collection.models import FinishedTurn
from collection.proof import MAX_AGE, Proof, heard, now


def finish_turn(person: uuid.UUID) -> None:
    """From now on, whoever comes as this person proves it anew, with the return code."""
    at = now()
    FinishedTurn.objects.update_or_create(person=person, defaults={"at": datetime.fromtimestamp(at / 1000, UTC)})
    heard(at + 1)


def come_back(person: uuid.UUID) -> None:
    """Somebody proved anew who they are: what is made for them now is later than the end of their last turn.

    That holds where the clock was set back since, too.
    """
    row = FinishedTurn.objects.filter(person=person).first()
    if row:
        heard(int(row.at.timestamp() * 1000) + 2)


def is_over(person: uuid.UUID, at: int) -> bool:
    """Whether this person finished after `at` (milliseconds since 1970)."""
    made = datetime.fromtimestamp(at / 1000, UTC)
    return FinishedTurn.objects.filter(person=person, at__gte=made).exists()


def over(proof: Proof) -> bool:
    return is_over(proof.person, proof.at)


def forget_old_turns() -> int:
    """Removes rows that no token still asks for."""
    removed, _by_model = FinishedTurn.objects.filter(at__lt=timezone.now() - MAX_AGE - timedelta(days=1)).delete()
    return removed
