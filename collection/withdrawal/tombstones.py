"""The list of withdrawals as data, to be stored apart from backups: anyone who restores one applies the list again."""

import uuid
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from django.db import transaction

from collection.models import Contributor, Dish, Withdrawal
from collection.withdrawal.withdraw import (
    list_active_withdrawals,
    list_undoable_withdrawals,
    restore_withdrawn_dish,
    undo_everything,
    withdraw_dish,
    withdraw_everything,
)

COLUMNS = ("dish", "person", "reason", "at", "erase_after", "undone_at")
TIMES = ("at", "erase_after", "undone_at")


class ListError(ValueError):
    """The list cannot be read; the text says where."""


def as_rows() -> list[dict[str, Any]]:
    """All withdrawals, oldest first; `dish` is the dish's number, empty for everything of a person."""
    rows = Withdrawal.objects.select_related("dish").order_by("at", "pk")
    return [
        {**{name: getattr(row, name) for name in COLUMNS}, "dish": row.dish.number if row.dish else None}
        for row in rows
    ]


def read_row(row: Mapping[str, Any], number: int) -> dict[str, Any]:
    """One row with real numbers, ids and times. Raises ListError."""
    try:
        times = {name: datetime.fromisoformat(row[name]) if row[name] else None for name in TIMES}
        person = uuid.UUID(row["person"]) if row["person"] else None
        dish = int(row["dish"]) if row["dish"] else None
        reason = Withdrawal.Reason(row["reason"])
    except (KeyError, ValueError, TypeError, AttributeError) as error:
        raise ListError(f"row {number}: {type(error).__name__} {error}") from error
    if times["at"] is None or (dish is None and person is None):
        raise ListError(f"row {number}: it names neither a dish nor a person, or no time")
    return {**times, "person": person, "dish": dish, "reason": reason}


def apply_tombstones(rows: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """Brings this database in line with the list; returns counts. Of several rows about the same, the last counts.

    Nothing is written where a row cannot be read. Raises ListError.
    """
    latest: dict[Any, dict[str, Any]] = {}
    for number, row in enumerate(rows, start=1):
        read = read_row(row, number)
        latest[read["dish"] or read["person"]] = read
    found = {"withdrawn": 0, "undone": 0, "not here": 0}
    for read in latest.values():
        found[apply_dish(read) if read["dish"] else apply_person(read)] += 1
    return found


@transaction.atomic
def apply_dish(row: Mapping[str, Any]) -> str:
    dish = Dish.objects.filter(number=row["dish"]).first()
    if dish is None:
        return "not here"
    if row["undone_at"]:
        for known in list_undoable_withdrawals().filter(dish=dish):
            restore_withdrawn_dish(known)
        return "undone"
    withdrawal = withdraw_dish(dish, row["reason"], row["person"])
    plan_again(withdrawal, row)
    return "withdrawn"


@transaction.atomic
def apply_person(row: Mapping[str, Any]) -> str:
    contributor = Contributor.objects.filter(pk=row["person"]).first()
    if contributor is None:
        return "not here"
    if row["undone_at"]:
        undo_everything(contributor.pk)
        return "undone"
    plan_again(withdraw_everything(contributor), row)
    return "withdrawn"


def plan_again(withdrawal: Withdrawal, row: Mapping[str, Any]) -> None:
    """The times are those of the list: what was erased before the restoration is due at once."""
    list_active_withdrawals().filter(pk=withdrawal.pk).update(
        at=row["at"], erase_after=row["erase_after"], reason=row["reason"]
    )
