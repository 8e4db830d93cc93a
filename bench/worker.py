"""How much of a model's own speed is left once a worker is around it: the runner against the backend alone, in one run.

    python -m bench.worker --latency 0 30 [--gpus 1] [--quick] [--only association generation stereotypes chain]
    python -m bench.worker --tiny --latency 30 --baseline /path/to/another/checkout

The whole way: a lease, images from a storage that takes so many milliseconds a read (three times as long a write),
the model, files and rows stored. Latency 0 is a disk of this host. Random weights in the shapes of CLIP ViT-B/32,
Stable Diffusion 2.1 and LLaVA-NeXT 7B: speed does not depend on their values. Rows lie in SQLite. `--baseline` puts a
checkout of another commit through the same. `--tiny`: models of a few thousand weights, for machines without a card.
"""

import argparse
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from bench.multi_gpu import about

ROOT = Path(__file__).resolve().parent.parent
ONLY = ("association", "generation", "stereotypes", "chain")
# Share of the backend's own rate that is wanted of one card: without latency, with.
WANTED = {"association": (0.80, 0.75), "generation": (0.93, 0.90), "stereotypes": (0.90, 0.90)}
WANTED_BASELINE = 5
FULL = {"association": 4096, "generation": 160, "stereotypes": 40, "ready": 2048}
QUICK = {"association": 1024, "generation": 80, "stereotypes": 16, "ready": 512}
TINY = {"association": 200, "generation": 40, "stereotypes": 4, "ready": 200}


def save_models(folder: Path, tiny: bool, only: list[str]) -> None:
    """Random weights that the measurements load as a worker does."""
    from bench import clip_throughput, generation_throughput
    from tests.evaluation import tiny_models

    for name in ("encoder", "generator", "answerer"):
        (folder / name).mkdir()
    # The large one of 7 billion weights is made on the card, where it is asked; its row needs a folder with weights.
    tiny_models.save_llava(folder / "answerer")
    if tiny:
        tiny_models.save_clip(folder / "encoder")
        tiny_models.save_stable_diffusion(folder / "generator")
        return
    if {"association", "chain"} & set(only):
        clip_throughput.save_model(folder / "encoder")
    if {"generation", "chain"} & set(only):
        generation_throughput.save_model(folder / "generator", small=False)


def describe_models(folder: Path, tiny: bool) -> dict[str, Any]:
    """Identifier and parameters of each."""
    queue = {"queue": "cpu" if tiny else "gpu"}
    half = "fp32" if tiny else "fp16"
    drawn = {"steps": 2 if tiny else 20, "guidance": 7.5, "size": 32 if tiny else 512, "at_once": 16}
    encoder = {"precision": "fp32" if tiny else "bf16", "at_once": 64 if tiny else 256}
    return {
        "encoder": {"identifier": str(folder / "encoder"), "parameters": {**queue, **encoder}},
        "generator": {
            "identifier": str(folder / "generator"),
            "parameters": {**queue, **drawn, "precision": half},
        },
        "ready": {"identifier": str(folder / "generator"), "parameters": {**queue, **drawn, "precision": half}},
        "answerer": {
            "identifier": str(folder / "answerer"),
            "parameters": {**queue, "precision": "fp32" if tiny else "bf16", "most_new_tokens": 8},
        },
    }


