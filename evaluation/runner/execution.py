"""Executing leased units: the batch as a whole, smaller where memory ends, unit by unit where that goes wrong."""

import gc
import logging
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, NamedTuple

from evaluation import backends
from evaluation.batching import split_into_chunks
from evaluation.contracts.backend import BackendError, DeviceMemoryError
from evaluation.contracts.study import ModelData, Result, Study, Work
from evaluation.runner import inputs
from evaluation.runner.failure_streaks import Streak, Streaks
from evaluation.runner.stages.fetching import FetchedBatch, InputsUnreadableError
from evaluation.runner.storing import clean_result
from evaluation.runner.transport import LOST, WorkUnit

logger = logging.getLogger(__name__)
MOST_LOADED = 2
# Results that come slowly are paid for or took long: a process that is killed loses those of so many seconds.
STORE_SECONDS = 10.0
# A batch that takes longer gives the rest back, long before the time limit of its task.
MOST_SECONDS = 1200.0
ResultPairs = list[tuple[WorkUnit, Result]]


class Computed(NamedTuple):
    """Units with results that were not kept yet. `problem`: why the backend could not go on.

    Units without a result stay as they are. `seconds`: how long the study was executed; `stopped`: before its end.
    """

    pairs: ResultPairs
    problem: str = ""
    seconds: float = 0.0
    stopped: bool = False
    backend: Any = None


class BatchStoppedError(Exception):
    """The batch is not gone on with: its units are no longer ours, or it has taken long enough."""


# What says nothing about a unit of a batch.
PASSED_ON: tuple[type[Exception], ...] = (BackendError, BatchStoppedError, *LOST)


class Results(dict[str, Result]):
    """Unit key → result, as they come. Those of a slow batch are handed to `keep`, which says whether to go on."""

    def __init__(self, units: Sequence[WorkUnit], keep: Callable[[ResultPairs], bool], streaks: Streaks) -> None:
        super().__init__()
        self.units, self.keep, self.streaks = units, keep, streaks
        self.of_key = {unit.key: unit for unit in units}
        self.begun = self.kept_at = time.monotonic()
        self.kept: set[str] = set()

    def pairs(self) -> ResultPairs:
        """What was not kept yet."""
        return [(unit, self[unit.key]) for unit in self.units if unit.key in self and unit.key not in self.kept]

    def add(self, result: Result) -> None:
        """Adds what the model gave. Raises BackendError where it gives nothing, subject after subject."""
        self[result.key] = result
        unit = self.of_key[result.key]
        self.streaks[unit.model.id].note(f"subject {unit.subject.id}" if unit.subject else unit.key, result)

    def store_if_due(self) -> None:
        """Keeps what is there where that is due. Raises BatchStoppedError."""
        now = time.monotonic()
        if now - self.kept_at >= STORE_SECONDS:
            new = self.pairs()
            if not self.keep(new):
                raise BatchStoppedError
            self.kept |= {unit.key for unit, _ in new}
            self.kept_at = time.monotonic()
        if now - self.begun >= MOST_SECONDS:
            raise BatchStoppedError


@dataclass
class Loaded:
    """A backend in this process. `fits`: units per call, known once memory did not suffice for more."""

    backend: Any
    fits: int | None = None


loaded: dict[str, Loaded] = {}


def backend_for(model: ModelData) -> Loaded:
    """The backend of a model, loaded once per process; the two used last stay. Raises BackendError."""
    key = repr(model)
    found = loaded.pop(key, None) or Loaded(load_backend_or_evict(model))
    while len(loaded) >= MOST_LOADED:
        loaded.pop(next(iter(loaded)))
    loaded[key] = found
    return found


def load_backend_or_evict(model: ModelData) -> Any:
    """The backend, loaded anew, without the others beside it where memory does not suffice for all."""
    try:
        return backends.load_backend(model)
    except BackendError as error:
        if not (memory_ended(error) and unload_backends()):
            raise
    return backends.load_backend(model)


def memory_ended(error: BackendError) -> bool:
    return isinstance(error.__cause__, DeviceMemoryError | MemoryError)


def unload_backends(but: Loaded | None = None) -> bool:
    """Lets go of all backends but one; False where there was no other."""
    others = [key for key, found in loaded.items() if found is not but]
    for key in others:
        del loaded[key]
    gc.collect()
    return bool(others)


