"""Removes a run with everything that only it brought: `manage.py purge_run SLUG`."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from evaluation.models import Run
from evaluation.queue import send_task
from evaluation.runner import purging
from evaluation.suggestions import describe_unknown_name


class Command(BaseCommand):
    help = "Removes a run in chunks, after asking. Refuses runs that other runs, plans or campaigns need."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug")
        parser.add_argument("--yes", action="store_true", help="do not ask")
        parser.add_argument("--background", action="store_true", help="let a worker do it")

    def handle(self, *args: Any, **options: Any) -> None:
        run = Run.objects.filter(slug=options["slug"]).first()
        if run is None:
            slugs = Run.objects.order_by("-pk").values_list("slug", flat=True)[:500]
            raise CommandError(describe_unknown_name("run", options["slug"], slugs), returncode=2)
        if reasons := purging.list_purge_obstacles(run):
            raise CommandError(" ".join([f"The run {run.slug} stays.", *reasons]))
        if not options["yes"] and not self.agreed(run):
            self.stdout.write("Nothing was removed.")
        elif options["background"]:
            send_task("evaluation.tasks.purge_run", run.pk)
            self.stdout.write(f"A worker removes the run {run.slug}.")
        else:
            self.stdout.write(f"Removed: {purging.describe_counts(purging.purge_run(run))}.")

    def agreed(self, run: Run) -> bool:
        """Whether somebody typed the name of the run."""
        numbers = ", ".join(f"{n} {what}" for what, n in purging.count_purgeable_rows(run).items())
        self.stdout.write(f"The run {run.slug} goes for ever, with {numbers}.")
        return input("Type its name to go on: ").strip() == run.slug
