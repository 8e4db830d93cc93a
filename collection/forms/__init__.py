"""The questions of App. B.4 that follow a dish, in our own words. A form's `content` is what the models want."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from collection.forms.consent import build_required_checkbox
from collection.forms.fields import LineField, PlacesField, TextField, YearField
from collection.models import Dish, DishKind, Occasion, Report, TimeOfDay

# A name with so many digits may be a telephone number.
MOST_DIGITS = 5
UNKNOWN_CHOICE = {"invalid_choice": _("This is none of the choices. Choose again."), "invalid_list": _("Choose again.")}


class MoreForm(forms.Form):
    """The rest of B.4. Nothing here is required."""

    english_name = LineField(
        200, required=False, label=_("Its name in English, or how it sounds"), help_text=_("In Latin letters.")
    )
    regions = LineField(1000, required=False, label=_("Which region is it from?"))
    cultures = LineField(1000, required=False, label=_("Which people or community does it belong to?"))
    time_of_day = forms.MultipleChoiceField(
        required=False,
        label=_("When is it eaten?"),
        choices=TimeOfDay,
        widget=forms.CheckboxSelectMultiple,
        error_messages=UNKNOWN_CHOICE,
    )
    time_of_day_more = LineField(1000, required=False, label=_("More about when"))
    kinds = forms.MultipleChoiceField(
        required=False,
        label=_("What kind of dish is it?"),
        choices=DishKind,
        widget=forms.CheckboxSelectMultiple,
        error_messages=UNKNOWN_CHOICE,
    )
    kinds_more = LineField(1000, required=False, label=_("More about its kind"))
    utensils = LineField(
        1000, required=False, label=_("What is it eaten with?"), help_text=_("Hands, a spoon, bread, chopsticks …")
    )
    drink = LineField(1000, required=False, label=_("What do people drink with it?"))
    occasions = forms.ChoiceField(
        required=False,
        label=_("How often is it eaten?"),
        choices=Occasion,
        widget=forms.RadioSelect,
        error_messages=UNKNOWN_CHOICE,
    )
    occasions_more = LineField(1000, required=False, label=_("On which occasions?"))
    recipe = TextField(2000, required=False, label=_("A recipe on the web"), help_text=_("One or more addresses."))
    more_details = TextField(8000, required=False, lines=3, label=_("Anything else you want to tell"))

    @property
    def content(self) -> dict[str, Any]:
        return dict(self.cleaned_data)


def more_answers(dish: Dish) -> dict[str, Any]:
    """A dish as initial answers of `MoreForm`."""
    return {field: getattr(dish, field) for field in MoreForm.base_fields}


class CaptionForm(forms.Form):
    """What belongs to a photo that has arrived: a caption and four confirmations."""

    caption = TextField(
        1000,
        label=_("What does the photo show?"),
        help_text=_("For somebody who cannot see it."),
        error_messages={"required": _("Write what the photo shows.")},
    )
    taken_by_me = build_required_checkbox(
        _("I took this photo. It is not from the internet."), _("Only a photo of your own can be shown.")
    )
    may_be_shared = build_required_checkbox(
        _("It may be used and shared for research that earns no money."),
        _("A photo that may not be shared is not kept."),
    )
    no_people = build_required_checkbox(
        _("Nobody can be recognised in it."), _("A photo in which somebody can be recognised is not kept.")
    )
    is_photograph = build_required_checkbox(
        _("It is a photograph, not made by a computer."), _("Only a real photograph of the dish is kept.")
    )


class PersonalDetailsForm(forms.Form):
    """Personal details. All optional; they are stored only with a consent of their own."""

    alias = LineField(
        60, required=False, label=_("A name to show beside your dishes"), help_text=_("This one is public.")
    )
    year_of_birth = YearField(required=False, label=_("The year you were born"))
    nationalities = PlacesField(
        1000,
        required=False,
        label=_("Your nationality"),
        help_text=_("If there are several, put a comma between them."),
    )
    name = LineField(120, required=False, label=_("Your name"))
    email = forms.EmailField(
        required=False,
        label=_("Your e-mail address"),
        max_length=254,
        error_messages={"invalid": _("This is not a whole e-mail address. Check it, or leave it out.")},
        widget=forms.EmailInput(attrs={"dir": "ltr", "autocomplete": "off"}),
    )
    credit_me = forms.BooleanField(required=False, label=_("Name me among those who helped."))
    may_contact = forms.BooleanField(required=False, label=_("The project may write to me."))
    agree = build_required_checkbox(
        _("I agree that the project keeps this about me."),
        _("Tick this if the project may keep it. Or go on without telling it."),
    )

    def clean_alias(self) -> str:
        alias = str(self.cleaned_data["alias"])
        if sum(sign.isdigit() for sign in alias) >= MOST_DIGITS:
            raise ValidationError(_("This looks like a telephone number, and everybody could read it. Choose a name."))
        return alias

    def clean_email(self) -> str:
        email = self.cleaned_data["email"]
        if email and not email.isascii():
            raise ValidationError(_("This is not a whole e-mail address. Check it, or leave it out."))
        return str(email)


class ReportForm(forms.Form):
    """Why a public dish or image should not be shown like this."""

    reason = forms.ChoiceField(
        label=_("What is wrong?"),
        choices=[choice for choice in Report.Reason.choices if choice[0] != Report.Reason.LOST],
        widget=forms.RadioSelect,
        error_messages={"required": _("Choose what is wrong."), **UNKNOWN_CHOICE},
    )
    words = TextField(1000, required=False, label=_("More about it"), help_text=_("Only the project reads this."))
