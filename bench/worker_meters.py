"""What a measurement takes beside time: memory of this host's processes, and the share of the time that cards work."""

import os
import shutil
import subprocess
import threading
import time
from pathlib import Path

PAGE = os.sysconf("SC_PAGE_SIZE")


class Meter:
    """Watches this process while a block runs. `seconds`; `most`, `above`: bytes at most, and beyond those before.

    `card`: the share of the time in which cards computed, as their driver says; None where there is none to ask.
    """

    def __init__(self) -> None:
        self.seconds, self.most, self.above = 0.0, 0, 0
        self.card: float | None = None
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.watch, daemon=True)

    def __enter__(self) -> "Meter":
        self.before = resident_bytes()
        tool = shutil.which("nvidia-smi")
        asked = ["--query-gpu=utilization.gpu", "--format=csv,noheader,nounits", "-lms", "200"]
        self.asking = subprocess.Popen([tool, *asked], stdout=subprocess.PIPE, text=True) if tool else None
        self.thread.start()
        self.started = time.perf_counter()
        return self

    def __exit__(self, *_: object) -> None:
        self.seconds = time.perf_counter() - self.started
        self.ended.set()
        self.thread.join()
        self.above = max(0, self.most - self.before)
        if self.asking:
            self.asking.terminate()
            lines = (self.asking.communicate()[0] or "").split()
            found = [int(line) for line in lines if line.isdecimal()]
            self.card = sum(found) / 100 / len(found) if found else None

    def watch(self) -> None:
        while not self.ended.wait(0.02):
            self.most = max(self.most, resident_bytes())


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE
