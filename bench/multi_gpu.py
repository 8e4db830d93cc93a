"""Runs the same measurement on several cards at once: one process for each, started together, the cores shared out."""

import multiprocessing
import os
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.synchronize import Barrier
from typing import Any

Task = Callable[[Callable[[], None], dict[str, Any]], tuple[int, float]]


@dataclass(frozen=True)
class Share:
    """What one process of `count` takes part in."""

    number: int
    count: int
    cores: tuple[int, ...]


def card() -> str:
    import torch

    return torch.cuda.get_device_name() if torch.cuda.is_available() else "no card, the processor"


def about() -> str:
    """The line that is above the figures: card, cores, versions."""
    import torch
    import transformers

    cores = len(os.sched_getaffinity(0))
    return f"{card()}, {cores} cores, torch {torch.__version__}, transformers {transformers.__version__}"


def over_cards(count: int, task: Task, arguments: dict[str, Any]) -> float:
    """Items per second of `count` processes together: all items ÷ the time of the slowest. One process: in this one."""
    if count == 1:
        items, seconds = task(lambda: None, arguments)
        return items / seconds
    context = multiprocessing.get_context("spawn")
    barrier, results = context.Barrier(count), context.Queue()
    cores = sorted(os.sched_getaffinity(0))
    processes = []
    before = os.environ.get("CUDA_VISIBLE_DEVICES")
    for number in range(count):
        share = Share(number, count, tuple(cores[number * len(cores) // count : (number + 1) * len(cores) // count]))
        # Read by the child when it first asks for a card.
        os.environ["CUDA_VISIBLE_DEVICES"] = str(number)
        processes.append(context.Process(target=take_part, args=(share, barrier, results, task, arguments)))
        processes[-1].start()
    os.environ.pop("CUDA_VISIBLE_DEVICES") if before is None else os.environ.update(CUDA_VISIBLE_DEVICES=before)
    found = [results.get(timeout=500) for _ in processes]
    for process in processes:
        process.join()
    return sum(items for items, _ in found) / max(seconds for _, seconds in found)


def take_part(share: Share, barrier: Barrier, results: Any, task: Task, arguments: dict[str, Any]) -> None:
    os.sched_setaffinity(0, share.cores)
    results.put(task(lambda: void(barrier.wait(timeout=400)), arguments))


def void(_: object) -> None:
    """For callers that want nothing back."""
