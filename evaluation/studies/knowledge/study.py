"""What language models know about dishes (World Wide recipe §3.2.4, App. H).

A chat model is asked questions about every dish. Units of a run, one per dish, model, question and sample:

| payload | |
|---|---|
| `question` | `description`, or the field that is asked for: see `knowledge_fields.py` |
| `sample` | number of the sample; every sample is a conversation of its own |
| `truth` | what the dish's contributor says, as text; empty for a description |
| `messages` | what the model is told, in this order; absent where the answers were made elsewhere |
| `seed` | of the sample, for models that take one |

An outcome holds the raw answer as text. Its numbers are what came with it where it was made elsewhere: `match` (a
judge model accepted the country: 1 or 0), `intersection` and `union` (how many ingredients a judge model listed).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

from pydantic import Field, field_validator

from evaluation.contracts.backend import Chat
from evaluation.contracts.study import (
    Catalogue,
    ConfigError,
    DishData,
    ModelData,
    OutcomeData,
    Plan,
    QuestionsData,
    Result,
    Study,
    StudyConfig,
    SubjectData,
    UnitPlan,
    Work,
)
from evaluation.contracts.subjects import Subjects
from evaluation.metrics.observations import Observations
from evaluation.metrics.tidy import TidyTable
from evaluation.studies import chat
from evaluation.studies.generation import derived_seed
from evaluation.studies.knowledge import judged, specs, tables
from evaluation.studies.knowledge.fields import DESCRIPTION, FIELDS, KIND_WORDS

TABLES = {
    "fields": partial(tables.fields_table, specs.FIELDS_CONTINENT),
    "fields_country": partial(tables.fields_table, specs.FIELDS_COUNTRY),
    "fields_language": partial(tables.fields_table, specs.FIELDS_LANGUAGE),
    "failures": partial(tables.failures_table, specs.FAILURES_CONTINENT),
    "failures_country": partial(tables.failures_table, specs.FAILURES_COUNTRY),
    "failures_language": partial(tables.failures_table, specs.FAILURES_LANGUAGE),
    "judge": partial(judged.judge_table, specs.JUDGE),
    "disagreements": partial(judged.disagreements_table, specs.DISAGREEMENTS),
    "consistency": partial(judged.consistency_table, specs.CONSISTENCY),
}
OBSERVED = {
    "fields": partial(tables.observe_fields, specs.FIELDS_CONTINENT),
    "fields_country": partial(tables.observe_fields, specs.FIELDS_COUNTRY),
    "fields_language": partial(tables.observe_fields, specs.FIELDS_LANGUAGE),
    "failures": partial(tables.observe_failures, specs.FAILURES_CONTINENT),
    "failures_country": partial(tables.observe_failures, specs.FAILURES_COUNTRY),
    "failures_language": partial(tables.observe_failures, specs.FAILURES_LANGUAGE),
    "judge": partial(judged.observe_judge, specs.JUDGE),
}


MOST_SAMPLES = 100
PLACEHOLDERS = ("local_name", "countries")


class KnowledgeConfig(StudyConfig):
    """`models`: slugs of chat models, all asked the same. `questions_version` empty: ours that was added last.

    `samples` of each question are asked, each in a conversation of its own; `seed` is for models that take one.
    """

    models: tuple[str, ...] = ("standin-chat",)
    subjects: Subjects = Field(default_factory=lambda: {"kind": "dish"})
    questions: str = "dish-knowledge"
    questions_version: str = ""
    samples: int = Field(5, ge=1, le=MOST_SAMPLES)
    seed: int = Field(0, ge=0, le=2**31 - 1)

    @field_validator("models")
    @classmethod
    def check_models(cls, models: tuple[str, ...]) -> tuple[str, ...]:
        if not models or len(set(models)) != len(models):
            raise ValueError("a list of at least one model, each once")
        return models


class Knowledge(Study):
    slug: ClassVar[str] = "knowledge"
    title: ClassVar[str] = "What language models know about dishes"
    source: ClassVar[str] = "World Wide recipe §3.2.4, App. H"
    version: ClassVar[str] = "1"
    needs: ClassVar[tuple[str, ...]] = ("chat",)
    Config: ClassVar[type[StudyConfig]] = KnowledgeConfig
    tables: ClassVar[tuple[str, ...]] = tuple(TABLES)
    batch_size: ClassVar[int] = 32

    def plan(self, config: KnowledgeConfig, catalogue: Catalogue) -> Plan:
        """All questions about every dish to every model, so many samples of each."""
        models = [chat.chat_model(catalogue, slug) for slug in config.models]
        asked = chat.check_chat_questions(
            catalogue.questions(config.questions, config.questions_version), (DESCRIPTION, *FIELDS), PLACEHOLDERS
        )
        subjects = catalogue.subjects(config.subjects)
        dishes = catalogue.dishes(subjects)
        known = [subject for subject in subjects if subject.id in dishes]
        if not known:
            raise ConfigError("subjects: no dish is selected. Are there accepted dishes of these countries?")
        return Plan(units_of(config, models, asked, known, dishes), chat.build_chat_definition(models, asked))

    def execute(self, units: Sequence[Work], backend: Chat) -> Iterator[Result]:
        """Answers as they come, one conversation for each unit."""
        return chat.iterate_chat_results(units, backend)

    def summarise(self, table: str, outcomes: Iterable[OutcomeData], config: Any) -> TidyTable:
        """See `knowledge_tables.py` and `knowledge_judged.py`."""
        if table not in self.tables:
            raise ValueError(f"knowledge has no table {table!r}")
        return TABLES[table](outcomes)

    def observe(self, table: str, outcomes: Iterable[OutcomeData], config: Any) -> Observations | None:
        """Answers one by one; the agreement of samples and counts of wordings are no means of answers."""
        return OBSERVED[table](outcomes) if table in OBSERVED else None


def units_of(
    config: KnowledgeConfig,
    models: Sequence[ModelData],
    asked: QuestionsData,
    subjects: Sequence[SubjectData],
    dishes: Mapping[int, DishData],
) -> Iterator[UnitPlan]:
    """Units dish by dish, so that a worker takes all questions about a dish together."""
    for subject in subjects:
        dish = dishes[subject.id]
        words = {"local_name": subject.name, "countries": ", ".join(dish.countries)}
        for question in asked.questions:
            code, messages = question["code"], chat.fill_messages(question["messages"], words)
            for sample in range(config.samples):
                payload = {**answer_payload(code, sample, get_expected_answer(dish, code)), "messages": messages}
                payload["seed"] = derived_seed(config.seed, f"{subject.key} {code}", sample)
                for model in models:
                    key = answer_key(subject.id, model.slug, code, sample)
                    yield UnitPlan(key, model, subject, payload, affinity=f"subject:{subject.id}")


def get_expected_answer(dish: DishData, question: str) -> str:
    """What the contributor says about what is asked, in the words that the readers look for."""
    return {
        "country": ", ".join(dish.countries),
        "time_of_day": ", ".join(dish.time_of_day),
        "type_of_dish": ", ".join(KIND_WORDS.get(kind, kind) for kind in dish.kinds),
        "utensils": dish.utensils,
        "ingredients": dish.ingredients,
    }.get(question, "")


def answer_key(subject: int, model: str, question: str, sample: int) -> str:
    return f"subject:{subject}:{model}:{question}:{sample}"


def answer_payload(question: str, sample: int, truth: str) -> dict[str, Any]:
    return {"question": question, "sample": sample, "truth": truth}
