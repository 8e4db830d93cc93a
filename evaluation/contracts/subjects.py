"""Which subjects a study asks about, as its configuration says it. `evaluation.subjects` finds them."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from evaluation.contracts.config_check import check_fields
from evaluation.contracts.study import StudyConfig

ONLY = {"level": "place", "demonstration": "dish", "limit": "dish"}


class SubjectSelection(StudyConfig):
    """Released dishes, accepted demonstration dishes, or places. Without `countries`: those of all countries."""

    kind: Literal["dish", "place"] = "dish"
    countries: tuple[str, ...] | None = None
    demonstration: bool = False
    limit: int | None = Field(None, ge=1)
    level: Literal["country", "continent", "world"] = "country"

    @model_validator(mode="after")
    def check_fields_of_kind(self) -> Self:
        for name, kind in ONLY.items():
            if name in self.model_fields_set and self.kind != kind:
                raise ValueError(f"{name} with the kind {kind} only")
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
