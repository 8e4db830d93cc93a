"""Results that come as a file: each unit ends once, whoever brings the file twice or late."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from uuid import UUID

from django.db import transaction

from collection.models import Dish
from evaluation import content_store
from evaluation.batching import split_into_chunks
from evaluation.contracts.study import Result
from evaluation.models import Batch, Run, Unit
from evaluation.remote import wire
from evaluation.remote.work_files import WorkFile, WorkFileError, open_work_file
from evaluation.remote.work_folder import FILES, OUTCOMES, RESULT
from evaluation.runner import completion, leases, storing
from evaluation.runner.completion import FILE_HOLDER
from evaluation.runner.control import OPEN
from evaluation.runner.direct_transport import describe_units
from wwd.base import fetching

CHUNK = 200


@dataclass
class Delivered:
    """What became of the results of a file, in numbers of units."""

    run: str
    stored: int = 0
    before: int = 0
    withdrawn: int = 0
    cancelled: int = 0
    wrong: list[str] = field(default_factory=list)


def import_work(path: Path) -> Delivered:
    """Stores the results of a file. Raises WorkFileError, and then stored nothing, or whole chunks that count.

    Killed in the middle, it is called again: what was stored is not stored twice.
    """
    with open_work_file(path, (RESULT, OUTCOMES), (FILES,)) as file:
        batch = find_package(file)
        found = Delivered(batch.run.slug)
        for chunk in split_into_chunks(file.read_lines(OUTCOMES), CHUNK):
            try:
                results = wire.parse_results(chunk)
            except wire.WireError as error:
                raise WorkFileError(f"{path.name}: {error}") from error
            store_chunk(file, batch, results, found)
    with transaction.atomic():
        if not Unit.objects.filter(batch=batch, state=Unit.State.LEASED).exists():
            leases.close_batches([batch.pk])
    completion.complete_finished_runs(Run.objects.filter(pk=batch.run_id))
    completion.announce_followers(batch.run_id)
    return found


def find_package(file: WorkFile) -> Batch:
    """The batch of the package that the results are of. Raises WorkFileError."""
    facts = file.read_json(RESULT)
    try:
        pk, study, version = UUID(str(facts["package"])), str(facts["study"]), str(facts["study_version"])
    except (KeyError, TypeError, ValueError):
        raise WorkFileError(f"{file.path.name} does not say of which package it is.") from None
    batch = Batch.objects.select_related("run").filter(pk=pk, worker=FILE_HOLDER).first()
    if batch is None:
        raise WorkFileError(f"{file.path.name} is of the package {pk}, which this site did not make or has removed.")
    run = batch.run
    if (study, version) != (run.study, run.study_version):
        raise WorkFileError(
            f"{file.path.name} was made by {study} {version}, the run {run.slug} is of {run.study} {run.study_version}."
        )
    return batch


def store_chunk(file: WorkFile, batch: Batch, results: Sequence[tuple[Result, str]], found: Delivered) -> None:
    """Stores those results whose units are open: files first, then rows in one transaction."""
    given = {result.key: (storing.clean_result(result), sha256) for result, sha256 in results}
    found.before += len(results) - len(given)
    rows = Unit.objects.filter(run=batch.run, key__in=given).select_related("subject", "model").order_by("pk")
    of_key = {row.key: row for row in rows}
    accepted: dict[int, tuple[Unit, Result]] = {}
    hashes: dict[str, str] = {}
    # A unit that was erased has lost its key.
    found.withdrawn += len(given) - len(of_key)
    described = {unit.key: unit for unit in describe_units(list(of_key.values()))}
    for key, row in of_key.items():
        result, sha256 = given[key]
        if row.state not in OPEN:
            found.before += 1
        elif problem := wire.check_answers_unit(described[key], result, sha256) or store_file(file, sha256):
            found.wrong.append(problem)
        else:
            accepted[row.pk] = (row, result)
            if sha256:
                hashes[key] = sha256
    end_units(batch, accepted, hashes, found)


def store_file(file: WorkFile, sha256: str) -> str:
    """Stores the file of a result; returns why that is not possible, or nothing."""
    if not sha256:
        return ""
    try:
        content_store.store_content(fetching.check_image_bytes(file.read_content(FILES, sha256)))
    except FileNotFoundError:
        return f"The file {sha256} is missing in {file.path.name}."
    except (WorkFileError, fetching.FetchError) as error:
        return str(error)
    return ""


def end_units(
    batch: Batch, accepted: Mapping[int, tuple[Unit, Result]], hashes: Mapping[str, str], found: Delivered
) -> None:
    """Ends units that are still open, also where the package's time ran out and nobody gave a result since."""
    with transaction.atomic():
        cancelled = not Run.objects.filter(pk=batch.run_id).exclude(state=Run.State.CANCELLED).exists()
        locked = Unit.objects.filter(pk__in=accepted, state__in=OPEN).order_by("pk").select_for_update(of=("self",))
        left: dict[int, Unit] = {unit.pk: unit for unit in locked}
        found.before += len(accepted) - len(left)
        withdrawn = set(
            Unit.objects.filter(pk__in=left, subject__dish__state=Dish.State.WITHDRAWN).values_list("pk", flat=True)
        )
        # As if nobody had worked on them: they fail without an outcome, and wait again should the dish come back.
        Unit.objects.filter(pk__in=withdrawn).update(state=Unit.State.FAILED, batch=None)
        stopped = {pk for pk, unit in left.items() if cancelled and unit.batch_id != batch.pk} - withdrawn
        found.withdrawn += len(withdrawn)
        found.cancelled += len(stopped)
        pairs = [accepted[pk] for pk in left if pk not in withdrawn and pk not in stopped]
        if pairs:
            ids = [unit.pk for unit, _ in pairs]
            Unit.objects.filter(pk__in=ids).update(state=leases.final_states(pairs), batch=batch)
            storing.store_each(batch.run, pairs, hashes, batch)
        found.stored += len(pairs)
