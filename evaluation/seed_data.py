"""Rows that ship with the project: models, prompts, questions and descriptor sets of evaluation/prompts/."""

from typing import Any

from evaluation.models import DescriptorSet, Model, PromptTemplate, QuestionSet
from evaluation.studies.presets import read_rows


def load_reference(**_: Any) -> None:
    """Adds the rows that are missing. What is there stays: staff may have changed a model, and a text is for ever."""
    for row in read_rows("models.json"):
        Model.objects.get_or_create(slug=row["slug"], defaults=row)
    for row in read_rows("prompts.json"):
        PromptTemplate.objects.get_or_create(slug=row["slug"], version=row["version"], defaults=row)
    for row in read_rows("descriptors.json"):
        DescriptorSet.objects.get_or_create(slug=row["slug"], version=row["version"], defaults=row)
    for row in read_rows("questions.json"):
        QuestionSet.objects.get_or_create(slug=row["slug"], version=row["version"], defaults=row)
