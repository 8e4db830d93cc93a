"""Which subjects a study asks about, as its configuration says it. `evaluation.subjects` finds them."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from evaluation.contracts.config_check import check_fields
from evaluation.contracts.study import StudyConfig
from evaluation.metrics.dimensions import SUBJECT_DIMENSIONS

# Kinds whose subjects are stored by whoever brings them, such as an import of photographs.
STORED = ("object", "garment", "festival")
# Field → the kinds that it goes with.
ONLY = {"level": ("place",), "demonstration": ("dish",), "limit": ("dish", *STORED), "labels": STORED}


class SubjectSelection(StudyConfig):
    """Released dishes, accepted demonstration dishes, places, or stored subjects of another kind, such as objects.

    Without `countries`: those of all countries. `labels` of stored subjects: dimension → the values of which a subject
    has one; it has one of each dimension that is named.
    """

    kind: Literal["dish", "place", "object", "garment", "festival"] = "dish"
    countries: tuple[str, ...] | None = None
    demonstration: bool = False
    limit: int | None = Field(None, ge=1)
    level: Literal["country", "continent", "world"] = "country"
    labels: Mapping[str, tuple[str, ...]] | None = None

    @model_validator(mode="after")
    def check_fields_of_kind(self) -> Self:
        for name, kinds in ONLY.items():
            if name in self.model_fields_set and self.kind not in kinds:
                raise ValueError(f"{name} with the kind {' or '.join(kinds)} only")
        for name in self.labels or ():
            if name not in SUBJECT_DIMENSIONS:
                raise ValueError(f"labels of the dimensions {', '.join(SUBJECT_DIMENSIONS)} only")
        if self.countries and self.level != "country":
            raise ValueError("countries with the level country only")
        return self


def parse_selection(given: Mapping[str, Any]) -> SubjectSelection:
    """The selection that an object of JSON says. Raises ConfigError."""
    return check_fields(SubjectSelection, given, within="subjects")


def check_selection(given: Mapping[str, Any]) -> Mapping[str, Any]:
    parse_selection(given)
    return given


# A checked selection stays as it was given, because a run stores it word for word.
Subjects = Annotated[Mapping[str, Any], AfterValidator(check_selection)]
