"""The forms of review: joining, and the questionnaire built from its data."""

from collections.abc import Iterator, Mapping
from typing import Any

from django import forms
from django.http import QueryDict
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _

from collection.vocabularies.places import code_for, translate_place_name
from review.models import ContentTag, Reviewer
from review.questionnaires import (
    Answers,
    InvalidAnswersError,
    Question,
    Texts,
    choose_wording,
    clean_text,
    parse_questions,
    validate_answers,
)
from review.seed_data import drafts_of

PREFIX = "q"
NAME = "{dish_name}"
Typed = dict[str, str | list[str]]
ROLES = [
    (Reviewer.Role.VOLUNTEER, _("I was asked to help, or found this myself")),
    (Reviewer.Role.AMBASSADOR, _("I am an ambassador of the project")),
    (Reviewer.Role.AUTHOR, _("I am one of the researchers")),
]


BEGUN = [
    ("yes", _("Yes. I go on with what I have")),
    ("no", _("No. I begin now")),
]


class JoinForm(forms.Form):
    """Age, consent, whose dishes are theirs, how they came here.

    `asked`: whether the form asks first if somebody has begun already, since one person is one reviewer of a campaign.
    """

    begun = forms.ChoiceField(
        label=_("Have you begun already, on this phone or another?"),
        help_text=_("Each person counts once. If you have begun, your earlier answers are kept."),
        choices=BEGUN,
        widget=forms.RadioSelect,
        error_messages={
            "required": _("Say whether you have begun already."),
            "invalid_choice": _("Choose one of the answers that are shown."),
        },
    )
    country = forms.ChoiceField(
        label=_("Which country’s dishes do you know well?"),
        help_text=_("You judge pictures of dishes of this country."),
        widget=forms.RadioSelect,
        error_messages={
            "required": _("Choose a country."),
            "invalid_choice": _("Choose one of the countries that are shown."),
        },
    )
    role = forms.ChoiceField(
        label=_("How did you come here?"),
        choices=ROLES,
        widget=forms.RadioSelect,
        error_messages={
            "required": _("Choose one of the answers."),
            "invalid_choice": _("Choose one of the answers that are shown."),
        },
    )
    adult = forms.BooleanField(
        label=_("I am 18 years old or older."),
        error_messages={"required": _("Only people who are 18 or older can take part.")},
    )
    agree = forms.BooleanField(
        label=_("I have read this and agree."),
        error_messages={"required": _("We need your agreement before we show you pictures.")},
    )

    def __init__(self, countries: list[str], data: QueryDict | None = None, *, asked: bool = False) -> None:
        initial = {"country": countries[0]} if len(countries) == 1 else {}
        super().__init__(data, initial=initial)
        if not asked:
            del self.fields["begun"]
        field = self.fields["country"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [(name, translate_place_name(code_for(name), name).text) for name in countries]


class NoteForm(forms.Form):
    """A note to the team."""

    text = forms.CharField(
        max_length=2000,
        label=_("A note to the team"),
        help_text=_("Write nothing that tells who somebody is."),
        widget=forms.Textarea(
            attrs={"dir": "auto", "rows": 3, "aria-describedby": "id_text-hint", "autocomplete": "off"}
        ),
        error_messages={
            "required": _("Write something first."),
            "max_length": _("The text is too long. Shorten it to 2,000 characters."),
        },
    )

    def clean_text(self) -> str:
        return _written(clean_text(self.cleaned_data["text"]))


class AvoidForm(forms.Form):
    """Kinds of content never to be shown."""

    avoids = forms.MultipleChoiceField(
        choices=ContentTag.Kind.choices,
        required=False,
        label=_("What should we never show you?"),
        help_text=_("The team marks such pictures as well as it can. You need no reason."),
        widget=forms.CheckboxSelectMultiple,
    )


class BackgroundForm(forms.Form):
    """About the reviewer, freely, in their own words."""

    countries = forms.CharField(max_length=500, required=False, label=_("Which countries are yours?"))
    cultures = forms.CharField(max_length=500, required=False, label=_("Which peoples or cultures are yours?"))
    languages = forms.CharField(max_length=500, required=False, label=_("Which languages do you speak?"))
    lived = forms.CharField(max_length=500, required=False, label=_("Where have you lived?"))

    def __init__(self, data: QueryDict | None = None) -> None:
        super().__init__(data)
        for field in self.fields.values():
            field.widget.attrs.update(dir="auto", autocomplete="off")

    def clean(self) -> dict[str, str]:
        return {name: clean_text(value) for name, value in self.cleaned_data.items()}


def _written(text: str) -> str:
    """The text where something is left of it. Raises ValidationError."""
    if not text:
        raise forms.ValidationError(_("Write something first."))
    return text


class QuestionForm(forms.Form):
    """One page of a questionnaire. `typed` is what was typed so far on any page; `sent` asks for it to be checked.

    After `is_valid` the answers to keep are in `answers`.
    """

    answers: Answers

    def __init__(
        self, definition: Mapping[str, Any], page: int, dish_name: str, typed: Typed, *, sent: bool = False
    ) -> None:
        self.definition, self.page, self.typed = definition, page, typed
        data = {f"{PREFIX}-{code}": value for code, value in typed.items()}
        super().__init__(data if sent else None, initial=typed, prefix=PREFIX)
        for question in parse_questions(definition):
            if question.page == page and question.applies(typed):
                self.fields[question.code] = _field(question, dish_name)

    @property
    def draft(self) -> bool:
        """Whether the questions are shown in a translation that nobody has confirmed yet."""
        drafts = drafts_of(self.definition.get("slug", ""), self.definition.get("version", ""))
        language = get_language() or "en"
        return language in drafts or language.split("-")[0] in drafts

    def clean(self) -> None:
        try:
            self.answers = validate_answers(self.definition, self.typed, self.page)
        except InvalidAnswersError as refused:
            for code, sentence in refused.errors.items():
                self.add_error(code if code in self.fields else None, sentence)

    def chosen(self) -> Typed:
        """What was chosen so far on any page among the answers that are offered, without free words."""
        offered = {question.code: set(question.options) for question in parse_questions(self.definition)}
        kept = ((code, value) for code, value in self.typed.items() if value)
        return {code: value for code, value in kept if set(_as_list(value)) <= offered.get(code, set())}

    def everything(self) -> Iterator[tuple[str, str]]:
        """Names and values of all that was typed, for a page that shows no question."""
        for code, value in self.typed.items():
            yield from ((f"{PREFIX}-{code}", item) for item in _as_list(value))

    def hidden(self) -> Iterator[tuple[str, str]]:
        """Names and values of what was typed for questions that this page does not show."""
        known = {question.code: question for question in parse_questions(self.definition)}
        for code, value in self.typed.items():
            if code not in self.fields and code in known and known[code].applies(self.typed):
                yield from ((f"{PREFIX}-{code}", item) for item in _as_list(value))


def typed_in(definition: Mapping[str, Any], post: QueryDict) -> Typed:
    """Everything sent under the names of a questionnaire's questions, known or not, unchecked."""
    several = {question.code for question in parse_questions(definition) if question.kind == "several"}
    codes = [name.removeprefix(f"{PREFIX}-") for name in post if name.startswith(f"{PREFIX}-")]
    return {
        code: post.getlist(f"{PREFIX}-{code}") if code in several else post.get(f"{PREFIX}-{code}", "")
        for code in codes
    }


def own_words(definition: Mapping[str, Any], post: QueryDict) -> list[str]:
    """What was written freely: in answers, or as a note to the team."""
    names = [f"{PREFIX}-{question.code}" for question in parse_questions(definition) if question.kind == "text"]
    return [written for name in (*names, "text") if (written := clean_text(post.get(name, "")))]


def with_name(texts: Texts, dish_name: str) -> SafeString:
    """The wording in the reader's language. Both it and the dish's name keep the direction of their own script."""
    wording = choose_wording(texts, get_language() or "en")
    if not wording:
        return SafeString("")
    name = format_html("<bdi>{}</bdi>", dish_name)
    return format_html("<bdi>{}</bdi>", format_html_join(name, "{}", ((part,) for part in wording.split(NAME))))


def _field(question: Question, dish_name: str) -> forms.Field:
    """A field that only carries the value: `check` is the one home of the rules."""
    choices = [(code, with_name(text, dish_name)) for code, text in question.options.items()]
    widgets: dict[str, forms.Widget] = {
        "one": forms.RadioSelect(choices=choices),
        "several": forms.CheckboxSelectMultiple(choices=choices),
        "text": forms.Textarea(),
    }
    return _Question(
        required=False,
        label=with_name(question.text, dish_name),
        help_text=with_name(question.help, dish_name),
        widget=widgets[question.kind],
        kind=question.kind,
        needed=question.required,
    )


class _Question(forms.Field):
    """A field that knows how its question is drawn."""

    def __init__(self, *, kind: str, needed: bool, **more: Any) -> None:
        super().__init__(**more)
        self.kind = kind
        self.needed = needed


def _as_list(value: str | list[str]) -> list[str]:
    return value if isinstance(value, list) else [value]
