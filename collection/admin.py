"""Pages of the stewards. Every list is paged without counting whole tables and searches by beginnings."""

from typing import Any

from django.contrib import admin
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from collection import admin_consent as admin_consent
from collection import admin_withdrawals as admin_withdrawals
from collection.admin_reports import IngredientAdmin, ReportAdmin
from collection.curation import decide_dishes, decide_photos
from collection.models import (
    AboutYou,
    Contributor,
    Country,
    Dish,
    DishChange,
    DishCountry,
    DishLanguage,
    Ingredient,
    Photo,
    PhotoLink,
    Report,
    Source,
)
from collection.receipts import read_receipt
from collection.withdrawal import withdraw_for_contributors


class ReadOnly(admin.ModelAdmin):
    """Rows that stewards look at and never write."""

    show_full_result_count = False

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


class Shown(admin.TabularInline):
    """Rows of a dish, shown with it."""

    extra = 0
    can_delete = False

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


class Languages(Shown):
    model = DishLanguage


class Places(Shown):
    model = DishCountry


class Links(Shown):
    model = PhotoLink


class Photos(Shown):
    model = Photo
    fields = readonly_fields = ("caption", "state", "created_at")
    show_change_link = True


class Changes(Shown):
    model = DishChange
    fields = readonly_fields = ("at", "by_contributor", "by_steward", "before")


@admin.register(Dish)
class DishAdmin(admin.ModelAdmin):
    """Accept, reject, hide; the contributor's own words are read, not rewritten."""

    list_display = ("number", "local_name", "english_name", "state", "mixed_letters", "marked_source", "created_at")
    list_filter = ("state", "source", "mixed_letters", "continents__continent")
    search_fields = ("number__exact", "local_name__istartswith", "english_name__istartswith")
    actions = ("accept", "reject", "hide", "withdraw")
    ordering = ("-pk",)
    list_per_page = 50
    show_full_result_count = False
    inlines = (Languages, Places, Photos, Links, Changes)

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Dish], search_term: str
    ) -> tuple[QuerySet[Dish], bool]:
        """A receipt number, in digits of any script, finds its dish; other terms search numbers and names."""
        if receipt := read_receipt(search_term):
            return queryset.filter(submission__receipt=receipt), True
        return super().get_search_results(request, queryset, search_term)

    @admin.display(description=_("source"))
    def marked_source(self, dish: Dish) -> str:
        label = dish.get_source_display()
        return label.upper() if dish.source == Source.DEMONSTRATION else label

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def get_readonly_fields(self, request: HttpRequest, obj: Dish | None = None) -> list[str]:
        return [field.name for field in Dish._meta.fields]

    @admin.action(description=_("Accept"), permissions=["change"])
    def accept(self, request: HttpRequest, queryset: QuerySet[Dish]) -> None:
        self.decide(request, queryset, Dish.State.ACCEPTED)

    @admin.action(description=_("Reject"), permissions=["change"])
    def reject(self, request: HttpRequest, queryset: QuerySet[Dish]) -> None:
        self.decide(request, queryset, Dish.State.REJECTED)

    @admin.action(description=_("Hide"), permissions=["change"])
    def hide(self, request: HttpRequest, queryset: QuerySet[Dish]) -> None:
        self.decide(request, queryset, Dish.State.HIDDEN)

    @admin.action(description=_("Withdraw: asked by its contributor"), permissions=["change"])
    def withdraw(self, request: HttpRequest, queryset: QuerySet[Dish]) -> None:
        self.tell(request, withdraw_for_contributors(queryset))

    def decide(self, request: HttpRequest, queryset: QuerySet[Dish], state: str) -> None:
        self.tell(request, decide_dishes(queryset, state, request.user))

    def tell(self, request: HttpRequest, number: int) -> None:
        message = ngettext("%(number)d dish changed.", "%(number)d dishes changed.", number)
        self.message_user(request, message % {"number": number})


@admin.register(Photo)
class PhotoAdmin(admin.ModelAdmin):
    """Photos are decided apart from their dishes; only confirmed ones can be accepted."""

    list_display = ("thumb", "dish", "caption", "state", "created_at")
    list_filter = ("state",)
    list_select_related = ("dish",)
    actions = ("accept", "reject", "hide")
    ordering = ("-created_at",)
    list_per_page = 50
    show_full_result_count = False

    @admin.display(description=_("photo"))
    def thumb(self, photo: Photo) -> SafeString | str:
        if not photo.thumbnail:
            return "–"
        address = reverse("collection:photo-file", args=[photo.thumbnail.removeprefix("photos/")])
        return format_html('<img src="{}" alt="{}" height="80">', address, photo.caption)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def get_readonly_fields(self, request: HttpRequest, obj: Photo | None = None) -> list[str]:
        return [field.name for field in Photo._meta.fields]

    @admin.action(description=_("Accept"), permissions=["change"])
    def accept(self, request: HttpRequest, queryset: QuerySet[Photo]) -> None:
        self.decide(request, queryset, Photo.State.ACCEPTED)

    @admin.action(description=_("Reject"), permissions=["change"])
    def reject(self, request: HttpRequest, queryset: QuerySet[Photo]) -> None:
        self.decide(request, queryset, Photo.State.REJECTED)

    @admin.action(description=_("Hide"), permissions=["change"])
    def hide(self, request: HttpRequest, queryset: QuerySet[Photo]) -> None:
        self.decide(request, queryset, Photo.State.HIDDEN)

    def decide(self, request: HttpRequest, queryset: QuerySet[Photo], state: str) -> None:
        number = decide_photos(queryset, state)
        message = ngettext("%(number)d photo changed.", "%(number)d photos changed.", number)
        self.message_user(request, message % {"number": number})


@admin.register(Contributor)
class ContributorAdmin(ReadOnly):
    list_display = ("id", "consent", "consent_way", "source", "created_at")
    list_filter = ("source", "consent_way")
    list_select_related = ("consent",)
    ordering = ("-created_at",)


@admin.register(AboutYou)
class AboutYouAdmin(ReadOnly):
    """Personal details: shown only to people who hold the permission to view them."""

    list_display = ("contributor", "credit_me", "may_contact", "agreed_at")


@admin.register(Country)
class CountryAdmin(ReadOnly):
    """Read only: the list is a data file of the project and is written again after each migration."""

    list_display = ("code", "name", "continents")
    search_fields = ("code", "name")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).order_by("name")


admin.site.register(Report, ReportAdmin)
admin.site.register(Ingredient, IngredientAdmin)
