"""Forms that start runs: a step per study, its fields made from the study's Config, several steps as one chain."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, get_args, get_origin

from django import forms
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from evaluation import runner, studies
from evaluation.contracts.config_check import list_types
from evaluation.contracts.study import ConfigError, ModelOf, RunOf, Study, find_mark
from evaluation.models import DescriptorSet, Model, PromptTemplate, QuestionSet, Run
from evaluation.runner.chains import CHAIN, Step, list_chain_names, order_steps
from evaluation.runner.preview import Preview
from evaluation.studies import presets

IMAGES_FROM = "generation"
RECENT = 50


class StepForm(forms.Form):
    """One study of a chain. Fields that are left as they were take the default of the study's Config."""

    use = forms.BooleanField(required=False, label="Take this study")
    # A study that is not taken may stay empty: the browser must not ask for its fields.
    use_required_attribute = False

    def __init__(self, study: Study, offered: "Offered", data: Any = None, preset: str = "") -> None:
        """`preset`: what the form is filled in with at first, where it is one of this study."""
        self.presets = presets.of_study(study.slug)
        filled = self.presets.get(preset, {})
        super().__init__(data, prefix=study.slug, initial={**filled, "use": bool(filled)})
        self.study = study
        for name, field in study.Config.model_fields.items():
            self.fields[name] = field_for(name, field, offered.choices(study, name))

    @property
    def taken(self) -> bool:
        if not self.is_bound:
            return bool(self.initial.get("use"))
        return bool(self.fields["use"].widget.value_from_datadict(self.data, {}, self.add_prefix("use")))

    @property
    def config(self) -> dict[str, Any]:
        """What was filled in, as the configuration of the study."""
        return {name: value for name, value in self.cleaned_data.items() if name != "use" and value not in (None, "")}

    def settings(self) -> Iterator[forms.BoundField]:
        """The fields of the study itself."""
        return (self[name] for name in self.fields if name != "use")


def field_for(name: str, field: FieldInfo, offered: Sequence[tuple[str, Any]] | None) -> forms.Field:
    """A form field for one field of a Config; names that mean rows offer the rows that exist (`offered`)."""
    initial = None if field.is_required() else field.get_default(call_default_factory=True)
    if isinstance(initial, BaseModel):
        initial = initial.model_dump(mode="json", exclude_unset=True)
    common: dict[str, Any] = {"required": field.is_required(), "initial": initial, "label": name.replace("_", " ")}
    types = list_types(field.annotation)
    hint = types[0] if len(types) == 1 else None
    if get_origin(hint) is Literal:
        return make_choice_field(get_args(hint), common)
    if offered is not None:
        return forms.ChoiceField(choices=[("", "—"), *offered], **common)
    if hint is bool and initial is not None:
        return forms.BooleanField(**{**common, "required": False})
    if hint is bool:
        return make_choice_field((True, False), common)
    if hint is int:
        return forms.IntegerField(**common)
    if hint is float:
        return forms.FloatField(**common)
    if get_origin(hint) in (tuple, list) and set(get_args(hint)) <= {str, ...}:
        return WordsField(**{**common, "required": False}, help_text="Separated by commas.")
    if hint is str:
        return forms.CharField(**common)
    area = forms.Textarea(attrs={"rows": 2, "cols": 60, "dir": "ltr"})
    return forms.JSONField(widget=area, help_text="JSON, as in docs/researcher/.", **common)


def make_choice_field(values: Sequence[Any], common: Mapping[str, Any]) -> forms.TypedChoiceField:
    """A choice among values of JSON, which are read as what they are; none of them where there is no default."""
    written = {str(value): value for value in values}
    nothing = [("", "—")] if common["initial"] is None else []
    return forms.TypedChoiceField(
        choices=[*nothing, *((each, each) for each in written)], coerce=written.__getitem__, empty_value=None, **common
    )


class WordsField(forms.CharField):
    """Words separated by commas → a list."""

    def prepare_value(self, value: Any) -> Any:
        return ", ".join(map(str, value)) if isinstance(value, list | tuple) else value

    def to_python(self, value: Any) -> Any:
        return [word.strip() for word in (value or "").split(",") if word.strip()]


