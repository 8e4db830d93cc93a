"""`manage.py import_reference`: a list of dishes that others collected, to count novelty against."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.core.validators import validate_slug

from evaluation.models import ReferenceList
from evaluation.novelty.reference import ReferenceListError, import_reference, load_reference_forms


class Command(BaseCommand):
    help = "Adds a CSV file of dishes as a reference list for the novelty tables. The same file again changes nothing."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--name", required=True, help="short name of the list, such as worldcuisines")
        parser.add_argument(
            "--form", default="plain", help=f"which columns hold what: {', '.join(load_reference_forms())}"
        )
        parser.add_argument("--title", default="")
        parser.add_argument("--source", default="", help="where it comes from, with its licence")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            validate_slug(options["name"])
        except ValidationError as error:
            raise CommandError("A name is made of letters, digits, - and _.") from error
        for option, column in (("name", "slug"), ("title", "title"), ("source", "source")):
            most = getattr(ReferenceList._meta.get_field(column), "max_length", 0)
            if len(options[option]) > most:
                raise CommandError(f"--{option} has {len(options[option])} letters. Accepted: {most} at most.")
        try:
            held, added = import_reference(
                options["file"], options["name"], options["form"], title=options["title"], source=options["source"]
            )
        except ReferenceListError as error:
            raise CommandError(str(error)) from error
        number = held.dishes.count()
        self.stdout.write(f"{held.slug}: {number} dishes {'added' if added else 'are here already'}.")
