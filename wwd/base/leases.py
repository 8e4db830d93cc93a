"""Leases of rows that background jobs work on: each is taken, renewed and given back by one conditional update.

A row that nobody works on is free. A claim holds it for a time; a killed worker's row is free again after that. Only
the database's clock counts, and only the database decides between two that claim at once.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar

from django.db.models import Model, Q, QuerySet
from django.db.models.functions import Now

Row = TypeVar("Row", bound=Model)


@dataclass(frozen=True)
class Lease:
    """The lease of jobs: `column` holds the end of the lease, empty while nobody works on the row.

    All methods take the rows that they may touch; those that write take further columns to set. What proves that a
    lease is still one's own (a token, a position) is a condition on the rows.
    """

    length: timedelta
    column: str = "leased_until"

    def select_free_rows(self, rows: QuerySet[Row]) -> QuerySet[Row]:
        """Those of `rows` that nobody works on."""
        return rows.filter(Q(**{self.column: None}) | Q(**{f"{self.column}__lt": Now()}))

    def list_free_ids(self, rows: QuerySet[Row]) -> list[int]:
        return list(self.select_free_rows(rows).values_list("pk", flat=True))

    def claim_rows(self, rows: QuerySet[Row], **values: Any) -> bool:
        """Takes those of `rows` that are free; False where none is."""
        return self.renew_rows(self.select_free_rows(rows), **values)

    def renew_rows(self, rows: QuerySet[Row], **values: Any) -> bool:
        """Lets the lease of `rows` begin again now; False where there is none of them."""
        return bool(rows.update(**{self.column: Now() + self.length, **values}))

    def release_rows(self, rows: QuerySet[Row], **values: Any) -> bool:
        """Ends the lease of `rows`; False where there is none of them."""
        return bool(rows.update(**{self.column: None, **values}))


@dataclass(frozen=True)
class RequestLease(Lease):
    """The lease of things that are made on request: `column` holds when one was asked for.

    Empty: nobody asks. Past: wanted and free. Ahead: claimed until then, and wanted again if its worker dies.
    """

    column: str = "wanted_at"
    # A request is announced at most this often: the sweep finds it anyway.
    debounce: timedelta = timedelta(seconds=10)

    def select_free_rows(self, rows: QuerySet[Row]) -> QuerySet[Row]:
        """Those of `rows` that somebody asks for and nobody works on."""
        return rows.filter(**{f"{self.column}__lte": Now()})

    def request_rows(self, rows: QuerySet[Row]) -> bool:
        """Notes that somebody waits for `rows`. True where a worker should be told: none was a moment ago."""
        quiet = Q(**{self.column: None}) | Q(**{f"{self.column}__lte": Now() - self.debounce})
        return bool(rows.filter(quiet).update(**{self.column: Now()}))

    def claim_each_row(self, rows: QuerySet[Row]) -> Iterator[Row]:
        """Those of `rows` that are free, longest wanted first, each claimed as it is given."""
        for row in self.select_free_rows(rows).order_by(self.column):
            if self.claim_rows(rows.filter(pk=row.pk)):
                yield row
