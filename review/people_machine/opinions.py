"""What people said of images, as arrays: one row per opinion, images numbered, questions side by side."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from evaluation.contracts.table import Filters
from evaluation.metrics.arrays import Floats
from evaluation.metrics.human_ceiling import HeldOut, Label, community_label_weights, held_out
from evaluation.metrics.observations import ALL
from review.people_machine.registry import PeopleQuestion, asked_of_people
from review.tables.selection import Opinion, Pool, iterate_opinions, select_reviews
from review.tables.selection import Said as LazyAnswers

Codes = npt.NDArray[np.intp]
# Levels of so many opinions become one array: as lists, millions of them would take many times the memory.
PACK_AT_ONCE = 20_000


@dataclass(frozen=True)
class QuestionOpinions:
    """One question by image (u,): how many answered, how many of them with yes, their mean level; and the cut.

    `unit`, `raters` (m,): image and person of each answer, in the order of the images.
    """

    question: PeopleQuestion
    count: Floats
    yes: Floats
    mean: Floats
    unit: Codes
    raters: Codes
    known: dict[bytes, int] = field(default_factory=dict, compare=False)

    def people_of(self, units: Codes) -> int:
        """How many people answered about `units`, which ascend; counted once for the same images."""
        key = units.tobytes()
        if key not in self.known:
            first, last = (np.searchsorted(self.unit, units, side=side) for side in ("left", "right"))
            many = last - first
            rows = np.arange(many.sum()) + np.repeat(first - (np.cumsum(many) - many), many)
            self.known[key] = len(np.unique(self.raters[rows]))
        return self.known[key]

    def label(self, label: Label) -> tuple[Floats, Floats]:
        """Weights of yes and no (u,)."""
        return community_label_weights(self.yes, self.count, label)


@dataclass(frozen=True, eq=False)
class People:
    """Opinions (n,) on images (u,), each judged for a country. `dishes`: (u,) numbers in the order of their names.

    `unit`, `raters` (n,): the image and the person of an opinion; `levels` (n, questions), NaN where it says nothing.
    """

    questions: tuple[PeopleQuestion, ...]
    countries: npt.NDArray[np.str_]
    images: npt.NDArray[np.int64]
    dishes: Codes
    unit: Codes
    raters: Codes
    levels: npt.NDArray[np.float32]
    notes: tuple[str, ...]
    demonstration: bool
    extra: Mapping[str, float | str]

    def said(self, question: PeopleQuestion) -> QuestionOpinions:
        values, unit, raters = self._given(question)
        order = np.argsort(unit, kind="stable")
        size = len(self.images)
        count, yes, total = (
            np.bincount(unit, weights=weights, minlength=size).astype(np.float64)
            for weights in (np.ones(len(unit)), values >= question.cut, values)
        )
        mean = np.divide(total, count, out=np.full(size, np.nan), where=count > 0)
        return QuestionOpinions(question, count, yes, mean, unit[order], raters[order])

    def held_out(self, question: PeopleQuestion, label: Label) -> HeldOut:
        """Each opinion against the others about the same image."""
        values, unit, raters = self._given(question)
        return held_out(unit, values, question.cut, label, raters)

    def _given(self, question: PeopleQuestion) -> tuple[Floats, Codes, Codes]:
        column = self.levels[:, self.questions.index(question)]
        given = ~np.isnan(column)
        return column[given].astype(np.float64), self.unit[given], self.raters[given]


def load_people_opinions(filters: Filters) -> People:
    """The opinions that `filters` choose, as `review.agreement` counts them: no photographs, no second answers."""
    chosen = select_reviews(filters)
    if chosen.questionnaire is None:
        return build_empty_people(chosen)
    questions = asked_of_people(chosen.questionnaire)
    model, country = filters.get("model"), filters.get("country", ALL)
    # Nothing is estimated over several countries but "all": one alone needs only its own opinions.
    reviews = chosen.reviews if country == ALL else chosen.reviews.filter(image__country=country)
    gathered = Gathering(questions)
    for opinion in iterate_opinions(reviews):
        if not opinion.real and model in (None, opinion.model):
            gathered.add(opinion)
    return gathered.people(chosen)


def build_empty_people(chosen: Pool) -> People:
    return Gathering(()).people(chosen)


class Gathering:
    """Takes opinions one after the other: there may be millions."""

    def __init__(self, questions: tuple[PeopleQuestion, ...]) -> None:
        self.questions = questions
        self.units: dict[tuple[str, int], int] = {}
        self.dish_names: list[str] = []
        self.unit: list[int] = []
        self.persons: dict[str, int] = {}
        self.raters: list[int] = []
        self.chunks: list[npt.NDArray[np.float32]] = []
        self.rows: list[list[float | None]] = []

    def add(self, opinion: Opinion) -> None:
        key = (opinion.country, opinion.image)
        number = self.units.setdefault(key, len(self.units))
        if number == len(self.dish_names):
            self.dish_names.append(opinion.dish)
        self.unit.append(number)
        self.raters.append(self.persons.setdefault(opinion.reviewer, len(self.persons)))
        if isinstance(
            opinion.answers, LazyAnswers
        ):  # nearly every question reads them: as a plain dict they are faster
            opinion = opinion._replace(answers=opinion.answers.all())
        self.rows.append([question.level(opinion) for question in self.questions])
        if len(self.rows) == PACK_AT_ONCE:
            self.pack()

    def pack(self) -> None:
        rows = np.array(self.rows, dtype=np.float32).reshape(len(self.rows), len(self.questions))
        self.chunks.append(rows)
        self.rows = []

    def people(self, chosen: Pool) -> People:
        self.pack()
        _names, dishes = np.unique(np.array(self.dish_names, dtype=np.str_), return_inverse=True)
        return People(
            self.questions,
            np.array([country for country, _image in self.units], dtype=np.str_),
            np.array([image for _country, image in self.units], dtype=np.int64),
            dishes.astype(np.intp),
            np.array(self.unit, dtype=np.intp),
            np.array(self.raters, dtype=np.intp),
            np.concatenate(self.chunks),
            chosen.notes,
            chosen.demonstration,
            chosen.extra,
        )
