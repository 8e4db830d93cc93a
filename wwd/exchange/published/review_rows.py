"""Reviews of our own campaigns in the published column order, and back.

An export holds counted reviews only, with a fresh random number for each reviewer, own words only where a steward
read them, and no country with fewer than five people.
"""

import secrets
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from collection.models import Dish, Source
from evaluation.counters import bump_input_counters
from evaluation.models import GeneratedImage, Model, Subject
from review.models import Campaign, CampaignImage, Questionnaire, Review, Reviewer
from review.questionnaires import InvalidAnswersError, derive_construct_columns, validate_answers
from review.unappetising import as_published
from wwd.exchange.published import release_form
from wwd.exchange.published.models import GENERATORS
from wwd.exchange.published.source import InvalidRowError, Report, Row

KEY_COLUMNS = ("Country", "Rater_id", "Dish name", "Model", "Generation_count")
ASKED = (
    "associates",
    "familiarity",
    "food",
    "correct_dish",
    "quality",
    "match",
    "explanation",
    "seen",
    *release_form.SEVERAL,
)
FOUND = (*release_form.WORDS, "Disturbing", "Unappetising_combined")
HEADER = (
    *KEY_COLUMNS,
    *(release_form.COLUMN_OF[code] for code in ASKED),
    "Familiarity_level",
    "Image_match",
    "Good_quality",
    *FOUND,
)
READ = (*KEY_COLUMNS, *(release_form.COLUMN_OF[code] for code in ASKED))
LEAST_PEOPLE = 5
LEVELS = {"not": "Not familiar", "somewhat": "Somewhat familiar", "very": "Very familiar"}
FORM = ("e2", "1")
SPELLED = {slug: title for title, slug in GENERATORS.items()}


@dataclass(frozen=True)
class Exported:
    """Rows in the order of HEADER; countries left out, with their number of people."""

    rows: list[list[str]]
    left_out: dict[str, int]


def export_campaign_rows(campaign: Campaign) -> Exported:
    """All that may leave of a campaign, in an order that reveals nothing of who came when."""
    reviews = (
        Review.objects.counted()
        .filter(image__campaign=campaign)
        .exclude(image__image__subject__dish__state=Dish.State.WITHDRAWN)
        .select_related("image__image__model", "reviewer")
    )
    people: dict[str, set[Any]] = defaultdict(set)
    for review in reviews:
        people[review.image.country].add(review.reviewer_id)
    left_out = {name: len(found) for name, found in people.items() if len(found) < LEAST_PEOPLE}
    kept = [review for review in reviews if review.image.country not in left_out]
    raters, generations = random_numbers(review.reviewer_id for review in kept), generation_numbers(kept)
    rows = [row_of(review, raters[review.reviewer_id], generations[review.image.image_id]) for review in kept]
    return Exported(sorted(rows, key=lambda row: (row[0], row[2], row[3], row[4], row[1])), left_out)


def random_numbers(keys: Iterable[Any]) -> dict[Any, int]:
    """A number for each key, drawn anew for each export and never twice."""
    wanted = sorted(set(keys))
    drawn: set[int] = set()
    while len(drawn) < len(wanted):
        drawn.add(secrets.randbelow(900_000) + 100_000)
    return dict(zip(wanted, secrets.SystemRandom().sample(sorted(drawn), len(drawn)), strict=True))


def generation_numbers(reviews: Iterable[Review]) -> dict[int, int]:
    """Images of a dish of one name by one model, numbered from 1 in the order of their making."""
    shown = {review.image.image_id: review.image for review in reviews}
    seen: Counter[tuple[str, int | None]] = Counter()
    numbers: dict[int, int] = {}
    for pk, image in sorted(shown.items()):
        seen[image.dish_name, image.image.model_id] += 1
        numbers[pk] = seen[image.dish_name, image.image.model_id]
    return numbers


def row_of(review: Review, rater: int, generation: int) -> list[str]:
    model = review.image.image.model
    spelled = SPELLED.get(model.slug, model.title) if model else ""
    answers = review.answers if review.words_read_at else without_words(review.answers)
    texts = [str(answers[code]) for code in ("explanation", "seen", "more") if answers.get(code)]
    found = [any(word.lower() in text.casefold() for text in texts) for word in release_form.WORDS]
    flags = [*found, bool(review.disturbing), as_published(texts)]
    good = review.quality is not None and review.quality >= 3
    return [
        review.image.country,
        str(rater),
        review.image.dish_name,
        spelled,
        str(generation),
        *(format_answer_cell(answers, code) for code in ASKED),
        LEVELS.get(review.familiarity, ""),
        format_answer_cell(answers, "match"),
        *("Yes" if flag else "No" for flag in (good, *flags)),
    ]


