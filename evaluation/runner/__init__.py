"""The only code that joins studies and database: plans runs, leases units to workers, stores what they give."""

from evaluation.runner.importing import import_run
from evaluation.runner.planning import create_run
from evaluation.runner.results import outcomes, vector_of
from evaluation.runner.working import announce, hear, pause, post, progress, resume, settle, sweep, work

__all__ = [
    "announce",
    "create_run",
    "hear",
    "import_run",
    "outcomes",
    "pause",
    "post",
    "progress",
    "resume",
    "settle",
    "sweep",
    "vector_of",
    "work",
]
