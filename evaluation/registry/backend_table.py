"""The table of backends: role → key → lazy import path. Nothing is loaded here."""

from collections.abc import Mapping

from django.utils.module_loading import import_string

from evaluation.contracts.backend import BackendError, Reading
from evaluation.contracts.parameters import IMPORT_ONLY, backend_problem, resolve_parameter_values
from evaluation.contracts.study import ModelData

BACKENDS: Mapping[str, Mapping[str, str]] = {
    "image_generator": {
        "diffusers": "evaluation.backends.diffusion:DiffusersPipeline",
        "openai": "evaluation.backends.openai_images:OpenAIImages",
        "sketch": "evaluation.backends.standin.images:Sketch",
    },
    "encoder": {
        "clip": "evaluation.backends.clip:ClipEncoder",
        "standin": "evaluation.backends.standin.encoder:StandinEncoder",
        "stored": "evaluation.backends.stored:StoredEncoder",
    },
    "features": {
        "pixels": "evaluation.backends.pixels:Pixels",
    },
    "vqa": {
        "llava-next": "evaluation.backends.vlm.backend:VisionLanguageModel",
        "openai": "evaluation.backends.openai_chat:OpenAIChat",
        "standin": "evaluation.backends.standin.vqa:StandinAnswers",
        "transformers": "evaluation.backends.vlm.library:LibraryVisionModel",
    },
    "chat": {
        "openai": "evaluation.backends.openai_chat:OpenAIChat",
        "standin": "evaluation.backends.standin.chat:StandinChat",
        "transformers": "evaluation.backends.local_chat:LocalChat",
    },
}


def path_of(model: ModelData) -> str:
    """Import path of the model's backend. Raises BackendError that names the near ones."""
    if model.backend in IMPORT_ONLY:
        raise BackendError(f"The model {model.slug} was used elsewhere: its results can be imported, not made here.")
    if problem := backend_problem(model.role, model.backend):
        raise BackendError(problem)
    return BACKENDS[model.role][model.backend]


def resolve_backend_path(model: ModelData) -> str:
    """Import path of the model's backend, where that knows all of its parameters. Raises BackendError."""
    path = path_of(model)
    resolve_parameter_values(model)
    return path


def list_vqa_readings(model: ModelData) -> tuple[Reading, ...]:
    """How answers of a model with the role vqa can be had; nothing is loaded. Raises BackendError."""
    return tuple(import_string(path_of(model).replace(":", ".")).readings)
