"""The table of backends: role → key → lazy import path. Only modules in this package may import torch or a provider."""

from collections.abc import Mapping
from typing import Any

from django.utils.module_loading import import_string

from evaluation.backends.base import BackendError, Reading
from evaluation.names import unknown
from evaluation.studies.base import ModelData

BACKENDS: Mapping[str, Mapping[str, str]] = {
    "image_generator": {
        "diffusers": "evaluation.backends.diffusion:StableDiffusion",
        "openai": "evaluation.backends.openai_images:OpenAIImages",
        "sketch": "evaluation.backends.sketch:Sketch",
    },
    "encoder": {
        "clip": "evaluation.backends.clip:ClipEncoder",
        "standin": "evaluation.backends.standin:StandinEncoder",
        "stored": "evaluation.backends.stored:StoredEncoder",
    },
    "features": {
        "pixels": "evaluation.backends.pixels:Pixels",
    },
    "vqa": {
        "llava-next": "evaluation.backends.vlm:VisionLanguageModel",
        "openai": "evaluation.backends.openai_chat:OpenAIChat",
        "standin": "evaluation.backends.standin_answers:StandinAnswers",
    },
    "chat": {
        "openai": "evaluation.backends.openai_chat:OpenAIChat",
        "standin": "evaluation.backends.standin_chat:StandinChat",
        "transformers": "evaluation.backends.local_chat:LocalChat",
    },
}
# Made elsewhere: their pictures enter by import, nothing is ever executed.
IMPORT_ONLY = ("folder", "import")


def path_of(model: ModelData) -> str:
    """Import path of the model's backend. Raises BackendError that names the near ones."""
    if model.backend in IMPORT_ONLY:
        raise BackendError(f"The model {model.slug} was used elsewhere: its results can be imported, not made here.")
    of_role = BACKENDS.get(model.role, {})
    if model.backend not in of_role:
        raise BackendError(unknown(f"backend for the role {model.role} named", model.backend, of_role))
    return of_role[model.backend]


def readings(model: ModelData) -> tuple[Reading, ...]:
    """How answers of a model with the role vqa can be had; nothing is loaded. Raises BackendError."""
    return tuple(import_string(path_of(model).replace(":", ".")).readings)


def load(model: ModelData) -> Any:
    """The backend of `model`, loaded anew. Raises BackendError where it cannot work on this machine."""
    try:
        return import_string(path_of(model).replace(":", "."))(model)
    except ImportError as error:
        raise BackendError(f"The backend {model.backend} of {model.slug} is not installed here: {error}.") from error
