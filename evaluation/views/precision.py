"""The precision planner: how wide intervals will be, and which gap can be seen, before anybody is asked."""

import shlex
from dataclasses import dataclass
from typing import Any

from django import forms
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from evaluation import queue
from evaluation.derived.variance import pool_components
from evaluation.metrics.precision import Design, Precision, compute_precision, list_alternative_designs
from evaluation.metrics.variance_components import Components
from evaluation.registry import derived, lookup
from evaluation.registry.names import TABLES
from evaluation.suggestions import describe_unknown_name
from evaluation.tables import read, store
from evaluation.views.tables import build_admin_context, require_permission

MOST = 1_000_000
PARTS = ("dish", "image", "reviewer", "residual")
NEW = {"dishes": 30, "images": 2, "reviewers": 3, "people": 10, "tests": 1}


@dataclass(frozen=True)
class Pilot:
    """Components read from a stored table: over `cells` groups with `n` observations."""

    parts: Components
    n: int
    cells: int


class PrecisionForm(forms.Form):
    """A design, and how much things differ: from a table, or typed."""

    dishes = forms.IntegerField(min_value=1, max_value=MOST, label="Dishes of a group")
    images = forms.IntegerField(min_value=1, max_value=MOST, label="Images of a dish")
    reviewers = forms.IntegerField(min_value=0, max_value=1000, label="Opinions on an image; 0 for machine scores")
    people = forms.IntegerField(
        min_value=0,
        max_value=MOST,
        required=False,
        label="People who share them; empty where all judge everything",
    )
    tests = forms.IntegerField(min_value=1, max_value=10_000, label="Tests in the family (Holm)")
    pilot = forms.ChoiceField(required=False, label="Pilot: table")
    metric = forms.CharField(required=False, max_length=80, label="Pilot: metric")
    filters = forms.CharField(
        required=False,
        max_length=400,
        label="Pilot: filters",
        widget=forms.TextInput(attrs={"placeholder": "country=Kenya", "dir": "ltr"}),
    )
    dish = forms.FloatField(required=False, min_value=0, label="Variance between dishes")
    image = forms.FloatField(required=False, min_value=0, label="Variance between images of a dish")
    reviewer = forms.FloatField(required=False, min_value=0, label="Variance between people")
    residual = forms.FloatField(required=False, min_value=0, label="Variance that is left")

    def __init__(self, data: Any = None) -> None:
        super().__init__(data, initial=NEW)
        named = [
            name for name in sorted(TABLES) if derived.find_derived_table(f"variance.{name}", lookup.find_table_spec)
        ]
        self.fields["pilot"].choices = [("", "none: typed below"), *((name, name) for name in named)]  # type: ignore[attr-defined]
        self.view: store.TableView | None = None

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        if not self.errors:
            self._design(values)
            if values["pilot"]:
                self._pilot(values)
            elif all(values[name] is None for name in PARTS):
                self.add_error("pilot", "Choose a pilot, or type how much things differ.")
        return values

    def _design(self, values: dict[str, Any]) -> None:
        people = values["people"] or values["reviewers"]
        numbers = {name: values[name] for name in ("dishes", "images", "reviewers")}
        try:
            values["design"] = Design(**numbers, people=people if values["reviewers"] else 0)
        except ValueError as error:
            self.add_error("people", str(error))

    def _pilot(self, values: dict[str, Any]) -> None:
        """Reads the stored table of components. What is not stored yet is asked for by the view."""
        spec = lookup.find_table_spec(values["pilot"])
        if values["metric"] not in spec.metrics:
            self.add_error("metric", describe_unknown_name("metric", values["metric"], spec.metrics))
            return
        try:
            pairs = [pair.partition("=") for pair in shlex.split(values["filters"])]
            self.view = read.read_stored_table(f"variance.{spec.name}", {key: value for key, _sign, value in pairs})
        except ValueError as error:
            self.add_error("filters", str(error))

    @property
    def found(self) -> Pilot | None:
        """What the pilot says; None where nothing was measured, or is stored."""
        if self.view is None or self.view.table is None:
            return None
        pool = pool_components(self.view.table, self.cleaned_data["metric"])
        return Pilot(*pool) if pool else None

    @property
    def parts(self) -> Components | None:
        """The components to plan with."""
        if self.cleaned_data["pilot"]:
            return self.found.parts if self.found else None
        return Components(*(self.cleaned_data[name] or 0.0 for name in PARTS))


@require_permission("view_storedtable")
@require_safe
def show_precision_planner(request: HttpRequest) -> HttpResponse:
    """The form, the expected precision of its design, and that of its neighbours."""
    form = PrecisionForm(request.GET or None)
    more: dict[str, Any] = {}
    if form.is_valid():
        if form.view and form.view.state != "fresh" and store.request_fresh_table(form.view):
            transaction.on_commit(queue.request_tables)
        more = {"pilot": form.found, "view": form.view, "rows": compute_precision_rows(form)}
    title = "Precision planner"
    status = 422 if form.is_bound and not form.is_valid() else 200
    return render(
        request, "evaluation/precision.html", build_admin_context(request, title, form=form, **more), status=status
    )


def compute_precision_rows(form: PrecisionForm) -> list[Precision]:
    """The design first, then its alternatives; empty while the pilot is being computed."""
    parts = form.parts
    if parts is None:
        return []
    return [
        compute_precision(other, parts, form.cleaned_data["tests"])
        for other in list_alternative_designs(form.cleaned_data["design"])
    ]
