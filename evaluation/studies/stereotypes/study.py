"""Stereotypes (World Wide recipe §3.2.2, App. F): what do images of a place show again and again?

A vision-language model is asked multiple-choice questions about every image. Units of a run, one per image,
question and order of the options:

| payload | |
|---|---|
| `image` | id of the image; all units of an image share an affinity |
| `question` | code of the question in its set |
| `ask`, `options` | its text and options as they are in the set; no options for a free question |
| `shift` | how many places the options were turned: letter i names option (i + shift) mod k |
| `reading` | `generated` (the words that the model writes) or `logits` (probabilities of the letters) |

An outcome holds the raw answer as text, or the probability of each option as numbers `"0"`, `"1"`…, in the set's order.
"""

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby
from typing import Annotated, Any, ClassVar, Literal, get_args

from pydantic import Field

from evaluation.contracts.backend import Answer, Asked, BackendError, Question, Reading, VisualAnswerer
from evaluation.contracts.study import (
    Catalogue,
    ConfigError,
    ImageData,
    ModelData,
    OutcomeData,
    Plan,
    QuestionsData,
    Result,
    RunOf,
    Study,
    StudyConfig,
    UnitPlan,
    Work,
)
from evaluation.metrics.observations import Observations
from evaluation.metrics.tidy import TidyTable
from evaluation.registry import backend_table
from evaluation.studies.stereotypes import tables
from evaluation.studies.stereotypes.observe import OBSERVED
from evaluation.studies.stereotypes.tables import LETTERS, rotate_options

Orders = Literal["all-cyclic", "as-asked"]
READINGS: tuple[Reading, ...] = get_args(Reading)
# Parameters of a model that change what it answers.
DEFINING = ("precision", "most_new_tokens", "options")
CHOICE = (
    "Question: {question}. Choices: {choices}. Please respond with the letter corresponding to your choice. Answer:"
)
FREE = "Question: {question}. Answer:"
CODE = re.compile(r"[\w-]{1,40}")


class StereotypesConfig(StudyConfig):
    """`images`: slug of the run whose images are asked about; `beside`: another one, such as real photographs.

    `reading` and `orders` as published: "generated", "as-asked". `check`: in a run of logits, about how many pairs of
    image and question are also answered in words, so that the agreement of the readings can be beside. 500 are
    needed; a few more leave room for those that fail.
    """

    images: Annotated[str, RunOf(("generation",))]
    model: str = "standin-vqa"
    questions: str = "vqa-probes"
    questions_version: str = ""
    reading: Reading = "generated"
    orders: Orders = "all-cyclic"
    check: int = Field(600, ge=0, le=1_000_000)
    beside: Annotated[str, RunOf(("generation",))] = ""


TABLES: Mapping[str, Callable[[Iterable[OutcomeData]], TidyTable]] = {
    "answers": partial(tables.tabulate_answers, tables.ANSWERS),
    "answers_country": partial(tables.tabulate_answers, tables.ANSWERS_COUNTRY),
    "flattening": partial(tables.tabulate_flattening, tables.FLATTENING),
    "flattening_country": partial(tables.tabulate_flattening, tables.FLATTENING_COUNTRY),
    "readings": tables.build_stereotype_readings,
}


class Stereotypes(Study):
    slug: ClassVar[str] = "stereotypes"
    title: ClassVar[str] = "Stereotypes in images, by questions about them"
    source: ClassVar[str] = "World Wide recipe §3.2.2, App. F"
    version: ClassVar[str] = "1"
    needs: ClassVar[tuple[str, ...]] = ("vqa",)
    Config: ClassVar[type[StudyConfig]] = StereotypesConfig
    tables: ClassVar[tuple[str, ...]] = tuple(TABLES)
    batch_size: ClassVar[int] = 512

    def plan(self, config: StereotypesConfig, catalogue: Catalogue) -> Plan:
        """All questions about all images, in all orders of their options."""
        model = catalogue.model(config.model)
        if model.role not in self.needs:
            raise ConfigError(f"model: {model.slug} answers no questions about images; it has the role {model.role}.")
        if config.reading not in readings_of(model):
            raise ConfigError(f"reading: {model.slug} gives words only. Probabilities need a model on a card of ours.")
        asked = check_image_questions(catalogue.questions(config.questions, config.questions_version))
        images = [*catalogue.images(config.images), *(catalogue.images(config.beside) if config.beside else ())]
        return Plan(units_of(config, model, asked, images), build_stereotypes_definition(config, model, asked))

    def execute(self, units: Sequence[Work], backend: VisualAnswerer) -> Iterator[Result]:
        """Images one after the other, each with all its questions of one reading at once."""
        for unit in units:
            if unit.image_bytes is None:
                reason = "The image is not held: nothing can be asked about it."
                yield Result(unit.key, "failed", reason=reason, asked=False)
        held = [unit for unit in units if unit.image_bytes is not None]
        for reading in READINGS:
            of_reading = [unit for unit in held if unit.payload["reading"] == reading]
            groups = [list(group) for _, group in groupby(of_reading, key=lambda unit: unit.payload["image"])]
            asked = [Asked(group[0].image_bytes or b"", tuple(map(question_of, group))) for group in groups]
            for group, answers in zip(groups, backend.answer(asked, reading) if asked else (), strict=True):
                yield from map(build_answer_result, group, answers)

    def summarise(self, table: str, outcomes: Iterable[OutcomeData], config: Any) -> TidyTable:
        """See `stereotypes_tables.py`."""
        if table not in self.tables:
            raise ValueError(f"stereotypes has no table {table!r}")
        return TABLES[table](outcomes)

    def observe(self, table: str, outcomes: Iterable[OutcomeData], config: Any) -> Observations | None:
        """See `stereotypes_observing.py`."""
        return OBSERVED[table](outcomes)


