"""The two forms of somebody who comes back: with the code, or without it."""

import uuid
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from collection.access import return_codes
from collection.access.return_codes import MistypedCodeError, TooManyAttemptsError
from collection.forms.fields import CodeField, LineField
from collection.models import ReturnCode

DIGITS = {"inputmode": "numeric", "autocomplete": "off", "dir": "ltr"}


class CodeForm(forms.Form):
    """Sixteen or twenty digits of any script. `person` is whose code it is, once the form is valid."""

    code = CodeField(
        label=_("Your return code"),
        help_text=_("16 or 20 digits. Blanks and dashes between them do not matter."),
        error_messages={"required": _("Write your return code.")},
        widget=forms.TextInput(attrs=DIGITS),
    )
    person: uuid.UUID

    def __init__(self, *args: Any, network: str = "", **more: Any) -> None:
        """`network`: where it was sent from, as `circumstances.network_of` says it. `wait`: seconds, once validated."""
        super().__init__(*args, **more)
        self.network = network
        self.wait = 0

    def clean_code(self) -> str:
        text = str(self.cleaned_data["code"])
        try:
            person = return_codes.person_for(text, ReturnCode.Kind.CONTRIBUTOR, self.network)
        except TooManyAttemptsError as error:
            self.wait = error.seconds
            raise ValidationError(str(error)) from error
        except MistypedCodeError as error:
            raise ValidationError(str(error)) from error
        if person is None:
            raise ValidationError(_("Nobody has this code. Perhaps a newer one was made. Compare it with your note."))
        self.person = person
        return text


class LostForm(forms.Form):
    """Receipt number and name of the dish: enough to hide that dish, and for nothing else."""

    receipt = CodeField(
        label=_("The receipt number"),
        help_text=_("9 digits. You were given it when the dish was saved."),
        error_messages={"required": _("Write the receipt number.")},
        widget=forms.TextInput(attrs=DIGITS),
    )
    name = LineField(
        200,
        label=_("What is the dish called?"),
        help_text=_("As it was written then."),
        error_messages={"required": _("Write what the dish is called.")},
    )

    def answers(self) -> tuple[Any, Any]:
        return self.cleaned_data["receipt"], self.cleaned_data["name"]
