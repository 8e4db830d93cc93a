"""Form fields that hold the rules for words and return what the models want."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from datetime import date
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from collection.text import clean_line, clean_name, clean_text, split_list
from collection.vocabularies.languages import split_languages

MOST_ENTRIES = 20
LONGEST_ENTRY = 120


class WordsField(forms.CharField):
    """Text under `rule`, at most `longest` signs. The typing itself is shown again where the rule refuses it."""

    def __init__(self, longest: int, rule: Callable[[str, int], str], lines: int = 1, **kwargs: Any) -> None:
        widget = forms.Textarea(attrs={"rows": lines}) if lines > 1 else forms.TextInput()
        super().__init__(widget=kwargs.pop("widget", widget), **kwargs)
        self.widget.attrs.setdefault("dir", "auto")
        # Many people share a phone: what one of them typed is offered to nobody else.
        self.widget.attrs.setdefault("autocomplete", "off")
        self.longest = longest
        self.rule = rule

    def to_python(self, value: Any) -> str:
        return self.rule(str(value or ""), self.longest)


class LineField(WordsField):
    def __init__(self, longest: int, **kwargs: Any) -> None:
        super().__init__(longest, clean_line, **kwargs)


class NameField(WordsField):
    def __init__(self, longest: int, **kwargs: Any) -> None:
        super().__init__(longest, clean_name, **kwargs)


class TextField(WordsField):
    def __init__(self, longest: int, lines: int = 2, **kwargs: Any) -> None:
        super().__init__(longest, clean_text, lines, **kwargs)


class CodeField(forms.CharField):
    """A number as somebody types or pastes it. Signs that cannot be seen fall away, for messengers put some around
    numbers; what is left is read elsewhere (`collection.dishes.receipts.read_digits`)."""

    LONGEST = 200

    def to_python(self, value: Any) -> str:
        return "".join(sign for sign in str(value or "") if sign.isprintable()).strip()[: self.LONGEST]


class EntriesField(LineField, ABC):
    """A list of names in one line. Each entry is a name that fits its column; signs alone are no entry."""

    @abstractmethod
    def entries(self, text: str) -> list[Any]:
        """Takes the cleaned line, gives its entries."""

    def name_of(self, entry: Any) -> str:
        return str(entry)

    def clean(self, value: Any) -> Any:
        entries = self.entries(super().clean(value))
        if self.required and not entries:
            raise ValidationError(self.error_messages["required"], code="required")
        if len(entries) > MOST_ENTRIES:
            raise ValidationError(_("These are too many. Write up to %(most)d."), params={"most": MOST_ENTRIES})
        for entry in entries:
            clean_name(self.name_of(entry), LONGEST_ENTRY)
        return entries


class PlacesField(EntriesField):
    """Names of places, separated by commas → list of names as written."""

    def entries(self, text: str) -> list[Any]:
        return split_list(text)


class LanguagesField(EntriesField):
    """Names of languages, separated by commas → list of (name as written, ISO 639-3 code or `mis`)."""

    def entries(self, text: str) -> list[Any]:
        return split_languages(text)

    def name_of(self, entry: Any) -> str:
        return str(entry[0])


class YearField(LineField):
    """A year of birth in digits of any script → int or None."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(20, **kwargs)
        self.widget.attrs.update(inputmode="numeric")

    def clean(self, value: Any) -> Any:
        text = super().clean(value)
        if not text:
            return None
        if not text.isdecimal():
            raise ValidationError(_("Write the year in four digits, for example 1990."))
        year, newest = int(text), date.today().year - 18
        if not 1900 <= year <= newest:
            raise ValidationError(_("Write a year between 1900 and %(newest)d."), params={"newest": newest})
        return year
