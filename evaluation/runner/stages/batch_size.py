"""How many units a worker leases at once: as many as keep the model busy for a while, and no more than memory holds."""

from dataclasses import dataclass
from typing import Any

# Long enough that what a batch costs beside its units does not count, short enough that pause and cancel are prompt
# and that little is computed again when a worker is killed.
TARGET_SECONDS = 2.0
MOST_SECONDS = 30.0
# So many passes of the model at least: the last one is seldom full.
PASSES = 4
MOST_UNITS = 2048
GROWTH = 2
# A new measurement counts as much as all before it.
WEIGHT = 0.5


@dataclass
class BatchSizer:
    """The size of the next lease, from the size and the seconds of those before. `first`: the study's own guess."""

    first: int
    preferred: int = 1
    last: int = 0
    seconds_per_unit: float = 0.0
    bytes_per_unit: float = 0.0

    def note(self, units: int, seconds: float, held: int, backend: Any) -> None:
        """Learns from a batch. `held`: bytes that were fetched for it; `preferred_batch`: units a pass of `backend`."""
        if not units:
            return
        self.preferred = max(1, int(getattr(backend, "preferred_batch", 0) or 1))
        self.seconds_per_unit = weigh(self.seconds_per_unit, seconds / units)
        self.bytes_per_unit = weigh(self.bytes_per_unit, held / units)
        self.last = max(self.last, units)

    def choose(self, most_bytes: int) -> int:
        """Units of the next lease: whole passes, at most twice as many as were leased before."""
        if not self.last:
            return self.first
        each = max(self.seconds_per_unit, TARGET_SECONDS / MOST_UNITS)
        wanted = max(TARGET_SECONDS / each, min(PASSES * self.preferred, MOST_SECONDS / each))
        wanted = min(wanted, GROWTH * max(self.last, self.first), MOST_UNITS)
        if self.bytes_per_unit:
            # One batch is executed while the next one is fetched.
            wanted = min(wanted, most_bytes / 2 / self.bytes_per_unit)
        return max(1, int(wanted) // self.preferred * self.preferred or int(wanted))


def weigh(before: float, now: float) -> float:
    return now if not before else before + WEIGHT * (now - before)


# Study and models of a run → what was learnt in this process: a slice of time is too short to learn it anew.
known: dict[tuple[str, int], BatchSizer] = {}


def of_run(study: str, run: int, first: int) -> BatchSizer:
    """The sizes of a run in this process."""
    if (study, run) not in known and len(known) >= 100:
        known.pop(next(iter(known)))
    return known.setdefault((study, run), BatchSizer(first))
