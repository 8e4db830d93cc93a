"""Lists in the admin that stay quick with millions of rows: what all of them share.

No list counts a whole table, none sorts by a column without an index, a search takes the beginning of indexed
columns, and nothing is deleted by hand: rows that belong together go together, by a job that counts what it removes.
"""

from collections.abc import Iterable
from functools import cached_property
from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.auth import get_permission_codename
from django.core.exceptions import ValidationError
from django.core.paginator import Page, Paginator
from django.db.models import Model, QuerySet
from django.forms.utils import flatatt
from django.http import HttpRequest
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

# So many rows can be paged through; anyone who looks for others searches or filters.
MOST_ROWS = 1000
# The state of a dish; the collection's models are not known here.
WITHDRAWN = "withdrawn"


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

    def page(self, number: int | str) -> Page[Any]:
        """The keys of a page are found first, within an index; whole rows would be looked for among all of them."""
        page = super().page(number)
        rows, shown = self.object_list, page.object_list
        if isinstance(rows, QuerySet) and isinstance(shown, QuerySet):
            page.object_list = rows.filter(pk__in=list(shown.values_list("pk", flat=True)))
        return page


class StaffList(admin.ModelAdmin):
    """Base of all lists. `search_fields` are whole lookups over indexed columns, each asked for by itself.

    `dish_path` leads from a row to the dish that it is about. Rows about a withdrawn dish exist for nobody until they
    are erased: not in lists, searches, histories or by their address. `withdrawn_to` names a permission that sees them.
    """

    dish_path = ""
    withdrawn_to = ""

    paginator = BoundedPaginator
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER
    list_per_page = 50

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows = super().get_queryset(request)
        if not self.dish_path or (self.withdrawn_to and request.user.has_perm(self.withdrawn_to)):
            return rows
        return rows.exclude(**{f"{self.dish_path}__state": WITHDRAWN})

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Rows of which a column begins with the term: the first 1,000 of each column, found by its own index.

        One condition over several tables would be answered by reading all of them.
        """
        term = search_term.strip()
        if not term:
            return queryset, False
        found = {
            pk for lookup in self.get_search_fields(request) for pk in find_matching_keys(queryset, str(lookup), term)
        }
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

    def has_act_permission(self, request: HttpRequest) -> bool:
        """Whether somebody may use actions with `permissions=["act"]`: they change rows that no form changes."""
        return request.user.has_perm(f"{self.opts.app_label}.{get_permission_codename('change', self.opts)}")


class ReadOnlyInline(admin.TabularInline):
    """Rows shown with the one that they belong to."""

    extra = 0
    can_delete = False

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


class PlainSelect(forms.Select):
    """A select without groups that is drawn without a template for each option: a dozen of them have thousands."""

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> SafeString:
        chosen = set(self.format_value(value))
        marks = {True: SafeString(" selected"), False: ""}
        rows = ((value, marks[str(value) in chosen], label) for value, label in self.choices)
        options = format_html_join("", '<option value="{}"{}>{}</option>', rows)
        return format_html(
            "<select{}>{}</select>", flatatt(self.build_attrs(self.attrs, {**(attrs or {}), "name": name})), options
        )


def find_matching_keys(rows: QuerySet[Any], lookup: str, term: str) -> Iterable[Any]:
    """Keys of the first 1,000 of `rows` that the lookup finds; none where the term cannot be such a value."""
    try:
        return list(rows.order_by().filter(**{lookup: term}).values_list("pk", flat=True)[:MOST_ROWS])
    except (ValueError, ValidationError):
        return ()
