"""`manage.py import_work result.tar`: results of a node without any network."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from evaluation.remote.delivery import import_work
from evaluation.remote.work_files import WorkFileError

MOST_SENTENCES = 10


class Command(BaseCommand):
    help = "Stores the results that run_work.py wrote, each unit once, however often a file is brought."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("files", nargs="+", type=Path, help="the files of results")

    def handle(self, *args: Any, **options: Any) -> None:
        wrong: list[str] = []
        for path in options["files"]:
            try:
                found = import_work(path)
            except WorkFileError as error:
                wrong.append(str(error))
                continue
            self.stdout.write(f"{path.name}: {found.stored} units of {found.run} were ended.")
            if found.before:
                self.stdout.write(f"{found.before} had ended before: their first result stays.")
            if found.withdrawn:
                self.stdout.write(f"{found.withdrawn} were left out: what they are about was withdrawn or removed.")
            if found.cancelled:
                self.stdout.write(f"{found.cancelled} were left out: the run was cancelled.")
            wrong += found.wrong
        for sentence in wrong[:MOST_SENTENCES]:
            self.stderr.write(sentence)
        if wrong:
            raise CommandError(f"{len(wrong)} files or results could not be used.")
