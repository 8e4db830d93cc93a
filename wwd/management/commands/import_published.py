"""`manage.py import_published DIR`: loads the published dishes, reviews, vectors, answers and questions."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from wwd.exchange.published.importer import import_all
from wwd.exchange.published.source import Counts, Report, SourceError


class Command(BaseCommand):
    help = (
        "Loads the published dishes, reviews, embeddings, answers and questions of DIR/wwd. What is here already is "
        "left as it is, so running it twice changes nothing. A row that cannot be loaded is reported with file, line "
        "and reason, the rest is loaded, and the exit code is then 1."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", metavar="DIR", type=Path, help="the folder that holds wwd/")
        parser.add_argument("--dry-run", action="store_true", help="say what would happen and write nothing")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            report = import_all(options["folder"], dry_run=options["dry_run"])
        except SourceError as error:
            raise CommandError(str(error)) from error
        if options["dry_run"]:
            self.stdout.write("Dry run: nothing was written.")
        for kind, counts in report.counts.items():
            self.stdout.write(f"{kind}: {sentence(counts, options['dry_run'])}")
        self.say_problems(report)

    def say_problems(self, report: Report) -> None:
        for problem in report.problems:
            self.stderr.write(str(problem))
        if report.problems:
            raise CommandError(f"{len(report.problems)} rows or files could not be loaded, the rest was. See above.")


def sentence(counts: Counts, dry_run: bool) -> str:
    """ "765 added, 0 here already"; rows that differ from the file are named, since they were not overwritten."""
    text = f"{counts.created} {'to be added' if dry_run else 'added'}, {counts.unchanged} here already"
    return text + (f", {counts.differing} here with other content and left so" if counts.differing else "")
