"""`python -m bench.coverage`: its quick run, and that its rows say what they should."""

import subprocess
import sys
from pathlib import Path

from bench.coverage import PARTS, settings, summary
from bench.coverage_rows import Coverage, SmallP
from evaluation.metrics.inference import intervals

ROOT = Path(__file__).resolve().parents[3]


def test_the_quick_run_simulates_every_kind_of_interval_in_seconds() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "bench.coverage", "--quick", "--samples", "10", "--processes", "1"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    for kind in ("reviews", "share", "amount", "statistic: kappa", "rank correlation"):
        assert f"\n{kind}\n" in done.stdout
    assert " 0 bounds missed" in done.stdout


def test_the_long_run_holds_every_row_that_a_method_names() -> None:
    named = {name for _part, setting in settings(quick=False) for name in [setting.name.split()[0]]}
    assert {"reviews", "shares", "ends", "amounts", "counts", "scores", "differences", "people", "alpha"} <= named
    assert {"machine", "rho", "nearest", "wilson"} <= named
    assert {intervals.row_of(bounds) for bounds in (None, (0, 1), (-1, 1), intervals.AMOUNT)} == {
        "score",
        "share",
        "difference",
        "amount",
    }
    assert "bench.coverage_pvalues" in PARTS


def row(below: float, above: float, **more: object) -> Coverage:
    return Coverage("kind", "setting", 2000, **{"claimed": 1.0, "width": 0.1, **more}, below=below, above=above)  # type: ignore[arg-type]


def test_a_bound_that_is_missed_is_named() -> None:
    assert "under 93%" in row(0.04, 0.04).fault
    assert "on one side" in row(0.065, 0.0).fault
    assert "over 98%" in row(0.01, 0.0).fault
    assert not row(0.01, 0.0, loose="nothing differs").fault
    assert not row(0.5, 0.5, published=True).fault
    assert not row(0.5, 0.5, claimed=0.01).fault
    assert not row(0.03, 0.03).fault
    assert "over 7%" in SmallP("kind", "setting", 2000, 1.0, 0.08).fault
    assert list(summary([row(0.03, 0.03), row(0.02, 0.01)])) == [
        "kind: 2 settings, holds the truth in 94.0% to 97.0%, misses on one side in at most 3.0%"
    ]
