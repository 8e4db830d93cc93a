"""`manage.py bundle`: chosen tables with everything that is needed to check them, as one archive."""

import hashlib
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError

from evaluation.images import download_log
from wwd.exchange.bundles import build, table_views
from wwd.exchange.bundles.build import DataChangedError, Request, TableComputationError
from wwd.exchange.bundles.table_views import ChosenError
from wwd.exchange.bundles.verification import verify_bundle


class Command(BaseCommand):
    help = (
        "Writes one archive with the chosen tables, their rows, prompts, raw answers, refusals, plan, code, and a "
        "script that computes the tables again without network. It is tried before it is handed out."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        table_views.add_arguments(parser)
        parser.add_argument("--output", type=Path, help="the file to write; NAME.zip where it is left out")
        parser.add_argument("--images", action="store_true", help="images too, those that may leave the platform")
        parser.add_argument("--accept-terms", metavar="USER", help="who takes the images and keeps to their terms")
        parser.add_argument("--no-check", action="store_true", help="do not compute the tables again to try the bundle")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            request = Request(*table_views.read_command_options(options), options["images"])
            target = options["output"] or Path(f"{request.name}.zip")
            taker = self.taker(options)
            build.write_bundle(request, target, self.stderr.write, lambda count: self.note(taker, request, count))
        except (ChosenError, DataChangedError, TableComputationError) as error:
            raise CommandError(str(error)) from error
        except OSError as error:
            raise CommandError(f"The bundle could not be written: {error.strerror or error}.") from error
        with target.open("rb") as file:
            self.stdout.write(f"{hashlib.file_digest(file, 'sha256').hexdigest()}  {target}")
        if not options["no_check"]:
            self.check_bundle(target)

    def taker(self, options: dict[str, Any]) -> User | None:
        """Who takes images along; None where there are none. Raises CommandError, with the terms."""
        if not options["images"]:
            return None
        found = User.objects.filter(username=options["accept_terms"] or "", is_active=True).first()
        if found is None or not found.has_perm(f"evaluation.{download_log.PERMISSION}"):
            terms = "\n".join(f"- {sentence}" for sentence in download_log.TERMS)
            raise CommandError(
                f"{terms}\nImages are handed out to somebody who keeps to these terms: --accept-terms USER, a user "
                "who may take images."
            )
        return found

    def note(self, taker: User | None, request: Request, count: int) -> None:
        """Writes down who takes images, before the file has its name."""
        if taker:
            download_log.record_download(taker, f"bundle {request.name}", count)

    def check_bundle(self, target: Path) -> None:
        """Says of each table how it came out. Raises CommandError where one differs; the file stays."""
        verdict = verify_bundle(target)
        for line in verdict.lines:
            self.stdout.write(line)
        if not verdict.equal:
            raise CommandError(f"The bundle was written, and does not give the same tables. {verdict.trouble}".strip())
