"""The only code that joins studies and database: plans runs, leases units to workers, stores what they give."""

from evaluation.runner.announcing import announce, post
from evaluation.runner.chains import create_chain
from evaluation.runner.control import cancel, pause, prioritise, resume, retry
from evaluation.runner.forecast import forecast
from evaluation.runner.importing import import_run
from evaluation.runner.loop import hear, serve, settle, sweep, work
from evaluation.runner.planning import create_run, create_waiting
from evaluation.runner.preview import preview
from evaluation.runner.progress import progress, reasons
from evaluation.tables.outcomes import outcomes, vector_of

__all__ = [
    "announce",
    "cancel",
    "create_chain",
    "create_run",
    "create_waiting",
    "forecast",
    "hear",
    "import_run",
    "outcomes",
    "pause",
    "post",
    "preview",
    "prioritise",
    "progress",
    "reasons",
    "resume",
    "retry",
    "serve",
    "settle",
    "sweep",
    "vector_of",
    "work",
]
