"""Tables about how answers are judged: a judge model beside our readers, and samples beside each other."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from evaluation.contracts.study import OutcomeData
from evaluation.contracts.table import TableSpec
from evaluation.metrics.arrays import Floats
from evaluation.metrics.observations import Observations
from evaluation.metrics.set_overlap import self_agreement
from evaluation.metrics.tidy import Estimate, TidyRow, TidyTable
from evaluation.readers.countries import Countries, is_country_correct, is_part_of, read_countries
from evaluation.studies.knowledge.answers import (
    PER_CENT,
    Scored,
    estimate_answer_means,
    extract_metric_column,
    group_answers_by_cell,
    labels_of,
    score_answers,
    truth_of,
)
from evaluation.studies.knowledge.tables import (
    CLUSTERED,
    build_answer_observations,
    build_knowledge_notes,
    tally_outcome_states,
)

NOT_BOTH = "no answer was judged by both rules"
ONE_SAMPLE = "one sample of each dish: nothing to compare"
LONGEST_SHOWN = 48
READ_BY_HAND = (
    "A judge model accepts neighbours and answers that name no country; the reader has no model and knows names, "
    "former names, peoples and well-known parts of countries. Places of which one is a part of the other are equal."
)


def compare_score_columns(answers: Sequence[Scored]) -> Floats:
    """(n, 4) *as published*, *read*, difference and whether they differ; NaN where one does not count."""
    published, read = extract_metric_column(answers, "as_published"), extract_metric_column(answers, "read")
    difference = read - published
    counted = np.where(np.isnan(difference), np.nan, 1.0)
    differ = PER_CENT * (np.abs(difference) > 1e-9) * counted
    return np.column_stack([published * counted, read * counted, difference, differ])


def judge_table(table: TableSpec, outcomes: Iterable[OutcomeData]) -> TidyTable:
    """A row for each field, continent and model."""
    counted = Counter[str]()
    answers = list(score_answers(tally_outcome_states(outcomes, counted)))
    rows: list[TidyRow] = []
    for (field, where, model), members in group_answers_by_cell(answers, "continent").items():
        groups = {"field": field, "continent": where, "model": model}
        made = estimate_answer_means(
            compare_score_columns(members), labels_of(members, lambda each: each.cluster), NOT_BOTH
        )
        rows += [TidyRow(groups, metric, value) for metric, value in zip(table.metrics, made, strict=True)]
    return TidyTable(
        table.name, table.version, table.columns, tuple(rows), (*build_knowledge_notes(counted)[:2], READ_BY_HAND)
    )


def observe_judge(table: TableSpec, outcomes: Iterable[OutcomeData]) -> Observations:
    answers = list(score_answers(outcomes))
    values = dict(zip(table.observed, compare_score_columns(answers).T, strict=True)) if answers else {}
    return build_answer_observations(table, answers, values, [(each.field,) for each in answers])


def disagreements_table(table: TableSpec, outcomes: Iterable[OutcomeData]) -> TidyTable:
    """A row for each kind, model, wording of the answer and countries of the dish: how many answers."""
    found: Counter[tuple[str, ...]] = Counter()
    dishes: dict[tuple[str, ...], set[str]] = defaultdict(set)
    judged = 0
    for row in outcomes:
        if row.payload["question"] != "country" or "match" not in row.numbers:
            continue
        judged += 1
        if kind := classify_disagreement(row):
            key = (
                kind,
                row.model,
                shorten_answer(remove_dish_name(row.text, row.subject)),
                shorten_answer(row.payload["truth"]),
            )
            found[key] += 1
            dishes[key].add(row.cluster)
    rows = tuple(
        TidyRow(
            dict(zip(table.columns, key, strict=True)),
            "answers",
            Estimate(n, n, len(dishes[key]), method="count"),
        )
        for key, n in sorted(found.items())
    )
    said = f"Answers judged: {judged}; seen differently: {found.total()}{by_kind(found)}."
    return TidyTable(table.name, table.version, table.columns, rows, (said, READ_BY_HAND))


def by_kind(found: Mapping[tuple[str, ...], int]) -> str:
    kinds: Counter[str] = Counter()
    for key, n in found.items():
        kinds[key[0]] += n
    return f" ({'; '.join(f'{kind} {n}' for kind, n in kinds.most_common())})" if kinds else ""


def classify_disagreement(row: OutcomeData) -> str:
    """The kind of a disagreement between judge model and reader; empty where they agree."""
    named = read_countries(row.text, row.subject)
    accepted, truth = bool(row.numbers["match"]), truth_of("country", row.payload["truth"])
    if accepted == is_country_correct(named.codes, truth):
        return ""
    return accepted_kind(named) if accepted else rejected_kind(named, truth)


def accepted_kind(named: Countries) -> str:
    if named.state == "answered":
        return "another country accepted"
    return "several countries named, accepted" if named.state == "ambiguous" else "no country named, accepted"


def rejected_kind(named: Countries, truth: frozenset[str]) -> str:
    if any(code in truth for code in named.codes):
        return "the country itself rejected"
    if any(is_part_of(one, other) for one in named.codes for other in truth):
        return "a part of the country, or its whole, rejected"
    return "a name that countries share rejected"


def remove_dish_name(text: str, name: str) -> str:
    """The answer without the words of the dish's name: a table outlives the dish, its name must not."""
    words = [re.escape(word) for word in re.findall(r"\w{3,}", name)]
    return re.sub(rf"(?<!\w)(?:{'|'.join(words)})(?!\w)", "…", text, flags=re.IGNORECASE) if words else text


def shorten_answer(text: str) -> str:
    """The text in one line, without its full stop: `Kenya` and `Kenya.` are one wording."""
    plain = " ".join(text.split()).rstrip(" .")
    return plain if len(plain) <= LONGEST_SHOWN else f"{plain[: LONGEST_SHOWN - 1]}…"


def consistency_table(table: TableSpec, outcomes: Iterable[OutcomeData]) -> TidyTable:
    """A row for each field, continent and model; an observation is a dish."""
    rows: list[TidyRow] = []
    for (field, where, model), members in group_answers_by_cell(score_answers(outcomes), "continent").items():
        agreements = dict(of_dishes(members))
        groups = {"field": field, "continent": where, "model": model}
        values, clusters = np.array(list(agreements.values()), dtype=np.float64), np.array(list(agreements))
        made = Estimate(None, 0, 0, reason=ONE_SAMPLE)
        if agreements:
            [made] = estimate_answer_means(values[:, None], clusters, ONE_SAMPLE)
        rows.append(TidyRow(groups, "agreement", made))
    return TidyTable(table.name, table.version, table.columns, tuple(rows), (CLUSTERED,))


def of_dishes(members: Sequence[Scored]) -> Iterator[tuple[str, float]]:
    """Dish → per cent of agreement between its samples, where it has several."""
    samples: dict[str, list[frozenset[str]]] = defaultdict(list)
    for each in members:
        samples[each.cluster].append(each.said)
    for dish, said in samples.items():
        if (found := self_agreement(said)) is not None:
            yield dish, PER_CENT * found
