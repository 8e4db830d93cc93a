"""Executing leased units: the batch as a whole, and unit by unit where that goes wrong."""

import logging
from collections.abc import Sequence
from itertools import groupby
from typing import Any

from evaluation import backends
from evaluation.backends.base import BackendError
from evaluation.catalogue import model_data
from evaluation.models import Unit
from evaluation.runner import inputs
from evaluation.runner.storing import checked
from evaluation.studies.base import ModelData, Result, Study, Work

logger = logging.getLogger(__name__)
MOST_LOADED = 2
loaded: dict[str, Any] = {}


def backend_for(model: ModelData) -> Any:
    """The backend of a model, loaded once per process; the two used last stay. Raises BackendError."""
    key = repr(model)
    backend = loaded.pop(key, None) or backends.load(model)
    while len(loaded) >= MOST_LOADED:
        loaded.pop(next(iter(loaded)))
    loaded[key] = backend
    return backend


def compute(study: Study, units: Sequence[Unit]) -> list[tuple[Unit, Result]]:
    """One result for every unit. Raises BackendError only."""
    pairs = []
    by_model = sorted(units, key=lambda unit: (unit.model_id, unit.pk))
    for _, group in groupby(by_model, key=lambda unit: unit.model_id):
        of_model = list(group)
        backend = backend_for(model_data(of_model[0].model))
        works, failures = inputs.load(of_model, getattr(backend, "preprocessing", ""))
        results = {result.key: result for result in failures} | execute(study, works, backend)
        pairs += [(unit, results[unit.key]) for unit in of_model]
    return pairs


def execute(study: Study, works: Sequence[Work], backend: Any) -> dict[str, Result]:
    """Key → result. What the batch did not give is tried alone once, and then fails with its reason."""
    wanted = {work.key for work in works}
    results: dict[str, Result] = {}
    reason = "The study gave no result for it."
    try:
        for result in study.execute(works, backend) if works else ():
            if result.key in wanted:
                results[result.key] = checked(result)
    except BackendError:
        raise
    except Exception as error:  # Whatever a study or a provider's client raises: it must not end the worker.
        reason = sentence(error)
        logger.warning("A batch of %d units of %s went wrong: %s", len(works), study.slug, reason)
    for work in works:
        if work.key not in results:
            again = execute(study, [work], backend) if len(works) > 1 else {}
            results[work.key] = again.get(work.key) or Result(work.key, "failed", reason=reason)
    return results


def sentence(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:2000]
