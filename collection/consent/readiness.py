"""Whether the collection takes anything: the one place that decides, asked by every view that stores."""

from datetime import date
from enum import Enum

from django.db.models import BooleanField
from django.db.models.expressions import RawSQL
from django.utils import timezone

from collection.models import ConsentText, Contributor, Opening, Source
from wwd.base.request_cache import get_or_compute_answer

# Asked for each form: written out, because Django would take longer to write it than the database to answer.
TEXT_CONFIRMED = RawSQL(
    "EXISTS (SELECT 1 FROM collection_consenttext WHERE confirmed_on IS NOT NULL)", (), output_field=BooleanField()
)


class Accepting(Enum):
    """*Demonstration*: something is not filled in yet, so whatever is written is marked and never released.
    *Closed*: the ethics approval is over."""

    OPEN = "open"
    DEMONSTRATION = "demonstration"
    CLOSED = "closed"


def current_opening() -> Opening | None:
    """What staff filled in last."""
    return get_or_compute_answer("opening", newest_opening)


def newest_opening() -> Opening | None:
    return Opening.objects.annotate(text_confirmed=TEXT_CONFIRMED).order_by("-pk").first()


def get_collection_status(today: date | None = None) -> Accepting:
    """What the collection takes on this day, by the server's date (UTC)."""
    opening = current_opening()
    if opening and opening.ethics_until and opening.ethics_until < (today or timezone.localdate()):
        return Accepting.CLOSED
    return Accepting.DEMONSTRATION if list_missing_steps(opening) else Accepting.OPEN


def list_missing_steps(opening: Opening | None) -> list[str]:
    """What staff must still do before anything but demonstration data is taken."""
    opening = opening or Opening()
    wanted = {
        "Name the controller.": opening.controller,
        "Fill in the contact.": opening.contact,
        "Fill in the reference of the ethics approval.": opening.ethics_reference,
        "Fill in the day on which the ethics approval ends.": opening.ethics_until,
        "Confirm a consent text.": text_confirmed(opening),
    }
    return [sentence for sentence, value in wanted.items() if not value]


def text_confirmed(opening: Opening) -> bool:
    """Whether somebody confirmed a consent text; the current opening was read together with the answer."""
    if hasattr(opening, "text_confirmed"):
        return bool(opening.text_confirmed)
    return get_or_compute_answer("text confirmed", lambda: ConsentText.objects.exclude(confirmed_on=None).exists())


def takes_from(contributor: Contributor | None) -> bool:
    """Whether anything of this person may be stored now; `None` for somebody who has not agreed yet.

    Somebody whose dishes are real can add nothing while only demonstrations are taken.
    """
    state = get_collection_status()
    if state is Accepting.DEMONSTRATION and contributor is not None:
        return contributor.source == Source.DEMONSTRATION
    return state is not Accepting.CLOSED


def goes_on_as(contributor: Contributor) -> bool:
    """Whether this person's next dish is of the kind that is taken now; otherwise they agree anew, as a new person."""
    demonstration = contributor.source == Source.DEMONSTRATION
    return get_collection_status() is (Accepting.DEMONSTRATION if demonstration else Accepting.OPEN)
