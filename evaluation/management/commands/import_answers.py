"""`manage.py import_answers FILE --run-slug llama-2024`"""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from evaluation.contracts.study import ConfigError
from evaluation.ingest.answers import import_answers


class Command(BaseCommand):
    help = (
        "Imports answers of language models about dishes that were asked for elsewhere: a CSV file with the columns "
        "subject (a dish's number or only name), model (a chat model's name here), question (description, country, "
        "time_of_day, type_of_dish, utensils, ingredients), sample, answer and, if there is one, state (done or "
        "refused). Rows that do not fit are listed and left out. A second import changes nothing."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--run-slug", required=True, help="the run that the answers enter")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            run, report = import_answers(options["file"], options["run_slug"])
        except ConfigError as error:
            raise CommandError(str(error)) from error
        for line, reason in report.left_out:
            self.stderr.write(f"line {line}: {reason}")
        self.stdout.write(
            f"Run {run.slug}: {report.new} new answers, {report.known} known, {len(report.left_out)} rows left out."
        )
        if report.left_out:
            raise CommandError(f"{len(report.left_out)} rows were left out, the rest was taken. See above.")
