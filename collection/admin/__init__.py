"""Pages of the stewards. Every list is paged without counting whole tables and searches by beginnings."""

from django.contrib import admin, messages
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from collection.admin import consent as consent
from collection.admin import country_scope
from collection.admin import withdrawals as withdrawals
from collection.admin.reports import IngredientAdmin, ReportAdmin
from collection.dishes.curation import (
    DishMergeError,
    decide_dishes,
    decide_photos,
    merge_dishes,
    show_names,
    unmerge_dishes,
)
from collection.dishes.receipts import read_receipt
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
from collection.withdrawal.withdraw import MAY_WITHDRAW, sees_withdrawn, withdraw_for_contributors
from wwd.base.admin_lists import BigList, ReadOnly, ReadOnlyInline
from wwd.base.text import count_noun


class Shown(ReadOnlyInline):
    """Rows of a dish, shown with it; to ambassadors with every dish that they may see."""

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return super().has_view_permission(request, obj) or country_scope.country_of(request.user) is not None


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


class Changes(ReadOnlyInline):
    """The history names people: only with its own permission."""

    model = DishChange
    fields = readonly_fields = ("at", "by_contributor", "by_steward", "before")


@admin.register(Dish)
class DishAdmin(BigList):
    """Accept, reject, hide; the contributor's own words are read, not rewritten."""

    list_display = ("number", "local_name", "english_name", "state", "mixed_letters", "marked_source", "created_at")
    list_filter = ("state", "source", "mixed_letters", "contributor__crowd", "continents__continent")
    search_fields = ("number__exact", "local_name__istartswith", "english_name__istartswith")
    actions = ("accept", "reject", "hide", "merge", "unmerge", "withdraw")
    inlines = (Languages, Places, Photos, Links, Changes)

    def has_view_permission(self, request: HttpRequest, obj: Dish | None = None) -> bool:
        return country_scope.sees_some(request.user)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Dish]:
        rows = country_scope.dishes_for(request.user)
        return rows if sees_withdrawn(request.user) else rows.exclude(state=Dish.State.WITHDRAWN)

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Dish], search_term: str
    ) -> tuple[QuerySet[Dish], bool]:
        """A receipt number, in digits of any script, finds its dish; other terms search numbers and names."""
        if receipt := read_receipt(search_term):
            return queryset.filter(submission__receipt=receipt), True
        return super().get_search_results(request, queryset, search_term)

    @admin.display(description="source")
    def marked_source(self, dish: Dish) -> str:
        label = dish.get_source_display()
        return label.upper() if dish.source == Source.DEMONSTRATION else label

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def get_readonly_fields(self, request: HttpRequest, obj: Dish | None = None) -> list[str]:
        shown = [field.name for field in Dish._meta.fields if field.name not in self.get_exclude(request, obj)]
        return [*shown, "arrival"] if request.user.has_perm("collection.view_contributor") else shown

    @admin.display(description="how it arrived")
    def arrival(self, dish: Dish) -> SafeString | str:
        """What looked odd, and the way to whatever else came from there."""
        first = dish.submission_set.filter(purpose="dish").first()
        if first is None:
            return "–"
        address = f"{reverse('takeback')}?network={first.network}"
        return format_html('{} <a href="{}">{}</a>', ", ".join(first.flags) or "–", address, first.network or "–")

    def get_exclude(self, request: HttpRequest, obj: Dish | None = None) -> list[str]:
        """Who told it is shown to those who may see contributors."""
        return [] if request.user.has_perm("collection.view_contributor") else ["contributor"]

    @admin.action(description="Accept", permissions=["change"])
    def accept(self, request: HttpRequest, queryset: QuerySet[Dish]) -> None:
        self.decide(request, queryset, Dish.State.ACCEPTED)

    @admin.action(description="Reject", permissions=["change"])
    def reject(self, request: HttpRequest, queryset: QuerySet[Dish]) -> None:
        self.decide(request, queryset, Dish.State.REJECTED)

    @admin.action(description="Hide", permissions=["change"])
    def hide(self, request: HttpRequest, queryset: QuerySet[Dish]) -> None:
        self.decide(request, queryset, Dish.State.HIDDEN)

    @admin.action(description="They are one dish: keep the one with the lowest number", permissions=["change"])
    def merge(self, request: HttpRequest, queryset: QuerySet[Dish]) -> None:
        try:
            self.report_change(request, merge_dishes(queryset, queryset.order_by("number")[0], request.user))
        except DishMergeError as error:
            self.message_user(request, str(error), messages.ERROR)

    @admin.action(description="They are not one dish: take merging back", permissions=["change"])
    def unmerge(self, request: HttpRequest, queryset: QuerySet[Dish]) -> None:
        self.report_change(request, unmerge_dishes(queryset, request.user))

    @admin.action(description="Withdraw: asked by its contributor", permissions=["change"])
    def withdraw(self, request: HttpRequest, queryset: QuerySet[Dish]) -> None:
        self.report_change(request, withdraw_for_contributors(queryset))

    def decide(self, request: HttpRequest, queryset: QuerySet[Dish], state: str) -> None:
        self.report_change(request, decide_dishes(queryset, state, request.user))

    def report_change(self, request: HttpRequest, number: int) -> None:
        message = count_noun(number, "%(number)d dish changed.", "%(number)d dishes changed.")
        self.message_user(request, message % {"number": number})


