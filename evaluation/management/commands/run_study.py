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
from evaluation.contracts.study import ConfigError
from evaluation.models import Run, Unit
from evaluation.readers.text_cleaning import truncate_text
from evaluation.runner.preview import Preview
from evaluation.suggestions import describe_unknown_name

POLL_SECONDS = 1.0
MOST_REASONS = 10
MOST_LETTERS = 300


class Command(BaseCommand):
    help = (
        "Plans a run of a study and announces it to the workers. With --wait this process works through it too, "
        "shows how far it is and returns when it is done: no worker is needed. "
        "The same configuration twice is the same run: it goes on where it was. "
        "It ends with 1 where units failed or the run paused by itself, and says why."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", help="the study, such as generation")
        parser.add_argument("--config", default="{}", help="a JSON file, or JSON itself")
        parser.add_argument("--run-slug", default="", help="a name for the run; without it one is made")
        parser.add_argument("--queue", default="", help="cpu, gpu or api; without it the model's")
        parser.add_argument("--priority", type=int, default=0, help="higher numbers come first on their queue")
        parser.add_argument("--after", default="", help="a run that must be done before this one is planned")
        parser.add_argument("--plan", action="store_true", help="only say what the run would be and may cost")
        parser.add_argument("--wait", action="store_true", help="work through the run here, and show progress")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            config = read_config(options["config"])
            if options["plan"]:
                self.show(runner.preview_run(options["slug"], config))
                return
            run = created(options, config)
        except ConfigError as error:
            raise CommandError(str(error)) from error
        if run.state == Run.State.WAITING:
            self.stdout.write(f"Run {run.slug} is planned once {options['after']} is done.")
            return
        counted = runner.count_units_by_state(run)
        self.stdout.write(f"Run {run.slug}: {sum(counted.values())} units, {counted['pending']} of them waiting.")
        for sentence in runner.list_absent_weights(run):
            self.stderr.write(sentence)
        runner.announce_run(run)
        if options["wait"]:
            wait_for(run)
        self.report(run)

    def show(self, found: Preview) -> None:
        """Units per model and country, and the expected cost; nothing was stored or sent."""
        self.stdout.write(f"{found.units} units. Nothing was stored or sent.")
        for (model, country), n in sorted(found.countries.items()):
            self.stdout.write(f"{model}, {country}: {n}")
        for currency, amount in sorted(found.cost.items()):
            self.stdout.write(f"Expected cost: {amount:.2f} {currency}")
        if found.unpriced:
            self.stdout.write(f"No price is known of: {', '.join(found.unpriced)}")
        for sentence in found.absent:
            self.stderr.write(sentence)

    def report(self, run: Run) -> None:
        """Says what became of the run. Raises CommandError where it paused by itself or units failed."""
        run.refresh_from_db()
        counted = runner.count_units_by_state(run)
        shown = ", ".join(f"{counted[state]} {state}" for state in Unit.State.values if counted[state])
        self.stdout.write(f"Run {run.slug} is {run.state}: {shown}.")
        found = runner.count_failure_reasons(run)
        for state, reason, number in found[:MOST_REASONS]:
            self.stderr.write(f"{number} {state}: {truncate_text(' '.join(reason.split()), MOST_LETTERS)}")
        if len(found) > MOST_REASONS:
            self.stderr.write(f"and {len(found) - MOST_REASONS} other reasons")
        if run.problem:
            raise CommandError(f"The run paused: {run.problem}")
        if counted["failed"]:
            raise CommandError(f"{counted['failed']} of {sum(counted.values())} units failed.")


def created(options: dict[str, Any], config: Any) -> Run:
    """The run, planned now or, with --after, once the other run is done. Raises ConfigError."""
    if options["after"]:
        earlier = Run.objects.filter(slug=options["after"]).first()
        if earlier is None:
            raise ConfigError(
                describe_unknown_name("run", options["after"], Run.objects.values_list("slug", flat=True))
            )
        return runner.create_waiting(options["slug"], config, after=earlier, slug=options["run_slug"])
    named = {"slug": options["run_slug"], "queue": options["queue"], "priority": options["priority"]}
    return runner.create_run(options["slug"], config, **named)


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
    counted = runner.count_units_by_state(run)
    with tqdm(total=sum(counted.values()), unit="unit", desc=run.slug) as bar:
        bar.update(ended(counted))

        def show() -> None:
            bar.update(ended(runner.count_units_by_state(run)) - bar.n)

        while Run.objects.filter(pk=run.pk, state__in=("planned", "running")).exists():
            if not runner.process_run(run.pk, worker, report=show):
                runner.sweep_runs()
                time.sleep(POLL_SECONDS)
            show()


def ended(counted: dict[str, int]) -> int:
    return sum(counted.values()) - counted["pending"] - counted["leased"]
