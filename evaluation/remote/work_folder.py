"""The way of a worker without any network: units and inputs lie in a folder, results are put beside them.

Several nodes may share the folder. A node claims a chunk by a file that only one can make, and renews it; a claim of a
node that is gone is taken over, and its units are then executed one by one, as after any worker that ended. Results
are whole files. Where two nodes give results of one unit, the server takes one of them.
"""

import hashlib
import json
import logging
import os
import socket
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

from evaluation import studies
from evaluation.contracts.study import Result, Vector, VectorData
from evaluation.remote import versions, wire
from evaluation.remote.work_files import write_work_file
from evaluation.runner.leases import KILLED, MOST_DELIVERIES
from evaluation.runner.loop import process_run
from evaluation.runner.transport import RUN_REMOVED, DamagedContentError, Lease, ResultPairs, RunData, Spent, WorkUnit
from wwd.base.atomic_files import write_bytes_atomically

CHUNK = 16
LEASE_SECONDS = 120.0
# A claim that was not renewed for so long belongs to nobody.
STALE_SECONDS = 300.0
FOREVER = 10.0**9
OUTCOMES, RESULT = "outcomes.jsonl", "result.json"
FILES = "files"
logger = logging.getLogger(__name__)
Say = Callable[[str], None]


class Folder:
    """What lies in a folder of work. All writes are whole files under names of their own."""

    def __init__(self, root: Path) -> None:
        self.root, self.package = root, root / "package"
        for name in ("claims", "done", "outcomes", "tries", FILES):
            (root / name).mkdir(parents=True, exist_ok=True)
        self.facts = json.loads((self.package / "package.json").read_bytes())
        self.lease = wire.decode_lease(json.loads((self.package / "lease.json").read_bytes()))
        self.chunks = list(split_by_affinity(self.lease.units))

    def read_keys(self, chunk: int) -> set[str]:
        """Keys of the units of a chunk that have a result."""
        return {row["key"] for path in self.root.glob(f"outcomes/{chunk}-*.jsonl") for row in read_lines(path)}

    def is_done(self, chunk: int) -> bool:
        return (self.root / "done" / str(chunk)).exists()


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    for line in path.read_bytes().splitlines():
        yield json.loads(line)


def split_by_affinity(units: Sequence[WorkUnit]) -> Iterator[tuple[WorkUnit, ...]]:
    """Chunks of whole affinities, about `CHUNK` units each; the same on every node."""
    held: list[WorkUnit] = []
    for unit in sorted(units, key=lambda unit: (unit.affinity, unit.id)):
        if len(held) >= CHUNK and unit.affinity != held[-1].affinity:
            yield tuple(held)
            held = []
        held.append(unit)
    if held:
        yield tuple(held)


