"""What stewards are told on the desk because somebody may be turning the site against others."""

from dataclasses import dataclass
from datetime import timedelta

from django.contrib.auth.models import AbstractUser, AnonymousUser
from django.urls import reverse
from django.utils import timezone

from collection.access.attempt_limits import tries_of_a_day
from collection.models import Dish, Report
from wwd.base.text import count_noun

# Failed log-ins of staff, counted by the hour.
STAFF_FAILURES = "log-in of staff"
MANY_FAILURES = 20
DAY = timedelta(days=1)


@dataclass(frozen=True)
class Alarm:
    """A sentence and, where there is one, the page on which one looks at it."""

    text: str
    address: str = ""


def list_alarms(user: AbstractUser | AnonymousUser) -> list[Alarm]:
    """Everything unusual that this person may look at. Nothing is told to others."""
    found = []
    if user.has_perm("collection.change_report"):
        found += [queued_reports(), crowded_dishes()]
    if user.has_perm("collection.change_report") or user.has_perm("auth.change_user"):
        found += [failed_log_ins()]
    return [alarm for alarm in found if alarm]


def queued_reports() -> Alarm | None:
    number = Report.objects.filter(state=Report.State.OPEN, queued=True).count()
    text = count_noun(
        number,
        "More was reported than strangers can hide at once: %(n)d report waits, its dish is still shown.",
        "More was reported than strangers can hide at once: %(n)d reports wait, their dishes are still shown.",
    )
    return Alarm(text % {"n": number}, reverse("undo-reports")) if number else None


def crowded_dishes() -> Alarm | None:
    """Dishes that wait, of people who came many at once."""
    since = timezone.now() - DAY
    rows = Dish.objects.filter(state=Dish.State.WAITING, contributor__crowd=True, created_at__gte=since)
    number = rows.count()
    text = count_noun(
        number,
        "%(n)d dish waits of people who came many at once from one network. It may be a school class, or a script.",
        "%(n)d dishes wait of people who came many at once from one network. It may be a school class, or a script.",
    )
    address = f"{reverse('admin:collection_dish_changelist')}?contributor__crowd__exact=1&state__exact=waiting"
    return Alarm(text % {"n": number}, address) if number else None


def failed_log_ins() -> Alarm | None:
    number = tries_of_a_day(STAFF_FAILURES)
    text = "%(n)d log-ins of staff failed within 24 hours. Somebody may be guessing passwords: ask for a second factor."
    return Alarm(text % {"n": number}) if number >= MANY_FAILURES else None
