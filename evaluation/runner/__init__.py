"""The only code that joins studies and database: plans runs, leases units to workers, stores what they give."""

from evaluation.runner.announcing import announce_run, send_announcement
from evaluation.runner.chains import create_chain
from evaluation.runner.completion import complete_finished_runs
from evaluation.runner.control import cancel_run, pause_run, resume_run, retry_units, set_run_priority
from evaluation.runner.forecast import forecast_run
from evaluation.runner.importing import import_run
from evaluation.runner.loop import accept_announcement, process_run, serve_queue, sweep_runs
from evaluation.runner.planning import create_run, create_waiting
from evaluation.runner.preview import preview_run
from evaluation.runner.progress import count_failure_reasons, count_units_by_state
from evaluation.tables.outcomes import iterate_outcomes, vector_of

__all__ = [
    "accept_announcement",
    "announce_run",
    "cancel_run",
    "complete_finished_runs",
    "count_failure_reasons",
    "count_units_by_state",
    "create_chain",
    "create_run",
    "create_waiting",
    "forecast_run",
    "import_run",
    "iterate_outcomes",
    "pause_run",
    "preview_run",
    "process_run",
    "resume_run",
    "retry_units",
    "send_announcement",
    "serve_queue",
    "set_run_priority",
    "sweep_runs",
    "vector_of",
]
