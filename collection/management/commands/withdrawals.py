"""`manage.py withdrawals list|apply FILE`: the list that is stored beside backups and applied after a restoration."""

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.core.serializers.json import DjangoJSONEncoder

from collection.withdrawal import erase, tombstones


class Command(BaseCommand):
    help = (
        "list prints every withdrawal as JSON: keep it apart from the backups. apply FILE, after a backup was "
        "restored, withdraws and erases again what that list says."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        actions.add_parser("list", help="Print the list.")
        actions.add_parser("apply", help="Apply a list.").add_argument("file", type=Path)

    def handle(self, *args: Any, **options: Any) -> None:
        if options["action"] == "list":
            self.stdout.write(json.dumps(tombstones.as_rows(), cls=DjangoJSONEncoder, indent=1))
        else:
            self.apply(options["file"])

    def apply(self, file: Path) -> None:
        try:
            rows = json.loads(file.read_text())
            found = tombstones.apply_tombstones(rows if isinstance(rows, list) else [rows])
        except (OSError, ValueError) as error:
            raise CommandError(f"{file} cannot be applied: {error}") from error
        erased = erase.erase_due()
        counted = ", ".join(f"{number} {what}" for what, number in found.items())
        self.stdout.write(f"{counted}; erased now: {erased['dishes']} dishes, {erased['persons']} persons.")
