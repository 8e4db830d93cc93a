"""What a host must have before it waits an hour for a card: each check gives a line, and a sentence where it fails."""

import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from evaluation import backends
from evaluation.backends.cards import describe_card
from evaluation.contracts.backend import BackendError
from evaluation.contracts.study import ModelData
from evaluation.remote import versions
from evaluation.remote.client import CallRefusedError, WorkerClient
from evaluation.runner.transport import TransportLostError

LEAST_FREE = 2 * 1024**3
MOST_SKEW = 300.0


@dataclass(frozen=True)
class Finding:
    """A line of the preflight. `problem`: what is missing, in a sentence; `note`: what is worth knowing."""

    name: str
    shown: str
    problem: str = ""
    note: str = ""


def check_host(client: WorkerClient | None, models: list[ModelData], *, needs_card: bool) -> Iterator[Finding]:
    """All checks, in the order in which they would fail. Loads no weights."""
    yield from check_libraries()
    yield check_card(needs_card)
    yield check_folder(Path(tempfile.gettempdir()))
    if client is not None:
        yield from check_connection(client)
    for model in models:
        yield check_model(model)


def check_libraries() -> Iterator[Finding]:
    found = versions.list_installed_versions()
    for name, pinned in versions.read_pinned_versions().items():
        here = found.get(name, "")
        if not here:
            yield Finding(name, "not installed", note=f"{name} is not installed: models that need it cannot run here.")
        elif here != pinned:
            yield Finding(name, here, note=f"{name} is {here} here, the project pins {pinned}.")
        else:
            yield Finding(name, here)


def check_card(needed: bool) -> Finding:
    """The card and its free memory."""
    card = describe_card()
    if card is None:
        problem = "No card is visible here: ask the scheduler for one (--gres=gpu:1), or set CUDA_VISIBLE_DEVICES."
        return Finding("card", "none", problem if needed else "")
    return Finding("card", f"{card.name}, {card.free / 1024**3:.1f} of {card.total / 1024**3:.1f} GiB free")


def check_folder(folder: Path) -> Finding:
    """Room and right to write where files are put meanwhile."""
    try:
        with tempfile.TemporaryFile(dir=folder) as trial:
            trial.write(b"trial")
        free = shutil.disk_usage(folder).free
    except OSError as error:
        return Finding("storage", str(folder), f"Nothing can be written to {folder}: {error.strerror or error}.")
    if free < LEAST_FREE:
        return Finding("storage", str(folder), f"{folder} has {free / 1024**2:.0f} MB left: make room for 2 GB.")
    return Finding("storage", f"{folder}, {free / 1024**3:.0f} GiB free")


def check_connection(client: WorkerClient) -> Iterator[Finding]:
    """Whether the server takes this worker, and how far the clocks are apart."""
    try:
        found = client.greet()
    except (TransportLostError, CallRefusedError) as error:
        yield Finding("server", client.server, str(error))
        return
    yield Finding("server", f"{client.server}, token “{found['name']}”, queues {', '.join(found['queues'])}")
    skew = client.skew or 0.0
    note = ""
    if abs(skew) > MOST_SKEW:
        note = (
            f"The clock of this host is {describe_span(abs(skew))} {'ahead' if skew > 0 else 'behind'}: leases do not "
            "mind, certificates may."
        )
    yield Finding("clock", f"{skew:+.0f} s", note=note)


def describe_span(seconds: float) -> str:
    return f"{seconds / 3600:.0f} hours" if seconds >= 3600 else f"{seconds / 60:.0f} minutes"


def check_model(model: ModelData) -> Finding:
    """Whether the weights of a model are here and whole."""
    try:
        return Finding(model.slug, ", ".join(backends.inspect_model(model)) or "needs no weights")
    except BackendError as error:
        return Finding(model.slug, "not usable", str(error))
