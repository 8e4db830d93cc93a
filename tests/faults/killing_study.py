"""Generation whose units take their time, and of which those of one dish kill the process that draws them."""

import os
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import ClassVar

from evaluation.contracts.backend import ImageGenerator
from evaluation.contracts.study import Result, Work
from evaluation.studies.generation import Generation

DEADLY_DISH = "Dish 7"


class Deadly(Generation):
    """`FAULT_PAUSE`: seconds that a unit takes beside its drawing. `FAULT_DEADLY`: the dish kills.

    `FAULT_KILLED_ONCE`: a file; where it is not there yet, the process is killed in the middle of a batch.
    """

    slug: ClassVar[str] = "deadly"

    def execute(self, units: Sequence[Work], backend: ImageGenerator) -> Iterator[Result]:
        for unit in units:
            if os.environ.get("FAULT_DEADLY") and unit.subject and unit.subject.name == DEADLY_DISH:
                os.kill(os.getpid(), signal.SIGKILL)
            time.sleep(float(os.environ.get("FAULT_PAUSE", "0")))
            yield from super().execute([unit], backend)
            if once := os.environ.get("FAULT_KILLED_ONCE"):
                kill_once(Path(once))


def kill_once(file: Path) -> None:
    """Ends this process without a word; later ones live on."""
    with suppress(FileExistsError):
        file.touch(exist_ok=False)
        os.kill(os.getpid(), signal.SIGKILL)
