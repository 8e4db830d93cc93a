"""Everything of a reviewer to take along as one page that any phone shows and prints."""

from collections.abc import Mapping
from typing import Any

from django.template.loader import render_to_string

from review.forms import BackgroundForm, with_name
from review.models import Note, Review, Reviewer, ReviewerBackground
from review.questionnaires import parse_questions


def page_along(reviewer: Reviewer) -> str:
    """The answers of this person in the words of the questions, their notes and what they told about themselves."""
    definition = reviewer.campaign.questionnaire.definition
    said = Review.objects.filter(reviewer=reviewer).select_related("image").order_by("created_at")
    context = {
        "reviewer": reviewer,
        "reviews": [(review, in_words(definition, review)) for review in said],
        "notes": Note.objects.filter(reviewer=reviewer).order_by("at"),
        "about": _list_personal_details(reviewer),
    }
    return render_to_string("review/taken_along.html", context)


def in_words(definition: Mapping[str, Any], review: Review) -> list[tuple[str, list[str]]]:
    """What was answered, as (question, answers) in the reader's language."""
    name = review.image.dish_name
    found: list[tuple[str, list[str]]] = []
    for question in parse_questions(definition):
        said = review.answers.get(question.code)
        if said:
            values = said if isinstance(said, list) else [said]
            words: list[str] = [
                with_name(question.options[value], name) if question.options else value for value in values
            ]
            found.append((with_name(question.text, name), words))
    return found


def _list_personal_details(reviewer: Reviewer) -> list[tuple[str, str]]:
    row = ReviewerBackground.objects.filter(reviewer=reviewer).first()
    fields = BackgroundForm.base_fields.items() if row else ()
    told = [(str(field.label), getattr(row, name)) for name, field in fields]
    return [(label, words) for label, words in told if words]
