"""Questionnaires as data: what is asked, which answers are possible, what they mean.

The data files in `review/questionnaires/` carry their wording by language, because a translation belongs to the
version that it translates. Nothing here knows a single question: E.2 is in the files.
"""

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.utils.translation import gettext, ngettext

Texts = Mapping[str, str]
Answers = dict[str, str | list[str]]
MAX_TEXT = 2000
KINDS = ("one", "several", "text")
NOTHING: Mapping[str, Any] = {
    "associates": None,
    "familiarity": "",
    "quality": None,
    "food": None,
    "correct_dish": None,
    "match": "",
    "disturbing": None,
}


class DefinitionError(ValueError):
    """A questionnaire's data cannot be used; the text says where and why."""


class InvalidAnswersError(ValueError):
    """Answers that cannot be stored. `errors`: question code → a sentence; the code is "" for the whole form."""

    def __init__(self, errors: Mapping[str, str]) -> None:
        super().__init__("; ".join(f"{code}: {sentence}" for code, sentence in errors.items()))
        self.errors = errors


@dataclass(frozen=True)
class Question:
    """One question. It is asked where every question in `only_if` was answered with one of the codes given."""

    code: str
    kind: str
    text: Texts
    help: Texts
    options: Mapping[str, Texts]
    only_if: Mapping[str, tuple[str, ...]]
    required: bool

    @property
    def page(self) -> int:
        """1 for what is always asked, 2 for what depends on the first answers."""
        return 2 if self.only_if else 1

    def applies(self, answers: Mapping[str, Any]) -> bool:
        return all(answers.get(code) in accepted for code, accepted in self.only_if.items())


def parse_questions(definition: Mapping[str, Any]) -> tuple[Question, ...]:
    """The questions of a definition in their order."""
    return tuple(
        Question(
            code=item["code"],
            kind=item["kind"],
            text=item["text"],
            help=item.get("help", {}),
            options={option["code"]: option["text"] for option in item.get("options", ())},
            only_if={code: tuple(accepted) for code, accepted in item.get("only_if", {}).items()},
            required=item["required"],
        )
        for item in definition["questions"]
    )


def choose_wording(texts: Texts, language: str) -> str:
    """The wording in `language`, in the language without its region, or in English."""
    for tag in (language, language.split("-")[0], "en"):
        if tag in texts:
            return texts[tag]
    return next(iter(texts.values()), "")


def clean_text(value: str) -> str:
    """NFC, lines ended by a line feed, no control characters (PostgreSQL keeps no NUL), no blanks around."""
    value = value.replace("\r\n", "\n").replace("\r", "\n")
    value = "".join(sign for sign in value if sign in "\n\t" or unicodedata.category(sign) not in ("Cc", "Cs"))
    return unicodedata.normalize("NFC", value).strip()


def validate_answers(definition: Mapping[str, Any], answers: Mapping[str, Any], page: int = 2) -> Answers:
    """What is to be stored of `answers`; raises InvalidAnswersError with a sentence for each question that cannot be
    kept.

    With `page` 1 only what is always asked is required, and answers of the second page, which travel along where
    somebody went back, are left out. A question with several answers that was asked and left empty is kept as an empty
    list, so that "none of these" differs from "not asked".
    """
    known = parse_questions(definition)
    asked = [question for question in known if question.page <= page]
    errors: dict[str, str] = {}
    kept: Answers = {}
    if set(answers) - {question.code for question in known}:
        errors[""] = gettext("The form that arrived holds a question that this page does not ask. Open the page again.")
    for question in asked:
        try:
            value = _read(question, answers.get(question.code))
            if _belongs(question, value, kept):
                kept[question.code] = value
        except _InvalidAnswerError as wrong:
            errors[question.code] = str(wrong)
    if errors:
        raise InvalidAnswersError(errors)
    return kept


class _InvalidAnswerError(ValueError):
    """One answer that cannot be stored; its text is the sentence to show."""


def _belongs(question: Question, value: str | list[str], earlier: Answers) -> bool:
    """Whether `value` is to be stored, given what was answered before it."""
    if not question.applies(earlier):
        if value:
            raise _InvalidAnswerError(
                gettext("This question does not follow from your first answers. Go back to change them.")
            )
        return False
    if question.required and not value:
        raise _InvalidAnswerError(gettext("Choose one of the answers."))
    return bool(value) or question.kind == "several"


def _read(question: Question, raw: Any) -> str | list[str]:
    """The answer in its final shape; an empty text or list where there is none."""
    if question.kind == "several":
        chosen = _strings([] if raw in (None, "") else raw)
        if not set(chosen) <= set(question.options):
            raise _InvalidAnswerError(gettext("Choose among the answers that are shown."))
        return [code for code in question.options if code in chosen]
    value = _strings([raw or ""])[0]
    if question.kind == "text":
        return _short(clean_text(value))
    if value and value not in question.options:
        raise _InvalidAnswerError(gettext("Choose one of the answers that are shown."))
    return value


def _strings(raw: Any) -> list[str]:
    if not isinstance(raw, list) or not all(isinstance(item, str) for item in raw):
        raise _InvalidAnswerError(gettext("Choose one of the answers that are shown."))
    return raw


def _short(value: str) -> str:
    if len(value) <= MAX_TEXT:
        return value
    over = len(value) - MAX_TEXT
    raise _InvalidAnswerError(
        ngettext(
            "The text is %(count)d character too long. Shorten it.",
            "The text is %(count)d characters too long. Shorten it.",
            over,
        )
        % {"count": over}
    )


def derive_construct_columns(definition: Mapping[str, Any], answers: Mapping[str, Any]) -> dict[str, Any]:
    """The columns of Review that `answers` fill: None, or "" for a code, where a question was not answered."""
    columns = dict(NOTHING)
    for column, rule in definition["constructs"].items():
        answer = answers.get(rule["question"])
        if answer is None:
            continue
        if "includes" in rule:
            columns[column] = rule["includes"] in answer
        else:
            columns[column] = rule["values"].get(answer, columns[column])
    return columns


def check_definition(definition: Mapping[str, Any]) -> None:
    """Raises DefinitionError unless the data is complete and its parts fit each other."""
    where = f"Questionnaire {definition['slug']} {definition['version']}"
    fail = partial(_fail, where)
    seen: dict[str, Question] = {}
    for question in parse_questions(definition):
        if question.code in seen:
            fail(f"question {question.code} stands twice")
        if question.kind not in KINDS:
            fail(f"question {question.code} is of the unknown kind {question.kind}")
        if (question.kind == "text") == bool(question.options):
            fail(f"question {question.code} needs options, or must have none")
        for code, accepted in question.only_if.items():
            if code not in seen or seen[code].page != 1 or not set(accepted) <= set(seen[code].options):
                fail(f"question {question.code} depends on {code}, which is not asked before it")
        seen[question.code] = question
    for column, rule in definition["constructs"].items():
        options = seen[rule["question"]].options if rule["question"] in seen else {}
        named = set(rule["values"]) if "values" in rule else {rule["includes"]}
        if column not in NOTHING or not named or not named <= set(options):
            fail(f"construct {column} names a question or answer that does not exist")


def _fail(where: str, why: str) -> None:
    raise DefinitionError(f"{where}: {why}.")