class FolderTransport:
    """See `Transport`. `part` of `parts`: which chunks this node takes."""

    def __init__(self, folder: Folder, part: int = 0, parts: int = 1) -> None:
        self.folder = folder
        self.mine = range(part, len(folder.chunks), parts)
        self.node = f"{socket.gethostname()}:{os.getpid()}"
        self.held: dict[UUID, list[int]] = {}
        self.vectors: dict[tuple[int, str], dict[int | str, Vector]] | None = None
        self.problem = ""

    def allows_threads(self) -> bool:
        return True

    def read_run(self, run_id: int) -> RunData:
        return self.folder.lease.run

    def run_goes_on(self, run_id: int) -> bool:
        return not self.problem

    def lease_units(self, run: RunData, worker: str, size: int, after: str) -> Lease | None:
        if self.problem:
            return None
        taken: list[int] = []
        units: list[WorkUnit] = []
        for chunk in self.mine:
            if len(units) >= size:
                break
            if self.folder.is_done(chunk) or any(chunk in chunks for chunks in list(self.held.values())):
                continue
            claimed = self.claim(chunk)
            if claimed == "another":
                continue
            left = self.list_left(chunk)
            if claimed == "returned" and left:
                if not units:
                    return self.make_lease([chunk], self.note_try(chunk, left), suspect=True)
                self.drop_claim(chunk)
                continue
            taken.append(chunk)
            units += left
            if not left:
                self.finish(chunk)
        return self.make_lease(taken, units) if units else None

    def make_lease(self, chunks: list[int], units: Sequence[WorkUnit], *, suspect: bool = False) -> Lease | None:
        if not units:
            return None
        lease = Lease(uuid4(), self.folder.lease.run, tuple(units), LEASE_SECONDS, suspect)
        self.held[lease.id] = chunks
        return lease

    def list_left(self, chunk: int) -> list[WorkUnit]:
        keys = self.folder.read_keys(chunk)
        return [unit for unit in self.folder.chunks[chunk] if unit.key not in keys]

    def note_try(self, chunk: int, left: Sequence[WorkUnit]) -> Sequence[WorkUnit]:
        """The next unit of a chunk whose node ended, alone. One that ended too many nodes fails here."""
        for unit in left:
            tries = self.folder.root / "tries" / str(unit.id)
            before = int(tries.read_text()) if tries.exists() else 1
            if before < MOST_DELIVERIES:
                write_bytes_atomically(tries, str(before + 1).encode())
                return [unit]
            self.write_outcomes(chunk, [wire.encode_result(Result(unit.key, "failed", reason=KILLED))])
        self.finish(chunk)
        return ()

    def claim(self, chunk: int) -> str:
        """Takes a chunk: "new", "returned" after a node that is gone, or "another" where a node is at it."""
        path = self.folder.root / "claims" / str(chunk)
        content = self.node.encode()
        marked = self.folder.root / "tries" / f"chunk-{chunk}"
        try:
            write_bytes_atomically(path, content, overwrite=False)
        except FileExistsError:
            if not self.is_gone(path):
                return "another"
            marked.touch()
            write_bytes_atomically(path, content)
            # Of two that take over at once the later one has it.
            if path.read_bytes() != content:
                return "another"
        return "returned" if marked.exists() else "new"

    def is_gone(self, path: Path) -> bool:
        """Whether the node of a claim is gone: a process of this host that ended, or one that renews no more.

        The clock is that of the folder, so that nodes may disagree about the time.
        """
        try:
            node, at = path.read_text(), path.stat().st_mtime
        except OSError:
            return False
        host, _, process = node.rpartition(":")
        if host == socket.gethostname() and process.isdigit():
            return node == self.node or not Path(f"/proc/{process}").exists()
        probe = self.folder.root / "claims" / f".clock-{self.node.replace('/', '-')}"
        probe.write_bytes(b"")
        return probe.stat().st_mtime - at > STALE_SECONDS

    def drop_claim(self, chunk: int) -> None:
        (self.folder.root / "claims" / str(chunk)).unlink(missing_ok=True)

    def finish(self, chunk: int) -> None:
        write_bytes_atomically(self.folder.root / "done" / str(chunk), b"")
        self.drop_claim(chunk)

    def call_others(self, run: RunData) -> None:
        return

    def renew_leases(self, leases: Iterable[UUID]) -> set[UUID]:
        held = set()
        for lease in leases:
            try:
                for chunk in self.held.get(lease, ()):
                    os.utime(self.folder.root / "claims" / str(chunk))
            except OSError:
                continue
            held.add(lease)
        return held

    def read_content(self, sha256: str) -> bytes:
        content = (self.folder.package / "inputs" / sha256).read_bytes()
        if hashlib.sha256(content).hexdigest() != sha256:
            raise DamagedContentError(f"{len(content)} bytes were read, and their hash is another than {sha256}.")
        return content

    def find_vectors(self, lease: Lease, units: Sequence[WorkUnit], preprocessing: str) -> Mapping[int | str, Vector]:
        if self.vectors is None:
            self.vectors = {}
            for row in read_lines(self.folder.package / "vectors.jsonl"):
                of_model = self.vectors.setdefault((row["model"], row["preprocessing"]), {})
                of_model[row["of"]] = wire.decode_vector(row["vector"])
        return self.vectors.get((units[0].model.id, preprocessing), {}) if units else {}

    def find_run_vectors(self, lease: Lease, run: str) -> Sequence[VectorData]:
        rows = [row for row in read_lines(self.folder.package / "run_vectors.jsonl") if row["run"] == run]
        if not rows:
            raise LookupError(RUN_REMOVED)
        return wire.decode_run_vectors(rows[0]["vectors"])

    def store_content(self, content: bytes) -> str:
        sha256 = hashlib.sha256(content).hexdigest()
        target = self.folder.root / FILES / sha256
        if not target.exists():
            write_bytes_atomically(target, content)
        return sha256

    def deliver_results(
        self, lease: Lease, pairs: ResultPairs, hashes: Mapping[str, str], *, last: bool, spent: Spent | None = None
    ) -> int:
        chunks = self.held.get(lease.id, [])
        for chunk in chunks:
            keys = {unit.key for unit in self.folder.chunks[chunk]}
            rows = [wire.encode_result(result, hashes.get(unit.key, "")) for unit, result in pairs if unit.key in keys]
            if rows:
                self.write_outcomes(chunk, rows)
        if last:
            self.end_lease(lease)
        return len(pairs) if chunks else 0

    def write_outcomes(self, chunk: int, rows: Iterable[Mapping[str, Any]]) -> None:
        stamp = {"versions": {**versions.list_installed_versions(), "project": self.folder.facts["project"]}}
        lines = []
        for row in rows:
            noted = {**row, "circumstances": {**row["circumstances"], "node": self.node, **stamp}}
            lines.append(json.dumps(noted, ensure_ascii=False).encode("utf-8", "replace"))
        write_bytes_atomically(self.folder.root / "outcomes" / f"{chunk}-{uuid4().hex}.jsonl", b"\n".join(lines))

    def end_lease(self, lease: Lease) -> None:
        for chunk in self.held.pop(lease.id, ()):
            if self.list_left(chunk):
                self.drop_claim(chunk)
            else:
                self.finish(chunk)

    def release_lease(self, lease: Lease) -> None:
        self.end_lease(lease)

    def pause_run(self, run: RunData, problem: str) -> None:
        self.problem = problem

    def complete_run(self, run: RunData) -> None:
        return


