"""What association after generation costs where the images are handed on in memory, for `bench.worker --only chain`.

Once in the shape of Stable Diffusion 2.1: how much longer the chain takes than generation alone. And once with images
that are ready, pixels and files: how many of them a second are encoded and stored, from memory and from their files.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from bench import worker_models, worker_storage
from bench.worker_part import (
    PER_DISH,
    Association,
    Generation,
    check_done,
    draw_png,
    forget_copies,
    iterate_pngs,
    make_dishes,
    print_line,
)

WANTED_ADDED = 0.15
WANTED_TIMES = 3


class Stopwatch:
    """Adds up the seconds of calls that were put under it."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def watch(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def watched(*given: Any, **named: Any) -> Any:
            started = time.perf_counter()
            try:
                return call(*given, **named)
            finally:
                self.seconds += time.perf_counter() - started

        return watched


@contextmanager
def watch_handover() -> Iterator[Stopwatch]:
    """Adds up what encoding in memory takes, storing its vectors, and planning the run that follows."""
    from evaluation.runner import chains, handover, storing

    found = Stopwatch()
    places: list[tuple[Any, str]] = [
        (handover, "encode_drawn"),
        (storing, "store_encoded"),
        (chains, "plan_one"),
        (chains, "list_waiting_encoders"),
    ]
    before = [getattr(module, name) for module, name in places]
    for (module, name), call in zip(places, before, strict=True):
        setattr(module, name, found.watch(call))
    try:
        yield found
    finally:
        for (module, name), call in zip(places, before, strict=True):
            setattr(module, name, call)


def work_through(run: Any) -> float:
    """Seconds in which this process works through a run."""
    started = time.perf_counter()
    find_run = worker_models.find_first(worker_models.PROCESS_RUN)
    find_run(run.pk, "bench", seconds=1e9)
    seconds = time.perf_counter() - started
    check_done(run)
    return seconds


def follow(config: dict[str, Any]) -> tuple[Any, Any]:
    from evaluation.runner import create_chain

    return tuple(
        create_chain([("generation", config), ("association", {"images": "@generation", "encoder": "bench-encoder"})])
    )  # type: ignore[return-value]


def measure_drawn(given: dict[str, Any], latency: int) -> None:
    """Generation alone, and generation with association behind it."""
    case = Generation(given)
    alone = work_through(case.plan(f"chain-alone-{latency}"))
    forget_copies()
    first, second = follow(case.config())
    chained = work_through(first) + work_through(second)
    print_line(
        case="chain",
        text=f"\nchain, {latency} ms a read, {case.count} images: generation alone {alone:.2f} s, with association "
        f"{chained:.2f} s, {chained / alone - 1:+.1%} (wanted at most +{WANTED_ADDED:.0%} on a card)",
    )


def measure_ready(given: dict[str, Any], latency: int) -> None:
    """Association of images that are ready: from memory, and from their files."""
    backend, case = worker_models.held["bench-ready"], Generation(given)
    case.count = given["counts"]["ready"]
    rates = {}
    for way in ("memory", "files"):
        forget_copies()
        if way == "memory":
            first, second = follow(case.config("bench-ready"))
            with watch_handover() as watch:
                work_through(first)
            seconds = watch.seconds + work_through(second)
        else:
            first = worker_models.find_first(worker_models.CREATE_RUN)("generation", case.config("bench-ready"))
            work_through(first)
            forget_copies()
            started = time.perf_counter()
            config = {"images": first.slug, "encoder": "bench-encoder"}
            second = worker_models.find_first(worker_models.CREATE_RUN)("association", config)
            seconds = time.perf_counter() - started + work_through(second)
        rates[way] = second.units.filter(payload__has_key="image").count() / seconds
    assert len(backend.contents)
    print_line(
        case="chain",
        text=f"chain, {latency} ms a read, ready images: association {rates['memory']:,.0f} images/s from memory, "
        f"{rates['files']:,.0f} the long way, {rates['memory'] / rates['files']:.1f} × (wanted {WANTED_TIMES} ×)",
    )


def measure_chain(given: dict[str, Any]) -> None:
    """All of it at each latency."""
    from evaluation.models import Model

    worker_storage.SECONDS[0] = 0.0
    count = given["counts"]["ready"]
    Association(given).warm_up()
    Generation(given).warm_up()
    make_dishes(max(count, given["counts"]["generation"]) // PER_DISH)
    model = worker_models.find_first(worker_models.MODEL_DATA)(Model.objects.get(slug="bench-ready"))
    ready = worker_models.load_generator(model)
    ready.contents = list(iterate_pngs(count, given["side"]))
    ready.pixels = decode_distinct(given["side"], count)
    for latency in given["latencies"]:
        worker_storage.SECONDS[0] = latency / 1000
        measure_drawn(given, latency)
        measure_ready(given, latency)
    worker_storage.SECONDS[0] = 0.0


def decode_distinct(side: int, count: int) -> list[Any]:
    """The pixels of `iterate_pngs`, those of equal images as one array."""
    from bench.worker_part import DISTINCT
    from evaluation.readers.image_decode import decode_pixels

    drawn = [np.ascontiguousarray(decode_pixels(draw_png(number, side))) for number in range(min(DISTINCT, count))]
    return [drawn[number % len(drawn)] for number in range(count)]
