"""What is behind a cell of `agreement.*`: the images that people and the run have in common, with all answers."""

from collections.abc import Iterator, Sequence

from django.db.models import CharField, Exists, OuterRef, Q, QuerySet, Value
from django.db.models.functions import Cast, Concat

from evaluation.drilldown.cells import Cell, Drilldown, Observed
from evaluation.drilldown.studies import drill_down_group
from evaluation.models import Run, Unit
from review.drilldown.opinions import make_person_label
from review.drilldown.reviews import Chosen, find_table_choice, of_reviews, real_photographs
from review.people_machine.registry import PeopleQuestion, asked_of_people
from review.tables.selection import Opinion


def drill_down_people_machine(cell: Cell) -> Drilldown:
    """The images of a pair and a country; of the table of disagreements, the one image that its row names."""
    made = None if "picture" in cell.groups else find_table_choice(cell)
    run = Run.objects.filter(slug=cell.groups["run"]).first()
    if made is None or run is None:
        return drill_down_group(cell)
    asked = {question.name: question for question in asked_of_people(made.questionnaire)}
    question = asked[cell.groups["question"]]

    def counts(made: Chosen, said: Sequence[Opinion]) -> Iterator[Observed]:
        return (build_observed_answer(question, opinion) for opinion in said)

    note = (
        "These are the images that people judged and the run holds. What the machine says of each is beside it; "
        "the number is no mean over them, but says how far the two agree."
    )
    drawn = ~Q(image__image__model__in=real_photographs()) | Q(image__image__model=None)
    return of_reviews(made, counts, drawn & Q(Exists(select_image_units(run, cell.groups["reading"]))), note)


def select_image_units(run: Run, reading: str) -> QuerySet[Unit]:
    """Units of the run about the image of a review, for the question of the reading where it is one."""
    key = Concat(Value("image:"), Cast(OuterRef("image__image"), CharField()))
    code = reading.partition(": ")[2].partition(" = ")[0]
    asked = [Concat(key, Value(f":{code}:0:{how}")) for how in ("generated", "logits")]
    return Unit.objects.filter(run=run, key__in=asked if run.study == "stereotypes" else [key])


def build_observed_answer(question: PeopleQuestion, opinion: Opinion) -> Observed:
    """One person's answer to the question of the pair."""
    level = question.level(opinion)
    if level is None:
        return Observed(opinion.image, None, "unanswered, or not asked", who=make_person_label(opinion.reviewer))
    said = ("yes" if level else "no") if question.is_share else f"{level:g}"
    return Observed(opinion.image, float(level), said=said, who=make_person_label(opinion.reviewer))
