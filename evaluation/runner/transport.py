"""Where a worker's units come from and where its results go: plain data, and what every way to them promises.

A worker knows no database. `direct_transport` is the way beside the database; others go over a network or a file.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol
from uuid import UUID

from evaluation.contracts.study import ModelData, Result, SubjectData, Vector, VectorData
from wwd.base import db_connections

RUN_REMOVED = "The run whose vectors are needed was removed after this one was planned."


class TransportLostError(Exception):
    """The way to units and results is gone for now, like a lost database: says nothing about any unit."""


class DamagedContentError(OSError):
    """What was read is not what was stored: its hash is another."""


# What is raised where the way is gone. The units of such a batch wait again, and their run goes on.
LOST: tuple[type[Exception], ...] = (*db_connections.LOST, TransportLostError)


@dataclass(frozen=True)
class RunData:
    """What a worker must know of a run before it leases."""

    id: int
    slug: str
    study: str
    study_version: str
    queue: str


@dataclass(frozen=True)
class WorkUnit:
    """A leased unit.

    `image_id`: the image that it asks about, `image_sha256`: the hash of its file; both None where it asks about
    none, the hash where the image was never held. `problem`: why it cannot be executed, in a sentence.
    """

    id: int
    key: str
    affinity: str
    subject: SubjectData | None
    model: ModelData
    payload: Mapping[str, Any]
    image_id: int | None = None
    image_sha256: str | None = None
    problem: str = ""


@dataclass(frozen=True)
class Lease:
    """Units that one worker holds for `seconds` from now, and from each renewal.

    `suspect`: the unit was delivered before and its worker ended without an answer. It is executed while nothing
    else is in hand, so that it takes no other unit with it. `encoders`: those that will be asked about the images of
    these units by runs that wait for this one.
    """

    id: UUID
    run: RunData
    units: tuple[WorkUnit, ...]
    seconds: float
    suspect: bool = False
    encoders: tuple[ModelData, ...] = ()


@dataclass(frozen=True)
class Spent:
    """Seconds of a batch: `computed` while its units were executed, `waited` while its worker executed nothing
    before it: for the lease, for files, for the model.
    """

    computed: float
    waited: float


ResultPairs = Sequence[tuple[WorkUnit, Result]]


class Transport(Protocol):
    """The way to units and back. Every call may raise one of `LOST`; calls may come from several threads."""

    def allows_threads(self) -> bool:
        """False where calls must come from the present thread: inside a transaction of the caller."""
        ...

    def read_run(self, run_id: int) -> RunData: ...

    def run_goes_on(self, run_id: int) -> bool:
        """False where the run is paused, cancelled or done."""
        ...

    def lease_units(self, run: RunData, worker: str, size: int, after: str) -> Lease | None:
        """About `size` units, whole affinities from `after` on; None where the run stands still or nothing waits."""
        ...

    def call_others(self, run: RunData) -> None:
        """Calls the next idle worker where more waits than was leased."""
        ...

    def renew_leases(self, leases: Iterable[UUID]) -> set[UUID]:
        """Prolongs the leases; returns those that are still held."""
        ...

    def read_content(self, sha256: str) -> bytes:
        """The content with this hash. Raises FileNotFoundError, or DamagedContentError where its hash is another."""
        ...

    def find_vectors(self, lease: Lease, units: Sequence[WorkUnit], preprocessing: str) -> Mapping[int | str, Vector]:
        """Image id or text → the vector that the units' one model and this preprocessing gave before."""
        ...

    def find_run_vectors(self, lease: Lease, run: str) -> Sequence[VectorData]:
        """The vectors of the run of this slug, which units of the lease name. Raises LookupError with a sentence."""
        ...

    def store_content(self, content: bytes) -> str:
        """Stores a file and returns its SHA-256. Storing it twice does nothing the second time."""
        ...

    def deliver_results(
        self, lease: Lease, pairs: ResultPairs, hashes: Mapping[str, str], *, last: bool, spent: Spent | None = None
    ) -> int:
        """Ends units with their results, each once; returns how many. `hashes`: unit key → hash of its stored file.

        With `last` the lease ends and units without a result wait again; else it is renewed. `spent` comes with the
        last results. Zero where the lease is no longer held, or nothing of it was open. Tries again for about the
        time of a lease while the way is lost.
        """
        ...

    def release_lease(self, lease: Lease) -> None:
        """Gives the units back as if they had never been delivered. Tries again while the way is lost."""
        ...

    def pause_run(self, run: RunData, problem: str) -> None:
        """Pauses a run that has open units; its page says why."""
        ...

    def complete_run(self, run: RunData) -> None:
        """Ends the run where no unit is open, and plans and announces those that waited for it."""
        ...
