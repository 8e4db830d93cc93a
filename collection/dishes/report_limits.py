"""The brake on hiding: how much strangers may take out of public view before a steward has looked.

Reports of the first three reasons and receipt numbers hide at once. One network hides a few things a day so, all
together a small share of what is public. What comes after that is stored and waits for a steward: nobody is refused,
and nobody can empty the site.
"""

from datetime import datetime, timedelta

from django.db.models import QuerySet
from django.utils import timezone

from collection.access.attempt_limits import hash_limit_key, window_start
from collection.models import Dish, Report, Tries, Withdrawal

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
# Of one network within a day.
FEW = 3
# Of all networks: window → the share of public dishes, at least so many, at most so many.
BRAKES = ((HOUR, 0.01, 5, 50), (DAY, 0.05, 15, 200))


def may_hide_at_once(network: str) -> bool:
    """Whether a stranger of this network may hide one thing more at once.

    Call it in the transaction that hides: others wait until it ends, so that parallel requests do not overshoot.
    """
    lock_hide_limit()
    now = timezone.now()
    if sum(rows.filter(network=network).count() for rows in hidden_since(now - DAY)) >= FEW:
        return False
    return all(is_below_hide_limit(now - window, share, least, most) for window, share, least, most in BRAKES)


def lock_hide_limit() -> None:
    """Holds the one row of the brake until the transaction ends."""
    row, _created = Tries.objects.get_or_create(key=hash_limit_key("hiding"), window=window_start(timezone.now(), DAY))
    Tries.objects.select_for_update().get(pk=row.pk)


def hidden_since(since: datetime) -> tuple[QuerySet[Report], QuerySet[Withdrawal]]:
    """What strangers hid since then, whatever became of it."""
    return (
        Report.objects.filter(hid=True, created_at__gte=since),
        Withdrawal.objects.filter(reason=Withdrawal.Reason.LOST_CODE, at__gte=since),
    )


def is_below_hide_limit(since: datetime, share: float, least: int, most: int) -> bool:
    """Whether what strangers hid since then, and no steward has decided yet, leaves room for one more."""
    reports, withdrawals = hidden_since(since)
    undecided = reports.filter(state=Report.State.OPEN).count()
    undecided += withdrawals.filter(undone_at=None, erase_after=None).count()
    if undecided < least:
        return True
    public = Dish.objects.accepted().count() + undecided
    return undecided < min(most, public * share)
