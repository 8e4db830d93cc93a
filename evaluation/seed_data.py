"""Rows that ship with the project: models, prompts, questions and descriptor sets of evaluation/prompts/."""

from typing import Any

from django.db import connections

from evaluation.models import DescriptorSet, Model, PromptTemplate, QuestionSet
from evaluation.studies.presets import read_rows


def load_reference(using: str = "default", **_: Any) -> None:
    """Adds the rows that are missing. What is there stays: staff may have changed a model, and a text is for ever.

    Receives `post_migrate`; does nothing where only other apps are migrated so far.
    """
    if Model._meta.db_table not in connections[using].introspection.table_names():
        return
    for row in read_rows("models.json"):
        Model.objects.get_or_create(slug=row["slug"], defaults=row)
    for row in read_rows("prompts.json"):
        PromptTemplate.objects.get_or_create(slug=row["slug"], version=row["version"], defaults=row)
    for row in read_rows("descriptors.json"):
        DescriptorSet.objects.get_or_create(slug=row["slug"], version=row["version"], defaults=row)
    for row in read_rows("questions.json"):
        QuestionSet.objects.get_or_create(slug=row["slug"], version=row["version"], defaults=row)
