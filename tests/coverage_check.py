"""Checks what no test reaches, from coverage.py's JSON report: called by `script/test --coverage`.

Enough branches must be reached in all, and every function that keeps an unreached one is listed in
tests/uncovered.txt with a reason. A line of that file that is no longer true fails too.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LEAST_PERCENT = 95.0
HEAD = "# path::function: reason. What no test reaches, and why that is right. Checked by script/test --coverage."


@dataclass(frozen=True)
class Reached:
    """`branches` and `reached` are counts; `missing` maps path::function to its unreached lines and branches."""

    branches: int
    reached: int
    missing: Mapping[str, str]

    @property
    def percent(self) -> float:
        return 100.0 * self.reached / self.branches if self.branches else 100.0


def read_report(path: Path) -> Reached:
    """What a JSON report of coverage.py (7.6 or newer, with branches) says."""
    report: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    missing: dict[str, str] = {}
    for file, found in report["files"].items():
        for name, region in found["functions"].items():
            if gaps := describe_gaps(region):
                missing[f"{file}::{name or '(module)'}"] = gaps
    totals = report["totals"]
    return Reached(totals["num_branches"], totals["covered_branches"], missing)


def describe_gaps(region: Mapping[str, Any]) -> str:
    lines = [str(line) for line in region["missing_lines"]]
    jumps = [
        f"{start}→{end}" for start, end in region.get("missing_branches", ()) if start not in region["missing_lines"]
    ]
    return " ".join([*lines, *jumps])


def read_reasons(path: Path) -> dict[str, str]:
    """path::function → reason. Raises ValueError for a line without a reason, and for one that is there twice."""
    reasons: dict[str, str] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        name, found, reason = line.partition(": ")
        if not found or not reason.strip():
            raise ValueError(f"{path.name}:{number}: write 'path::function: reason'.")
        if name in reasons:
            raise ValueError(f"{path.name}:{number}: {name} is listed twice.")
        reasons[name] = reason.strip()
    return reasons


def problems(reached: Reached, reasons: Mapping[str, str], least: float = LEAST_PERCENT) -> list[str]:
    """One sentence for each thing that is wrong; none where all is well."""
    found = [
        f"{name} is not reached ({gaps}) and tests/uncovered.txt gives no reason."
        for name, gaps in sorted(reached.missing.items())
        if name not in reasons
    ]
    found += [
        f"{name} is reached now: take its line out of tests/uncovered.txt."
        for name in sorted(reasons)
        if name not in reached.missing
    ]
    if reached.percent < least:
        found.append(f"Tests reach {reached.percent:.1f} % of the branches; at least {least:.0f} % are asked for.")
    return found


def check(report: Path, reasons: Path) -> int:
    """Prints the share of branches and every problem; 1 where there is any."""
    reached = read_report(report)
    try:
        found = problems(reached, read_reasons(reasons))
    except ValueError as error:
        found = [str(error)]
    print(f"{reached.reached} of {reached.branches} branches are reached: {reached.percent:.1f} %.")
    for sentence in found:
        print(sentence)
    return 1 if found else 0


if __name__ == "__main__":
    import sys

    sys.exit(check(Path(sys.argv[1]), Path(sys.argv[2])))
