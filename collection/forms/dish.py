"""The form of the four questions that make a dish, and the one function that builds it."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from collection.forms.consent import ConsentForm
from collection.forms.fields import LanguagesField, NameField, PlacesField, TextField
from collection.forms.typed import collect_typed_values
from collection.models import Dish
from collection.vocabularies import ingredients


def with_chosen(data: QueryDict) -> QueryDict:
    """What was sent, with the suggestions that were ticked written into the ingredients."""
    chosen = [name for name in data.getlist("also") if len(name) <= ingredients.LONGEST][: ingredients.MOST_SUGGESTED]
    written = data.copy()
    written["ingredients"] = ingredients.complete_ingredient_list(data.get("ingredients", ""), chosen)
    return written


class DishForm(forms.Form):
    """The four answers that make a dish; with `asks_consent`, for somebody who has not agreed yet, its ticks too."""

    local_name = NameField(
        200,
        label=_("What is the dish called?"),
        help_text=_("Write it as you would in a message. Any letters will do."),
        error_messages={"required": _("Write what the dish is called.")},
    )
    languages = LanguagesField(
        400,
        label=_("Which language is this name in?"),
        help_text=_("As you call that language yourself."),
        error_messages={"required": _("Write which language the name is in.")},
    )
    places = PlacesField(
        1000,
        label=_("Which country is it from?"),
        help_text=_("If there are several, put a comma between them."),
        error_messages={"required": _("Write which country the dish is from.")},
        widget=forms.TextInput(attrs={"list": "countries"}),
    )
    places_more = PlacesField(
        1000, label=_("Another place, if the list does not have it"), required=False, help_text=_("In your own words.")
    )
    ingredients = TextField(
        4000,
        lines=3,
        label=_("What is in it?"),
        help_text=_("The ingredients, with a comma between them."),
        error_messages={"required": _("Write what is in it.")},
    )

    def __init__(
        self, data: QueryDict | None = None, *, asks_consent: bool = False, initial: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(data, initial=dict(initial or {}))
        self.asks_consent = asks_consent
        if asks_consent:
            self.fields.update(ConsentForm().fields)

    @property
    def content(self) -> dict[str, Any]:
        """Arguments for `dishes.save_dish` and `dishes.change_dish`."""
        answers = self.cleaned_data
        places = list(dict.fromkeys([*answers["places"], *answers["places_more"]]))
        words = {"local_name": answers["local_name"], "ingredients": answers["ingredients"]}
        return {"words": words, "places": places, "languages": answers["languages"]}


def build_dish_form(
    *,
    sent: QueryDict | None = None,
    typed: QueryDict | None = None,
    answers: Mapping[str, Any] | None = None,
    asks_consent: bool = False,
) -> DishForm:
    """The form of the four questions, in every state in which a page shows it or a view checks it.

    `sent`: what was sent, to be validated. `typed`: what was sent, to be shown again without being judged. `answers`:
    what is in the form at first, for example those of a dish. With none of the three the form is empty.
    `asks_consent`: for somebody who has not agreed yet.
    """
    if sent is not None:
        return DishForm(with_chosen(sent), asks_consent=asks_consent)
    shown = {} if typed is None else collect_typed_values(with_chosen(typed), DishForm)
    return DishForm(asks_consent=asks_consent, initial={**(answers or {}), **shown})


def dish_answers(dish: Dish) -> dict[str, str]:
    """A dish as initial answers of `DishForm`."""
    return {"local_name": dish.local_name, "ingredients": dish.ingredients, **place_answers(dish)}


def place_answers(dish: Dish) -> dict[str, str]:
    """Place and language only, for *another dish from this place*."""
    return {
        "languages": ", ".join(language.name for language in dish.languages.all()),
        "places": ", ".join(place.name for place in dish.places.all()),
    }
