"""`manage.py import_photographs --run-slug real-2026`"""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from evaluation.contracts.study import ConfigError
from evaluation.ingest.photographs import import_photographs


class Command(BaseCommand):
    help = (
        "Makes a run of the accepted photographs that may be shared, as images of the model of real photographs. "
        "Studies take it as they take generated images. A second call adds what was accepted since."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--run-slug", required=True, help="the run that the photographs enter")
        parser.add_argument("--country", nargs="+", default=[], help="of dishes of these countries only")
        parser.add_argument("--demonstration", action="store_true", help="photographs of demonstration dishes")

    def handle(self, *args: Any, **options: Any) -> None:
        chosen = {"demonstration": options["demonstration"]}
        try:
            run, new = import_photographs(options["run_slug"], options["country"], **chosen)
        except ConfigError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"Run {run.slug}: {new} new photographs, {run.units.count()} in all.")
