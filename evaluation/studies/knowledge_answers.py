"""Answers about dishes as numbers: every answer of a run, read by the rules of the paper and by readers of ours."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evaluation.metrics.bootstrap import Interval, one_way
from evaluation.metrics.sem import population_sem
from evaluation.metrics.tidy import Estimate
from evaluation.studies.base import OutcomeData
from evaluation.studies.knowledge_fields import DESCRIPTION, FIELDS, failures_of, published_iou

Floats = npt.NDArray[np.float64]
PER_CENT = 100.0
NOT_COUNTED = np.nan


@dataclass(frozen=True, slots=True)
class Scored:
    """One answer. `values`: metric → per cent, NaN where the answer does not count for it; `said`: what it names."""

    field: str
    model: str
    cluster: str
    labels: Mapping[str, tuple[str, ...]]
    sample: int
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
        return row.numbers["intersection"] / union if union else NOT_COUNTED
    if row.state != "done":
        return NOT_COUNTED
    found = published_iou(row.text, row.payload["truth"], name)
    return NOT_COUNTED if found is None else found


def scored(outcomes: Iterable[OutcomeData]) -> Iterator[Scored]:
    """Every answer that is about a field, in the order of the run."""
    for row in outcomes:
        if row.payload["question"] in FIELDS:
            values = {"as_published": PER_CENT * as_published(row)}
            yield of_row(row, values)


def described(outcomes: Iterable[OutcomeData]) -> Iterator[Scored]:
    """Every description with the failures that its words show, and whether there is none."""
    for row in outcomes:
        if row.payload["question"] == DESCRIPTION:
            values = {kind: PER_CENT * shown for kind, shown in failures_of(row.text).items()}
            if row.state != "done":
                values = dict.fromkeys(values, NOT_COUNTED)
            yield of_row(row, {**values, "refused": PER_CENT * (row.state in ("refused", "filtered"))})


def of_row(row: OutcomeData, values: Mapping[str, float], said: frozenset[str] = frozenset()) -> Scored:
    return Scored(row.payload["question"], row.model, row.cluster, row.labels, row.payload["sample"], values, said)


Cells = dict[tuple[str, str, str], list[Scored]]


def cells(answers: Iterable[Scored], dimension: str) -> Cells:
    """(field, place, model) → the answers about its dishes; a dish of several places counts in each."""
    found: Cells = {}
    for each in answers:
        for place in each.labels.get(dimension, ()):
            found.setdefault((each.field, place, each.model), []).append(each)
    return found


def column(answers: Iterable[Scored], metric: str) -> Floats:
    return np.array([each.values[metric] for each in answers], dtype=np.float64)


def estimates(values: Floats, clusters: npt.NDArray[np.str_], lacking: str) -> list[Estimate]:
    """Means of the columns of `values` (n, k) over what is not NaN, with intervals over `clusters` (n,)."""
    return [
        mean_of(held, clusters, interval, lacking)
        for held, interval in zip(values.T, one_way(values, clusters), strict=True)
    ]


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
