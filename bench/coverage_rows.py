"""What `python -m bench.coverage` prints, a row for each setting, and when a row misses its bound.

A part of the bench is a module with two functions:

    settings(quick: bool) -> Sequence[Setting]     what to simulate, small things that can be pickled
    run(setting: Setting) -> list[Row]             the rows of one of them, in a process of its own

It is named in `bench.coverage.PARTS`, and its intervals or p-values are one `kind` (or more) that definitions of tables
name. A row is a `Coverage` (an interval) or a `SmallP` (a p-value); any other class with `kind`, `setting`, `line` and
`fault` will do.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

INSIDE = 0.93
MOST_INSIDE = 0.98
SIDE = 0.06
SMALL = 0.07
# What is claimed more rarely is not claimed in a setting: the samples that claim it are no longer like the others.
RARELY = 0.05
HEADS = f"{'inside':>7}{'below':>7}{'above':>7}{'claimed':>8}{'width':>8}  setting"


class Row(Protocol):
    """One line of the bench; `fault` says which bound was missed, or nothing."""

    @property
    def kind(self) -> str: ...

    @property
    def setting(self) -> str: ...

    @property
    def line(self) -> str: ...

    @property
    def fault(self) -> str: ...


@dataclass(frozen=True)
class Setting:
    """Something to simulate: `make(*arguments)` gives its rows."""

    name: str
    make: Callable[..., list[Any]]
    arguments: tuple[Any, ...] = field(default_factory=tuple)


@dataclass(frozen=True)
class Coverage:
    """How often an interval holds the truth, among the samples for which it is claimed.

    `below`, `above`: it lies wholly on that side of the truth. `loose` says why it may hold the truth more often than
    in 98 %: nothing differs, or values are discrete. `published`: printed for the record and not judged.
    """

    kind: str
    setting: str
    samples: int
    claimed: float
    below: float
    above: float
    width: float
    loose: str = ""
    published: bool = False

    @property
    def inside(self) -> float:
        return 1 - self.below - self.above

    @property
    def line(self) -> str:
        numbers = f"{self.inside:7.1%}{self.below:7.1%}{self.above:7.1%}{self.claimed:8.0%}{self.width:8.3f}"
        rarely = f" [claimed in under {RARELY:.0%}]" if 0 < self.claimed < RARELY else ""
        loose = f" [{self.loose}]" if self.loose and self.inside > MOST_INSIDE else ""
        return f"{numbers}  {self.setting}{loose}{rarely}"

    @property
    def fault(self) -> str:
        if self.published or self.claimed < RARELY:
            return ""
        if self.inside < INSIDE:
            return f"holds the truth in {self.inside:.1%}, under {INSIDE:.0%}"
        if max(self.below, self.above) > SIDE:
            return f"misses it on one side in {max(self.below, self.above):.1%}, over {SIDE:.0%}"
        if self.inside > MOST_INSIDE and not self.loose:
            return f"holds the truth in {self.inside:.1%}, over {MOST_INSIDE:.0%}"
        return ""


@dataclass(frozen=True)
class SmallP:
    """How often p is at most .05 where nothing differs, among the samples for which there is a p."""

    kind: str
    setting: str
    samples: int
    claimed: float
    small: float

    @property
    def line(self) -> str:
        return f"{self.small:7.1%}{'':14}{self.claimed:8.0%}{'':8}  p ≤ .05: {self.setting}"

    @property
    def fault(self) -> str:
        if self.claimed and self.small > SMALL:
            return f"p ≤ .05 in {self.small:.1%}, over {SMALL:.0%}"
        return ""
