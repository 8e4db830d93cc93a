"""Reviews beside their images, as far as anyone who looks may read them, and never with a name."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.contrib.auth.models import AbstractUser, AnonymousUser
from django.utils.crypto import salted_hmac
from django.utils.translation import get_language

from evaluation.presentation.images import Opinion
from evaluation.registry.names import READ_ANSWERS
from review.models import Review
from review.questionnaires import Question, choose_wording, parse_questions
from review.tables.selection import identify_reviewer
from review.unappetising import text_codes

# Anyone who reads own words before a steward has.
UNREAD_WORDS = "review.change_review"
MOST = 600


def opinions_of(image_ids: Sequence[int], user: AbstractUser | AnonymousUser) -> Mapping[int, list[Opinion]]:
    """Image id → its reviews in the order of their making; nothing for somebody who may not read answers.

    Own words are told where a steward read them and found nobody in them, or to stewards. One query.
    """
    found: dict[int, list[Opinion]] = defaultdict(list)
    if image_ids and user.has_perm(READ_ANSWERS):
        every = user.has_perm(UNREAD_WORDS)
        rows = Review.objects.present().filter(image__image__in=image_ids).order_by("pk")
        for review in rows.select_related("image", "reviewer__campaign__questionnaire", "reviewer__exclusion")[:MOST]:
            readable = every or review.words_read_at is not None
            found[review.image.image_id].append(build_opinion(review, readable=readable))
    return found


def build_opinion(review: Review, *, readable: bool) -> Opinion:
    """One review in words; its own words only where they are `readable`."""
    definition = review.reviewer.campaign.questionnaire.definition
    wrote = any(review.answers.get(code) for code in text_codes(definition))
    return Opinion(
        review=review.pk,
        who=make_person_label(identify_reviewer(review.reviewer.source_key, review.reviewer_id)),
        where=review.image.country,
        said=[*list_construct_answers(review), *list_ticked_boxes(review, definition)],
        words=list(own_words(review, definition)) if readable or not wrote else None,
        left_out=left_out(review),
    )


def make_person_label(person: str) -> str:
    """The same short name for the same person on every page; it reveals nothing of them, and is no key to anything."""
    return salted_hmac("review.opinions", person).hexdigest()[:6]


def left_out(review: Review) -> str:
    """Why no table counts this review; empty where tables may."""
    if review.repeat:
        return "asked once more: only the controls count it"
    if review.surplus:
        return "came after the wanted number of opinions"
    if hasattr(review.reviewer, "exclusion"):
        return "its reviewer is left out of the tables by a recorded decision"
    return ""


def list_ticked_boxes(review: Review, definition: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The boxes that were ticked, question by question."""
    for question in parse_questions(definition):
        if question.kind == "several" and (ticked := review.answers.get(question.code)):
            yield worded_for(question.text, review), "; ".join(get_option_text(question, str(code)) for code in ticked)


def get_option_text(question: Question, code: str) -> str:
    return choose_wording(question.options[code], get_language() or "en") if code in question.options else code


def worded_for(texts: Mapping[str, str], review: Review) -> str:
    return choose_wording(texts, get_language() or "en").replace("{dish_name}", review.image.dish_name)


def list_construct_answers(review: Review) -> Iterator[tuple[str, str]]:
    """What all versions of the questionnaire share, where it was answered."""
    yes_or_no: Mapping[bool | None, str] = {True: "yes", False: "no"}
    told = (
        ("food", yes_or_no.get(review.food)),
        ("the dish", yes_or_no.get(review.correct_dish)),
        ("rating", None if review.quality is None else str(review.quality)),
        ("match", review.get_match_display()),
        ("disturbing", yes_or_no.get(review.disturbing)),
        ("associates with it", yes_or_no.get(review.associates)),
        ("familiar with it", review.get_familiarity_display()),
    )
    yield from ((name, str(value)) for name, value in told if value)


def own_words(review: Review, definition: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Question and text of what was written."""
    for question in parse_questions(definition):
        if question.kind == "text" and (text := review.answers.get(question.code)):
            yield worded_for(question.text, review), str(text)
