"""Keys of providers: they leave the server only for workers whose token says so."""

from collections.abc import Iterable

from evaluation.backends import provider
from evaluation.contracts.backend import BackendError
from evaluation.contracts.study import ModelData
from evaluation.models import WorkerToken
from evaluation.worker_api.access import WorkerCallError

# The backend that calls a provider.
CALLING = "openai"


def list_keys(token: WorkerToken, models: Iterable[ModelData]) -> dict[str, str]:
    """Variable → key of the providers of these models. Raises WorkerCallError where the token gets none."""
    found = {}
    for model in models:
        if model.backend != CALLING:
            continue
        if not token.provider_keys:
            raise WorkerCallError(403, f"The model {model.slug} asks a provider, and this token gets no such keys.")
        try:
            found[str(model.parameters.get("key", "OPENAI_API_KEY"))] = provider.key_of(model)
        except BackendError as error:
            raise WorkerCallError(409, str(error)) from error
    return found
