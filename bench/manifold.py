"""Precision, recall, density and coverage of feature sets beside `prdc`, in time and memory, in the same run.

    python -m bench.manifold [--n 20000] [--width 2048] [--draws 20] [--quick]

Every line is measured in a process of its own that runs on two cores. Peaks are those of the whole process, the vectors
(float32, as extractors give them) and the interpreter included. Ratios are to be read, since the seconds depend on the
machine: `prdc` ÷ ours in time and memory, the time per doubling of n up to twice `--n`, the draws ÷ one draw, and with
a card the time on two cores ÷ that on the card. `--quick` takes 2,000 vectors of 256 numbers, in seconds.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from evaluation.metrics.feature_sets.manifold import draw_manifold_metrics, manifold_metrics, median_of_draws
from evaluation.metrics.feature_sets.points import ArrayBounds

K = 3
CORES = 2
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
MEASURES = ("precision", "recall", "density", "coverage")


def make_sets(n: int, width: int) -> tuple[Any, Any]:
    """Photographs in 200 clusters, and generated images that miss some of them and vary less."""
    random = np.random.default_rng(16)
    centres = random.standard_normal((200, width), dtype=np.float32)
    real = random.standard_normal((n, width), dtype=np.float32)
    real += centres[random.integers(0, 200, n)]
    made = random.standard_normal((n, width), dtype=np.float32)
    made *= np.float32(0.99)
    made += centres[random.integers(0, 150, n)]
    return real, made


def measure(what: str, n: int, width: int, draws: int) -> dict[str, Any]:
    """Run in a process of its own: seconds, peak in MB, and the four measures."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:CORES])
    real, made = make_sets(n, width)
    started = time.perf_counter()
    if what == "prdc":
        from prdc import compute_prdc

        started = time.perf_counter()
        found = compute_prdc(real, made, nearest_k=K)
    elif what == "draws":
        found = asdict(median_of_draws(draw_manifold_metrics(real, made, n // 2, K, draws)))
    elif what == "few of many":
        found = asdict(median_of_draws(draw_manifold_metrics(real, made, 3 * n // 10, K, draws)))
    elif what == "card":
        from evaluation.backends.torch_bounds import choose_device

        device = choose_device("cuda")
        manifold_metrics(real[:100], made[:100], K, device)
        started = time.perf_counter()
        found = asdict(manifold_metrics(real, made, K, device))
    else:
        found = asdict(manifold_metrics(real, made, K, ArrayBounds))
    seconds = time.perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    return {"seconds": seconds, "peak": peak, **{name: float(found[name]) for name in MEASURES}}


def run(what: str, n: int, width: int, draws: int = 0) -> dict[str, Any]:
    """The same, from outside; prints its line."""
    command = [sys.executable, "-m", "bench.manifold", "--child", what]
    command += ["--n", str(n), "--width", str(width), "--draws", str(draws)]
    environment = {**os.environ, **{name: str(CORES) for name in THREADS}}
    done = subprocess.run(
        command, env=environment, cwd=Path(__file__).resolve().parent.parent, stdout=subprocess.PIPE, check=True
    )
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    values = "  ".join(f"{name} {found[name]:.4f}" for name in MEASURES)
    print(f"{what:12} n = {n:6,}  {found['seconds']:7.1f} s  peak {found['peak']:7,.0f} MB  {values}", flush=True)
    return found


def has_card() -> bool:
    try:
        import torch
    except ImportError:
        return False
    return torch.cuda.is_available()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int)
    parser.add_argument("--width", type=int)
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    options = parser.parse_args()
    n, width = options.n or (2000 if options.quick else 20_000), options.width or (256 if options.quick else 2048)
    if options.child:
        print(json.dumps(measure(options.child, n, width, options.draws)))
        return
    load = os.getloadavg()[0]
    print(
        f"{width:,} numbers a vector, k = {K}, {CORES} of {os.cpu_count()} cores; others' load at the start {load:.1f}"
    )
    ours = {size: run("ours", size, width) for size in (n // 4, n // 2, n, 2 * n)}
    theirs = run("prdc", n, width)
    same = all(abs(ours[n][name] - theirs[name]) < 1e-9 for name in MEASURES)
    print(
        f"prdc ÷ ours: time {theirs['seconds'] / ours[n]['seconds']:.1f}, peak {theirs['peak'] / ours[n]['peak']:.1f}",
        end="",
    )
    print("; all four measures equal" if same else "; measures differ: prdc's distances are rounded to float32")
    sizes = list(ours)
    for small, large in pairwise(sizes):
        times = ours[large]["seconds"] / ours[small]["seconds"]
        more = 1e3 * (ours[large]["peak"] - ours[small]["peak"]) / (large - small)
        print(f"{small:,} → {large:,}: time × {times:.2f}; {more:.1f} KB more for each photograph and image")
    # One draw is one measurement of as many points.
    drawn = run("draws", n, width, options.draws)
    print(f"{options.draws} draws of half ÷ one of them: {drawn['seconds'] / ours[n // 2]['seconds']:.1f}", end="")
    print(f"; ÷ all points once: {drawn['seconds'] / ours[n]['seconds']:.1f}")
    few = run("few of many", n, width, options.draws)
    print(f"{options.draws} draws of 30 % ÷ all points once: {few['seconds'] / ours[n]['seconds']:.1f}")
    if has_card():
        card = run("card", n, width)
        print(f"two cores ÷ card: {ours[n]['seconds'] / card['seconds']:.1f}")


if __name__ == "__main__":
    main()
