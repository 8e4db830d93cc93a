"""Whether the weights of a planned run are there: said when it is planned, not when a worker starts it."""

from pathlib import Path

from evaluation.backends import weight_cache
from evaluation.contracts.parameters import LOCAL
from evaluation.contracts.study import ModelData
from evaluation.models import FetchedWeights, Model, Run
from evaluation.runner.catalogue import model_data


def describe_absent_weights(model: ModelData) -> str:
    """A sentence where workers would find no weights; empty where they will, or where none are needed.

    Weights on a server of models are known by the record of what was fetched, or seen here. A folder is only seen.
    """
    if model.backend not in LOCAL:
        return ""
    if model.identifier.startswith(("/", "~", ".")) or Path(model.identifier).is_dir():
        if Path(model.identifier).expanduser().is_dir():
            return ""
        return (
            f"{model.slug}: there is no folder {model.identifier} on this machine. The run starts only on workers "
            "that have it."
        )
    recorded = FetchedWeights.objects.filter(identifier=model.identifier, revision=model.revision).exists()
    if recorded or weight_cache.is_here(model.identifier, model.revision):
        return ""
    return (
        f"{model.slug}: the weights of {model.identifier} {model.revision} were not fetched yet. "
        f"'manage.py models fetch {model.slug}' fetches them; until then the run cannot start."
    )


def list_absent_weights(run: Run) -> list[str]:
    """A sentence for each model of a planned run whose weights are not there."""
    rows = Model.objects.filter(pk__in=run.units.order_by().values("model_id").distinct()).order_by("slug")
    return [sentence for row in rows if (sentence := describe_absent_weights(model_data(row)))]
