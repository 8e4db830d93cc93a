"""Which rows' columns a bundle holds. Whatever is not named here stays on the platform.

Every column of a bundled table is either kept or left out for a reason: a test asks for a decision about new ones.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from django.db.models import Field, Model

from collection.models import Country, Dish, DishContinent, DishCountry, DishLanguage, Photo, PhotoLink
from evaluation import models as evaluation
from review import models as review

PERSON = "tells who somebody is, or when somebody was here"
STAFF = "names somebody of the staff"
WORK = "of the queue or the hosts, not of the result"
ELSEWHERE = "no table is made of it; releases hold it"
FILES = "names a file that is not in the bundle"


@dataclass(frozen=True)
class Shape:
    """The columns of one table: `left_out` → why."""

    model: type[Model]
    left_out: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.model._meta.label_lower

    @property
    def key(self) -> str:
        return self.model._meta.pk.attname

    @property
    def columns(self) -> "list[Field]":
        """The kept columns in the order of the model."""
        return [column for column in self.model._meta.concrete_fields if column.attname not in self.left_out]


def shape_with_columns(model: type[Model], kept: str, why: str) -> Shape:
    """A table of which few columns are stored, and all others are left out for one reason."""
    names = {column.attname for column in model._meta.concrete_fields}
    return Shape(model, dict.fromkeys(sorted(names - set(kept.split())), why))


SHAPES = (
    Shape(Country),
    shape_with_columns(
        Dish,
        "id number source state local_name english_name regions cultures time_of_day kinds utensils drink occasions "
        "ingredients recipe more_details",
        ELSEWHERE,
    ),
    Shape(DishCountry),
    Shape(DishLanguage),
    Shape(DishContinent),
    shape_with_columns(PhotoLink, "id dish_id kind url none_exists", ELSEWHERE),
    shape_with_columns(Photo, "id dish_id state taken_by_me may_be_shared no_people is_photograph", FILES),
    Shape(evaluation.ReferenceList),
    Shape(evaluation.ReferenceDish),
    Shape(evaluation.Model),
    Shape(evaluation.PromptTemplate),
    Shape(evaluation.QuestionSet),
    Shape(evaluation.DescriptorSet),
    Shape(evaluation.Subject),
    Shape(
        evaluation.Run, {"started_by_id": STAFF, **dict.fromkeys(("announced", "heard", "priority", "problem"), WORK)}
    ),
    Shape(evaluation.RunLabel),
    Shape(evaluation.GeneratedImage),
    Shape(evaluation.Embedding),
    Shape(evaluation.Unit, {"batch_id": WORK}),
    Shape(evaluation.Outcome, {"batch_id": WORK}),
    Shape(evaluation.EarlierOutcome),
    Shape(review.Questionnaire),
    Shape(review.Campaign, {"held_back_at": WORK}),
    Shape(review.CampaignImage, {"copy_sha256": FILES, "large_sha256": FILES, "looked_at": STAFF}),
    shape_with_columns(review.Reviewer, "id campaign_id source_key source", PERSON),
    shape_with_columns(review.Exclusion, "reviewer_id", STAFF),
    shape_with_columns(review.Assignment, "id reviewer_id image_id repeat state reason", PERSON),
    Shape(
        review.Review,
        {"words_read_by_id": STAFF, "words_read_at": STAFF, "source_key": PERSON, "created_at": PERSON},
    ),
)
