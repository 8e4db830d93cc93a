"""A bundle is tried before it is handed out: unpacked somewhere else, computed by its own script and its own code."""

import os
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

SECONDS = 2400


@dataclass(frozen=True)
class Verdict:
    """`lines`: what the script said of each table; `trouble`: its last words where it ended otherwise."""

    equal: bool
    lines: tuple[str, ...]
    trouble: str = ""


def verify(path: Path) -> Verdict:
    """Recomputes the tables of the bundle at `path` in a process of its own that opens no connection."""
    with tempfile.TemporaryDirectory() as folder:
        with zipfile.ZipFile(path) as packed:
            packed.extractall(folder)
        script = next(Path(folder).glob("*/recompute.py"))
        kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        # Matplotlib and others look for a home; what they leave there goes with the folder.
        environment = {**kept, "HOME": folder, "PYTHONDONTWRITEBYTECODE": "1"}
        try:
            done = subprocess.run(
                [sys.executable, script.name],
                cwd=script.parent,
                env=environment,
                capture_output=True,
                text=True,
                timeout=SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return Verdict(False, (), f"It took longer than {SECONDS} seconds.")
    lines = tuple(line for line in done.stdout.splitlines() if line)
    trouble = "" if done.returncode == 0 else (done.stderr.strip().splitlines() or [""])[-1]
    return Verdict(done.returncode == 0, lines, trouble)
