"""Rows that ship with the project: models, prompts, questions and descriptor sets of evaluation/prompts/."""

import json
from pathlib import Path
from typing import Any

from django.db import connections

from evaluation.models import DescriptorSet, Model, PromptTemplate, QuestionSet

FOLDER = Path(__file__).resolve().parent / "prompts"


def read(name: str) -> list[dict[str, Any]]:
    rows = json.loads((FOLDER / name).read_text(encoding="utf-8"))
    assert isinstance(rows, list)
    return rows


def load_reference(using: str = "default", **_: Any) -> None:
    """Adds the rows that are missing. What is there stays: staff may have changed a model, and a text is for ever.

    Receives `post_migrate`; does nothing where only other apps are migrated so far.
    """
    if Model._meta.db_table not in connections[using].introspection.table_names():
        return
    for row in read("models.json"):
        Model.objects.get_or_create(slug=row["slug"], defaults=row)
    for row in read("prompts.json"):
        PromptTemplate.objects.get_or_create(slug=row["slug"], version=row["version"], defaults=row)
    for row in read("descriptors.json"):
        DescriptorSet.objects.get_or_create(slug=row["slug"], version=row["version"], defaults=row)
    for row in read("questions.json"):
        QuestionSet.objects.get_or_create(slug=row["slug"], version=row["version"], defaults=row)
