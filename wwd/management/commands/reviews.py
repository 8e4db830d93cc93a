"""`manage.py reviews export|import FILE --campaign SLUG`: reviews in the published column order."""

import csv
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from evaluation.suggestions import describe_unknown_name
from review.models import Campaign
from wwd.base.atomic_files import write_atomically, write_text_atomically
from wwd.base.csv_files import CSV_NOTE, csv_text, json_lines
from wwd.exchange.published.review_rows import HEADER, READ, export_campaign_rows, import_rows
from wwd.exchange.published.source import InvalidFileError, Report, read_wellformed_rows


class Command(BaseCommand):
    help = (
        "Writes the counted reviews of a campaign to FILE, or reads such a file into a closed campaign. An export has "
        "fresh random reviewer numbers, own words only where a steward read them, and no country with fewer than five "
        "reviewers."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("action", choices=("export", "import"))
        parser.add_argument("file", metavar="FILE", type=Path)
        parser.add_argument("--campaign", required=True, metavar="SLUG")

    def handle(self, *args: Any, **options: Any) -> None:
        act = self.export if options["action"] == "export" else self.read
        act(options["file"], options["campaign"])

    def export(self, file: Path, slug: str) -> None:
        campaign = Campaign.objects.filter(slug=slug).first()
        if campaign is None:
            raise CommandError(
                describe_unknown_name("campaign", slug, Campaign.objects.values_list("slug", flat=True)), returncode=2
            )
        found = export_campaign_rows(campaign)
        with write_atomically(file) as part, part.open("w", encoding="utf-8", newline="") as opened:
            # The line ends of the published file.
            csv.writer(opened).writerows([HEADER, *found.rows])
        spreadsheet = csv_text(HEADER, found.rows, spreadsheet=True)
        write_text_atomically(file.with_suffix(".spreadsheet.csv"), spreadsheet)
        write_text_atomically(file.with_suffix(".jsonl"), "".join(json_lines(HEADER, found.rows)))
        self.stdout.write(f"{len(found.rows)} reviews written, beside it a file for spreadsheets and JSON Lines.")
        self.stdout.write(CSV_NOTE)
        for country, people in sorted(found.left_out.items()):
            self.stdout.write(f"Left out: {country}, {people} reviewers are too few.")

    def read(self, file: Path, slug: str) -> None:
        report = Report()
        try:
            added = import_rows(list(read_wellformed_rows(file.parent, file.name, READ, report)), slug, report)
        except InvalidFileError as error:
            raise CommandError(f"{error.file}: {error.reason}") from error
        self.stdout.write(f"{added} reviews added.")
        for problem in report.problems:
            self.stderr.write(str(problem))
        if report.problems:
            raise CommandError(f"{len(report.problems)} rows could not be loaded, the rest was. See above.")
