"""`manage.py report`: chosen tables as one page that prints like a paper, as HTML or PDF."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from wwd.exchange.bundles import pdf, report, table_views
from wwd.exchange.bundles.build import Request
from wwd.exchange.bundles.pdf import PdfUnavailableError
from wwd.exchange.bundles.snapshot import write_new_file
from wwd.exchange.bundles.table_views import ChosenError

ENDINGS = (".pdf", ".html")


class Command(BaseCommand):
    help = (
        "Writes chosen tables as a report: content warning, figures, numbers, methods, what is not measured. "
        "The output's ending decides between HTML and PDF; PDF needs Chromium."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        table_views.add_arguments(parser)
        parser.add_argument("--output", type=Path, help="a file ending in .pdf or .html; NAME.pdf where it is left out")
        parser.add_argument("--pictures", action="store_true", help="some images behind each table, blurred")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            request = Request(*table_views.read_command_options(options), options["pictures"])
            self.write(request, options["output"] or Path(f"{request.name}.pdf"))
        except (ChosenError, PdfUnavailableError) as error:
            raise CommandError(str(error)) from error
        except OSError as error:
            raise CommandError(f"The report could not be written: {error.strerror or error}.") from error

    def write(self, request: Request, target: Path) -> None:
        if target.suffix not in ENDINGS:
            raise CommandError(f"The output ends in {' or '.join(ENDINGS)}.")
        if target.suffix == ".html":
            with write_new_file(target) as part:
                part.write_text(
                    report.render_standalone_report(request, report.read_fresh_view, self.stderr.write)[0],
                    encoding="utf-8",
                )
        else:
            pdf.write_pdf_report(request, target, self.stderr.write)
        self.stdout.write(str(target))
