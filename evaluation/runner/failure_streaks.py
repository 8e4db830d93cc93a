"""Failures in a row: one subject that fails stops no run, a model that fails for every subject does.

Subjects are counted, not calls: several images of one subject, or several questions about one image, that fail
together count once. What succeeds, is refused or filtered ends a streak: that is an answer.
"""

import re
from collections import OrderedDict, defaultdict
from dataclasses import dataclass, field

from evaluation.contracts.backend import BackendError
from evaluation.contracts.study import Result
from evaluation.readers.text_cleaning import truncate_text

# So many subjects one after the other that fail alike pause a run; so many that fail each in its way.
ALIKE = 5
ANYHOW = 10
MOST_RUNS = 100
# What differs between two failures of one kind: numbers of calls, quoted names, hashes.
VARYING = re.compile(r"'[^']*'|\"[^\"]*\"|“[^”]*”|\S*\d\S*")


@dataclass
class Streak:
    """What failed since the last answer. `kind`: the failure without what varies; `alike`: subjects that failed so."""

    kind: str = ""
    alike: set[str] = field(default_factory=set)
    anyhow: set[str] = field(default_factory=set)

    def note(self, subject: str, result: Result) -> None:
        """Counts what became of a subject. Raises BackendError where too many failed one after the other."""
        if not result.asked:
            return
        if not is_failure(result):
            self.end()
            return
        kind = VARYING.sub("", f"{result.state} {result.reason}")
        if kind != self.kind:
            self.kind, self.alike = kind, set()
        self.alike.add(subject)
        self.anyhow.add(subject)
        if len(self.alike) >= ALIKE or len(self.anyhow) >= ANYHOW:
            number, alike = max(len(self.alike), len(self.anyhow)), len(self.alike) >= ALIKE
            self.end()
            raise BackendError(describe_streak(number, alike, result.reason))

    def end(self) -> None:
        self.kind, self.alike, self.anyhow = "", set(), set()


def describe_streak(number: int, alike: bool, reason: str) -> str:
    how = "in the same way " if alike else ""
    return (
        f"{number} subjects failed {how}one after the other. The last: {truncate_text(reason, 1000)} "
        "Once that is mended, resume the run; what failed can be tried again."
    )


def is_failure(result: Result) -> bool:
    """True where nothing came: it failed, or the answer was empty. An image that is black is something."""
    if result.state == "failed":
        return True
    return result.state == "empty" and not result.text and not (result.image and result.image.content)


# Run → the streak of each of its models, in this process: a slice of a slow run sees few subjects.
Streaks = defaultdict[int, Streak]
known: OrderedDict[int, Streaks] = OrderedDict()


def of_run(run: int) -> Streaks:
    """The streaks of a run in this process, by model."""
    found = known.setdefault(run, Streaks(Streak))
    known.move_to_end(run)
    while len(known) > MOST_RUNS:
        known.popitem(last=False)
    return found
