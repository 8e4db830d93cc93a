"""Questions, descriptor words and prompts as they were asked: versions named *as published*, so that a replication
uses them and says so. Our own wordings are other versions of the same sets."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from django.db.models import Model

from evaluation.models import DescriptorSet, PromptTemplate, QuestionSet
from evaluation.runner.catalogue import AS_PUBLISHED
from wwd.exchange.published.source import InvalidFileError, Report
from wwd.exchange.published.writing import insert_new

QUESTIONS_FILE = "vqa_questions.json"
DESCRIPTORS_FILE = "clip/descriptors.json"
DESCRIPTOR_PROMPT = "A photo of {descriptor} food."
COMPARISON_PROMPT = "a photo of {descriptor} food"
RECIPE = "World Wide recipe"
SIGNS = ("positive", "negative")

# slug → prompt and where the paper prints it. The generation prompts as published come with the study itself.
PROMPTS: Mapping[str, tuple[str, str]] = {
    "vqa-question": (
        "Question: {text}. Choices: {choices}. Please respond with the letter corresponding to your choice. Answer:",
        "App. F",
    ),
    "knowledge-initial": (
        "Given an item of food called {local_name}, you are tasked with providing some answers "
        "about the common practices and common knowledge of this dish.",
        "App. H.2",
    ),
}
# What is printed of the questions about a dish: the answers they list and how they ask for the reply.
AS_LIST = "return as a python list of strings … Reply with just the list"
KNOWLEDGE: Sequence[Mapping[str, Any]] = (
    {"code": "description", "names_countries": True},
    {"code": "country", "names_countries": False, "reply": "Reply with just the country name"},
    {
        "code": "time_of_day",
        "names_countries": True,
        "options": ["breakfast", "lunch", "dinner", "snack", "anytime", "other"],
        "reply": AS_LIST,
    },
    {
        "code": "type_of_dish",
        "names_countries": True,
        "options": [
            "Starter",
            "Soup",
            "Salad",
            "Sauce",
            "Side dish",
            "Main dish - stand alone (e.g. one pot meal)",
            "Main dish - eaten with sides",
            "Small plate / bowl for sharing",
            "Small plate / bowl served as a part of a collection",
            "Dessert",
        ],
        "reply": AS_LIST,
    },
    {
        "code": "utensils",
        "names_countries": True,
        "options": [
            "Knife",
            "Fork",
            "Spoon",
            "Fingers",
            "Right Hand",
            "Left Hand",
            "Chopsticks",
            "Other food",
            "Other",
        ],
        "reply": AS_LIST,
    },
    {"code": "ingredients", "names_countries": True, "most": 10, "reply": AS_LIST},
)
M = TypeVar("M", bound=Model)


def read_json(folder: Path, file: str) -> Any:
    """The content of a JSON file. Raises InvalidFileError with the line at which it cannot be read."""
    try:
        content = json.loads((folder / file).read_text(encoding="utf-8"))
        written = json.dumps(content, ensure_ascii=False).encode()
    except json.JSONDecodeError as error:
        raise InvalidFileError(file, error.lineno, f"not readable as JSON: {error.msg}") from error
    except UnicodeError as error:
        raise InvalidFileError(file, 1, "not UTF-8") from error
    except RecursionError as error:
        raise InvalidFileError(file, 1, "nested too deeply") from error
    if b"\\u0000" in written:
        raise InvalidFileError(file, 1, "holds a NUL character")
    return content


def vqa_questions(folder: Path) -> list[Any]:
    """The probes as asked. Raises InvalidFileError where one lacks its number, text or choices."""
    content = read_json(folder, QUESTIONS_FILE)
    questions = content.get("questions") if isinstance(content, dict) else None
    if not isinstance(questions, list) or not all(map(is_question, questions)):
        raise InvalidFileError(QUESTIONS_FILE, 1, "no list of questions with question_id, text and choices")
    return questions


def is_question(value: object) -> bool:
    return isinstance(value, dict) and {"question_id", "text", "choices"} <= value.keys()


def descriptor_groups(folder: Path) -> dict[str, dict[str, list[str]]]:
    """Group → sign → words. Raises InvalidFileError where a group is not two lists of words."""
    content = read_json(folder, DESCRIPTORS_FILE)
    parts = content.get("descriptors") if isinstance(content, dict) else None
    if not parts or not isinstance(parts, list) or not all(isinstance(part, dict) for part in parts):
        raise InvalidFileError(DESCRIPTORS_FILE, 1, "no descriptor groups")
    groups = {name: signs for part in parts for name, signs in part.items()}
    for name, signs in groups.items():
        if not isinstance(signs, dict) or set(signs) != set(SIGNS) or not all(map(is_word_list, signs.values())):
            raise InvalidFileError(
                DESCRIPTORS_FILE, 1, f"group {name} is not two lists of words, positive and negative"
            )
    return groups


def is_word_list(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(word, str) and word for word in value)


def import_questions(folder: Path, report: Report) -> None:
    sets = {
        "vqa-probes": (vqa_questions(folder), "App. F, Table F.8"),
        "knowledge": (list(KNOWLEDGE), "App. H.2, as far as printed"),
    }
    found = [
        QuestionSet(slug=slug, version=AS_PUBLISHED, questions=questions, source=f"{RECIPE}, {where}")
        for slug, (questions, where) in sets.items()
    ]
    add_versions(QuestionSet, found, ("questions",), report, "question sets")


def import_prompts(folder: Path, report: Report) -> None:
    found = [
        PromptTemplate(slug=slug, version=AS_PUBLISHED, text=text, source=f"{RECIPE}, {where}")
        for slug, (text, where) in PROMPTS.items()
    ]
    add_versions(PromptTemplate, found, ("text",), report, "prompts")


def import_descriptors(folder: Path, compared: Iterable[str], report: Report) -> None:
    """The words of App. G, and those of the comparison, which have no sign: they are only ranked."""
    groups, source = descriptor_groups(folder), f"{RECIPE}, App. G"
    comparison = {"comparison": {"none": list(compared)}}
    found = [
        DescriptorSet(slug="app-g", version=AS_PUBLISHED, groups=groups, prompt=DESCRIPTOR_PROMPT, source=source),
        DescriptorSet(
            slug="comparison-16", version=AS_PUBLISHED, groups=comparison, prompt=COMPARISON_PROMPT, source=source
        ),
    ]
    add_versions(DescriptorSet, found, ("groups", "prompt"), report, "descriptor sets")


def add_versions(model: type[M], found: Sequence[M], same: Sequence[str], report: Report, kind: str) -> None:
    rows = model._default_manager.filter(version=AS_PUBLISHED)
    insert_new(rows, found, "slug", same, report.count(kind), kind)
