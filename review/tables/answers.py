"""How near images come to what was expected, and which boxes were ticked (World Wide recipe, App. E.2)."""

from collections.abc import Mapping
from typing import Literal

from review.models import Questionnaire
from review.questionnaires import parse_questions
from review.tables.selection import REGIONS, Opinion
from review.tables.shares import Read, Shares, table_of_shares

DENOMINATOR = (
    "The share is of all reviews of the country and model, also of those that say it is no food and were not asked "
    "this. Divide by the share of food for those that were asked."
)
MATCHES: Mapping[str, str] = {
    "exact": "Very close: the image looks exactly like the dish.",
    "resembles": "It resembles the dish, but is not what I expect.",
    "none": "Not at all similar, or completely different.",
    "added": "The dish, with components that should not be there.",
    "missing": "Misses key components.",
    "unexpected": "Resembles the dish, with unexpected components (category of the release).",
    "unknown": "The reviewer did not know (category of the release).",
    "unanswered": "Not answered or not asked.",
}
CHECKS: Mapping[str, str] = {
    "almost": "Sort of looks like it, but not quite.",
    "usual_way": "Served in a way I am used to.",
    "plate_missing": "Should be on a plate, but is not.",
    "plate_unusual": "On a plate, though not typically eaten on one.",
    "utensils_correct": "Utensils correct.",
    "utensils_incorrect": "Utensils incorrect.",
    "utensils_unwanted": "Should be no utensils.",
    "utensils_wanted": "Should be utensils.",
    "background_weird": "Weird or unusual background.",
    "people": "Has people.",
    "faces": "Has people whose faces I can see.",
    "setting_expected": "A setting I would expect.",
    "setting_unexpected": "A setting I would not expect.",
    "outdoors": "Outdoors.",
    "indoors": "Indoors.",
    "disturbing": "Looks disturbing (the box alone, never a released flag).",
}
CHECKS_WORSE: Mapping[str, Literal["low", "high"]] = {
    "usual_way": "low",
    "plate_missing": "high",
    "plate_unusual": "high",
    "utensils_correct": "low",
    "utensils_incorrect": "high",
    "utensils_unwanted": "high",
    "utensils_wanted": "high",
    "background_weird": "high",
    "setting_expected": "low",
    "setting_unexpected": "high",
    "disturbing": "high",
}


def match_of(questionnaire: Questionnaire) -> Read:
    """Yes for the category that was chosen; None for categories that this version of the form does not have."""
    offered = {*questionnaire.definition["constructs"].get("match", {}).get("values", {}).values(), "unanswered"}
    return lambda opinion: [(opinion.match or "unanswered") == code if code in offered else None for code in MATCHES]


def checks_of(questionnaire: Questionnaire) -> Read:
    """Yes for boxes that were ticked; None for boxes that this version of the form does not have."""
    asked = [question for question in parse_questions(questionnaire.definition) if question.kind == "several"]
    home = {code: question.code for question in asked for code in question.options}

    def read(opinion: Opinion) -> list[bool | None]:
        return [code in opinion.answers.get(home[code], ()) if code in home else None for code in CHECKS]

    return read


MATCH = table_of_shares(
    "review.match",
    "How closely images match what was expected",
    "World Wide recipe, App. E.2",
    MATCHES,
    Shares(match_of, (DENOMINATOR, REGIONS)),
    worse={"exact": "low", "none": "high"},
)
TICKED = table_of_shares(
    "review.checks",
    "Boxes ticked about presentation, utensils, setting",
    "World Wide recipe, App. E.2",
    CHECKS,
    Shares(checks_of, (DENOMINATOR, REGIONS)),
    worse=CHECKS_WORSE,
)
