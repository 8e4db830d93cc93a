"""How weights are loaded and where they run: one revision, safetensors only, no code from elsewhere."""

import json
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.conf import settings

from evaluation.contracts.backend import BackendError, DeviceMemoryError
from evaluation.contracts.parameters import COMMIT, source_problem
from evaluation.contracts.study import ModelData
from evaluation.suggestions import describe_unknown_name

PRECISIONS = {"fp32": "float32", "bf16": "bfloat16", "fp16": "float16"}
# Beyond so many families a sentence names the near ones instead of all.
MOST_NAMED = 24


def select_device() -> str:
    """The card where there is one, else the processor."""
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"


def dtype_of(precision: str) -> Any:
    import torch

    return getattr(torch, PRECISIONS[precision])


def source_of(model: ModelData) -> dict[str, Any]:
    """Where every `from_pretrained` loads from. Raises BackendError where the weights could change."""
    if is_folder(model):
        return {"local_files_only": True, "trust_remote_code": False}
    if not COMMIT.fullmatch(model.revision):
        raise BackendError(
            f"{model.slug}: {source_problem('clip', model.identifier, model.revision) or no_folder(model)}"
        )
    return {
        "revision": model.revision,
        "trust_remote_code": False,
        "cache_dir": str(settings.WEIGHTS_FOLDER),
        "local_files_only": not settings.FETCH_WEIGHTS,
    }


def is_folder(model: ModelData) -> bool:
    return bool(model.identifier) and Path(model.identifier).is_dir()


def no_folder(model: ModelData) -> str:
    return f"There is no folder {model.identifier} on this machine."


def load_pretrained_model(model: ModelData, kind: Any, precision: str, *, spread: bool = False) -> Any:
    """The model of class `kind` with its weights, ready to be asked; `spread`: over all cards. Raises BackendError."""
    with convert_loading_errors(model):
        given = {**source_of(model), "use_safetensors": True, "dtype": dtype_of(precision)}
        if spread and select_device() == "cuda":
            return kind.from_pretrained(model.identifier, **given, device_map="auto").eval()
        return kind.from_pretrained(model.identifier, **given).to(select_device()).eval()


def file_of(model: ModelData, name: str) -> Path | None:
    """A small file beside the weights; None where there is none."""
    source = source_of(model)
    if is_folder(model):
        found = Path(model.identifier) / name
        return found if found.is_file() else None
    from transformers.utils import cached_file

    with convert_loading_errors(model):
        cached = cached_file(
            model.identifier,
            name,
            **{key: source[key] for key in ("revision", "cache_dir", "local_files_only")},
            _raise_exceptions_for_missing_entries=False,
        )
    return Path(cached) if cached else None


def read_model_json(model: ModelData, name: str) -> Mapping[str, Any] | None:
    """What a JSON file beside the weights says; None where there is none. Raises BackendError for a damaged one."""
    found = file_of(model, name)
    if found is None:
        return None
    try:
        held = json.loads(found.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BackendError(f"{model.slug} could not be loaded: {name} of {model.identifier} is damaged.") from error
    if not isinstance(held, dict):
        raise BackendError(f"{model.slug} could not be loaded: {name} of {model.identifier} is no object with fields.")
    return held


def side_file(model: ModelData, name: str) -> str:
    """The text under the key of its own name in a small JSON file beside the weights; empty where there is none."""
    return str((read_model_json(model, name) or {}).get(Path(name).stem, ""))


def config_of(model: ModelData, accepted: Collection[str]) -> Mapping[str, Any]:
    """The model's own `config.json`, where its family is an accepted one; read before any weight file is opened.

    Raises BackendError that names the family and the supported ones.
    """
    config = read_model_json(model, "config.json")
    if config is not None:
        family = str(config.get("model_type", "")) or "that config.json does not name"
        if family in accepted:
            return {**config, "model_type": family}
        raise BackendError(other_family(model, family, accepted))
    if (index := read_model_json(model, "model_index.json")) is not None:
        raise BackendError(other_family(model, f"{index.get('_class_name')}, which draws images", accepted))
    raise BackendError(
        f"{model.slug} could not be loaded: {model.identifier} holds no config.json. "
        f"{describe_supported_families(accepted)}"
    )


def other_family(model: ModelData, family: str, accepted: Collection[str]) -> str:
    return f"{model.slug} is of the family {family}. {describe_supported_families(accepted, family)}"


def describe_supported_families(accepted: Collection[str], family: str = "") -> str:
    """The supported families in a sentence; of very many only those whose names come near."""
    if len(accepted) <= MOST_NAMED:
        return f"Supported: {', '.join(accepted)}."
    return f"{len(accepted)} families are supported. {describe_unknown_name('one named', family, accepted)}"


@contextmanager
def convert_loading_errors(model: ModelData) -> Iterator[None]:
    """Whatever goes wrong while loading pauses the run: it concerns no single unit."""
    try:
        with convert_memory_errors():
            yield
    except BackendError:
        raise
    # Readers of weights and of configurations have errors of their own, of no common kind.
    except Exception as error:
        raise BackendError(f"{model.slug} could not be loaded from {model.identifier}: {error}") from error


@contextmanager
def convert_memory_errors() -> Iterator[None]:
    """Says in the project's words that the card's memory did not suffice, and frees what was half-made."""
    import torch

    try:
        yield
    except torch.OutOfMemoryError as error:
        torch.cuda.empty_cache()
        raise DeviceMemoryError(str(error).partition(".")[0]) from error


def describe_environment(precision: str) -> Mapping[str, Any]:
    """What every result of this process was made with."""
    import torch
    import transformers

    card = torch.cuda.get_device_name() if select_device() == "cuda" else "processor"
    return {
        "precision": precision,
        "card": card,
        "torch": torch.__version__,
        "transformers": transformers.__version__,
    }
