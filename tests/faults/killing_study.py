"""Generation whose units take their time, and of which those of one dish kill the process that draws them."""

import os
import signal
import time
from collections.abc import Iterator, Sequence
from typing import ClassVar

from evaluation.contracts.backend import ImageGenerator
from evaluation.contracts.study import Result, Work
from evaluation.studies.generation import Generation

DEADLY_DISH = "Dish 7"


class Deadly(Generation):
    """`FAULT_PAUSE`: seconds that a unit takes beside its drawing. `FAULT_DEADLY`: the dish kills."""

    slug: ClassVar[str] = "deadly"

    def execute(self, units: Sequence[Work], backend: ImageGenerator) -> Iterator[Result]:
        for unit in units:
            if os.environ.get("FAULT_DEADLY") and unit.subject and unit.subject.name == DEADLY_DISH:
                os.kill(os.getpid(), signal.SIGKILL)
            time.sleep(float(os.environ.get("FAULT_PAUSE", "0")))
            yield from super().execute([unit], backend)