def without_words(answers: Mapping[str, Any]) -> dict[str, Any]:
    words = ("explanation", "seen", "more")
    return {code: value for code, value in answers.items() if code not in words and not code.endswith("_other")}


def format_answer_cell(answers: Mapping[str, Any], code: str) -> str:
    """One cell, in the wording of the release."""
    if code in release_form.SEVERAL:
        ticked = answers.get("checks", answers.get(code, []))
        wordings = [text for text, box in release_form.SEVERAL[code].items() if box in ticked]
        own = answers.get("more", "") if code == "others" else answers.get(f"{code}_other", "")
        return ", ".join([*wordings, *([own] if own else [])])
    value = str(answers.get(code, ""))
    if code == "quality" and value:
        return f"{value}.0"
    return next((text for text, option in release_form.ONE.get(code, {}).items() if option == value), value)


def answers_in(row: Row) -> dict[str, Any]:
    """The answers of an exported row, by question code of our own form. Raises InvalidRowError."""
    answers: dict[str, Any] = {code: row[release_form.COLUMN_OF[code]] for code in release_form.TEXTS}
    for code, wordings in release_form.ONE.items():
        if code != "match_group":
            cell = row[release_form.COLUMN_OF[code]]
            answers[code] = "0" if (code, cell) == ("quality", "0.0") else wordings.get(cell, cell)
    groups = release_form.SEVERAL.items()
    ticked = [release_form.parse_boxes(row[release_form.COLUMN_OF[code]], boxes) for code, boxes in groups]
    answers["checks"] = [box for boxes, _ in ticked for box in boxes]
    answers["more"] = ", ".join(own for _, own in ticked if own)
    return {code: value for code, value in answers.items() if value}


@transaction.atomic
def import_rows(found: Iterable[Row], slug: str, report: Report) -> int:
    """Adds the rows to the closed campaign `slug`, made where it is not there; returns how many are new."""
    questionnaire = Questionnaire.objects.get(slug=FORM[0], version=FORM[1])
    head = {"title": slug, "questionnaire": questionnaire, "state": Campaign.State.CLOSED, "source": Source.IMPORT}
    campaign, _ = Campaign.objects.get_or_create(slug=slug, defaults=head)
    added = 0
    for row in found:
        try:
            added += import_row(row, campaign)
        except InvalidRowError as error:
            report.problem(row.file, row.line, str(error))
    if added:
        bump_input_counters("reviews")
    return added


def import_row(row: Row, campaign: Campaign) -> bool:
    """Stores one row unless it is here already. Raises InvalidRowError."""
    definition = campaign.questionnaire.definition
    try:
        answers = validate_answers(definition, answers_in(row))
    except InvalidAnswersError as refused:
        raise InvalidRowError(str(refused)) from refused
    image = image_in(row, campaign)
    person = f"{campaign.slug}/{row['Country']}/{row['Rater_id']}"
    reviewer, _ = Reviewer.objects.get_or_create(
        source_key=person, defaults={"campaign": campaign, "country": row["Country"], "source": Source.IMPORT}
    )
    said_before = Review.objects.filter(reviewer=reviewer, image=image).exists()
    if not said_before:
        columns = derive_construct_columns(definition, answers)
        Review.objects.create(
            reviewer=reviewer, image=image, answers=answers, source_key=f"{person}/{image.image_id}", **columns
        )
    return not said_before


def image_in(row: Row, campaign: Campaign) -> CampaignImage:
    """The image of a row, which is not held here."""
    slug = GENERATORS.get(row["Model"], "")
    model = Model.objects.filter(slug=slug).first() or Model.objects.filter(title=row["Model"]).first()
    if model is None:
        raise InvalidRowError(f"Model is not known: {row['Model'][:40]!r}")
    if not 0 < len(row["Country"]) <= 80 or not 0 < len(row["Dish name"]) <= 100:
        raise InvalidRowError("Country or Dish name is empty or too long")
    key = f"{campaign.slug}/{row['Country']}/{row['Dish name']}"
    words = {"kind": Subject.Kind.DISH, "name": row["Dish name"], "labels": {"country": [row["Country"]]}}
    subject, _ = Subject.objects.get_or_create(source_key=key, defaults=words)
    image, _ = GeneratedImage.objects.get_or_create(
        source_key=f"{key}/{model.slug}/{row['Generation_count'][:10]}",
        defaults={"subject": subject, "model": model, "state": GeneratedImage.State.NOT_HELD},
    )
    shown, _ = CampaignImage.objects.get_or_create(
        campaign=campaign, image=image, country=row["Country"], defaults={"dish_name": row["Dish name"]}
    )
    return shown
