"""Whether the files of a model are there and whole, without loading any: names, sizes, heads of weight files."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from evaluation.backends import weight_cache
from evaluation.backends import weights as backends_weights
from evaluation.contracts.backend import BackendError
from evaluation.contracts.study import ModelData

# A head longer than this is none: the file is something else, or damaged.
MOST_HEAD = 100 * 1024 * 1024
WEIGHTS = {"diffusers": "diffusion_pytorch_model.safetensors", "transformers": "model.safetensors"}
TOKENIZERS = ("tokenizer.json", "vocab.json", "spiece.model", "tokenizer.model")
IMAGES = ("preprocessor_config.json", "processor_config.json")


def require_complete_weights(model: ModelData, missing: Sequence[str]) -> None:
    """Raises BackendError with everything that is missing."""
    if missing:
        raise BackendError(f"{model.slug}: {model.identifier} is not complete here. {' '.join(missing)}")


def check_arrived(model: ModelData) -> None:
    """Raises BackendError where nothing of the model is on this machine: looking for it never fetches it."""
    backends_weights.source_of(model)
    if not any(
        find_weight_file(model, name) for name in ("config.json", "model_index.json")
    ) and not backends_weights.is_folder(model):
        raise BackendError(f"{model.slug}: {weight_cache.describe_absent(model)}")


def find_weight_file(model: ModelData, name: str) -> Path | None:
    """The file on this machine: in the folder, or in the cache of what was fetched from the Hub before."""
    if backends_weights.is_folder(model):
        found = Path(model.identifier) / name
        return found if found.is_file() else None
    found = weight_cache.folder_of(model.identifier, model.revision) / name
    return found if found.is_file() else None


def list_changed_files(model: ModelData) -> list[str]:
    """Sentences about files of a fetched model that are no longer as they came, by their checksums.

    Raises BackendError where nobody wrote any down: a folder of one's own, or another client's.
    """
    held = weight_cache.read_manifest(model.identifier, model.revision)
    if backends_weights.is_folder(model) or not held:
        raise BackendError(f"{model.slug}: No checksums are kept of {model.identifier}: it was not fetched by this.")
    folder = weight_cache.folder_of(model.identifier, model.revision)
    return weight_cache.list_wrong_files(folder, held, hashes=True)


def missing_of_pipeline(model: ModelData, index: Mapping[str, Any]) -> list[str]:
    """What each part of a pipeline lacks, in sentences."""
    parts = {name: part for name, part in index.items() if isinstance(part, list) and len(part) == 2 and part[1]}
    return [sentence for name, (library, kind) in parts.items() for sentence in of_part(model, name, library, kind)]


def of_part(model: ModelData, name: str, library: str, kind: str) -> list[str]:
    if "Tokenizer" in kind:
        return one_of(model, [f"{name}/{file}" for file in TOKENIZERS])
    if kind.endswith("Scheduler"):
        return one_of(model, [f"{name}/scheduler_config.json"])
    if "ImageProcessor" in kind or "FeatureExtractor" in kind:
        return one_of(model, [f"{name}/preprocessor_config.json"])
    # A safety checker is named by the pipeline's own module and saved as a model of transformers.
    weights = WEIGHTS.get(library, WEIGHTS["transformers"])
    return [*one_of(model, [f"{name}/config.json"]), *of_weights(model, f"{name}/{weights}")]


def missing_of_model(model: ModelData, *, images: bool) -> list[str]:
    """What a model of transformers lacks, in sentences; `images`: whether it must say how they are prepared."""
    return [
        *one_of(model, ["config.json"]),
        *one_of(model, TOKENIZERS),
        *(one_of(model, IMAGES) if images else ()),
        *of_weights(model, WEIGHTS["transformers"]),
    ]


def one_of(model: ModelData, names: Iterable[str]) -> list[str]:
    """A sentence where none of these files is there."""
    known = list(names)
    if any(find_weight_file(model, name) for name in known):
        return []
    return [f"{' or '.join(known)} is missing."]


def of_weights(model: ModelData, name: str) -> list[str]:
    """A sentence for each weight file that is missing or cut short: one file, or all that its index names."""
    whole, index = find_weight_file(model, name), find_weight_file(model, f"{name}.index.json")
    if whole is None and index is not None:
        folder = name.rpartition("/")[0]
        try:
            shards = sorted({str(shard) for shard in json.loads(index.read_text("utf-8"))["weight_map"].values()})
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return [f"{name}.index.json is damaged."]
        names = [f"{folder}/{shard}" if folder else shard for shard in shards]
    else:
        names = [name]
    found = {each: find_weight_file(model, each) for each in names}
    return [
        f"{each} is missing." if path is None else f"{each} is not whole: fetch it again."
        for each, path in found.items()
        if path is None or not is_whole(path)
    ]


def is_whole(path: Path) -> bool:
    """Whether a safetensors file is as long as its head says; no tensor is read.

    Format: 8 bytes with the length of the head, the head as JSON, the tensors (huggingface/safetensors, README).
    """
    try:
        with path.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            head = json.loads(file.read(length)) if length <= MOST_HEAD else {}
            ends = [entry["data_offsets"][1] for name, entry in head.items() if name != "__metadata__"]
        return bool(ends) and path.stat().st_size == 8 + length + max(ends)
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return False
