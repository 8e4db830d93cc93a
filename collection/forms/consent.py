"""The ticks and questions of consent. Only the ticks are required; a question never stops anybody."""

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

YES_NO = ((True, _("Yes")), (False, _("No")))


def build_required_checkbox(label: Any, sentence: Any) -> forms.BooleanField:
    """A box that must be ticked; `sentence` says so where it is not."""
    return forms.BooleanField(label=label, error_messages={"required": sentence})


class QuestionField(forms.NullBooleanField):
    """Yes, no, or nothing. What is neither counts as nothing, because a question never stops anybody."""

    def __init__(self, label: str) -> None:
        super().__init__(label=label, required=False, widget=forms.RadioSelect(choices=YES_NO))


class ConsentForm(forms.Form):
    """The two ticks before anything is asked, and the questions of the text where the page shows them."""

    adult = build_required_checkbox(
        _("I am 18 years old or older."), _("Only people of 18 years or older can take part.")
    )
    agree = build_required_checkbox(
        _("I have read this, and I agree."), _("Tick this if you agree. Without it nothing can be kept.")
    )

    def __init__(
        self, data: Mapping[str, Any] | None = None, *, questions: Sequence[Mapping[str, Any]] = (), **kwargs: Any
    ) -> None:
        super().__init__(data, **kwargs)
        self.asked = [f"question_{place}" for place in range(len(questions))]
        for name, question in zip(self.asked, questions, strict=True):
            self.fields[name] = QuestionField(question["text"])

    @property
    def answers(self) -> list[bool | None]:
        """One for each question, None where nothing was answered."""
        return [self.cleaned_data[name] for name in self.asked]

    @property
    def questions(self) -> list[forms.BoundField]:
        return [self[name] for name in self.asked]


class AloudForm(forms.Form):
    """The two ticks of anyone who read the text aloud to somebody beside them."""

    heard = build_required_checkbox(
        _("A person of 18 years or older sits beside me, heard this and agreed."),
        _("Tick this once the person has heard the text and agreed. Without it nothing can be kept."),
    )
    public = build_required_checkbox(
        _("This person knows that what they tell becomes public."),
        _("Tick this once the person knows that it becomes public. Without it nothing can be kept."),
    )
