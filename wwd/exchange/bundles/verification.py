"""A bundle is tried before it is handed out: unpacked somewhere else, computed by its own script and its own code."""

import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from wwd.exchange.bundles.snapshot import open_temporary_folder

SECONDS = 2400
BEAT = 60


@dataclass(frozen=True)
class Verdict:
    """`lines`: what the script said of each table; `trouble`: its last words where it ended otherwise."""

    equal: bool
    lines: tuple[str, ...]
    trouble: str = ""


def verify_bundle(path: Path, beat: Callable[[], None] = lambda: None) -> Verdict:
    """Recomputes the tables of the bundle at `path` in a process of its own that opens no connection.

    `beat` is called every minute meanwhile, and may raise.
    """
    with open_temporary_folder() as folder:
        with zipfile.ZipFile(path) as packed:
            packed.extractall(folder)
        script = next(folder.glob("*/recompute.py"))
        kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        # Matplotlib and others look for a home; what they leave there goes with the folder.
        environment = {**kept, "HOME": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
        running = subprocess.Popen(
            [sys.executable, script.name],
            cwd=script.parent,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        return verdict_of(running, beat)


def verdict_of(running: "subprocess.Popen[str]", beat: Callable[[], None]) -> Verdict:
    """Waits for the script, heard of now and then; one that takes too long, or that nobody waits for, is ended."""
    try:
        for _turn in range(SECONDS // BEAT):
            beat()
            try:
                out, errors = running.communicate(timeout=BEAT)
            except subprocess.TimeoutExpired:
                continue
            lines = tuple(line for line in out.splitlines() if line)
            trouble = "" if running.returncode == 0 else (errors.strip().splitlines() or [""])[-1]
            return Verdict(running.returncode == 0, lines, trouble)
        return Verdict(False, (), f"It took longer than {SECONDS} seconds.")
    finally:
        running.kill()
        running.wait()
