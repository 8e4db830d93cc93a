"""Reviews as observations: what the numbers of tables of reviews are means of, kept in columns."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Protocol

import numpy as np
import numpy.typing as npt

from evaluation.metrics.observations import Labels, Observations, hash_labels, none_of
from review.tables.selection import Pool

CHUNK = 20_000
Value = bool | float | None


class Placed(Protocol):
    """Whatever belongs to a country and model, and to two clusters."""

    @property
    def country(self) -> str: ...
    @property
    def model(self) -> str: ...
    @property
    def dish(self) -> str: ...
    @property
    def reviewer(self) -> str: ...


class Judged(Placed, Protocol):
    """A review, or an image that was left out (`pk` 0): whose, of what."""

    @property
    def pk(self) -> int: ...
    @property
    def image(self) -> int: ...


class Codes:
    """Texts as they come, each kept once."""

    def __init__(self) -> None:
        self.known: dict[str, int] = {}
        self.parts: list[npt.NDArray[np.int32]] = [np.empty(0, dtype=np.int32)]

    def add(self, texts: Iterable[str]) -> None:
        known = self.known
        self.parts.append(np.fromiter((known.setdefault(text, len(known)) for text in texts), np.int32))

    @property
    def labels(self) -> Labels:
        return Labels(np.concatenate(self.parts), tuple((text,) for text in self.known))

    @property
    def numbers(self) -> npt.NDArray[np.int64]:
        """The hash of each text: see `coded`."""
        every = hash_labels(self.known)
        return every[np.concatenate(self.parts)] if len(every) else np.empty(0, dtype=np.int64)


def build_opinion_observations(
    metrics: Sequence[str], found: Iterable[tuple[Judged, Sequence[Value]]], chosen: Pool, notes: Iterable[str] = ()
) -> Observations:
    """Opinions with what was read of each, a value (None: does not count) for every metric, in columns.

    They go in chunks: of a million reviews only the columns are held.
    """
    columns = {name: Codes() for name in ("country", "model", "dish", "reviewer")}
    values, images, reviews = [np.empty((0, len(metrics)))], [none_of(0)], [none_of(0)]
    source = iter(found)
    while chunk := list(islice(source, CHUNK)):
        for name, codes in columns.items():
            codes.add([getattr(one, name) for one, _ in chunk])
        values.append(np.array([read for _, read in chunk], dtype=np.float64))
        images.append(np.fromiter((one.image for one, _ in chunk), np.int64, len(chunk)))
        reviews.append(np.fromiter((one.pk for one, _ in chunk), np.int64, len(chunk)))
    table = np.concatenate(values)
    return Observations(
        values=by_metric(metrics, table),
        groups={name: columns[name].labels for name in ("country", "model")},
        dishes=columns["dish"].numbers,
        raters=columns["reviewer"].numbers,
        images=np.concatenate(images),
        units=none_of(len(table)),
        reviews=np.concatenate(reviews),
        demonstration=chosen.demonstration,
        notes=(*notes, *chosen.notes),
    )


def by_metric(metrics: Sequence[str], table: npt.NDArray[np.float64]) -> Mapping[str, npt.NDArray[np.float64]]:
    """The columns of (n, metrics) by name."""
    return {metric: np.ascontiguousarray(table[:, k]) for k, metric in enumerate(metrics)}
