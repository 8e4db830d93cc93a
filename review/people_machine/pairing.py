"""Images that people and a machine have in common: what all tables of agreement are computed from."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from evaluation.contracts.table import Filters, TableSpec
from evaluation.metrics.human_ceiling import LABELS, Label
from evaluation.metrics.observations import ALL
from evaluation.metrics.ordering import sort_group_values
from evaluation.metrics.tidy import TidyRow, TidyTable
from evaluation.models import Run
from evaluation.registry.runs import chosen_run
from review.people_machine.machine_readings import Reading, list_machine_readings
from review.people_machine.opinions import Codes, Floats, People, QuestionOpinions, load_people_opinions
from review.people_machine.registry import PAIRS, STUDIES

NO_RUN = "There is no finished run with values of images yet, or none with the chosen name."
NO_READING = "No run holds a value that is compared with what people say."
NOT_IN_COMMON = "no images in common"
UNREAD = "the machine gave no value of these images that could be read"
UNASKED = "nobody answered this question"
# What machines say of so many images is looked up; of more all that a run says is read.
FEW = 20_000
ALL_TIED = "people are equally divided about every one of these images"


@dataclass(frozen=True, eq=False)
class Cell:
    """The images of a country that a question and a machine's value have in common (k,).

    `machine`: its values; `yes`, `no`: weights of the people's label, 0 and 0 where they tie; `mean`: their mean
    level; `count`: how many answered; `dishes`: clusters; `units`: numbers in `People`. `said`: what they were
    asked. `lacking`: why there are none.
    """

    country: str
    machine: Floats
    yes: Floats
    no: Floats
    mean: Floats
    count: Floats
    dishes: Codes
    units: Codes
    said: QuestionOpinions
    lacking: str = ""

    @cached_property
    def people(self) -> int:
        """How many people said something of these images."""
        return self.said.people_of(self.units)

    @cached_property
    def labelled(self) -> "Cell":
        """Those about which people do not tie."""
        kept = self.yes + self.no > 0
        return replace(self.picked(kept), lacking=self.lacking or ("" if kept.any() else ALL_TIED))

    def picked(self, kept: npt.NDArray[np.bool_]) -> "Cell":
        names = ("machine", "yes", "no", "mean", "count", "dishes", "units")
        return replace(self, **{name: getattr(self, name)[kept] for name in names})

    @property
    def ties(self) -> int:
        return len(self.machine) - len(self.labelled.machine)

    @property
    def n(self) -> int:
        """How many labels: images, or opinions where each counts by itself."""
        return int((self.yes + self.no).sum())

    @cached_property
    def clusters(self) -> int:
        return len(np.unique(self.dishes))


@dataclass(frozen=True, eq=False)
class Pairing:
    """A question beside a machine's reading of all images of `People` (u,), NaN where there is none.

    `yes`, `no` (u,): weights of the people's label. `known` (u,): the run holds the image at all. `chosen`, `score`
    as in `Reading`; a score is turned round where a low one means yes (`low`).
    """

    said: QuestionOpinions
    reading: Reading
    yes: Floats
    no: Floats
    known: npt.NDArray[np.bool_]
    chosen: Floats | None
    score: Floats | None
    low: bool

    @property
    def groups(self) -> dict[str, str]:
        name = f"{self.reading.name}, low" if self.low else self.reading.name
        return {"question": self.said.question.name, "reading": name, "run": self.reading.run}


@dataclass(frozen=True, eq=False)
class Common:
    """People, and the readings of the chosen runs beside them. `places`: country → its images (`ALL` has all)."""

    people: People
    label: Label
    pairings: tuple[Pairing, ...]
    places: Mapping[str, Codes]
    notes: tuple[str, ...]
    demonstration: bool

    def table(self, spec: TableSpec, rows: Iterable[TidyRow], *notes: str) -> TidyTable:
        """The rows as a table, with what was counted."""
        return TidyTable(
            name=spec.name,
            version=spec.version,
            columns=spec.columns,
            rows=tuple(rows),
            notes=(*self.notes, *notes),
            demonstration=self.demonstration,
            extra=self.people.extra,
        )

    def cells(self, pairing: Pairing, values: Floats, unread: str = UNREAD) -> Iterator[Cell]:
        """Every country and all together; where nothing is in common anywhere, one cell that says so."""
        everything = self.cell(pairing, values, ALL, np.arange(len(self.people.images)), unread)
        if everything.lacking:
            yield replace(everything, country=ALL if ALL in self.places else next(iter(self.places), ALL))
            return
        for country, units in self.places.items():
            yield everything if country == ALL else self.cell(pairing, values, country, units, unread)

    def cell(self, pairing: Pairing, values: Floats, country: str, units: Codes, unread: str = UNREAD) -> Cell:
        said = pairing.said
        asked = units[said.count[units] > 0]
        known = asked[pairing.known[asked]]
        held = known[~np.isnan(values[known])]
        lacking = UNASKED if not len(asked) else NOT_IN_COMMON if not len(known) else "" if len(held) else unread
        return Cell(
            country=country,
            machine=values[held],
            yes=pairing.yes[held],
            no=pairing.no[held],
            mean=said.mean[held],
            count=said.count[held],
            dishes=self.people.dishes[held],
            units=held,
            said=said,
            lacking=lacking,
        )


def gather_agreement_data(filters: Filters) -> Common:
    """Everything that a table of agreement needs, by its filters."""
    found = load_people_opinions(filters)
    label = label_of(filters)
    runs = [run for study in STUDIES if (run := chosen_run(study, filters))]
    among = found.images if len(found.images) <= FEW else None
    read = [reading for run in runs for reading in list_machine_readings(run, among)]
    pairings = list(pair_all(found, label, read, filters))
    notes = [*found.notes, describe_label(label)]
    notes += [describe_run(run) for run in runs] or [NO_RUN]
    if runs and not pairings:
        notes.append(NO_READING)
    if pairings and not any(pairing.known.any() for pairing in pairings):
        notes.append(f"People and machine have {NOT_IN_COMMON}: the runs are about other images than the reviews.")
    demonstration = found.demonstration or any(run.demonstration for run in runs)
    return Common(found, label, tuple(pairings), index_images_by_country(found, filters), tuple(notes), demonstration)


def label_of(filters: Filters) -> Label:
    return next((label for label in LABELS if label == filters.get("label")), "majority")


def pair_all(found: People, label: Label, given: Sequence[Reading], filters: Filters) -> Iterator[Pairing]:
    """The pairs of the registry for which there are both."""
    asked = {question.name: question for question in found.questions}
    for pair in PAIRS:
        if pair.question not in asked or filters.get("question") not in (None, pair.question):
            continue
        said = found.said(asked[pair.question])
        for reading in given:
            if reading.study == pair.study and (not pair.what or reading.what in pair.what):
                yield align_reading(found, said, reading, label, pair.low)


def align_reading(found: People, said: QuestionOpinions, reading: Reading, label: Label, low: bool) -> Pairing:
    """The reading's values in the order of the people's images."""
    at = np.searchsorted(reading.images, found.images)
    at[at == len(reading.images)] = 0
    known = reading.images[at] == found.images if len(reading.images) else np.zeros(len(at), dtype=np.bool_)
    chosen, score = (
        None if values is None else np.where(known, values[at] if len(values) else np.nan, np.nan)
        for values in (reading.chosen, reading.score)
    )
    if score is not None and low:
        score = -score
    return Pairing(said, reading, *said.label(label), known, chosen, score, low)


def index_images_by_country(found: People, filters: Filters) -> dict[str, Codes]:
    """Country → its images, in the one order, then all; the one that the filter names alone."""
    everywhere = np.arange(len(found.images))
    countries = [*sort_group_values(found.countries.tolist(), "country"), ALL]
    return {
        country: everywhere if country == ALL else np.flatnonzero(found.countries == country)
        for country in countries
        if filters.get("country") in (None, country)
    }


def describe_label(label: Label) -> str:
    return {
        "majority": "People’s label of an image is what most of them say; ties are dropped and counted.",
        "any": "People’s label of an image is yes where anybody says yes.",
        "opinions": "Every opinion counts by itself: n are opinions, not images.",
    }[label]


def describe_run(run: Run) -> str:
    defined = "; ".join(f"{name}: {value}" for name, value in sorted(run.definition.items()))
    return (
        f"Run {run.slug} of {run.study}, version {run.study_version} of the study.{f' {defined}.' if defined else ''}"
    )
