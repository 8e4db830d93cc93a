"""The form of a plan: what is typed becomes what is stored, and what cannot be used is said beside its field."""

import re
import shlex
from collections.abc import Mapping
from typing import Any

from django import forms
from django.contrib.auth.base_user import AbstractBaseUser
from django.utils.text import slugify

from evaluation.contracts import table as contracts_table
from evaluation.models import Plan
from evaluation.presentation.run_form import WordsField
from evaluation.registry import lookup
from evaluation.suggestions import describe_unknown_name

LINES = 3
MOST_LINES = 40
LONG = ("hypotheses", "groups", "exclusions", "stopping")
SLUG = re.compile(r"[-\w]{1,80}", re.ASCII)


class SlugsField(WordsField):
    """Short names separated by commas; also of what does not exist yet."""

    def validate(self, value: Any) -> None:
        super().validate(value)
        wrong = [name for name in value if not SLUG.fullmatch(name)]
        if wrong:
            raise forms.ValidationError(f"“{wrong[0]}” is no short name: letters, digits and hyphens.")


class LineForm(forms.Form):
    """One table that the plan lists."""

    table = forms.CharField(
        max_length=80, label="Table", widget=forms.TextInput(attrs={"list": "named-tables", "dir": "ltr"})
    )
    filters = forms.CharField(
        max_length=400,
        required=False,
        label="Filters",
        widget=forms.TextInput(attrs={"placeholder": "campaign=kenya-2026 country=Kenya", "dir": "ltr"}),
    )
    metrics = forms.CharField(
        max_length=400,
        required=False,
        label="Metrics; empty for all",
        widget=forms.TextInput(attrs={"placeholder": "correct_dish, food", "dir": "ltr"}),
    )

    def clean(self) -> dict[str, Any]:
        """Adds `listed`, the line as a plan stores it."""
        values = super().clean() or {}
        if "table" in values:
            try:
                spec = lookup.find_table_spec(values["table"].strip())
            except lookup.TableNotFound as error:
                self.add_error("table", str(error))
            else:
                values["listed"] = {
                    "table": spec.name,
                    "version": spec.version,
                    "filters": self._filters(spec, values.get("filters", "")),
                    "metrics": self._metrics(spec, values.get("metrics", "")),
                }
        return values

    def _filters(self, spec: contracts_table.TableSpec, text: str) -> dict[str, str]:
        try:
            pairs = [pair.partition("=") for pair in shlex.split(text)]
            if any(not sign or not key for key, sign, _value in pairs):
                raise ValueError("Filters are written name=value, with a space between two of them.")
            return lookup.checked_filters(spec, {key: value for key, _sign, value in pairs})
        except ValueError as error:
            self.add_error("filters", str(error))
            return {}

    def _metrics(self, spec: contracts_table.TableSpec, text: str) -> list[str]:
        chosen = [name for name in re.split(r"[,\s]+", text) if name]
        for name in chosen:
            if name not in spec.metrics:
                self.add_error("metrics", describe_unknown_name("metric", name, spec.metrics))
        return chosen or list(spec.metrics)


Lines = forms.formset_factory(LineForm, extra=LINES, max_num=MOST_LINES, absolute_max=MOST_LINES, validate_max=True)


class PlanForm(forms.ModelForm):
    """What a plan says besides its tables."""

    campaigns = SlugsField(required=False, label="Campaigns")
    runs = SlugsField(required=False, label="Runs")
    studies = SlugsField(required=False, label="Studies")

    class Meta:
        model = Plan
        fields = (
            "title",
            "amends",
            "hypotheses",
            "primary_table",
            "primary_metric",
            "groups",
            "exclusions",
            "family",
            "stopping",
            "stop_reviews",
            "stop_on",
            "campaigns",
            "runs",
            "studies",
            "masked",
            "mask_places",
        )
        labels = {
            "title": "Title",
            "amends": "Amends the plan",
            "hypotheses": "Hypotheses",
            "primary_table": "Primary: table",
            "primary_metric": "Primary: metric",
            "groups": "Groups",
            "exclusions": "Exclusions",
            "family": "Correction",
            "stopping": "Stopping rule",
            "stop_reviews": "Reviews at least",
            "stop_on": "Not before (year-month-day)",
            "masked": "Mask models",
            "mask_places": "Mask places",
        }
        widgets = {
            name: forms.Textarea(attrs={"rows": 3}) for name in ("hypotheses", "groups", "exclusions", "stopping")
        }

    def __init__(self, *args: Any, **values: Any) -> None:
        super().__init__(*args, **values)
        self.fields["amends"].queryset = Plan.objects.exclude(frozen_at=None)  # type: ignore[attr-defined]


class Draft:
    """The form and its lines as one: valid together, saved together."""

    def __init__(self, plan: Plan | None, data: Any = None, copied: Plan | None = None) -> None:
        """`copied`: the frozen plan that a new one amends, and begins as a copy of."""
        shown = copied or plan
        initial = {**self._copy(copied), "amends": copied} if copied else {}
        self.form = PlanForm(data, instance=plan, initial=initial)
        self.lines = Lines(
            data, prefix="lines", initial=[format_listed_table(listed) for listed in shown.tables] if shown else []
        )

    @staticmethod
    def _copy(plan: Plan) -> dict[str, Any]:
        return {name: getattr(plan, name) for name in PlanForm.Meta.fields}

    def is_valid(self) -> bool:
        valid = [self.form.is_valid(), self.lines.is_valid()]
        if all(valid):
            self._check_primary()
        return not self.form.errors and all(valid)

    @property
    def listed(self) -> list[dict[str, Any]]:
        """The tables of valid lines; empty lines are left out."""
        return [form.cleaned_data["listed"] for form in self.lines if form.cleaned_data.get("listed")]

    def _check_primary(self) -> None:
        """At least one table, and the primary metric among what is listed."""
        table, metric = (self.form.cleaned_data[name] for name in ("primary_table", "primary_metric"))
        if not self.listed:
            self.form.add_error(None, "List at least one table.")
        elif not any(one["table"] == table and metric in one["metrics"] for one in self.listed):
            self.form.add_error("primary_metric", "The primary table and metric are not among the tables listed.")

    def save(self, by: AbstractBaseUser) -> Plan:
        """The draft as a row. Raises PlanFrozenError where somebody froze it meanwhile."""
        plan = self.form.save(commit=False)
        plan.tables = self.listed
        if plan.pk is None:
            plan.created_by_id = by.pk
            plan.slug = free_slug(plan.title)
        plan.save()
        return plan


def format_listed_table(listed: Mapping[str, Any]) -> dict[str, str]:
    """A listed table as it is typed."""
    filters = " ".join(shlex.quote(f"{name}={value}") for name, value in listed["filters"].items())
    return {"table": listed["table"], "filters": filters, "metrics": ", ".join(listed["metrics"])}


def free_slug(title: str) -> str:
    """A short name for a title, of any script, that no plan has yet."""
    start = slugify(title)[:60] or "plan"
    taken = set(Plan.objects.filter(slug__startswith=start).values_list("slug", flat=True))
    numbered = (f"{start}-{number}" for number in range(2, len(taken) + 3))
    return next(slug for slug in (start, *numbered) if slug not in taken)
