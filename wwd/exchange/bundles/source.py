"""The code that computed the tables: its files, the commit that they are of, and the versions that it ran with."""

import platform
import subprocess
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings

from wwd.base.packages import PACKAGES

ROOT = Path(settings.BASE_DIR)
ENDINGS = (".py", ".json", ".tsv", ".csv", ".txt")
LOCKS = ("requirements.txt", "requirements-worker.txt")
# The licence of the code, and the terms of the data of others that lies between it.
LICENCES = ("LICENSE", "NOTICE")


def list_source_files() -> Iterator[tuple[str, Path]]:
    """Name and path of every file that computing a table may need, in one order."""
    yield "manage.py", ROOT / "manage.py"
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*")):
            if path.is_file() and path.suffix in ENDINGS and "__pycache__" not in path.parts:
                yield path.relative_to(ROOT).as_posix(), path


def describe_commit() -> dict[str, str | bool]:
    """`commit`: 40 hexadecimal digits, or empty where nobody knows; `changed`: the files differ from it."""
    if settings.COMMIT:
        return {"commit": settings.COMMIT, "changed": False}
    head = _git("rev-parse", "HEAD")
    if not head:
        return {"commit": "", "changed": False}
    return {"commit": head, "changed": bool(_git("status", "--porcelain", "--", *PACKAGES, *LOCKS))}


def _git(*arguments: str) -> str:
    """What git says about the project; empty where there is no git, or no checkout of ours."""
    if not (ROOT / ".git").exists():
        return ""
    try:
        done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True, timeout=30)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()


def get_python_versions() -> dict[str, str]:
    """What computed the tables beside the pinned packages."""
    return {"python": platform.python_version(), "machine": platform.machine(), "system": platform.system()}
