"""Lists in the admin that stay quick with millions of rows: what all of them share.

No list counts a whole table, none sorts by a column without an index, a search takes the beginning of indexed
columns, and nothing is deleted by hand: rows that belong together go together, by a job that counts what it removes.
"""

from collections.abc import Iterable
from functools import cached_property
from typing import Any

from django.contrib import admin
from django.core.exceptions import ValidationError
from django.core.paginator import Paginator
from django.db.models import Model, QuerySet
from django.http import HttpRequest

# So many rows can be paged through; whoever looks for others searches or filters.
MOST_ROWS = 1000


class BoundedPaginator(Paginator):
    """Pages of the first 1,000 rows; counting stops there, however many there are. `more`: there are others."""

    @cached_property
    def found(self) -> int:
        rows = self.object_list
        if not isinstance(rows, QuerySet):
            return len(rows)
        return rows.order_by().values("pk")[: MOST_ROWS + 1].count()

    @cached_property
    def count(self) -> int:
        return min(self.found, MOST_ROWS)

    @property
    def more(self) -> bool:
        return self.found > MOST_ROWS


class StaffList(admin.ModelAdmin):
    """Base of all lists. `search_fields` are whole lookups over indexed columns, each asked for by itself."""

    paginator = BoundedPaginator
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER
    list_per_page = 50

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Rows of which a column begins with the term: the first 1,000 of each column, found by its own index.

        One condition over several tables would be answered by reading all of them.
        """
        term = search_term.strip()
        if not term:
            return queryset, False
        found = {pk for lookup in self.get_search_fields(request) for pk in matching(queryset, str(lookup), term)}
        return queryset.filter(pk__in=found), False


class BigList(StaffList):
    """A table of millions: newest first, in that order only."""

    sortable_by = ()

    def get_ordering(self, request: HttpRequest) -> list[str] | tuple[str, ...]:
        return super().get_ordering(request) or ("-pk",)


class ReadOnly(BigList):
    """Rows that are made elsewhere: staff look at them and never write them."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


class ReadOnlyInline(admin.TabularInline):
    """Rows shown with the one that they belong to."""

    extra = 0
    can_delete = False

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


def matching(rows: QuerySet[Any], lookup: str, term: str) -> Iterable[Any]:
    """Keys of the first 1,000 of `rows` that the lookup finds; none where the term cannot be such a value."""
    try:
        return list(rows.order_by().filter(**{lookup: term}).values_list("pk", flat=True)[:MOST_ROWS])
    except (ValueError, ValidationError):
        return ()
