"""`manage.py import_pictures FOLDER --pattern '{model}/{subject}_{seed}.png' --run-slug dalle-2024`"""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from evaluation.contracts.study import ConfigError
from evaluation.ingest.image_folder import import_images


class Command(BaseCommand):
    help = (
        "Imports images that were made elsewhere. The pattern says what a file's name means: {subject} is a dish "
        "number, a dish's only name or a subject's key; {model} a model's name here; then {seed} or {sample}. "
        "Files that do not fit are listed and left out. A second import changes nothing."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", type=Path)
        parser.add_argument("--pattern", default="{model}/{subject}_{seed}.png")
        parser.add_argument("--model", default="", help="the model of all images, where the pattern has no {model}")
        parser.add_argument("--run-slug", required=True, help="the run that the images enter")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            run, report = import_images(options["folder"], options["pattern"], options["run_slug"], options["model"])
        except ConfigError as error:
            raise CommandError(str(error)) from error
        for file in report.left_out:
            self.stderr.write(f"{file.name}: {file.reason}")
        self.stdout.write(
            f"Run {run.slug}: {report.new} new images, {report.known} known, {len(report.left_out)} files left out."
        )
        if report.left_out:
            raise CommandError(f"{len(report.left_out)} files were left out, the rest was taken. See above.")