def find_loaded_backends(units: Iterable[WorkUnit]) -> dict[int, Any]:
    """Model id → its backend, of those models of `units` that are loaded."""
    models = {unit.model.id: unit.model for unit in units}
    found = {number: loaded.get(repr(model)) for number, model in models.items()}
    return {number: held.backend for number, held in found.items() if held}


def compute_results(
    study: Study,
    fetched: FetchedBatch,
    keep: Callable[[ResultPairs], bool] = lambda pairs: True,
    streaks: Streaks | None = None,
) -> Computed:
    """A result for every unit, or for those that came before the backend had to stop.

    What came slowly was handed to `keep` before, and is not among what is returned. `streaks`: what failed before.
    """
    units = fetched.lease.units
    results = Results(units, keep, Streaks(Streak) if streaks is None else streaks)
    problem, seconds, stopped, backend = "", 0.0, False, None
    try:
        for of_model in by_model(units):
            found = backend_for(of_model[0].model)
            backend = found.backend
            works, failures = inputs.load_works(fetched, of_model, getattr(backend, "preprocessing", ""))
            results.update((failure.key, failure) for failure in failures)
            started = time.monotonic()
            try:
                for part in split_into_chunks(works, found.fits or max(1, len(works))):
                    execute_works(study, part, found, results)
            finally:
                seconds += time.monotonic() - started
    except (BackendError, InputsUnreadableError) as error:
        problem = str(error)
    except BatchStoppedError:
        stopped = True
        logger.info("A batch of %s was stopped after %d of %d units.", study.slug, len(results), len(units))
    except LOST as error:
        # Nothing of that says anything about a unit: what came before is stored, the rest waits again.
        stopped = True
        logger.warning("A batch of %s lost its way to the database (%s).", study.slug, type(error).__name__)
    return Computed(results.pairs(), problem, seconds, stopped, backend)


def by_model(units: Sequence[WorkUnit]) -> Iterator[list[WorkUnit]]:
    ordered = sorted(units, key=lambda unit: (unit.model.id, unit.id))
    for _, group in groupby(ordered, key=lambda unit: unit.model.id):
        yield list(group)


def execute_works(study: Study, works: Sequence[Work], found: Loaded, results: Results) -> None:
    """Adds a result for each of `works`. What a batch did not give is tried alone once, and then fails, saying why.

    Raises BackendError or BatchStoppedError; what came before is in `results`.
    """
    reason = "The study gave no result for it."
    try:
        collect_results(study, works, found, results)
    except PASSED_ON:
        raise
    except (DeviceMemoryError, MemoryError) as error:
        reason = f"Memory does not suffice even for this unit alone: {error}"[:2000]
        if unload_backends(but=found):
            execute_works(study, [work for work in works if work.key not in results], found, results)
        elif len(works) > 1:
            execute_in_halves(study, works, found, results)
    except Exception as error:  # Whatever a study or a provider's client raises: it must not end the worker.
        reason = describe_error(error)
        # The reason is stored with the units: it may quote what a person wrote, and logs never do.
        logger.warning("A batch of %d units of %s went wrong.", len(works), study.slug, exc_info=True)
    for work in works:
        if work.key in results:
            continue
        if len(works) > 1:
            execute_works(study, [work], found, results)
        else:
            results.add(clean_result(Result(work.key, "failed", reason=reason)))


def collect_results(study: Study, works: Sequence[Work], found: Loaded, results: Results) -> None:
    """Adds what one call of the study gives, with the circumstances of the call."""
    wanted = {work.key for work in works} - set(results)
    call = {"batch": len(works), **({"halved": True} if found.fits else {})}
    for result in study.execute(works, found.backend):
        if result.key in wanted:
            results.add(clean_result(replace(result, circumstances={**call, **result.circumstances})))
            results.store_if_due()


def execute_in_halves(study: Study, works: Sequence[Work], found: Loaded, results: Results) -> None:
    """The rest of a batch that was too large, in parts of half its size; later batches begin with that size."""
    found.fits = min(found.fits or len(works), len(works) // 2)
    logger.warning("Memory ended with %d units of %s; going on with %d.", len(works), study.slug, found.fits)
    left = [work for work in works if work.key not in results]
    for part in split_into_chunks(left, found.fits):
        execute_works(study, part, found, results)


def describe_error(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:2000]
