"""What is compared with what: a question to people, and what a machine says of the same image.

One explicit list. A pair that is not in it is not computed; a new one is a line here and in the docs.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from review.models import Questionnaire, Review
from review.questionnaires import parse_questions
from review.tables.controls import dish_or_not
from review.tables.selection import Opinion
from review.unappetising import as_published, text_codes

Level = Callable[[Opinion], float | None]
FOOD, DISH, GOOD = "food", "correct_dish, no food is no", "good_quality"
MATCH, DISTURBING, UNAPPETISING = "match, no food is no", "disturbing, no food is no", "unappetising"
PEOPLE, OUTDOORS, UTENSILS = "people", "outdoors", "utensils"
MATCHES: Mapping[str, float] = {
    Review.Match.EXACT: 2,
    Review.Match.RESEMBLES: 1,
    Review.Match.ADDED: 1,
    Review.Match.MISSING: 1,
    Review.Match.UNEXPECTED: 1,
    Review.Match.NONE: 0,
}


@dataclass(frozen=True)
class PeopleQuestion:
    """A question to people. `level` of an opinion, None where it says nothing; from `cut` on it is a yes."""

    name: str
    level: Level
    cut: float = 1

    @property
    def is_share(self) -> bool:
        """Whether opinions are yes or no, so that their mean is the share of yes."""
        return self.cut == 1


@dataclass(frozen=True)
class Pair:
    """A question and what a study says of it.

    `what`: codes of the machine's question, or names of scores (none: every score of the study). `yes`: the option
    that means yes. `low`: the lower the score, the more it is a yes.
    """

    question: str
    study: str
    what: tuple[str, ...] = ()
    yes: str = ""
    low: bool = False


# The codes are those of `vqa-probes` in our words and as published; options are compared without case.
PAIRS = (
    Pair(FOOD, "stereotypes", ("food", "Q1"), "yes"),
    Pair(OUTDOORS, "stereotypes", ("place", "Q2"), "outdoors"),
    Pair(UTENSILS, "stereotypes", ("any_utensils", "Q14"), "yes"),
    Pair(PEOPLE, "stereotypes", ("person", "Q15"), "yes"),
    Pair(GOOD, "stereotypes", ("blurred", "Q16"), "no"),
    Pair(DISH, "association"),
    Pair(MATCH, "association"),
    Pair(GOOD, "association"),
    Pair(DISTURBING, "association", low=True),
    Pair(UNAPPETISING, "association", low=True),
    Pair(GOOD, "colours", ("colourfulness",)),
    Pair(UNAPPETISING, "colours", ("colourfulness",), low=True),
)
STUDIES = tuple(dict.fromkeys(pair.study for pair in PAIRS))


def asked_of_people(questionnaire: Questionnaire) -> tuple[PeopleQuestion, ...]:
    """The questions, read from answers to this version of the questionnaire."""
    ticked, texts = build_tick_reader(questionnaire), text_codes(questionnaire.definition)
    return (
        PeopleQuestion(FOOD, lambda opinion: opinion.food),
        PeopleQuestion(DISH, dish_or_not),
        PeopleQuestion(GOOD, lambda opinion: opinion.quality, 3),
        PeopleQuestion(MATCH, score_dish_match, 2),
        PeopleQuestion(DISTURBING, is_image_disturbing),
        PeopleQuestion(UNAPPETISING, lambda opinion: is_opinion_unappetising(opinion, texts)),
        PeopleQuestion(PEOPLE, lambda opinion: is_any_box_ticked(ticked(opinion, PEOPLE), PERSONS)),
        PeopleQuestion(OUTDOORS, lambda opinion: decide_between_boxes(ticked(opinion, OUTDOORS), OUT, IN)),
        PeopleQuestion(
            UTENSILS, lambda opinion: decide_between_boxes(ticked(opinion, "utensils_correct"), THERE, LACKING)
        ),
    )


Boxes = frozenset[str]
PERSONS, OUT, IN = Boxes(["people", "faces"]), Boxes(["outdoors"]), Boxes(["indoors"])
THERE = Boxes(["utensils_correct", "utensils_incorrect", "utensils_unwanted"])
LACKING = Boxes(["utensils_wanted"])
Ticked = Callable[[Opinion, str], Sequence[str] | None]


def build_tick_reader(questionnaire: Questionnaire) -> Ticked:
    """What an opinion ticked in the question that holds an option; None where it was not asked."""
    asked = [question for question in parse_questions(questionnaire.definition) if question.kind == "several"]
    home = {option: question.code for question in asked for option in question.options}

    return lambda opinion, option: opinion.answers.get(home.get(option, ""))


def is_any_box_ticked(ticked: Sequence[str] | None, boxes: Boxes) -> bool | None:
    """Whether one of the boxes was ticked; a box that was shown and left alone is a no."""
    return None if ticked is None else not boxes.isdisjoint(ticked)


def decide_between_boxes(ticked: Sequence[str] | None, yes: Boxes, no: Boxes) -> bool | None:
    """Yes by a box of `yes`, no by one of `no`; None where both or neither are ticked."""
    there, absent = is_any_box_ticked(ticked, yes), is_any_box_ticked(ticked, no)
    return None if there == absent else there


def is_opinion_unappetising(opinion: Opinion, texts: tuple[str, ...]) -> bool:
    """As `review.quality` counts it: as released, else by the published rule on the questions `texts`."""
    if "unappetising" in opinion.flags:
        return bool(opinion.flags["unappetising"])
    return as_published(str(opinion.answers[code]) for code in texts if code in opinion.answers)


def score_dish_match(opinion: Opinion) -> float | None:
    return 0 if opinion.food is False else MATCHES.get(opinion.match)


def is_image_disturbing(opinion: Opinion) -> bool | None:
    return False if opinion.food is False else opinion.disturbing
