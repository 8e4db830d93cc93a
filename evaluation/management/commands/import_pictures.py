"""`manage.py import_pictures`: the former name of `manage.py import_images`. It works until the next release."""

from typing import Any

from evaluation.management.commands import import_images


class Command(import_images.Command):
    help = f"The former name of import_images, until the next release. {import_images.Command.help}"

    def handle(self, *args: Any, **options: Any) -> None:
        self.stderr.write("import_pictures is now called import_images. The former name works until the next release.")
        super().handle(*args, **options)
