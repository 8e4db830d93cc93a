"""The named tables of what language models know, and the definitions of their numbers."""

from collections.abc import Mapping
from typing import Any

from evaluation.contracts.table import TableSpec

SOURCE = "World Wide recipe §3.2.4, App. H"

FIELD_METRICS = {
    "as_published": (
        "Per cent. Country: share of the answers that a judge model accepted. Time of day, kind, utensils: mean "
        "intersection over union of the options found as parts of the text, over the answers about dishes whose "
        "contributor named one. Ingredients: a judge model's intersection ÷ its union, not clipped."
    ),
    "read": (
        "Per cent, by readers without any model. Country: share of the answers that name one of the dish's countries. "
        "Others: mean intersection over union of what is named, by normal form and alias, with what the contributor "
        "named. An answer that says nothing counts as wrong; a call that failed does not count."
    ),
    "unread": (
        "Per cent of the questions asked whose answer was ambiguous, named nothing, was refused, empty, or failed."
    ),
    "sem": "Standard error of “as published” the way the paper computes it: population deviation ÷ √rows.",
    "sem_read": "The same of our reading.",
}
FAILURE_METRICS = {
    "share": (
        "Per cent of the descriptions in which a listed word shows this failure (App. H.3); refused: per cent of "
        "the descriptions asked for that the provider refused or held back."
    ),
    "sem": "Standard error of the share the way the paper computes it: population deviation ÷ √rows.",
}


OBSERVED_FIELDS = ("as_published", "read", "unread")


def build_knowledge_spec(
    name: str,
    title: str,
    columns: tuple[str, ...],
    metrics: Mapping[str, str],
    filters: tuple[str, ...] = (),
    **more: Any,
) -> TableSpec:
    return TableSpec(
        name=f"knowledge.{name}",
        title=title,
        source=SOURCE,
        version="2",
        columns=columns,
        metrics=metrics,
        filters=filters or ("run", *columns),
        study="knowledge",
        **more,
    )


def of_fields(name: str, title: str, place: str) -> TableSpec:
    return build_knowledge_spec(
        name,
        title,
        ("field", place, "model"),
        FIELD_METRICS,
        undrawn=("sem", "sem_read"),
        observed=OBSERVED_FIELDS,
        worse={"as_published": "low", "read": "low", "unread": "high"},
    )


def of_failures(name: str, title: str, place: str) -> TableSpec:
    return build_knowledge_spec(
        name,
        title,
        ("failure", place, "model"),
        FAILURE_METRICS,
        undrawn=("sem",),
        observed=("share",),
        worse={"share": "high"},
    )


JUDGE_METRICS = {
    "as_published": "Per cent, as in the table of fields, over the answers that both rules count.",
    "read": "Per cent by our readers, over the same answers.",
    "difference": "Our reading minus the other rule in percentage points, answer by answer.",
    "differ": "Per cent of the answers about which both rules differ at all.",
}
JUDGED_METRICS = {
    "judged": (
        "Per cent. Country: share of the answers that the judge model of the run accepted. Ingredients: its "
        "intersection ÷ its union, not clipped. Over the answers that both judge and readers count."
    ),
    **{name: words for name, words in JUDGE_METRICS.items() if name != "as_published"},
}
CONSISTENCY_METRICS = {
    "agreement": (
        "Per cent. Mean over the dishes of the agreement between samples: intersection over union of what two samples "
        "of one dish name, over all pairs; two that name nothing agree. Agreement is no sign of being right."
    ),
}
DISAGREEMENT_METRICS = {
    "answers": (
        "How many answers of this wording about a dish of these countries the judge model and our reader see "
        "differently."
    ),
}
FIELDS_CONTINENT = of_fields("fields", "What language models know about dishes, by continent", "continent")
FIELDS_COUNTRY = of_fields("fields_country", "What language models know about dishes, by country", "country")
FIELDS_LANGUAGE = of_fields(
    "fields_language", "What language models know about dishes, by the language of their name", "language"
)
FAILURES_CONTINENT = of_failures("failures", "How descriptions of dishes fail, by continent", "continent")
FAILURES_COUNTRY = of_failures("failures_country", "How descriptions of dishes fail, by country", "country")
FAILURES_LANGUAGE = of_failures(
    "failures_language", "How descriptions of dishes fail, by the language of their name", "language"
)
JUDGE = build_knowledge_spec(
    "judge",
    "What a judge model accepted and what can be read, by continent",
    ("field", "continent", "model"),
    JUDGE_METRICS,
    observed=tuple(JUDGE_METRICS),
    undrawn=("differ",),
)
DISAGREEMENTS = build_knowledge_spec(
    "disagreements",
    "Answers about countries that a judge model and our reader see differently",
    ("disagreement", "model", "answer", "countries"),
    DISAGREEMENT_METRICS,
    filters=("run", "disagreement", "model"),
    figure=False,
)
CONSISTENCY = build_knowledge_spec(
    "consistency",
    "How much samples of one model agree with each other, by continent",
    ("field", "continent", "model"),
    CONSISTENCY_METRICS,
)
JUDGED = TableSpec(
    name="judging.fields",
    title="What a judge model says of answers and what can be read, by continent",
    source=SOURCE,
    version="1",
    columns=("field", "continent", "model"),
    metrics=JUDGED_METRICS,
    filters=("run", "field", "continent", "model"),
    study="judging",
    observed=tuple(JUDGED_METRICS),
    undrawn=("differ",),
)
