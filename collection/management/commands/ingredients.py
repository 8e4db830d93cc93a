"""`manage.py ingredients`: the index of ingredients anew from all accepted dishes, after an import."""

from typing import Any

from django.core.management.base import BaseCommand

from collection.vocabularies.ingredients import rebuild_ingredient_index


class Command(BaseCommand):
    help = "Makes the index of ingredients anew from all accepted dishes. Joined spellings stay joined."

    def handle(self, *args: Any, **options: Any) -> None:
        self.stdout.write(f"Ingredients of {rebuild_ingredient_index()} dishes are indexed.")
