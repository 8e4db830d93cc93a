"""The first stage: what leased units need is read and decoded while the model is busy with earlier ones."""

import threading
from collections.abc import Mapping, Sequence
from typing import Any

from evaluation.contracts.study import ModelData, Vector
from evaluation.readers.text_cleaning import clean_foreign_text
from evaluation.runner.stages.byte_budget import ByteBudget
from evaluation.runner.stages.file_calls import FileCall, get_readers
from evaluation.runner.transport import DamagedContentError, Lease, Transport, WorkUnit


class InputsUnreadableError(Exception):
    """The storage gives no files at all, whatever the unit: the run pauses with this text."""


class FetchedBatch:
    """A lease and the files of its units, each read once, many at the same time.

    `backends`: model id → its backend, where it is loaded already; it may then decode ahead, and vectors that are
    stored are asked for.
    """

    def __init__(
        self, transport: Transport, lease: Lease, budget: ByteBudget, backends: Mapping[int, Any] | None = None
    ) -> None:
        self.transport, self.lease, self.budget = transport, lease, budget
        self.backends = backends or {}
        self.lock = threading.Lock()
        self.held = 0
        self.fetched = 0
        self.closed = False
        self.vectors: dict[tuple[int, str], Mapping[int | str, Vector]] = {}
        self.calls: dict[str, FileCall[bytes]] = {}
        for unit in lease.units:
            if unit.image_sha256 and unit.image_sha256 not in self.calls and not unit.problem:
                self.calls[unit.image_sha256] = self.start_reading(unit.image_sha256, unit.model)

    def start_reading(self, sha256: str, model: ModelData) -> FileCall[bytes]:
        return FileCall(get_readers(), lambda: self.read(sha256, model))

    def read(self, sha256: str, model: ModelData) -> bytes:
        """The content with this hash, prepared where the backend of `model` does that ahead."""
        content = self.transport.read_content(sha256)
        self.take(len(content))
        prepare = getattr(self.backends.get(model.id), "prepare", None)
        if prepare is None or not self.budget.has_room(0):
            return content
        prepared: bytes = prepare(content)
        self.take(getattr(prepared, "prepared_bytes", 0))
        return prepared

    def take(self, size: int) -> None:
        """Counts bytes that this batch holds from now on; waits while there is no room."""
        if self.closed:
            return
        self.budget.take(size, self)
        with self.lock:
            if not self.closed:
                self.held += size
                self.fetched += size
                return
        self.budget.give_back(size)

    def find_stored_vectors(self) -> None:
        """Asks for the stored vectors of those models whose backend is loaded already."""
        for model_id, backend in self.backends.items():
            units = [unit for unit in self.lease.units if unit.model.id == model_id]
            self.get_vectors(units, getattr(backend, "preprocessing", ""))

    def get_vectors(self, units: Sequence[WorkUnit], preprocessing: str) -> Mapping[int | str, Vector]:
        """Image id or text → the stored vector, for units of one model."""
        key = units[0].model.id, preprocessing
        if key not in self.vectors:
            self.vectors[key] = self.transport.find_vectors(self.lease, units, preprocessing)
        return self.vectors[key]

    def get_content(self, unit: WorkUnit) -> bytes | None:
        """The bytes of the unit's image; None where it has none or none is held.

        Raises LookupError with the reason for which this unit cannot be executed, InputsUnreadableError where none
        can.
        """
        if unit.problem:
            raise LookupError(unit.problem)
        if unit.image_sha256 is None:
            return None
        try:
            return self.calls[unit.image_sha256].wait()
        except FileNotFoundError:
            raise LookupError("The file of the image is missing in the storage.") from None
        except DamagedContentError:
            raise LookupError("The file of the image is damaged in the storage.") from None
        except Exception as error:
            said = clean_foreign_text(f"{type(error).__name__}: {error}")
            raise InputsUnreadableError(f"The images could not be read: {said}") from error

    def hurry(self) -> None:
        """The model waits for this batch: it may hold more than there is room for."""
        self.budget.hurry(self)

    def close(self) -> None:
        """Lets go of all files; those that are still to be read are not."""
        with self.lock:
            self.closed = True
            held, self.held = self.held, 0
        for call in self.calls.values():
            call.cancel()
        self.calls = {}
        self.budget.give_back(held)
