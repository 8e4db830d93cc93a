"""`manage.py run_study generation --config '{"model": "sketch"}' --wait`"""

import json
import os
import socket
import time
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from tqdm import tqdm

from evaluation import runner
from evaluation.models import Run, Unit
from evaluation.studies.base import ConfigError

POLL_SECONDS = 1.0


class Command(BaseCommand):
    help = (
        "Plans a run of a study and announces it to the workers. With --wait this process works through it too, "
        "shows how far it is and returns when it is done: no worker is needed. "
        "The same configuration twice is the same run: it goes on where it was."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", help="the study, such as generation")
        parser.add_argument("--config", default="{}", help="a JSON file, or JSON itself")
        parser.add_argument("--run-slug", default="", help="a name for the run; without it one is made")
        parser.add_argument("--queue", default="", help="cpu, gpu or api; without it the model's")
        parser.add_argument("--wait", action="store_true", help="work through the run here, and show progress")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            config = read_config(options["config"])
            run = runner.create_run(options["slug"], config, slug=options["run_slug"], queue=options["queue"])
        except ConfigError as error:
            raise CommandError(str(error)) from error
        counted = runner.progress(run)
        self.stdout.write(f"Run {run.slug}: {sum(counted.values())} units, {counted['pending']} of them waiting.")
        runner.announce(run)
        if options["wait"]:
            wait_for(run)
        self.report(run)

    def report(self, run: Run) -> None:
        run.refresh_from_db()
        counted = runner.progress(run)
        shown = ", ".join(f"{counted[state]} {state}" for state in Unit.State.values if counted[state])
        self.stdout.write(f"Run {run.slug} is {run.state}: {shown}.")
        if run.problem:
            raise CommandError(f"The run paused: {run.problem}")


def read_config(given: str) -> Any:
    """JSON from the text itself or from the file that it names. Raises ConfigError."""
    text, source = given, "--config"
    if not given.lstrip().startswith(("{", "[")):
        source = given
        try:
            text = Path(given).read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            raise ConfigError(f"The file {given!r} could not be read: {reason(error)}.") from error
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise ConfigError(f"{source} is not JSON: {error.msg} in line {error.lineno}, column {error.colno}.") from error


def reason(error: Exception) -> str:
    return (error.strerror or str(error)) if isinstance(error, OSError) else "it is not UTF-8 text"


def wait_for(run: Run) -> None:
    """Works through the run beside any workers, until nothing is open or the run is paused or cancelled."""
    worker = f"{socket.gethostname()}:{os.getpid()}:waiting"
    counted = runner.progress(run)
    with tqdm(total=sum(counted.values()), unit="unit", desc=run.slug) as bar:
        bar.update(ended(counted))

        def show() -> None:
            bar.update(ended(runner.progress(run)) - bar.n)

        while Run.objects.filter(pk=run.pk, state__in=("planned", "running")).exists():
            if not runner.work(run.pk, worker, report=show):
                runner.sweep()
                time.sleep(POLL_SECONDS)
            show()


def ended(counted: dict[str, int]) -> int:
    return sum(counted.values()) - counted["pending"] - counted["leased"]
