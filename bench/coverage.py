"""How often every interval and p-value that a table can show keeps its promise.

    python -m bench.coverage [--quick] [--samples N] [--only WORD] [--processes 2]

Draws answers with a known truth, in the pattern of the published reviews (from WWD_PUBLISHED_DATA or the folder beside
the project; a seeded pattern where neither is there) and in balanced ones, dishes and people differing not at all or by
.35, .7, 1.2 on the logit scale, with true shares of .1 to .9, at the smallest numbers for which a table claims an
interval; asks the functions that tables ask; and counts. Each interval shall hold the truth in 93 % or more of the
samples for which it is claimed, miss it on one side in 6 % at most, and hold it in over 98 % only where nothing differs
or values are discrete, which is printed. p shall be at most .05 in 7 % at most where nothing differs. Otherwise it
exits with 1.

The seeds are stored: the same numbers come out on the same machine. Variants *as published* are printed, not judged.
How a part of the bench is written: `bench/coverage_rows.py`.
"""

import argparse
import sys
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from importlib import import_module
from importlib.util import find_spec

from bench.coverage_rows import HEADS, RARELY, Coverage, Row, Setting

PARTS = (
    "bench.coverage_reviews",
    "bench.coverage_dishes",
    "bench.coverage_statistics",
    "bench.coverage_others",
    "bench.coverage_pvalues",
)


def settings(quick: bool, samples: int | None = None, only: str = "") -> list[tuple[str, Setting]]:
    """Everything to simulate, with the module that does it; `only` what has the word in its name."""
    found = []
    for part in PARTS:
        if find_spec(part) is not None:
            module = import_module(part)
            found += [(part, each) for each in module.settings(quick, samples) if only in f"{part} {each.name}"]
    return found


def run(job: tuple[str, Setting]) -> list[Row]:
    """The rows of one setting."""
    part, setting = job
    rows: list[Row] = import_module(part).run(setting)
    return rows


def measured(jobs: list[tuple[str, Setting]], processes: int) -> Iterator[Row]:
    """The rows of all of them, in their order."""
    if processes < 2:
        for job in jobs:
            yield from run(job)
        return
    with ProcessPoolExecutor(processes) as pool:
        for rows in pool.map(run, jobs, chunksize=1):
            yield from rows


def summary(rows: list[Row]) -> Iterator[str]:
    """One line for each kind: how many settings, from where to where it holds the truth."""
    kinds: dict[str, list[Coverage]] = defaultdict(list)
    for row in rows:
        if isinstance(row, Coverage) and row.claimed >= RARELY:
            kinds[row.kind].append(row)
    for kind, held in kinds.items():
        inside = [row.inside for row in held]
        side = max(max(row.below, row.above) for row in held)
        published = "; as published, not judged" if held[0].published else ""
        yield (
            f"{kind}: {len(held)} settings, holds the truth in {min(inside):.1%} to {max(inside):.1%}, "
            f"misses on one side in at most {side:.1%}{published}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--quick", action="store_true", help="few samples of few settings, in seconds; nothing is judged"
    )
    parser.add_argument("--samples", type=int, help="samples of each setting, 2,000 or more by default")
    parser.add_argument("--only", default="", help="settings with this word in their name")
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    rows, faults, kind = [], [], ""
    for row in measured(settings(options.quick, options.samples, options.only), options.processes):
        if row.kind != kind:
            kind = row.kind
            print(f"\n{kind}\n{HEADS}")
        rows.append(row)
        fault = "" if options.quick else row.fault
        print(row.line + (f"  MISSED: {fault}" if fault else ""), flush=True)
        if fault:
            faults.append(f"{kind}: {row.setting}: {fault}")
    print("\n" + "\n".join(summary(rows)))
    print(f"\n{len(rows)} rows, {len(faults)} bounds missed" + "".join(f"\n  {fault}" for fault in faults))
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
