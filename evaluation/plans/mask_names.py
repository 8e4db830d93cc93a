"""The names that models and places get while a plan is masked: stored, so that they stay the same everywhere."""

import random
from collections.abc import Iterable, Mapping
from functools import cached_property
from string import ascii_uppercase

from django.db import transaction

from collection.models import Country
from evaluation.metrics.dimensions import MASKED_DIMENSIONS
from evaluation.models import MaskedName, Model, Plan, Role, Run, RunLabel
from evaluation.registry.derived import BY, ENDS

MODEL = MaskedName.MODEL
# Column → what a hidden value of it is called before its letter; each is a kind of name by itself.
PREFIX: Mapping[str, str] = {MODEL: "", **{name: each.masked for name, each in MASKED_DIMENSIONS.items()}}
# What tables compare. Encoders and extractors are instruments, photographs the control: both keep their names.
MASKED_ROLES = (Role.IMAGE_GENERATOR, Role.VQA, Role.CHAT, Role.CAPTIONER, Role.INPAINTER)


def kind_of(column: str, *, places: bool) -> str | None:
    """Which kind of name a column holds, where that kind is hidden."""
    return column if column == MODEL or (places and column in PREFIX) else None


def column_of(groups: Mapping[str, str], column: str) -> str:
    """Whose values a column holds: its own, or at the ends of a disparity those of the dimension it is about."""
    return groups.get(BY, column) if column in ENDS else column


def is_compared(groups: Mapping[str, str], column: str) -> bool:
    """Whether a column names one of two models that are compared."""
    return column in ("first", "second") and groups.get("compared") == "models"


def number_to_letters(number: int) -> str:
    """A for 0, Z for 25, AA for 26."""
    text = ""
    number += 1
    while number:
        number, rest = divmod(number - 1, 26)
        text = ascii_uppercase[rest] + text
    return text


class Names:
    """The masked names of one plan. Models are one and the same by slug and by title."""

    def __init__(self, plan: Plan, places: bool) -> None:
        self.plan = plan
        self.places = places
        self._held: dict[tuple[str, str], str] = {}

    @cached_property
    def models(self) -> list[Model]:
        """All models that are hidden, and the photographs, which are not."""
        return list(Model.objects.filter(role__in=(*MASKED_ROLES, Role.CAMERA)).order_by("pk"))

    @cached_property
    def instruments(self) -> set[str]:
        """Models that are hidden only where they are what a table compares."""
        return set(Model.objects.exclude(role__in=(*MASKED_ROLES, Role.CAMERA)).values_list("slug", flat=True))

    @cached_property
    def slugs(self) -> dict[str, str]:
        """Title or slug → slug."""
        return {name: model.slug for model in self.models for name in (model.title, model.slug)}

    @cached_property
    def titles(self) -> dict[str, str]:
        return {model.slug: model.title for model in self.models}

    @cached_property
    def open(self) -> set[str]:
        """What the model column may show as it is: photographs, and "all models"."""
        cameras = [model for model in self.models if model.role == Role.CAMERA]
        return {"all", "", *(name for model in cameras for name in (model.title, model.slug))}

    def shown(self, column: str, value: str) -> str:
        """The masked name of a value, given now where it has none yet."""
        if value in self.open:
            return value
        key = self._key(column, value)
        if (column, key) not in self.names:
            self._give(column, {key})
        return self.names[column, key]

    def value(self, column: str, shown: str) -> str | None:
        """The value behind a masked name: a model's slug, a place as it is written. None where no name is like this."""
        if shown in self.open:
            return shown
        return next((key for (of, key), name in self.names.items() if of == column and name == shown), None)

    def learn(self, groups: Iterable[Mapping[str, str]]) -> None:
        """Gives names to all values of a table at once, so that the order in which they are met reveals nothing."""
        met: dict[str, set[str]] = {column: set() for column in PREFIX if kind_of(column, places=self.places)}
        for row in groups:
            for column, value in row.items():
                kind = MODEL if value in self.instruments and is_compared(row, column) else column_of(row, column)
                if kind in met and value not in self.open:
                    met[kind].add(self._key(kind, value))
        for kind, values in met.items():
            self._give(kind, values)

    @property
    def names(self) -> dict[tuple[str, str], str]:
        """(kind, value) → masked name, as stored."""
        if not self._held:
            rows = MaskedName.objects.filter(plan=self.plan).values_list("kind", "value", "shown")
            self._held = {(kind, value): shown for kind, value, shown in rows}
        return self._held

    def _key(self, kind: str, value: str) -> str:
        return self.slugs.get(value, value) if kind == MODEL else value

    def _known(self, kind: str) -> set[str]:
        """Everything of a kind that could be met: it is named the first time, after what was met."""
        if kind == MODEL:
            return {model.slug for model in self.models if model.slug not in self.open}
        if kind == "country":
            return set(Country.objects.values_list("name", flat=True))
        if fixed := MASKED_DIMENSIONS[kind].values:
            return set(fixed)
        # The index of labels begins with the run.
        labels = RunLabel.objects.filter(run__in=Run.objects.values("pk"), dimension=kind).order_by()
        return set(labels.values_list("value", flat=True).distinct())

    def _give(self, kind: str, values: set[str]) -> None:
        """Stores names for those that have none. Two requests at once agree: the plan is held meanwhile."""
        if any(of == kind for of, _ in self.names) and all((kind, value) in self.names for value in values):
            return
        if not values and not self._known(kind):
            return
        with transaction.atomic():
            Plan.objects.select_for_update().get(pk=self.plan.pk)
            held = set(MaskedName.objects.filter(plan=self.plan, kind=kind).values_list("value", flat=True))
            new = self._shuffled(kind, values - held) + self._shuffled(kind, self._known(kind) - values - held)
            MaskedName.objects.bulk_create(
                MaskedName(
                    plan=self.plan, kind=kind, value=value, shown=PREFIX[kind] + number_to_letters(len(held) + number)
                )
                for number, value in enumerate(new)
            )
        self._held = {}

    def _shuffled(self, kind: str, values: set[str]) -> list[str]:
        """In an order that follows from the plan's seed alone."""
        found = sorted(values)
        random.Random(f"{self.plan.mask_seed}:{kind}:{' '.join(found)}").shuffle(found)
        return found
