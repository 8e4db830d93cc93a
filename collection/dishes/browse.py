"""What anybody may look through: the accepted dishes of a country, and one of them whole."""

from typing import Any, NamedTuple

from django.core.exceptions import ValidationError
from django.core.paginator import Page, Paginator
from django.db.models import Count, Prefetch
from django.db.models.functions import Coalesce
from django.http import Http404
from django.utils.translation import gettext_lazy as _

from collection.models import Dish, DishCountry, DishKind, DishQuerySet, Occasion, Photo, TimeOfDay
from collection.text import fold_spelling
from collection.vocabularies.places import Named, code_for, translate_place_name

PER_PAGE = 40
# Field, its question in a few words, its choices where it holds codes; in the order of the page.
QUESTIONS: tuple[tuple[str, Any, Any], ...] = (
    ("english_name", _("In English"), None),
    ("ingredients", _("What is in it"), None),
    ("regions", _("Region"), None),
    ("cultures", _("People or community"), None),
    ("time_of_day", _("When it is eaten"), TimeOfDay),
    ("time_of_day_more", _("More about when"), None),
    ("kinds", _("Kind of dish"), DishKind),
    ("kinds_more", _("More about its kind"), None),
    ("utensils", _("Eaten with"), None),
    ("drink", _("Drink"), None),
    ("occasions", _("How often"), Occasion),
    ("occasions_more", _("Occasions"), None),
    ("recipe", _("Recipe"), None),
    ("more_details", _("And besides"), None),
)


class PlaceRow(NamedTuple):
    """A place with public dishes. `place` is what addresses call it, `shown` what the page does."""

    place: str
    shown: Named
    dishes: int


def list_places_with_dishes() -> list[PlaceRow]:
    """Places with public dishes, by their names in the language of the page."""
    rows = DishCountry.objects.filter(dish__in=Dish.objects.accepted()).order_by()
    told = rows.annotate(place=Coalesce("country__name", "name")).values("place", "country")
    counted = told.annotate(dishes=Count("dish", distinct=True))
    found = [
        PlaceRow(row["place"], translate_place_name(row["country"], row["place"]), row["dishes"]) for row in counted
    ]
    return sorted(found, key=lambda row: (fold_spelling(row.shown.text), row.place))


def place_shown(place: str) -> Named:
    """What the page calls a place of an address."""
    return translate_place_name(code_for(place), place)


class PlaceOfDish(NamedTuple):
    """A place in its contributor's words; `shown` is what the page calls it where that is not the same."""

    own_name: str
    place: str
    shown: Named | None


def places_of(dish: Dish) -> list[PlaceOfDish]:
    """Where a dish is from."""
    found = []
    for row in dish.places.select_related("country"):
        shown = translate_place_name(row.country_id, row.name)
        place = row.country.name if row.country else row.name
        found.append(
            PlaceOfDish(row.name, place, shown if fold_spelling(shown.text) != fold_spelling(row.name) else None)
        )
    return found


def dishes_of(place: str) -> DishQuerySet:
    """Public dishes of one place, by name."""
    rows = DishCountry.objects.annotate(place=Coalesce("country__name", "name")).filter(place=place)
    return Dish.objects.accepted().filter(pk__in=rows.values("dish")).order_by("local_name", "pk")


def page_of(rows: Any, number: str) -> "Page[Any]":
    """One page; what is no number shows the first one, what is past the end the last."""
    return Paginator(rows, PER_PAGE).get_page(number)


def public_dish(number: int) -> Dish:
    """A public dish with its accepted photos in `shown_photos`, or 404."""
    shown = Photo.objects.filter(state=Photo.State.ACCEPTED).order_by("created_at")
    dishes = Dish.objects.accepted().select_related("contributor")
    dish = dishes.prefetch_related(Prefetch("photos", shown, to_attr="shown_photos")).filter(number=number).first()
    if dish is None:
        raise Http404
    return dish


def public_photo(pk: Any) -> Photo:
    """An accepted photo of a public dish, or 404."""
    try:
        return Photo.objects.select_related("dish").get(
            pk=pk, state=Photo.State.ACCEPTED, dish__in=Dish.objects.accepted()
        )
    except (Photo.DoesNotExist, ValueError, ValidationError):
        raise Http404 from None


def list_dish_answers(dish: Dish) -> list[tuple[str, str]]:
    """What was told, as (question, words); what was left out is left out."""
    told = [(label, in_words(getattr(dish, field), choices)) for field, label, choices in QUESTIONS]
    return [(label, words) for label, words in told if words]


def in_words(value: Any, choices: Any) -> str:
    """Codes of App. B.4 in words; codes of imported rows that we do not know stand as they are."""
    if choices is None:
        return str(value)
    known = dict(choices.choices)
    codes = value if isinstance(value, list) else [value]
    return ", ".join(str(known.get(code, code)) for code in codes if code)
