"""What reviewers saw in the images (World Wide recipe, Tables 2 and 3), counted in three ways."""

from collections.abc import Mapping
from typing import Literal

from review.models import Questionnaire, Review
from review.tables.selection import REGIONS, Opinion
from review.tables.shares import Read, Shares, table_of_shares
from review.unappetising import as_published, text_codes

GOOD_RATINGS = (3, 4, 5)
KNOWN = (Review.Familiarity.SOMEWHAT, Review.Familiarity.VERY)
DENOMINATOR = "As published: the share is Yes ÷ all reviews of the country and model, unanswered ones included."
ANSWERED = "The share is Yes ÷ the reviews of the country and model that answered the question."
OWN = (
    "Only reviews by somebody who associates the dish with their own nationality, ethnicity or culture and is at "
    "least somewhat familiar with it. The share is Yes ÷ all of these, unanswered ones included."
)


def as_counted(opinion: Opinion, codes: tuple[str, ...]) -> tuple[bool, bool, bool, bool, bool]:
    """Yes or no for each metric; unanswered is no. Released flags win over what the answers yield.

    `codes` are the questions answered in one's own words.
    """
    texts = [str(opinion.answers[code]) for code in codes if code in opinion.answers]
    released = opinion.flags
    return (
        opinion.food is True,
        opinion.correct_dish is True,
        opinion.quality in GOOD_RATINGS,
        bool(released.get("disturbing", opinion.disturbing)),
        bool(released["unappetising"]) if "unappetising" in released else as_published(texts),
    )


def answered_only(opinion: Opinion, codes: tuple[str, ...]) -> tuple[bool | None, ...]:
    """As `as_counted`, None where the question was not answered.

    A yes of a released flag counts even where the column that it came from was not released.
    """
    yes = as_counted(opinion, codes)
    answered = (
        opinion.food is not None,
        opinion.correct_dish is not None,
        opinion.quality is not None,
        opinion.disturbing is not None,
        any(opinion.answers.get(code) for code in codes),
    )
    flagged = (False, False, False, yes[3], yes[4])
    return tuple(said if held or flag else None for said, held, flag in zip(yes, answered, flagged, strict=True))


def of_everybody(questionnaire: Questionnaire) -> Read:
    codes = text_codes(questionnaire.definition)
    return lambda opinion: as_counted(opinion, codes)


def of_those_who_answered(questionnaire: Questionnaire) -> Read:
    codes = text_codes(questionnaire.definition)
    return lambda opinion: answered_only(opinion, codes)


def knows_the_dish(opinion: Opinion) -> bool:
    return opinion.associates is True and opinion.familiarity in KNOWN


METRICS = {
    "food": "Share of reviews that say: this is an image of food.",
    "correct_dish": "Share of reviews that say: this is an image of the dish asked for.",
    "good_quality": "Share of reviews that rate the quality 3, 4 or 5. A missing rating counts as no.",
    "disturbing": "Share of reviews that say: the image looks disturbing. As released where it was published.",
    "unappetising": (
        "Share of reviews in whose own words one of 16 words is found, such as gross or burnt. As released where "
        "it was published, otherwise by the published list of words."
    ),
}
METRICS_ANSWERED = {
    **METRICS,
    "good_quality": "Share of reviews that rate the quality 3, 4 or 5, among those that rate it.",
    "disturbing": "Share of reviews that say: the image looks disturbing, among those that were shown the boxes.",
    "unappetising": "Share of reviews with one of the 16 words, among those that wrote something in their own words.",
}
SOURCE = "World Wide recipe, Tables 2 and 3"
WORSE: Mapping[str, Literal["low", "high"]] = {
    "food": "low",
    "correct_dish": "low",
    "good_quality": "low",
    "disturbing": "high",
    "unappetising": "high",
}

QUALITY = table_of_shares(
    "review.quality",
    "Review quality: what reviewers saw in the images",
    SOURCE,
    METRICS,
    Shares(of_everybody, (DENOMINATOR, REGIONS)),
    worse=WORSE,
)
QUALITY_ANSWERED = table_of_shares(
    "review.quality_answered",
    "Review quality among those who answered",
    f"{SOURCE}, other denominators",
    METRICS_ANSWERED,
    Shares(of_those_who_answered, (ANSWERED, REGIONS)),
    worse=WORSE,
)
QUALITY_OWN = table_of_shares(
    "review.quality_own",
    "Review quality among people who know the dish as their own",
    f"{SOURCE}, other reviewers",
    METRICS,
    Shares(of_everybody, (OWN, REGIONS), keeps=knows_the_dish),
    worse=WORSE,
)
