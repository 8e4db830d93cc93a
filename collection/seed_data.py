"""Reference data that every database needs, written after each `migrate`; a second run changes nothing."""

import json
from pathlib import Path
from typing import Any

from django.db import connections

from collection.models import ConsentText, Country
from collection.vocabularies.places import all_places

CONSENTS = Path(__file__).parent / "data" / "consent"


def load_reference(using: str = "default", **kwargs: Any) -> None:
    """Receiver of `post_migrate`: countries and consent texts, only what is missing or differs."""
    tables = connections[using].introspection.table_names()
    if Country._meta.db_table in tables:
        load_countries(using)
        load_consents(using)


def load_countries(using: str) -> None:
    fields = ("name", "aliases", "continents")
    stored = {row.pk: tuple(getattr(row, field) for field in fields) for row in Country.objects.using(using)}
    changed = [
        Country(code=place.code, name=place.name, aliases=place.aliases, continents=place.continents)
        for place in all_places()
        if stored.get(place.code) != (place.name, place.aliases, place.continents)
    ]
    Country.objects.using(using).bulk_create(
        changed, update_conflicts=True, unique_fields=["code"], update_fields=fields
    )


def load_consents(using: str) -> None:
    """Adds texts that are not there, as drafts; one that somebody may have agreed to is never changed."""
    for path in sorted(CONSENTS.glob("*.json")):
        text = json.loads(path.read_text(encoding="utf-8"))
        version, language = text.pop("version"), text.pop("language")
        ConsentText.objects.using(using).get_or_create(version=version, language=language, defaults=text)