class Offered:
    """What the fields of all studies offer, each kind of row read once."""

    @cached_property
    def models(self) -> list[Model]:
        return list(Model.objects.order_by("demonstration", "slug"))

    @cached_property
    def versioned(self) -> Mapping[str, list[str]]:
        rows = {
            "prompt": PromptTemplate.objects.values_list("slug", flat=True),
            "descriptors": DescriptorSet.objects.values_list("slug", flat=True),
            "questions": QuestionSet.objects.values_list("slug", flat=True),
        }
        return {name: sorted(set(slugs)) for name, slugs in rows.items()}

    @cached_property
    def recent(self) -> dict[tuple[str, ...], list[str]]:
        """Studies whose runs others are made from → the slugs of their last runs, read as they are asked for."""
        return {}

    def runs_of(self, named: tuple[str, ...]) -> list[str]:
        """The last runs of these studies, the latest first."""
        if named not in self.recent:
            rows = Run.objects.filter(study__in=named).order_by("-created_at")
            self.recent[named] = list(rows.values_list("slug", flat=True)[:RECENT])
        return self.recent[named]

    def choices(self, study: Study, name: str) -> Sequence[tuple[str, Any]] | None:
        """What a field of this name may hold where that is the name of a row; None for every other field."""
        field = study.Config.model_fields[name]
        if asked := find_mark(field, RunOf):
            chain = [(f"{CHAIN}{one}", describe_chain_run(one)) for one in asked.studies]
            return [*chain, *((slug, slug) for slug in self.runs_of(asked.studies))]
        of_role = find_mark(field, ModelOf)
        if of_role or name in ("model", "encoder"):
            roles = of_role.roles if of_role else study.needs
            return [(row.slug, f"{row.title} ({row.slug})") for row in self.models if row.role in roles]
        named = name in ("prompt", "descriptors", "questions")
        return [(slug, slug) for slug in self.versioned[name]] if named else None


def step_forms(data: Any = None, preset: str = "") -> list[StepForm]:
    """A form for every study, in the order of the table of studies; at first as the preset says."""
    offered = Offered()
    return [StepForm(studies.load_study(slug), offered, data, preset) for slug in studies.STUDIES]


def steps_of(forms_given: Sequence[StepForm]) -> list[Step]:
    """The steps that were taken. Raises ConfigError where a form is not valid, or nothing was taken."""
    taken = [form for form in forms_given if form.taken]
    if not taken:
        raise ConfigError("Take at least one study.")
    # Every form is checked, so that all reasons are shown at once.
    if not min([form.is_valid() for form in taken]):
        raise ConfigError("Some fields are not right yet; the reason is beside each of them.")
    return [(form.study.slug, form.config) for form in taken]


@dataclass(frozen=True)
class Planned:
    """What a step would be; `preview` is None where it is planned once the images of the chain are there."""

    study: str
    preview: Preview | None

    @property
    def models(self) -> list[tuple[str, int]]:
        return sorted(self.preview.models.items()) if self.preview else []

    @property
    def countries(self) -> list[tuple[tuple[str, str], int]]:
        return sorted(self.preview.countries.items()) if self.preview else []


def preview_steps(steps: Sequence[Step]) -> list[Planned]:
    """What each step would be.

    Nothing stays in the database and nothing is sent. Raises ConfigError.
    """
    found: list[Planned] = []
    for slug, config in order_steps(steps):
        waits_for = list_chain_names(config)
        for missing in [name for name in waits_for if name not in {earlier.study for earlier in found}]:
            made = "images" if missing == IMAGES_FROM else f"run of “{missing}”"
            raise ConfigError(f"This chain makes no {made}: take the study “{missing}” too, or name a run.")
        found.append(Planned(slug, None if waits_for else runner.preview_run(slug, config)))
    return found


def describe_chain_run(study: str) -> str:
    return "the images that this chain makes" if study == IMAGES_FROM else f"what this chain's run of {study} gives"
