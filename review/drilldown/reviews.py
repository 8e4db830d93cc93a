"""What is behind the cells of tables of reviews: images, and what was counted of each person's answer.

The reviews are those that the table counted: of the same questionnaire, people and campaign, as the stored table says.
Only the reviews of one page's images are ever read, by the functions that the tables themselves read them with.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from django.db.models import Exists, OuterRef, Q, QuerySet

from evaluation.drilldown.cells import Cell, Drilldown, Observed
from evaluation.models import Model, Role
from review.drilldown.opinions import make_person_label
from review.models import CampaignImage, Questionnaire
from review.tables.selection import REAL, Opinion, Pool, filter_candidate_reviews, iterate_opinions

ALL = "all"
Counts = Callable[["Chosen", Sequence[Opinion]], Iterator[Observed]]


@dataclass(frozen=True)
class Chosen:
    """A cell with the reviews that its table counted, and their questionnaire."""

    cell: Cell
    pool: Pool
    questionnaire: Questionnaire

    @property
    def country(self) -> Q:
        """Reviews for the country of the cell."""
        value = self.cell.groups.get("country", ALL)
        return Q() if value == ALL else Q(image__country=value)


def find_table_choice(cell: Cell) -> Chosen | None:
    """The choice that the stored table made, without counting anything; None where it counted no review."""
    version = cell.extra.get("questionnaire")
    found = next((each for each in Questionnaire.objects.all() if str(each) == version), None)
    if found is None or cell.view.table is None:
        return None
    demonstration = cell.view.table.demonstration
    with_excluded = cell.filters.get("excluded") == "with"
    rows = filter_candidate_reviews(
        cell.filters, repeats=cell.spec.name == "review.controls", include_excluded=with_excluded
    )
    if not with_excluded:
        rows = rows.filter(reviewer__exclusion=None)
    rows = rows.filter(reviewer__campaign__questionnaire=found)
    reviews = rows if demonstration else rows.filter(REAL)
    return Chosen(cell, Pool(reviews, found, demonstration, ()), found)


def of_reviews(
    made: Chosen, counts: Counts, reviews: Q | None = None, note: str = "", *, by_people: bool = True
) -> Drilldown:
    """Images of the cell with a review among `reviews`; `counts` says what each review on a page counted as."""
    rows = made.pool.reviews.filter(reviews or Q())

    def observed(ids: Sequence[int]) -> Iterator[Observed]:
        return counts(
            made, list(iterate_opinions(rows.filter(made.country, image__image__in=list(ids)).order_by("pk")))
        )

    reviewed = Exists(rows.filter(image=OuterRef("pk")))
    return Drilldown("images", shown_in(made.cell).filter(reviewed), observed, "image_id", note, by_people)


def shown_in(cell: Cell) -> QuerySet[CampaignImage]:
    """Images as campaigns showed them, of the country and model of the cell."""
    rows = CampaignImage.objects.all()
    if cell.groups.get("country", ALL) != ALL:
        rows = rows.filter(country=cell.groups["country"])
    title = cell.groups.get("model") or cell.filters.get("model") or ""
    if title and title != ALL:
        rows = rows.filter(image__model__title=title)
    elif title or "model" in cell.groups:
        rows = rows.exclude(image__model=None)
    return rows


def real_photographs() -> QuerySet[Model, int]:
    """The models that stand for photographs, to be asked for within another query."""
    return Model.objects.filter(role=Role.CAMERA).values_list("pk", flat=True)


def yes_or_no(opinion_of: str, image: int, value: bool | None) -> Observed:
    """A review that was read as yes, as no, or not at all."""
    if value is None:
        return Observed(image, None, "unanswered, or not asked", who=make_person_label(opinion_of))
    return Observed(image, float(value), said="yes" if value else "no", who=make_person_label(opinion_of))
