"""The table of backends: role → key → lazy import path. Only modules in this package may import torch or a provider."""

from typing import Any

from django.conf import settings
from django.utils.module_loading import import_string

from evaluation.backends import weight_cache, weight_files
from evaluation.contracts.backend import BackendError
from evaluation.contracts.parameters import LOCAL
from evaluation.contracts.study import ModelData
from evaluation.registry.backend_table import resolve_backend_path


def load_backend(model: ModelData) -> Any:
    """The backend of `model`, loaded anew. Raises BackendError where it cannot work on this machine."""
    path = resolve_backend_path(model)
    if model.backend in LOCAL and not settings.FETCH_WEIGHTS:
        weight_cache.go_offline()
        weight_files.check_arrived(model)
    try:
        return import_string(path.replace(":", "."))(model)
    except ImportError as error:
        raise BackendError(f"The backend {model.backend} of {model.slug} is not installed here: {error}.") from error


def inspect_model(model: ModelData) -> list[str]:
    """What can be known of a model before a weight file is opened, in sentences: its family, its files' state.

    Raises BackendError with what is wrong or missing. A backend that loads no weights has nothing to say.
    """
    path = resolve_backend_path(model)
    try:
        kind = import_string(path.replace(":", "."))
        if not hasattr(kind, "inspect"):
            return []
        weight_files.check_arrived(model)
        return list(kind.inspect(model))
    except ImportError as error:
        raise BackendError(f"The backend {model.backend} of {model.slug} is not installed here: {error}.") from error