def work_on_folder(
    root: Path, array: tuple[int, int], result: Path, *, other_versions: bool, pack_only: bool, say: Say
) -> int:
    """Executes this node's part and writes the file of results; returns an exit status, and says what there is."""
    folder = Folder(root)
    if problem := check_versions(folder.facts, other_versions=other_versions):
        say(problem)
        return 2
    transport = FolderTransport(folder, *array)
    if not pack_only:
        # A slice ends where nothing can be leased: nothing waits, or a unit was executed alone.
        while process_run(folder.lease.run.id, transport.node, FOREVER, transport=transport):
            continue
    keys, written = pack_results(folder, transport.mine, result)
    units = sum(len(folder.chunks[chunk]) for chunk in transport.mine)
    say(f"{keys} of {units} units have results, with {written} files: {result}. Bring it to manage.py import_work.")
    if transport.problem:
        say(f"The work stopped: {transport.problem}")
        return 1
    if keys < units and not pack_only:
        say("Other nodes are at the rest. Run the same command again once they have ended.")
    return 0 if keys == units or pack_only else 3


def check_versions(facts: Mapping[str, Any], *, other_versions: bool) -> str:
    """Why this node's libraries do not fit, in a sentence that names both versions; empty where they do."""
    found = versions.list_installed_versions()
    fixed = facts["definition"].get("versions") or {}
    wanted = {**({} if other_versions else facts["pins"]), **fixed}
    for name, version in wanted.items():
        if name in found and found[name] != version:
            more = "" if name in fixed else " --other-versions accepts that, and outcomes say so."
            return f"This node has {name} {found[name]}, the file of work asks for {version}.{more}"
    present = studies.load_study(facts["study"]).version
    if present != facts["study_version"]:
        return f"The file of work is of {facts['study']} {facts['study_version']}, its code executes {present}."
    return ""


def pack_results(folder: Folder, chunks: Iterable[int], target: Path) -> tuple[int, int]:
    """Writes what these chunks gave, each unit once; returns the numbers of units and of files."""
    rows: dict[str, dict[str, Any]] = {}
    for chunk in chunks:
        for path in sorted(folder.root.glob(f"outcomes/{chunk}-*.jsonl")):
            for row in read_lines(path):
                rows.setdefault(row["key"], row)
    hashes = sorted({row["image"]["sha256"] for row in rows.values() if row.get("image") and row["image"]["sha256"]})
    with write_work_file(target) as file:
        facts = {name: folder.facts[name] for name in ("package", "project", "study", "study_version")}
        file.add_json(RESULT, {**facts, "versions": versions.list_installed_versions()})
        lines = (json.dumps(row, ensure_ascii=False).encode("utf-8", "replace") for row in rows.values())
        file.add_bytes(OUTCOMES, b"\n".join(lines))
        for sha256 in hashes:
            file.add_file(f"{FILES}/{sha256}", folder.root / FILES / sha256)
    return len(rows), len(hashes)
