"""The only code that joins studies and database: plans runs, leases units to workers, stores what they give."""

from evaluation.runner.importing import import_run
from evaluation.runner.results import outcomes, vector_of

__all__ = ["import_run", "outcomes", "vector_of"]