def measure(checkout: Path, folder: Path, options: argparse.Namespace, *, baseline: bool) -> list[dict[str, Any]]:
    """What `bench.worker_part` prints about the project in this checkout; this folder's benchmark measures both."""
    place = folder / ("baseline" if baseline else "present")
    place.mkdir()
    (place / "bench").symlink_to(ROOT / "bench")
    counts = TINY if options.tiny else QUICK if options.quick else FULL
    told = {
        "counts": counts,
        "latencies": options.latency,
        "gpus": 1 if baseline else options.gpus,
        "only": options.only,
        "baseline": baseline,
        "tiny": options.tiny,
        "side": 64 if options.tiny else 512,
        "warm": 1 if options.tiny else 64,
        "at_once": 16,
        "models": describe_models(folder, options.tiny),
    }
    dropped = ("DATABASE_URL", "REDIS_URL", "GS_BUCKET_NAME")
    environ = {name: value for name, value in os.environ.items() if name not in dropped and name[:4] != "WWD_"}
    environ |= {
        "BENCH_WORKER": json.dumps(told),
        "DJANGO_SETTINGS_MODULE": "wwd.settings",
        "PYTHONPATH": os.pathsep.join([str(place), str(checkout), *filter(None, [os.environ.get("PYTHONPATH", "")])]),
        "WWD_VAR_DIR": str(place / "var"),
        "WWD_LOG_LEVEL": "warning",
    }
    part = subprocess.Popen(
        [sys.executable, "-m", "bench.worker_part"], cwd=place, env=environ, stdout=subprocess.PIPE, text=True
    )
    assert part.stdout
    found = []
    for line in part.stdout:
        if line.startswith("{"):
            found.append(json.loads(line))
            print(line.strip(), flush=True)
    if part.wait():
        sys.exit(f"The measurement in {checkout} failed: see above.")
    return found


def report_case(name: str, lines: list[dict[str, Any]], before: list[dict[str, Any]]) -> None:
    of_case = [line for line in lines if line["case"] == name]
    [alone] = [line for line in of_case if line["way"] == "alone"]
    print(f"\n{name}: backend alone {alone['rate']:,.1f} {alone['items']}/s{say_card(alone)}")
    single: dict[int, float] = {}
    for line in (line for line in of_case if line["way"] == "runner"):
        latency, cards, rate = line["latency"], line["cards"], line["rate"]
        single.setdefault(latency, rate)
        wanted = WANTED[name][1 if latency else 0]
        text = f"  runner, {latency} ms a read: {rate:9,.1f} {line['items']}/s"
        if cards > 1:
            text += f" on {cards} cards, {rate / single[latency]:.2f} × one card (wanted {0.9 * cards:.1f})"
        else:
            text += f", {rate / alone['rate']:6.1%} of the backend alone (wanted {wanted:.0%} on a card)"
        text += f"; host memory {line['most'] / 1e9:.2f} GB, {line['above'] / 1e9:.2f} GB of it new{say_card(line)}"
        print(text)
        for old in before:
            if (old["case"], old["way"], old["latency"], cards) == (name, "runner", latency, 1):
                times = rate / old["rate"]
                print(f"    baseline {old['rate']:9,.1f}/s: {times:.1f} × (wanted {WANTED_BASELINE} × at 30 ms)")


def say_card(line: dict[str, Any]) -> str:
    return f"; card busy {line['card']:.0%} of the time" if line["card"] is not None else ""


def report_chain(lines: list[dict[str, Any]]) -> None:
    for line in lines:
        if line["case"] == "chain":
            print(line["text"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--latency", type=int, nargs="+", default=[0, 30], help="milliseconds a read of the storage")
    parser.add_argument("--gpus", type=int, default=1, help="also with so many cards, a process each")
    parser.add_argument("--baseline", type=Path, help="a checkout of another commit, measured too")
    parser.add_argument("--quick", action="store_true", help="fewer images")
    parser.add_argument("--tiny", action="store_true", help="tiny models and images: no card is needed")
    parser.add_argument("--only", nargs="+", default=list(ONLY), choices=ONLY)
    options = parser.parse_args()
    print(about(), flush=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        # In a process of its own: what it made on a card is let go of.
        maker = multiprocessing.get_context("spawn").Process(
            target=save_models, args=(folder, options.tiny, options.only)
        )
        maker.start()
        maker.join()
        before = measure(options.baseline.resolve(), folder, options, baseline=True) if options.baseline else []
        lines = measure(ROOT, folder, options, baseline=False)
    for case in options.only:
        if case in WANTED:
            report_case(case, lines, before)
    report_chain(lines)


if __name__ == "__main__":
    main()
