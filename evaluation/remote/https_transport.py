"""The way of a worker over HTTPS: see `Transport`. Reaches no database and no storage."""

import hashlib
import json
import logging
import os
import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID, uuid4

from evaluation.contracts.study import Result, Vector, VectorData
from evaluation.remote import versions, wire
from evaluation.remote.client import CallRefusedError, TooLargeError, WorkerClient, describe_worker
from evaluation.runner.transport import (
    DamagedContentError,
    Lease,
    ResultPairs,
    RunData,
    Spent,
    TransportLostError,
    WorkUnit,
)

# What goes in one body: common proxies take a megabyte.
MOST_BYTES = 900_000
LEAST_BYTES = 8 * 1024
MOST_NAMED = 20_000
NOT_TAKEN = (
    "Something between the worker and the server takes no body of {size} bytes (413): raise its limit, such as "
    "client_max_body_size of nginx."
)
logger = logging.getLogger(__name__)


class HttpsTransport:
    """See `Transport`. Remembers which lease a file may be read with, and how large a body may be."""

    def __init__(self, client: WorkerClient) -> None:
        self.client = client
        self.most = MOST_BYTES
        self.lock = threading.Lock()
        self.lease_of: OrderedDict[str, UUID] = OrderedDict()

    def allows_threads(self) -> bool:
        return True

    def list_runs(self) -> list[RunData]:
        """The runs with work for this worker, the most urgent first."""
        return [RunData(**row) for row in self.client.get("runs")["runs"]]

    def read_run(self, run_id: int) -> RunData:
        return RunData(**self.client.get(f"runs/{run_id}")["run"])

    def run_goes_on(self, run_id: int) -> bool:
        return bool(self.client.get(f"runs/{run_id}")["goes_on"])

    def lease_units(self, run: RunData, worker: str, size: int, after: str) -> Lease | None:
        call = {"request": str(uuid4()), "worker": worker, "size": size, "after": after, **describe_worker()}
        found = self.client.post(f"runs/{run.id}/leases", **call)
        if not found["lease"]:
            return None
        os.environ.update({str(name): str(value) for name, value in found["keys"].items() if name.endswith("_API_KEY")})
        lease = wire.decode_lease(found["lease"])
        with self.lock:
            for unit in lease.units:
                if unit.image_sha256:
                    self.lease_of[unit.image_sha256] = lease.id
                    self.lease_of.move_to_end(unit.image_sha256)
            while len(self.lease_of) > MOST_NAMED:
                self.lease_of.popitem(last=False)
        return lease

    def call_others(self, run: RunData) -> None:
        self.client.post(f"runs/{run.id}/call")

    def renew_leases(self, leases: Iterable[UUID]) -> set[UUID]:
        try:
            found = self.client.post("leases/renew", leases=[str(lease) for lease in leases], patience=0)
        except (CallRefusedError, TooLargeError) as error:
            raise TransportLostError(f"The leases were not renewed: {error}") from error
        return {UUID(each) for each in found["held"]}

    def read_content(self, sha256: str) -> bytes:
        with self.lock:
            lease = self.lease_of.get(sha256)
        if lease is None:
            raise FileNotFoundError(sha256)
        try:
            content = self.client.ask("GET", f"leases/{lease}/inputs/{sha256}").content
        except CallRefusedError as error:
            if error.status == 422:
                raise DamagedContentError(str(error)) from error
            raise FileNotFoundError(sha256) from error
        if hashlib.sha256(content).hexdigest() != sha256:
            raise DamagedContentError(f"{len(content)} bytes came, and their hash is another than {sha256}.")
        return content

    def find_vectors(self, lease: Lease, units: Sequence[WorkUnit], preprocessing: str) -> Mapping[int | str, Vector]:
        if not any(unit.image_id or isinstance(unit.payload.get("text"), str) for unit in units):
            return {}
        ids = [unit.id for unit in units]
        try:
            found = self.client.post(f"leases/{lease.id}/vectors", units=ids, preprocessing=preprocessing)
        except CallRefusedError:
            # The lease is gone: its results will be discarded anyway.
            return {}
        return wire.decode_vectors(found["vectors"])

    def find_run_vectors(self, lease: Lease, run: str) -> Sequence[VectorData]:
        try:
            found = self.client.post(f"leases/{lease.id}/run-vectors", run=run)
        except CallRefusedError as error:
            raise LookupError(str(error)) from None
        if found.get("problem"):
            raise LookupError(str(found["problem"]))
        return wire.decode_run_vectors(found["vectors"])

    def store_content(self, content: bytes) -> str:
        """Sends what the server has not got yet, and goes on where a line broke."""
        sha256 = hashlib.sha256(content).hexdigest()
        place = f"uploads/{sha256}"
        # A small file is sent at once, without asking what is there.
        found: dict[str, Any] = {"arrived": 0, "complete": False}
        if len(content) > self.most:
            found = self.client.get(place)
        while not found["complete"]:
            start = int(found["arrived"])
            found = self.send_part(place, content, start)
        return sha256

    def send_part(self, place: str, content: bytes, start: int) -> dict[str, Any]:
        """Sends the next part, smaller where something on the way takes no such large one."""
        part = content[start : start + self.most]
        try:
            response = self.client.ask("POST", f"{place}?start={start}&size={len(content)}", data=part)
        except TooLargeError:
            self.shrink(len(part))
            return {"arrived": start, "complete": False}
        found = response.json()
        if int(found["arrived"]) == start and not found["complete"]:
            return self.client.get(place)
        return dict(found)

    def shrink(self, size: int) -> None:
        """Half as large bodies from now on. Raises OSError where that helps no more."""
        if size // 2 < LEAST_BYTES:
            raise OSError(NOT_TAKEN.format(size=size))
        self.most = min(self.most, size // 2)
        logger.warning("Bodies of %d bytes are refused on the way (413): going on with %d.", size, self.most)

    def deliver_results(
        self, lease: Lease, pairs: ResultPairs, hashes: Mapping[str, str], *, last: bool, spent: Spent | None = None
    ) -> int:
        """Results in bodies that fit, each of which does no harm twice; the last one ends the lease."""
        rows = [wire.encode_result(result, hashes.get(unit.key, "")) for unit, result in pairs]
        if other := list_other_versions():
            rows = [{**row, "circumstances": {**row["circumstances"], "versions": other}} for row in rows]
        ended = 0
        while rows:
            part, size = self.take_fitting(rows)
            try:
                call = {"results": part, "last": last and len(part) == len(rows)}
                if spent and call["last"]:
                    call["spent"] = [spent.computed, spent.waited]
                found = self.client.post(f"leases/{lease.id}/results", patience=lease.seconds, **call)
            except TooLargeError:
                if len(part) == 1:
                    rows[0] = wire.encode_result(self.give_up(rows[0], size))
                else:
                    self.most = max(1, size // 2)
                continue
            except CallRefusedError as error:
                if error.status == 404:
                    logger.warning("Batch %s came late: its results are discarded.", lease.id)
                    return ended
                raise
            ended += int(found["ended"])
            rows = rows[len(part) :]
        return ended

    def take_fitting(self, rows: Sequence[dict[str, Any]]) -> tuple[list[dict[str, Any]], int]:
        """The first rows that fit into a body, one at least, and how large they are."""
        part: list[dict[str, Any]] = []
        size = 0
        for row in rows:
            length = len(json.dumps(row, ensure_ascii=False).encode())
            if part and size + length > self.most:
                break
            part.append(row)
            size += length
        return part, size

    def give_up(self, row: Mapping[str, Any], size: int) -> Result:
        """What is delivered where a result is too large for the way. Raises OSError where even that is."""
        if size < LEAST_BYTES:
            raise OSError(NOT_TAKEN.format(size=size))
        return Result(row["key"], "failed", reason=NOT_TAKEN.format(size=size))

    def release_lease(self, lease: Lease) -> None:
        try:
            self.client.post(f"leases/{lease.id}/release")
        except CallRefusedError as error:
            logger.info("Batch %s was not given back: %s", lease.id, error)

    def pause_run(self, run: RunData, problem: str) -> None:
        self.client.post(f"runs/{run.id}/pause", problem=problem)

    def complete_run(self, run: RunData) -> None:
        self.client.post(f"runs/{run.id}/complete")


def list_other_versions() -> dict[str, str]:
    """Library → the version here, of those that are not as pinned: a circumstance of every outcome."""
    found, pinned = versions.list_installed_versions(), versions.read_pinned_versions()
    return {name: found[name] for name, version in pinned.items() if found.get(name, version) != version}