def readings_of(model: ModelData) -> tuple[Reading, ...]:
    try:
        return backend_table.list_vqa_readings(model)
    except BackendError as error:
        raise ConfigError(f"model: {error}") from error


def check_image_questions(asked: QuestionsData) -> QuestionsData:
    """The set, where it can be asked about images. Raises ConfigError that names the first question that cannot."""
    codes: set[str] = set()
    for number, question in enumerate(asked.questions, start=1):
        if wrong := find_image_question_flaw(question, codes):
            raise ConfigError(f"questions: question {number} of {asked.slug} {asked.version} {wrong}.")
        codes.add(question["question_id"])
    if not codes:
        raise ConfigError(f"questions: {asked.slug} {asked.version} holds no question.")
    return asked


def find_image_question_flaw(question: Any, codes: set[str]) -> str:
    """What keeps a question from being asked; empty where nothing does."""
    if not isinstance(question, Mapping) or not all(question.get(name) for name in ("question_id", "text")):
        return "lacks its question_id or its text"
    code, choices = question["question_id"], question.get("choices")
    if not isinstance(code, str) or not CODE.fullmatch(code) or code in codes:
        return f"has the question_id {code!r}: letters, digits, “_” and “-”, at most 40, each once"
    if not isinstance(choices, Mapping) or not all(isinstance(option, str) and option for option in choices.values()):
        return "lacks its choices (letter → words; empty for a free question)"
    different = len({option.casefold() for option in choices.values()})
    if choices and not 2 <= different == len(choices) <= len(LETTERS):
        return f"has {different} different options; 2 to {len(LETTERS)} are accepted, each once"
    return ""


def build_stereotypes_definition(config: StereotypesConfig, model: ModelData, asked: QuestionsData) -> dict[str, Any]:
    return {
        "model": model.identifier,
        "revision": model.revision,
        **{name: model.parameters[name] for name in DEFINING if name in model.parameters},
        "questions": f"{asked.slug} {asked.version}",
        "prompt": hashlib.sha256(f"{CHOICE}\n{FREE}".encode()).hexdigest()[:16],
        "reading": config.reading,
        "orders": config.orders,
    }


def units_of(
    config: StereotypesConfig, model: ModelData, asked: QuestionsData, images: Sequence[ImageData]
) -> Iterator[UnitPlan]:
    """Units image by image. A free question is always answered in words, and once."""
    checked = pairs_to_check(config, asked, images)
    for image in images:
        for question in asked.questions:
            options = list(question["choices"].values())
            turns = range(len(options) if config.orders == "all-cyclic" else 1) if options else range(1)
            reading = config.reading if options else "generated"
            asking = [(reading, shift) for shift in turns]
            if (image.id, question["question_id"]) in checked:
                asking.append(("generated", 0))
            for how, shift in asking:
                payload = {
                    "image": image.id,
                    "question": question["question_id"],
                    "ask": question["text"],
                    "options": options,
                    "shift": shift,
                    "reading": how,
                }
                key = f"image:{image.id}:{question['question_id']}:{shift}:{how}"
                yield UnitPlan(key, model, image.subject, payload, affinity=f"image:{image.id}")


def pairs_to_check(
    config: StereotypesConfig, asked: QuestionsData, images: Sequence[ImageData]
) -> set[tuple[int, str]]:
    """Pairs of image and question drawn by the hash of what they are, so that the same plan draws the same."""
    if config.reading != "logits":
        return set()
    pairs = [
        (image, question["question_id"]) for image in images for question in asked.questions if question["choices"]
    ]
    drawn = sorted(pairs, key=lambda pair: hashlib.sha256(f"{format_image_name(pair[0])} {pair[1]}".encode()).digest())
    return {(image.id, question) for image, question in drawn[: config.check]}


def format_image_name(image: ImageData) -> str:
    return f"{image.subject.key} {image.model_slug} {image.seed} {image.sample} {image.sha256}"


def question_of(unit: Work) -> Question:
    """The question as the model sees it, its options in the order of the unit."""
    options = rotate_options(unit.payload["options"], unit.payload["shift"])
    letters = tuple(LETTERS[: len(options)])
    if not options:
        return Question(FREE.format(question=unit.payload["ask"]))
    choices = " ".join(f"{letter}: {option}" for letter, option in zip(letters, options, strict=True))
    return Question(CHOICE.format(question=unit.payload["ask"], choices=choices), letters, tuple(options))


def build_answer_result(unit: Work, answer: Answer) -> Result:
    shift, count = unit.payload["shift"], len(unit.payload["options"])
    numbers = {str((place + shift) % count): chance for place, chance in enumerate(answer.probabilities)}
    return Result(
        unit.key,
        answer.state,
        text=answer.text,
        numbers=numbers,
        reason=answer.reason,
        circumstances=answer.circumstances,
    )
