"""Makes `.venv` with the packages of one requirements file, then becomes the script to run in it.

    python bootstrap.py REQUIREMENTS SCRIPT [ARGUMENT …]

Only the standard library is used. What was installed is remembered by a hash, so a second run goes on at once.
"""

import hashlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

BASE = Path(__file__).resolve().parent.parent
VENV = BASE / ".venv"
VENV_PYTHON = VENV / "bin" / "python"


def fingerprint(requirements: Path) -> str:
    """Hash of a requirements file, of those it names by `-r`, and of the interpreter's version."""
    text = requirements.read_text()
    named = [line[3:].strip() for line in text.splitlines() if line.startswith("-r ")]
    parts = [text, sys.version, *(fingerprint(requirements.parent / name) for name in named)]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def make_venv() -> None:
    made = subprocess.run([sys.executable, "-m", "venv", VENV], capture_output=True, text=True, check=False)
    if made.returncode:
        sys.exit(
            f"No virtual environment could be made in {VENV}. On Debian and Ubuntu, install python3-venv "
            f"and run this again. Python says: {(made.stderr or made.stdout).strip()}"
        )


def install(requirements: Path) -> None:
    """Brings `.venv` to what `requirements` says, unless it is there already."""
    mark = VENV / f"installed-{requirements.stem}"
    wanted = fingerprint(requirements)
    if VENV_PYTHON.exists() and mark.exists() and mark.read_text() == wanted:
        return
    started = time.monotonic()
    print(f"Installing the packages of {requirements.name} into .venv (about a minute the first time) …", flush=True)
    if not VENV_PYTHON.exists():
        make_venv()
    options = ["--quiet", "--disable-pip-version-check", "-r", str(requirements)]
    command = [str(VENV_PYTHON), "-m", "pip", "install", *options]
    if subprocess.run(command, check=False).returncode:
        sys.exit("The packages could not be installed: see above. Running this again goes on where it stopped.")
    mark.write_text(wanted)
    print(f"Installed in {time.monotonic() - started:.0f} s.", flush=True)


def main() -> None:
    # Turned into an exception, so that a running pip is ended too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    requirements, script, *arguments = sys.argv[1:]
    try:
        install(BASE / requirements)
    except KeyboardInterrupt:
        sys.exit(130)
    os.chdir(BASE)
    os.execv(VENV_PYTHON, [str(VENV_PYTHON), script, *arguments])  # noqa: S606  (no shell is wanted)


if __name__ == "__main__":
    main()
