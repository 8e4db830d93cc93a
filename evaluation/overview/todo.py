"""What waits for somebody of the staff: counts with the lists where it is decided, as far as one may see them.

The collection's are here; another app adds its own with `register`, because imports go one way.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import AbstractUser, AnonymousUser
from django.db.models import QuerySet
from django.urls import reverse

from collection.admin.country_scope import country_of, dishes_for
from collection.models import Dish, Photo, Report, Withdrawal

User = AbstractUser | AnonymousUser
# More than so many are not counted: the list says "more than".
MOST = 1000


@dataclass(frozen=True)
class TodoKind:
    """Something that waits. `rows`: what of it this person may see, None where nothing; `address` of its list."""

    label: str
    rows: Callable[[User], QuerySet[Any] | None]
    address: Callable[[], str]


@dataclass(frozen=True)
class Waiting:
    """`more`: there are more than `number`."""

    label: str
    number: int
    more: bool
    address: str


KINDS: list[TodoKind] = []


def register_todo_kind(kind: TodoKind) -> None:
    """Adds a kind to the overview, once."""
    if kind.label not in [known.label for known in KINDS]:
        KINDS.append(kind)


def make_admin_list_address(name: str, query: str) -> Callable[[], str]:
    """The address of an admin list with its filter."""
    return lambda: f"{reverse(f'admin:{name}_changelist')}?{query}"


def with_permission(permission: str, rows: Callable[[], QuerySet[Any]]) -> Callable[[User], QuerySet[Any] | None]:
    return lambda user: rows() if user.has_perm(permission) else None


def waiting_dishes(user: User) -> QuerySet[Any] | None:
    """An ambassador counts those of the own country."""
    if not (user.has_perm("collection.view_dish") or country_of(user)):
        return None
    return dishes_for(user).filter(state=Dish.State.WAITING)


def waiting_photos(user: User) -> QuerySet[Any] | None:
    waiting = Photo.objects.filter(state=Photo.State.WAITING)
    if user.has_perm("collection.view_photo"):
        return waiting
    return waiting.filter(dish__in=dishes_for(user)) if country_of(user) else None


COLLECTION = (
    TodoKind("dishes", waiting_dishes, make_admin_list_address("collection_dish", "state__exact=waiting")),
    TodoKind("photos", waiting_photos, make_admin_list_address("collection_photo", "state__exact=waiting")),
    TodoKind(
        "reports about dishes and photos",
        with_permission("collection.view_report", lambda: Report.objects.filter(state=Report.State.OPEN)),
        make_admin_list_address("collection_report", "state__exact=open"),
    ),
    TodoKind(
        "withdrawals without a code",
        with_permission(
            "collection.view_withdrawal", lambda: Withdrawal.objects.filter(undone_at=None, erase_after=None)
        ),
        make_admin_list_address("collection_withdrawal", "decision=waiting"),
    ),
)


def list_pending_work(user: User) -> list[Waiting]:
    """What waits, as far as this person may see it; one query for each kind."""
    found = []
    for kind in (*COLLECTION, *KINDS):
        rows = kind.rows(user)
        if rows is not None:
            n = rows.order_by().values("pk")[: MOST + 1].count()
            found.append(Waiting(str(kind.label), min(n, MOST), n > MOST, kind.address()))
    return found
