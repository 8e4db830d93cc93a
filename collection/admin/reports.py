"""Stewards decide about reports, and join spellings of one ingredient."""

from django.contrib import admin
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from collection.dishes.reports import decide_reports
from collection.models import Ingredient, Report
from collection.vocabularies.ingredients import merge_ingredients
from collection.withdrawal.withdraw import MAY_WITHDRAW
from wwd.base.admin_lists import BigList
from wwd.base.text import count_noun


class Decided(BigList):
    """Rows that come from elsewhere: stewards act on them and do not write them."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> list[str]:
        return [field.name for field in self.model._meta.fields]


class ReportAdmin(Decided):
    """All reports; what the first three reasons hid stays hidden until somebody decides.

    What is queued came beyond the brake and is shown until then. *Do not show it any more* withdraws a dish whose
    contributor has lost the code.
    """

    dish_path = "dish"
    withdrawn_to = MAY_WITHDRAW
    list_display = (
        "created_at",
        "reason",
        "dish",
        "thumbnail",
        "words",
        "hid",
        "queued",
        "state",
        "decided_by",
        "from_",
    )
    list_filter = ("state", "reason", "hid", "queued")
    list_select_related = ("dish", "photo", "decided_by")
    actions = ("uphold", "dismiss")
    ordering = ("-pk",)

    @admin.display(description="photo")
    def thumbnail(self, report: Report) -> SafeString | str:
        if report.photo is None or not report.photo.thumbnail:
            return "–"
        address = reverse("collection:photo-file", args=[report.photo.thumbnail.removeprefix("photos/")])
        return format_html('<img src="{}" alt="{}" height="80">', address, report.photo.caption)

    @admin.display(description="network")
    def from_(self, report: Report) -> SafeString | str:
        """The way to all reports that came from there."""
        address = f"{reverse('undo-reports')}?network={report.network}"
        return format_html('<a href="{}">{}</a>', address, report.network) if report.network else "–"

    @admin.action(description="Do not show it any more", permissions=["change"])
    def uphold(self, request: HttpRequest, queryset: QuerySet[Report]) -> None:
        self.decide(request, queryset, uphold=True)

    @admin.action(description="Show it (again)", permissions=["change"])
    def dismiss(self, request: HttpRequest, queryset: QuerySet[Report]) -> None:
        self.decide(request, queryset, uphold=False)

    def decide(self, request: HttpRequest, queryset: QuerySet[Report], *, uphold: bool) -> None:
        number = decide_reports(queryset.select_related("dish", "photo"), request.user, uphold=uphold)
        message = count_noun(number, "%(number)d report decided.", "%(number)d reports decided.")
        self.message_user(request, message % {"number": number})


class IngredientAdmin(Decided):
    """Chosen ingredients become one: the most used keeps its name."""

    list_display = ("name", "dishes", "written")
    search_fields = ("spellings__folded__startswith",)
    actions = ("join",)
    ordering = ("-dishes", "name")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Ingredient]:
        return super().get_queryset(request).prefetch_related("spellings")

    @admin.display(description="spellings")
    def written(self, ingredient: Ingredient) -> str:
        return ", ".join(spelling.name for spelling in ingredient.spellings.all())

    @admin.action(description="They are one ingredient", permissions=["change"])
    def join(self, request: HttpRequest, queryset: QuerySet[Ingredient]) -> None:
        if kept := merge_ingredients(queryset):
            self.message_user(request, f"They are now “{kept.name}”.")
