"""Where weights lie that were fetched before, laid out as the Hub's own client expects it, and their checksums.

A cache is one folder that several hosts may share, for workers read-only. Each revision of a model has a folder, and
beside it a manifest with size and SHA-256 of every file. The manifest is written last: without it nothing is whole.
"""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from django.conf import settings

from evaluation.contracts.study import ModelData

CHUNK = 4 * 1024 * 1024


@dataclass(frozen=True)
class HeldFile:
    """A file of a model: its path within the model's folder, bytes, and SHA-256 in hexadecimal digits."""

    path: str
    size: int
    sha256: str


def folder_of(identifier: str, revision: str) -> Path:
    """The folder of one revision of a model, whether it is there or not."""
    return repository_of(identifier) / "snapshots" / revision


def repository_of(identifier: str) -> Path:
    return Path(settings.WEIGHTS_FOLDER) / f"models--{identifier.replace('/', '--')}"


def manifest_path(identifier: str, revision: str) -> Path:
    return repository_of(identifier) / "manifests" / f"{revision}.json"


def read_manifest(identifier: str, revision: str) -> list[HeldFile]:
    """The files of a model that was fetched whole; none where it was not, or by something else."""
    try:
        rows = json.loads(manifest_path(identifier, revision).read_text("utf-8"))["files"]
        return [HeldFile(str(row["path"]), int(row["size"]), str(row["sha256"])) for row in rows]
    except (OSError, ValueError, LookupError, TypeError):
        return []


def describe_manifest(files: Iterator[HeldFile] | list[HeldFile], source: str) -> Mapping[str, Any]:
    return {"source": source, "files": [asdict(each) for each in files]}


def hash_file(path: Path) -> str:
    """SHA-256 of a file. Raises OSError."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def list_wrong_files(folder: Path, files: list[HeldFile], *, hashes: bool) -> list[str]:
    """A sentence for each file that is missing or of another size or, with `hashes`, content."""
    found = []
    for each in files:
        path = folder / each.path
        if not path.is_file():
            found.append(f"{each.path} is missing.")
        elif path.stat().st_size != each.size:
            found.append(f"{each.path} has {path.stat().st_size} bytes instead of {each.size}.")
        elif hashes and hash_file(path) != each.sha256:
            found.append(f"{each.path} has another checksum than when it was fetched: fetch it again.")
    return found


def is_here(identifier: str, revision: str) -> bool:
    """Whether this machine sees files of the model: fetched whole, or put there by another client."""
    folder = folder_of(identifier, revision)
    return any((folder / name).is_file() for name in ("config.json", "model_index.json"))


def describe_absent(model: ModelData) -> str:
    """What to do about a model of which nothing is on this machine."""
    return (
        f"Nothing of {model.identifier} {model.revision} is on this machine yet. "
        f"'manage.py models fetch {model.slug}' fetches it."
    )


def go_offline() -> None:
    """Keeps the Hub's client from the network in this process, unless a setting permits it. Before it is loaded."""
    if not settings.FETCH_WEIGHTS:
        os.environ.setdefault("HF_HUB_OFFLINE", "1")
