"""Phones that several people use: no form offers to the next person what somebody typed."""

from collections.abc import Iterator
from html.parser import HTMLParser

import pytest
from django import forms

from collection import forms as collection_forms
from collection.forms import consent, dish, rights
from review import forms as review_forms
from review.questionnaires import parse_questions
from tests.review.make import make_campaign
from tests.review.phone import joined

MODULES = (collection_forms, consent, dish, rights, review_forms)
PERSONAL = {"name", "alias", "nationalities", "local_name", "email", "year_of_birth", "places", "languages", "code"}
UNTYPED = ("hidden", "checkbox", "radio", "file", "submit")


class Typed(HTMLParser):
    """Collects the controls that somebody types into."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[dict[str, str | None]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag in ("input", "textarea") and given.get("type", "text") not in UNTYPED:
            self.found.append(given)


def public_forms() -> Iterator[type[forms.Form]]:
    for module in MODULES:
        for value in vars(module).values():
            if isinstance(value, type) and issubclass(value, forms.Form) and value.__module__ == module.__name__:
                yield value


def made(form: type[forms.Form]) -> forms.Form:
    if form is review_forms.JoinForm:
        return review_forms.JoinForm(["Nigeria"])
    return form()


def test_browsers_keep_nothing_that_is_typed_into_a_public_form() -> None:
    classes = [form for form in public_forms() if form is not review_forms.QuestionForm]
    controls = [control for form in classes for control in Typed(str(made(form))).found]
    assert len(controls) > 20 and {control.get("name") for control in controls} >= PERSONAL
    assert [control for control in controls if control.get("autocomplete") != "off"] == []


@pytest.mark.django_db
def test_browsers_keep_no_answer_of_a_reviewer() -> None:
    phone = joined()
    pages = [phone.page, phone.press("show"), phone.press("me"), phone.send("/review/")]
    controls = [control for page in pages for control in Typed(page).found]
    assert any(question.kind == "text" for question in parse_questions(make_campaign().questionnaire.definition))
    assert controls and [control for control in controls if control.get("autocomplete") != "off"] == []
