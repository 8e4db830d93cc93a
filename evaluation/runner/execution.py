"""Executing leased units: the batch as a whole, smaller where memory ends, unit by unit where that goes wrong."""

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, NamedTuple

from evaluation import backends
from evaluation.backends.base import BackendError, OutOfMemory
from evaluation.catalogue import model_data
from evaluation.models import Unit
from evaluation.runner import inputs
from evaluation.runner.storing import checked
from evaluation.runner.units import chunks
from evaluation.studies.base import ModelData, Result, Study, Work

logger = logging.getLogger(__name__)
MOST_LOADED = 2
Results = dict[str, Result]


class Computed(NamedTuple):
    """Units with their results. `problem`: why the backend could not go on; units without a result stay as they are."""

    pairs: list[tuple[Unit, Result]]
    problem: str = ""


@dataclass
class Loaded:
    """A backend in this process. `fits`: units per call, known once memory did not suffice for more."""

    backend: Any
    fits: int | None = None


loaded: dict[str, Loaded] = {}


def backend_for(model: ModelData) -> Loaded:
    """The backend of a model, loaded once per process; the two used last stay. Raises BackendError."""
    key = repr(model)
    found = loaded.pop(key, None) or Loaded(backends.load(model))
    while len(loaded) >= MOST_LOADED:
        loaded.pop(next(iter(loaded)))
    loaded[key] = found
    return found


def compute(study: Study, units: Sequence[Unit]) -> Computed:
    """A result for every unit, or for those that came before the backend had to stop."""
    results: Results = {}
    problem = ""
    try:
        for of_model in by_model(units):
            found = backend_for(model_data(of_model[0].model))
            works, failures = inputs.load(of_model, getattr(found.backend, "preprocessing", ""))
            results.update((failure.key, failure) for failure in failures)
            for part in chunks(works, found.fits or max(1, len(works))):
                execute(study, part, found, results)
    except BackendError as error:
        problem = str(error)
    return Computed([(unit, results[unit.key]) for unit in units if unit.key in results], problem)


def by_model(units: Sequence[Unit]) -> Iterator[list[Unit]]:
    ordered = sorted(units, key=lambda unit: (unit.model_id, unit.pk))
    for _, group in groupby(ordered, key=lambda unit: unit.model_id):
        yield list(group)


def execute(study: Study, works: Sequence[Work], found: Loaded, results: Results) -> None:
    """Adds a result for each of `works`. What a batch did not give is tried alone once, and then fails, saying why.

    Raises BackendError; what came before it is in `results`.
    """
    reason = "The study gave no result for it."
    try:
        collect(study, works, found, results)
    except BackendError:
        raise
    except OutOfMemory as error:
        reason = f"Memory does not suffice even for this unit alone: {error}"[:2000]
        if len(works) > 1:
            halve(study, works, found, results)
    except Exception as error:  # Whatever a study or a provider's client raises: it must not end the worker.
        reason = sentence(error)
        logger.warning("A batch of %d units of %s went wrong: %s", len(works), study.slug, reason)
    for work in works:
        if work.key in results:
            continue
        if len(works) > 1:
            execute(study, [work], found, results)
        else:
            results[work.key] = Result(work.key, "failed", reason=reason)


def collect(study: Study, works: Sequence[Work], found: Loaded, results: Results) -> None:
    """Adds what one call of the study gives, with the circumstances of the call."""
    wanted = {work.key for work in works} - set(results)
    call = {"batch": len(works), **({"halved": True} if found.fits else {})}
    for result in study.execute(works, found.backend):
        if result.key in wanted:
            results[result.key] = checked(replace(result, circumstances={**call, **result.circumstances}))


def halve(study: Study, works: Sequence[Work], found: Loaded, results: Results) -> None:
    """The rest of a batch that was too large, in parts of half its size; later batches begin with that size."""
    found.fits = min(found.fits or len(works), len(works) // 2)
    logger.warning("Memory ended with %d units of %s; going on with %d.", len(works), study.slug, found.fits)
    left = [work for work in works if work.key not in results]
    for part in chunks(left, found.fits):
        execute(study, part, found, results)


def sentence(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:2000]
