"""`manage.py tables`: the named tables, the same that the pages show."""

from argparse import ArgumentParser
from getpass import getuser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from evaluation.metrics.tidy import TidyTable
from evaluation.registry import lookup
from evaluation.tables import read
from evaluation.tables.serialise import to_csv, to_json
from evaluation.tables.store import TableView
from evaluation.unmasking import ReasonMissingError, record_unmasked_view
from wwd.base.csv_files import exact_to_spreadsheet


class Command(BaseCommand):
    help = "Lists the tables, or prints one. A table that is missing or stale is computed first."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", nargs="?", help="name of a table; without it, all names are listed")
        parser.add_argument("--format", choices=("csv", "json", "spreadsheet"), default="csv")
        parser.add_argument(
            "--filter", nargs="+", action="extend", default=[], metavar="KEY=VALUE", help="such as country=Kenya"
        )
        parser.add_argument(
            "--unmask", metavar="REASON", help="shows names that a plan masks; who looked and why stays with the plan"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if not options["name"]:
            for name in lookup.list_table_names():
                self.stdout.write(f"{name}\t{lookup.find_table_spec(name).title}")
            return
        try:
            filters = read_filters(options["filter"])
            if options["unmask"] is not None:
                record_unmasked_view(options["name"], filters, getuser(), options["unmask"])
            view = read.read_fresh_table(options["name"], filters, unmasked=options["unmask"] is not None)
        except (lookup.TableNotFound, lookup.FilterNotFound, ReasonMissingError) as error:
            raise CommandError(str(error), returncode=2) from error
        assert view.table is not None, "it is stored or was computed now"
        if view.table.demonstration:
            self.stderr.write("Demonstration: these numbers come from stand-ins and are no measurement.")
        self.stdout.write(written(view, view.table, options["format"]), ending="")


def written(view: TableView, table: TidyTable, wanted: str) -> str:
    """The table as the text of a file: `csv` is exact, `spreadsheet` holds no formulas, `json` everything."""
    if wanted == "json":
        return to_json(view.spec, table, view.filters, view.fingerprint)
    return exact_to_spreadsheet(to_csv(table)) if wanted == "spreadsheet" else to_csv(table)


def read_filters(pairs: list[str]) -> dict[str, str]:
    """`key=value` texts as a mapping. Raises CommandError for anything else."""
    found: dict[str, str] = {}
    for pair in pairs:
        key, sign, value = pair.partition("=")
        if not sign or not key:
            raise CommandError(f"A filter is written key=value, not {pair!r}.", returncode=2)
        found[key] = value
    return found
