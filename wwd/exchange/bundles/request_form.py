"""The form by which researchers ask for a bundle or a report."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django import forms

from evaluation.models import Plan
from evaluation.registry import lookup
from evaluation.registry.names import TABLES
from wwd.exchange.bundles import build, table_views
from wwd.exchange.bundles.build import Request
from wwd.exchange.bundles.table_views import ChosenError, View

LONGEST = 20_000


@dataclass(frozen=True)
class Choice:
    """A table that can be ticked."""

    name: str
    title: str
    ticked: bool


class ExportForm(forms.Form):
    """A name, tables: ticked, written with filters, or those of plans, and whether images come along."""

    name = forms.CharField(max_length=60, label="Name")
    plan = forms.ModelChoiceField(
        Plan.objects.exclude(frozen_at=None),
        required=False,
        to_field_name="slug",
        label="Everything that a frozen plan lists",
    )
    filtered = forms.CharField(
        required=False,
        max_length=LONGEST,
        widget=forms.Textarea(attrs={"rows": 4, "cols": 60, "spellcheck": "false"}),
        label="Tables with filters, one a line, as in the address of their page",
    )
    pictures = forms.BooleanField(required=False)

    def __init__(self, data: Any = None, *, views: Sequence[str] = (), images_label: str = "") -> None:
        """`views`: what is filled in at first, as lines; `images_label` is empty where nobody may take images."""
        plain = [line for line in views if "?" not in line]
        super().__init__(data, initial={"filtered": "\n".join(line for line in views if "?" in line)})
        self.ticked = set(data.getlist("table") if data is not None else plain)
        self.fields["pictures"].label = images_label
        if not images_label:
            del self.fields["pictures"]

    def tables(self) -> Iterable[Choice]:
        """The tables themselves, in the order of their names."""
        return [self._choice(name) for name in sorted(TABLES)]

    def derived(self) -> Iterable[Choice]:
        """The tables that are derived from another one."""
        return [self._choice(name) for name in lookup.list_table_names() if name not in TABLES]

    def opened(self) -> bool:
        """Whether one of the derived tables is ticked."""
        return bool(self.ticked - set(TABLES))

    def _choice(self, name: str) -> Choice:
        return Choice(name, lookup.find_table_spec(name).title, name in self.ticked)

    def clean_name(self) -> str:
        return self._or_error(lambda: table_views.check_bundle_name(self.cleaned_data["name"]))

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        plan = cleaned.get("plan")
        cleaned["views"] = self._or_error(
            lambda: table_views.parse_views(
                [
                    *self.ticked,
                    *table_views.split_view_lines(cleaned.get("filtered", "")),
                    *(table_views.list_plan_views(plan.slug) if plan else ()),
                ]
            )
        )
        return cleaned

    def request(self) -> Request:
        """What was asked for, once the form is valid."""
        asked = self.cleaned_data
        return Request(asked["name"], asked["views"], bool(asked.get("pictures")))

    def _or_error(self, made: Any) -> Any:
        try:
            return made()
        except ChosenError as error:
            raise forms.ValidationError(str(error)) from error


class BundleForm(ExportForm):
    """A bundle names the models in its rows: masked tables are refused here already."""

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean()
        views: tuple[View, ...] = cleaned.get("views", ())
        self._or_error(lambda: build.refuse_masked(views))
        return cleaned
