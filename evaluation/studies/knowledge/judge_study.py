"""A judge model about answers: does an answer name a country of the dish, which ingredients do two lists share?

A run of its own, about the answers of a run of *knowledge* that its configuration names: what a judge says never
is beside answers without saying which model judged. Units, one for each question about each answer:

| payload | |
|---|---|
| `question`, `sample`, `truth` | of the answer that is judged |
| `asked` | `country`, `intersection` or `union` |
| `answer`, `of` | the answer, and the slug of the model that gave it |
| `messages`, `seed` | what the judge is told |
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, ClassVar

from evaluation.contracts.backend import Chat
from evaluation.contracts.study import (
    AnswerData,
    Catalogue,
    ConfigError,
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
from evaluation.readers.lists import parse_structured_list
from evaluation.readers.text import extract_answer_text
from evaluation.studies import chat
from evaluation.studies.generation import derived_seed
from evaluation.studies.knowledge.judged import judge_table, observe_judge
from evaluation.studies.knowledge.specs import JUDGED

# Question that is answered → what a judge is asked about the answer.
COMPARED_FIELDS: Mapping[str, tuple[str, ...]] = {"country": ("country",), "ingredients": ("intersection", "union")}
PLACEHOLDERS = ("answer", "truth")
LONGEST_ANSWER = 4_000


class JudgingConfig(StudyConfig):
    """`answers`: slug of the run of *knowledge* whose answers are judged."""

    answers: Annotated[str, RunOf(("knowledge",))]
    model: str = "standin-chat"
    questions: str = "dish-judging"
    questions_version: str = ""
    seed: int = 0


class Judging(Study):
    slug: ClassVar[str] = "judging"
    title: ClassVar[str] = "A judge model about answers of language models"
    source: ClassVar[str] = "World Wide recipe App. H.2"
    version: ClassVar[str] = "1"
    needs: ClassVar[tuple[str, ...]] = ("chat",)
    Config: ClassVar[type[StudyConfig]] = JudgingConfig
    tables: ClassVar[tuple[str, ...]] = ("fields",)
    batch_size: ClassVar[int] = 32

    def plan(self, config: JudgingConfig, catalogue: Catalogue) -> Plan:
        """Every question about every answer that has words."""
        model = chat.chat_model(catalogue, config.model)
        codes = [code for asked in COMPARED_FIELDS.values() for code in asked]
        asked = chat.check_chat_questions(
            catalogue.questions(config.questions, config.questions_version), codes, PLACEHOLDERS
        )
        answers = [
            each for each in catalogue.answers(config.answers) if each.payload.get("question") in COMPARED_FIELDS
        ]
        if not answers:
            raise ConfigError(f"answers: the run {config.answers} holds no answer about countries or ingredients.")
        return Plan(
            units_of(config, model, asked, answers),
            {**chat.build_chat_definition([model], asked), "answers": config.answers},
        )

    def execute(self, units: Sequence[Work], backend: Chat) -> Iterator[Result]:
        return chat.iterate_chat_results(units, backend)

    def summarise(self, table: str, outcomes: Iterable[OutcomeData], config: Any) -> TidyTable:
        """`judging.fields`: what the judge says beside what can be read."""
        if table not in self.tables:
            raise ValueError(f"judging has no table {table!r}")
        return judge_table(JUDGED, attach_judge_verdicts(outcomes))

    def observe(self, table: str, outcomes: Iterable[OutcomeData], config: Any) -> Observations | None:
        return observe_judge(JUDGED, attach_judge_verdicts(outcomes)) if table in self.tables else None


def units_of(
    config: JudgingConfig, model: ModelData, asked: QuestionsData, answers: Sequence[AnswerData]
) -> Iterator[UnitPlan]:
    messages = {question["code"]: question["messages"] for question in asked.questions}
    for answer in answers:
        about, text = answer.payload, answer.text[:LONGEST_ANSWER]
        words = {"answer": text, "truth": about["truth"]}
        for code in COMPARED_FIELDS[about["question"]]:
            payload = {
                **{name: about[name] for name in ("question", "sample", "truth")},
                "asked": code,
                "answer": text,
                "of": answer.model,
                "messages": chat.fill_messages(messages[code], words),
                "seed": derived_seed(config.seed, f"{answer.subject.key} {answer.model} {code}", about["sample"]),
            }
            key = f"{answer.key}:{code}"
            yield UnitPlan(key, model, answer.subject, payload, affinity=f"subject:{answer.subject.id}")


def attach_judge_verdicts(outcomes: Iterable[OutcomeData]) -> Iterator[OutcomeData]:
    """The answers with what the judge said of them as numbers, as if they had been imported with it.

    Both lists of ingredients stand next to each other: they are units of one answer.
    """
    waiting: dict[tuple[str, str, int], dict[str, float]] = {}
    for row in outcomes:
        payload = row.payload
        key = (row.cluster, payload["of"], payload["sample"])
        numbers = waiting.setdefault(key, {}) if payload["question"] == "ingredients" else {}
        numbers |= read_judge_verdict(row)
        if payload["asked"] in ("country", "union"):
            waiting.pop(key, None)
            yield answer_of(row, numbers)


def answer_of(row: OutcomeData, numbers: Mapping[str, float]) -> OutcomeData:
    complete = "match" in numbers or len(numbers) == len(COMPARED_FIELDS["ingredients"])
    return replace(
        row,
        state="done",
        model=row.payload["of"],
        text=row.payload["answer"],
        numbers=dict(numbers) if complete else {},
    )


def read_judge_verdict(row: OutcomeData) -> dict[str, float]:
    """What a judge's words say: 1 or 0 for a country, how many items a list holds; nothing where neither is read."""
    if row.state != "done":
        return {}
    text = extract_answer_text(row.text)
    if row.payload["asked"] == "country":
        says = [word for word in ("true", "false") if word in text.casefold()]
        return {"match": float(says == ["true"])} if len(says) == 1 else {}
    items = parse_structured_list(text)
    return {} if items is None else {row.payload["asked"]: float(len(items))}
