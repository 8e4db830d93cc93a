"""What language models know about dishes (World Wide recipe §3.2.4, App. H).

A chat model is asked questions about every dish. Units of a run, one per dish, model, question and sample:

| payload | |
|---|---|
| `question` | `description`, or the field that is asked for: see `knowledge_fields.py` |
| `sample` | number of the sample; every sample is a conversation of its own |
| `truth` | what the dish's contributor says, as text; empty for a description |
| `messages` | what the model is told, in this order; absent where the answers were made elsewhere |

An outcome holds the raw answer as text. Its numbers are what came with it where it was made elsewhere: `match` (a
judge model accepted the country: 1 or 0), `intersection` and `union` (how many ingredients a judge model listed).
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

from evaluation.metrics.tidy import TidyTable
from evaluation.observations import Observations
from evaluation.studies import knowledge_judged as judged
from evaluation.studies import knowledge_specs as specs
from evaluation.studies import knowledge_tables as tables
from evaluation.studies.base import Catalogue, ConfigError, OutcomeData, Plan, Result, Study, Work

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


@dataclass(frozen=True)
class KnowledgeConfig:
    models: tuple[str, ...] = ("standin-chat",)


class Knowledge(Study):
    slug: ClassVar[str] = "knowledge"
    title: ClassVar[str] = "What language models know about dishes"
    source: ClassVar[str] = "World Wide recipe §3.2.4, App. H"
    version: ClassVar[str] = "1"
    needs: ClassVar[tuple[str, ...]] = ("chat",)
    Config: ClassVar[type] = KnowledgeConfig
    tables: ClassVar[tuple[str, ...]] = tuple(TABLES)

    def plan(self, config: KnowledgeConfig, catalogue: Catalogue) -> Plan:
        raise ConfigError("Answers of language models are imported here, not asked for.")

    def execute(self, units: Sequence[Work], backend: Any) -> Iterator[Result]:
        raise ConfigError("Answers of language models are imported here, not asked for.")

    def summarise(self, table: str, outcomes: Iterable[OutcomeData], config: Any) -> TidyTable:
        """See `knowledge_tables.py`."""
        if table not in self.tables:
            raise ValueError(f"knowledge has no table {table!r}")
        return TABLES[table](outcomes)

    def observe(self, table: str, outcomes: Iterable[OutcomeData], config: Any) -> Observations | None:
        """Answers one by one; the agreement of samples and counts of wordings are no means of answers."""
        return OBSERVED[table](outcomes) if table in OBSERVED else None


def answer_key(subject: int, model: str, question: str, sample: int) -> str:
    return f"subject:{subject}:{model}:{question}:{sample}"


def answer_payload(question: str, sample: int, truth: str) -> dict[str, Any]:
    return {"question": question, "sample": sample, "truth": truth}
