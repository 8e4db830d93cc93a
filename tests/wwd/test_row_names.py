"""Every row has a name, as lists and histories of the admin show it, and the name alone asks the database nothing."""

import uuid
from datetime import UTC, date, datetime
from typing import Any

import pytest
from django.db import models
from django.db.models import Field, ForeignKey, Model

from wwd.base.packages import list_models

MODELS = list_models()
VALUES: dict[type[Any], Any] = {
    models.BooleanField: True,
    models.DateTimeField: datetime(2026, 3, 5, tzinfo=UTC),
    models.DateField: date(2026, 3, 5),
    models.UUIDField: uuid.UUID(int=7),
    models.JSONField: {},
    models.BinaryField: b"word",
    models.FloatField: 7.0,
    models.IntegerField: 7,
    models.CharField: "word",
    models.TextField: "word",
}


def value_for(field: "Field[Any, Any]") -> Any:
    if field.choices:
        return next(iter(field.flatchoices))[0]
    return next(value for kind, value in VALUES.items() if isinstance(field, kind))


def make_row(model: type[Model], depth: int = 2) -> Model:
    """A row that is not stored, with a value in every column, and the rows that it leads to."""
    row = model()
    for field in model._meta.concrete_fields:
        if not isinstance(field, ForeignKey):
            setattr(row, field.attname, value_for(field))
        elif depth:
            related = field.related_model
            assert isinstance(related, type)
            setattr(row, field.name, make_row(related, depth - 1))
    return row


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model._meta.label)
def test_every_row_has_a_name(model: type[Model]) -> None:
    name = str(make_row(model))
    assert name.strip() and "None" not in name and name != f"{model.__name__} object (7)"
