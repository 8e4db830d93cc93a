"""How weights are loaded and where they run: one revision, safetensors only, no code from elsewhere."""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from evaluation.backends.base import BackendError, OutOfMemory
from evaluation.names import unknown
from evaluation.studies.base import ModelData

PRECISIONS = {"fp32": "float32", "bf16": "bfloat16", "fp16": "float16"}
COMMIT = re.compile(r"[0-9a-f]{40}")


def device() -> str:
    """The card where there is one, else the processor."""
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"


def precision_of(model: ModelData) -> str:
    """What the model row says, fp32 where it says nothing: it belongs to the definition, so no machine decides it."""
    given = str(model.parameters.get("precision", "fp32"))
    if given not in PRECISIONS:
        raise BackendError(f"{model.slug}: {unknown('precision named', given, PRECISIONS)}")
    return given


def dtype_of(precision: str) -> Any:
    import torch

    return getattr(torch, PRECISIONS[precision])


def source_of(model: ModelData) -> dict[str, Any]:
    """Where every `from_pretrained` loads from. Raises BackendError where the weights could change."""
    if model.identifier and Path(model.identifier).is_dir():
        return {"local_files_only": True, "trust_remote_code": False}
    if not COMMIT.fullmatch(model.revision):
        raise BackendError(
            f"{model.slug}: the revision of {model.identifier} is not a commit of 40 hexadecimal digits. "
            "Names of branches move, and results would not say which weights made them."
        )
    return {"revision": model.revision, "trust_remote_code": False}


def pretrained(model: ModelData, kind: Any, precision: str, *, spread: bool = False) -> Any:
    """The model of class `kind` with its weights, ready to be asked; `spread`: over all cards. Raises BackendError."""
    with loading(model):
        given = {**source_of(model), "use_safetensors": True, "dtype": dtype_of(precision)}
        if spread and device() == "cuda":
            return kind.from_pretrained(model.identifier, **given, device_map="auto").eval()
        return kind.from_pretrained(model.identifier, **given).to(device()).eval()


def side_file(model: ModelData, name: str) -> str:
    """The text under the key of its own name in a small JSON file beside the weights; empty where there is none."""
    from transformers.utils import cached_file

    source = {key: value for key, value in source_of(model).items() if key != "trust_remote_code"}
    found = cached_file(model.identifier, name, _raise_exceptions_for_missing_entries=False, **source)
    if found is None:
        return ""
    held = json.loads(Path(found).read_text(encoding="utf-8"))
    return str(held.get(Path(name).stem, "")) if isinstance(held, dict) else ""


@contextmanager
def loading(model: ModelData) -> Iterator[None]:
    """Whatever goes wrong while loading pauses the run: it concerns no single unit."""
    try:
        with memory():
            yield
    except (OSError, ValueError, KeyError, OutOfMemory) as error:
        raise BackendError(f"{model.slug} could not be loaded from {model.identifier}: {error}") from error


@contextmanager
def memory() -> Iterator[None]:
    """Says in the project's words that the card's memory did not suffice, and frees what was half-made."""
    import torch

    try:
        yield
    except torch.OutOfMemoryError as error:
        torch.cuda.empty_cache()
        raise OutOfMemory(str(error).partition(".")[0]) from error


def circumstances(precision: str) -> Mapping[str, Any]:
    """What every result of this process was made with."""
    import torch
    import transformers

    card = torch.cuda.get_device_name() if device() == "cuda" else "processor"
    return {
        "precision": precision,
        "card": card,
        "torch": torch.__version__,
        "transformers": transformers.__version__,
    }
