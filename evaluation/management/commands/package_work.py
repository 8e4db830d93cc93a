"""`manage.py package_work RUN --limit 1000 out.tar`: units for a node without any network."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError

from evaluation.models import Run
from evaluation.remote.packaging import DAYS, PackagingError, give_back_package, package_work
from evaluation.suggestions import describe_unknown_name


class Command(BaseCommand):
    help = (
        "Writes waiting units of a run with their inputs and the code into a file, and holds them for some days. "
        "'python run_work.py FILE' executes them where no network is; 'manage.py import_work' brings the results."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("run", help="the name of the run")
        parser.add_argument("file", nargs="?", type=Path, help="the file to write, such as out.tar")
        parser.add_argument("--limit", type=int, default=1000, help="about so many units, whole groups (1000)")
        parser.add_argument("--days", type=int, default=DAYS, help=f"how long they wait for results ({DAYS})")
        parser.add_argument("--give-back", default="", metavar="PACKAGE", help="let the units of a package wait again")

    def handle(self, *args: Any, **options: Any) -> None:
        run = Run.objects.filter(slug=options["run"]).first()
        if run is None:
            raise CommandError(describe_unknown_name("run", options["run"], Run.objects.values_list("slug", flat=True)))
        if options["give_back"]:
            self.give_back(options["give_back"])
            return
        if options["file"] is None or options["limit"] < 1 or options["days"] < 1:
            raise CommandError("Name the file to write, and numbers of units and days of at least 1.")
        try:
            found = package_work(run, options["limit"], options["file"], options["days"])
        except PackagingError as error:
            raise CommandError(str(error)) from error
        except OSError as error:
            raise CommandError(f"{options['file']} could not be written: {error.strerror or error}.") from error
        self.stdout.write(
            f"{options['file']} holds {found.units} units and {found.inputs} inputs as package {found.id}. "
            f"They wait for their results for {options['days']} days."
        )
        if found.missing:
            self.stderr.write(f"{found.missing} inputs are missing in the storage: their units will fail.")

    def give_back(self, package: str) -> None:
        try:
            number = give_back_package(UUID(package))
        except ValueError:
            raise CommandError(f"{package!r} is no package: its name is a UUID.") from None
        self.stdout.write(f"{number} units wait again.")