@admin.register(Photo)
class PhotoAdmin(BigList):
    """Photos are decided apart from their dishes; only confirmed ones can be accepted."""

    dish_path = "dish"
    withdrawn_to = MAY_WITHDRAW
    list_display = ("thumb", "dish", "caption", "state", "created_at")
    list_filter = ("state",)
    list_select_related = ("dish",)
    actions = ("accept", "reject", "hide")
    ordering = ("-created_at",)

    def has_view_permission(self, request: HttpRequest, obj: Photo | None = None) -> bool:
        return super().has_view_permission(request, obj) or country_scope.country_of(request.user) is not None

    def get_queryset(self, request: HttpRequest) -> QuerySet[Photo]:
        """All photos with the permission for photos, else those of the dishes that the account may see."""
        rows = super().get_queryset(request)
        if super().has_view_permission(request):
            return rows
        return rows.filter(dish__in=country_scope.dishes_for(request.user)).exclude(state=Photo.State.DRAFT)

    @admin.display(description="photo")
    def thumb(self, photo: Photo) -> SafeString | str:
        if not photo.thumbnail:
            return "–"
        address = reverse("collection:photo-file", args=[photo.thumbnail.removeprefix("photos/")])
        return format_html('<img src="{}" alt="{}" height="80">', address, photo.caption)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def get_readonly_fields(self, request: HttpRequest, obj: Photo | None = None) -> list[str]:
        return [field.name for field in Photo._meta.fields]

    @admin.action(description="Accept", permissions=["change"])
    def accept(self, request: HttpRequest, queryset: QuerySet[Photo]) -> None:
        self.decide(request, queryset, Photo.State.ACCEPTED)

    @admin.action(description="Reject", permissions=["change"])
    def reject(self, request: HttpRequest, queryset: QuerySet[Photo]) -> None:
        self.decide(request, queryset, Photo.State.REJECTED)

    @admin.action(description="Hide", permissions=["change"])
    def hide(self, request: HttpRequest, queryset: QuerySet[Photo]) -> None:
        self.decide(request, queryset, Photo.State.HIDDEN)

    def decide(self, request: HttpRequest, queryset: QuerySet[Photo], state: str) -> None:
        number = decide_photos(queryset, state)
        message = count_noun(number, "%(number)d photo changed.", "%(number)d photos changed.")
        self.message_user(request, message % {"number": number})


@admin.register(Contributor)
class ContributorAdmin(ReadOnly):
    list_display = ("id", "alias", "alias_hidden", "consent", "consent_way", "source", "created_at")
    list_filter = ("source", "consent_way", "alias_hidden")
    list_select_related = ("consent",)
    search_fields = ("pk__exact", "alias_key__startswith")
    ordering = ("-created_at",)
    actions = ("hide_name", "show_name")

    @admin.action(description="Do not show the public name", permissions=["act"])
    def hide_name(self, request: HttpRequest, queryset: QuerySet[Contributor]) -> None:
        show_names(queryset, shown=False)

    @admin.action(description="Show the public name again", permissions=["act"])
    def show_name(self, request: HttpRequest, queryset: QuerySet[Contributor]) -> None:
        show_names(queryset, shown=True)


@admin.register(AboutYou)
class AboutYouAdmin(ReadOnly):
    """Personal details: shown only to people who hold the permission to view them."""

    list_display = ("contributor", "credit_me", "may_contact", "agreed_at")
    list_select_related = ("contributor",)
    search_fields = ("pk__exact",)


@admin.register(Country)
class CountryAdmin(ReadOnly):
    """Read only: the list is a data file of the project and is written again after each migration."""

    list_display = ("code", "name", "continents")
    search_fields = ("code__istartswith", "name__icontains")
    ordering = ("name",)


admin.site.register(Report, ReportAdmin)
admin.site.register(Ingredient, IngredientAdmin)
