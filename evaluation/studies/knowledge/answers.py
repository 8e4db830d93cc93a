"""Answers about dishes as numbers: every answer of a run by the rules of the paper, and by readers of ours."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from evaluation.contracts.study import OutcomeData
from evaluation.metrics.arrays import Floats
from evaluation.metrics.inference.intervals import AMOUNT, Bounds, Interval, one_way
from evaluation.metrics.inference.sem import population_sem
from evaluation.metrics.set_overlap import iou
from evaluation.metrics.tidy import Estimate
from evaluation.readers.countries import countries_in, is_country_correct, read_countries
from evaluation.readers.ingredients import ingredients_in, read_ingredients
from evaluation.readers.lists import named_in, read_options
from evaluation.studies.knowledge.fields import DESCRIPTION, FIELDS, OPTIONS, failures_of, published_iou

PER_CENT = 100.0
NOT_COUNTED = np.nan


@dataclass(frozen=True, slots=True)
class Read:
    """What an answer says. `state`: of the reader, or of the unit where no answer came."""

    state: str
    said: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Scored:
    """One answer. `values`: metric → per cent, NaN where the answer does not count for it; `said`: what was read."""

    field: str
    model: str
    cluster: str
    labels: Mapping[str, tuple[str, ...]]
    sample: int
    unit: int
    values: Mapping[str, float]
    said: frozenset[str] = frozenset()


def as_published(row: OutcomeData) -> float:
    """By the rules of the paper: what a judge model said of country and ingredients, options as parts of the text.

    Ingredients are not clipped: a judge whose intersection is larger than its union gives more than 1.
    """
    name = row.payload["question"]
    if name == "country":
        return float(row.numbers.get("match", np.nan))
    if name == "ingredients":
        union = row.numbers.get("union", 0)
        return row.numbers.get("intersection", 0) / union if union else NOT_COUNTED
    if row.state != "done":
        return NOT_COUNTED
    found = published_iou(row.text, row.payload["truth"], name)
    return NOT_COUNTED if found is None else found


def read_answer(row: OutcomeData) -> Read:
    """The answer by our readers: what it names, and what became of it where nothing could be read."""
    if row.state != "done":
        return Read(row.state)
    if row.payload["question"] == "country":
        named = read_countries(row.text, row.subject)
        return Read(named.state, frozenset(named.codes))
    return read_set(row.payload["question"], row.text)


@lru_cache(16384)
def read_set(name: str, text: str) -> Read:
    """An answer that lists options or ingredients. Samples often say the same."""
    if name == "ingredients":
        listed = read_ingredients(text)
        return Read(listed.state, listed.names)
    chosen = read_options(text, OPTIONS[name])
    return Read(chosen.state, frozenset(chosen.items))


@lru_cache(8192)
def truth_of(name: str, truth: str) -> frozenset[str]:
    """What the contributor says, in the words of the readers."""
    if name == "country":
        return frozenset(countries_in(truth))
    if name == "ingredients":
        return ingredients_in(truth)
    return frozenset(named_in(truth, OPTIONS[name], len(truth)))


def our_score(row: OutcomeData, found: Read) -> float:
    """1 or 0 for a country, an IoU for a set; an answer that says nothing is wrong, a failed call does not count."""
    name = row.payload["question"]
    truth = truth_of(name, row.payload["truth"])
    if not truth or found.state == "failed":
        return NOT_COUNTED
    if name == "country":
        return float(is_country_correct(found.said, truth))
    return iou(found.said, truth) or 0.0


def score_answers(outcomes: Iterable[OutcomeData]) -> Iterator[Scored]:
    """Every answer that is about a field, in the order of the run."""
    for row in outcomes:
        if row.payload["question"] in FIELDS:
            found = read_answer(row)
            values = {
                "as_published": PER_CENT * as_published(row),
                "read": PER_CENT * our_score(row, found),
                "unread": PER_CENT * (found.state != "answered"),
            }
            yield of_row(row, values, found.said)


def score_descriptions(outcomes: Iterable[OutcomeData]) -> Iterator[Scored]:
    """Every description with the failures that its words show; whether it was refused."""
    for row in outcomes:
        if row.payload["question"] == DESCRIPTION:
            values = {kind: PER_CENT * shown for kind, shown in failures_of(row.text).items()}
            if row.state != "done":
                values = dict.fromkeys(values, NOT_COUNTED)
            yield of_row(row, {**values, "refused": PER_CENT * (row.state in ("refused", "filtered"))})


def of_row(row: OutcomeData, values: Mapping[str, float], said: frozenset[str] = frozenset()) -> Scored:
    payload = row.payload
    return Scored(payload["question"], row.model, row.cluster, row.labels, payload["sample"], row.unit_id, values, said)


Cells = dict[tuple[str, str, str], list[Scored]]


def group_answers_by_cell(answers: Iterable[Scored], dimension: str) -> Cells:
    """(field, place, model) → the answers about its dishes; a dish of several places counts in each."""
    found: Cells = {}
    for each in answers:
        for place in each.labels.get(dimension, ()):
            found.setdefault((each.field, place, each.model), []).append(each)
    return found


def extract_metric_column(answers: Iterable[Scored], metric: str) -> Floats:
    return np.array([each.values[metric] for each in answers], dtype=np.float64)


def estimate_answer_means(values: Floats, clusters: npt.NDArray[np.str_], lacking: str) -> list[Estimate]:
    """Means of the columns of `values` (n, k) over what is not NaN, with intervals over `clusters` (n,)."""
    found = []
    for held in values.T:
        [interval] = one_way(held[:, None], clusters, bounds=bounds_of(held))
        found.append(mean_of(held, clusters, interval, lacking))
    return found


def bounds_of(values: Floats) -> Bounds:
    """Of per cent, or of differences of them; a judge's ingredients may exceed 100."""
    held = values[~np.isnan(values)]
    if (np.abs(held) > PER_CENT).any():
        return None if (held < 0).any() else AMOUNT
    return (-PER_CENT if (held < 0).any() else 0.0, PER_CENT)


def mean_of(values: Floats, clusters: npt.NDArray[np.str_], interval: Interval, lacking: str) -> Estimate:
    held = ~np.isnan(values)
    n = int(held.sum())
    if not n:
        return Estimate(None, 0, 0, reason=lacking)
    many, mean = len(set(clusters[held].tolist())), float(values[held].mean())
    return Estimate(mean, n, many, interval.low, interval.high, interval.method, interval.reason)


def sem_of(values: Floats, clusters: npt.NDArray[np.str_], lacking: str) -> Estimate:
    """Population deviation ÷ √rows of what is not NaN: itself a measure of uncertainty, without an interval."""
    held = ~np.isnan(values)
    error = population_sem(values[held])
    many = len(set(clusters[held].tolist()))
    return Estimate(error, int(held.sum()), many, reason=lacking if error is None else "")


def labels_of(answers: Iterable[Scored], read: Callable[[Scored], str]) -> npt.NDArray[np.str_]:
    return np.array([read(each) for each in answers], dtype=np.str_)
