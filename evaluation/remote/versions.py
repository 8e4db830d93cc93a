"""Which version of the project this is, and which versions of the libraries that models run on; nothing is imported."""

import platform
import re
from collections.abc import Mapping
from functools import cache
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
# What changes numbers of models.
LIBRARIES = ("torch", "transformers", "diffusers")
VERSION = re.compile(r'^version = "([^"]+)"', re.MULTILINE)
PIN = re.compile(r"^([\w.-]+)==(\S+)", re.MULTILINE)


@cache
def read_project_version() -> str:
    """The version in pyproject.toml; empty where the file is missing."""
    path = ROOT / "pyproject.toml"
    found = VERSION.search(path.read_text(encoding="utf-8")) if path.is_file() else None
    return found[1] if found else ""


@cache
def read_pinned_versions() -> Mapping[str, str]:
    """Library → the version that requirements-worker.txt pins."""
    path = ROOT / "requirements-worker.txt"
    pins = dict(PIN.findall(path.read_text(encoding="utf-8"))) if path.is_file() else {}
    return {name: pins[name] for name in LIBRARIES if name in pins}


@cache
def list_installed_versions() -> Mapping[str, str]:
    """Python and those of the libraries that are installed here, without the mark of a build (+cu130)."""
    found = {"python": platform.python_version()}
    for name in LIBRARIES:
        try:
            found[name] = metadata.version(name).partition("+")[0]
        except metadata.PackageNotFoundError:
            continue
    return found
