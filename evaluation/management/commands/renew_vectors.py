"""Vectors made before the present decode of images: `manage.py renew_vectors`."""

from typing import Any

from django.core.management.base import BaseCommand

from evaluation.readers import image_decode
from evaluation.runner.vector_renewal import renew_vectors


class Command(BaseCommand):
    help = (
        f"Renames vectors of images whose pixels the decode {image_decode.VERSION} leaves as they were, and has the "
        "others computed again by the workers. Run it once after an upgrade; a second run finds nothing to do."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        done = renew_vectors()
        self.stdout.write(
            f"{done.renamed} vectors renamed, {done.unknown} of unknown decode, {done.again} computed again "
            f"in {len(done.runs)} runs."
        )
