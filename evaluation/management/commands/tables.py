"""`manage.py tables`: the named tables, the same that the pages show."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from evaluation import tables
from evaluation.table_text import to_csv, to_json
from wwd.tables import TABLES


class Command(BaseCommand):
    help = "Lists the tables, or prints one. A table that is missing or stale is computed first."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", nargs="?", help="name of a table; without it, all names are listed")
        parser.add_argument("--format", choices=("csv", "json"), default="csv")
        parser.add_argument(
            "--filter", nargs="+", action="extend", default=[], metavar="KEY=VALUE", help="such as country=Kenya"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if not options["name"]:
            for name in sorted(TABLES):
                self.stdout.write(f"{name}\t{tables.spec(name).title}")
            return
        try:
            view = tables.fresh(options["name"], read_filters(options["filter"]))
        except (tables.UnknownTable, tables.UnknownFilter) as error:
            raise CommandError(str(error)) from error
        if view.table is None:
            raise CommandError(f"{view.spec.name} could not be computed.")
        if view.table.demonstration:
            self.stderr.write("Demonstration: these numbers come from stand-ins and are no measurement.")
        if options["format"] == "csv":
            text = to_csv(view.table)
        else:
            text = to_json(view.spec, view.table, view.filters, view.fingerprint)
        self.stdout.write(text, ending="")


def read_filters(pairs: list[str]) -> dict[str, str]:
    """`key=value` texts as a mapping. Raises CommandError for anything else."""
    found: dict[str, str] = {}
    for pair in pairs:
        key, sign, value = pair.partition("=")
        if not sign or not key:
            raise CommandError(f"A filter is written key=value, not {pair!r}.")
        found[key] = value
    return found
