"""What somebody typed, for a form that is shown again before it is judged."""

from typing import Any

from django import forms
from django.http import QueryDict


def collect_typed_values(data: QueryDict, form: type[forms.Form]) -> dict[str, Any]:
    """The fields of `form` that are in `data`, as initial values; nothing is validated."""
    several = (forms.MultipleChoiceField,)
    return {
        name: data.getlist(name) if isinstance(field, several) else data[name]
        for name, field in form.base_fields.items()
        if name in data
    }
