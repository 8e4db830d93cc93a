"""Whether a worker's versions fit: what changes the protocol or a definition is refused, the rest is recorded."""

from collections.abc import Mapping
from typing import Any

from evaluation import studies
from evaluation.models import Run, WorkerToken
from evaluation.remote import versions
from evaluation.remote.wire import PROTOCOL
from evaluation.worker_api.access import WorkerCallError, read_field

CONFLICT = 409


def check_worker(token: WorkerToken, given: Mapping[str, Any]) -> Mapping[str, str]:
    """The versions that a worker says it has. Raises WorkerCallError that names both versions."""
    said = read_field(given, "versions", dict, {})
    found = {str(name): str(value)[:40] for name, value in list(said.items())[:20]}
    protocol, project = given.get("protocol"), found.get("project", "")
    if protocol != PROTOCOL or project != versions.read_project_version():
        raise WorkerCallError(
            CONFLICT,
            f"This worker has World Wide Dishes {project or 'of an unknown version'} (protocol {protocol}), the server "
            f"{versions.read_project_version()} (protocol {PROTOCOL}): give the worker the server's version.",
        )
    if not token.other_versions:
        refuse_other_libraries(found, versions.read_pinned_versions(), "the server's requirements-worker.txt")
    return found


def check_run(run: Run, found: Mapping[str, str]) -> None:
    """What the run's own definition fixes, whatever the token allows. Raises WorkerCallError."""
    present = studies.load_study(run.study).version
    if run.study_version != present:
        raise WorkerCallError(
            CONFLICT, f"The run {run.slug} is of {run.study} {run.study_version}, this version executes {present}."
        )
    fixed = run.definition.get("versions")
    refuse_other_libraries(found, fixed if isinstance(fixed, dict) else {}, f"the definition of the run {run.slug}")


def refuse_other_libraries(found: Mapping[str, str], wanted: Mapping[str, str], where: str) -> None:
    """Raises WorkerCallError for the first library that is installed in another version than is wanted."""
    for name, version in wanted.items():
        if name in found and found[name] != version:
            raise WorkerCallError(CONFLICT, f"This worker has {name} {found[name]}, {where} says {version}.")
