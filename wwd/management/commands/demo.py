"""`manage.py demo load|status|clear`: dishes, images and reviews that show the site and mean nothing."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from wwd.exchange.demo.clearing import clear_demo, count_demo_rows
from wwd.exchange.demo.loading import load_demo


class Command(BaseCommand):
    help = (
        "Demonstration data: load adds what is missing and prints a link to judge images, status counts it, "
        "clear removes all of it with its files and leaves everything else as it is."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("action", choices=("load", "status", "clear"))

    def handle(self, *args: Any, **options: Any) -> None:
        {"load": self.load, "status": self.status, "clear": self.clear}[options["action"]]()

    def load(self) -> None:
        done = load_demo()
        self.stdout.write(f"Added {done.dishes} dishes, {done.images} images and {done.reviews} reviews.")
        self.stdout.write(f"Link to judge images: {done.invitation.get_absolute_url()}")

    def status(self) -> None:
        self.stdout.write(f"Demonstration data here: {listed(count_demo_rows())}.")

    def clear(self) -> None:
        self.stdout.write(f"Removed the demonstration data: {listed(clear_demo())}.")


def listed(found: dict[str, int]) -> str:
    return ", ".join(f"{number} {kind}" for kind, number in found.items())
