"""What machines say of images: labels, probabilities and scores of the runs of a study, by image."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt
from django.db.models import Min, Q, QuerySet

from evaluation.contracts.study import OutcomeData
from evaluation.metrics import association
from evaluation.metrics.classification import divide_or_nan
from evaluation.models import Outcome, Run, Unit
from evaluation.studies.stereotypes.tables import read_option_shares
from evaluation.tables.outcomes import WITHDRAWN
from review.people_machine.registry import PAIRS

Floats = npt.NDArray[np.float64]
Images = npt.NDArray[np.int64]
CHUNK = 5000
IMAGE_KEY = "unit__payload__image"


@dataclass(frozen=True)
class Reading:
    """One value for each image. `images` (k,) primary keys, ascending; values (k,) aligned, NaN where unread.

    `what` names it, `option` the answer that it is about. `chosen`: whether that option was chosen, 1 or 0 without any
    threshold; `score`: how strongly; `probability`: the score is one.
    """

    study: str
    run: str
    what: str
    images: npt.NDArray[np.int64]
    chosen: Floats | None = None
    score: Floats | None = None
    probability: bool = False
    option: str = ""

    @property
    def name(self) -> str:
        return f"{self.study}: {self.what}" + (f" = {self.option}" if self.option else "")


def list_machine_readings(run: Run, among: Images | None = None) -> list[Reading]:
    """All that the registry may ask of a run; `among`: about these images only."""
    return list(OF_STUDY[run.study](run, among))


def filter_by_images(among: Images | None, field: str) -> Q:
    return Q() if among is None else Q(**{f"{field}__in": among.tolist()})


def of_association(run: Run, among: Images | None) -> Iterator[Reading]:
    """The unscaled score of each group of words that has both signs."""
    words = vectors_of_words(run)
    groups = {group: signs for group, signs in words.items() if signs["positive"] and signs["negative"]}
    rows = Outcome.objects.filter(
        filter_by_images(among, "embedding__image"), unit__run=run, embedding__image__isnull=False
    )
    rows = rows.exclude(WITHDRAWN)
    found = rows.values_list("embedding__image", "embedding__vector").iterator(chunk_size=CHUNK)
    images: list[int] = []
    nets: dict[str, list[Floats]] = {group: [] for group in groups}
    while chunk := list(islice(found, CHUNK)):
        vectors = np.array([np.frombuffer(bytes(vector), dtype="<f4") for _image, vector in chunk])
        images += [image for image, _vector in chunk]
        for group, signs in groups.items():
            both = (association.cosine_similarity(vectors, np.array(signs[sign])) for sign in ("positive", "negative"))
            nets[group].append(association.net_association(*both))
    for group, parts in nets.items():
        score = np.concatenate(parts) if parts else np.empty(0)
        yield in_order(Reading("association", run.slug, group, np.array(images, dtype=np.int64), score=score))


def vectors_of_words(run: Run) -> dict[str, dict[str, list[npt.NDArray[np.float32]]]]:
    """Group → sign → vectors of its words."""
    found: dict[str, dict[str, list[npt.NDArray[np.float32]]]] = {}
    rows = Outcome.objects.filter(unit__run=run, embedding__image=None, embedding__isnull=False).order_by("unit_id")
    for payload, vector in rows.values_list("unit__payload", "embedding__vector"):
        signs = found.setdefault(payload["group"], {"positive": [], "negative": [], "none": []})
        signs[payload["sign"]].append(np.frombuffer(bytes(vector), dtype="<f4"))
    return found


def of_colours(run: Run, among: Images | None) -> Iterator[Reading]:
    rows = Outcome.objects.filter(filter_by_images(among, IMAGE_KEY), unit__run=run, unit__state=Unit.State.DONE)
    found = list(
        rows.exclude(WITHDRAWN).values_list("unit__payload__image", "numbers__colourfulness").iterator(chunk_size=CHUNK)
    )
    images = np.array([image for image, _value in found], dtype=np.int64)
    score = np.array([value for _image, value in found], dtype=np.float64)
    yield in_order(Reading("colours", run.slug, "colourfulness", images, score=score))


def of_stereotypes(run: Run, among: Images | None) -> Iterator[Reading]:
    """Of each question in the registry: the option chosen, and its probability where the run gives probabilities.

    In a run of probabilities the answers in words, given for some images only, are left out. So is a question that
    has other options under the same code.
    """
    yes = {code: pair.yes for pair in PAIRS if pair.study == "stereotypes" for code in pair.what}
    logits = run.config.get("reading") == "logits"
    rows = Outcome.objects.filter(unit__run=run, unit__payload__question__in=list(yes)).exclude(WITHDRAWN)
    asked = {} if among is None else asked_at_all(rows, yes)
    values = rows.filter(filter_by_images(among, IMAGE_KEY)).values_list(
        "unit__payload", "unit__state", "text", "numbers"
    )
    for payload, state, text, numbers in values.iterator(chunk_size=CHUNK):
        code, options = payload["question"], payload["options"]
        answers = asked.get(code) or asked.setdefault(code, Answers(options, yes[code]))
        if payload["reading"] == ("logits" if logits else "generated") and options == answers.options:
            shares, _why = read_option_shares(one_answer(payload, state, text, numbers))
            answers.add(payload["image"], shares)
    for code, answers in asked.items():
        if answers.place is not None:
            yield answers.reading(run, code, logits)


def asked_at_all(rows: QuerySet[Outcome], yes: Mapping[str, str]) -> dict[str, "Answers"]:
    """The questions that a run asked, with their options, also where it asked none about the images in view."""
    first = rows.order_by().values("unit__payload__question").annotate(first=Min("unit_id"))
    payloads = Unit.objects.filter(pk__in=list(first.values_list("first", flat=True))).order_by("pk")
    found = payloads.values_list("payload", flat=True)
    return {payload["question"]: Answers(payload["options"], yes[payload["question"]]) for payload in found}


def one_answer(payload: Mapping[str, Any], state: Any, text: str, numbers: Mapping[str, float]) -> OutcomeData:
    return OutcomeData("", state, "", "", "", {}, payload, text, numbers)


class Answers:
    """Answers to one question about many images; `place`: which of its options means yes, compared without case."""

    def __init__(self, options: Sequence[str], yes: str) -> None:
        self.options, self.yes = options, yes
        self.place = next((place for place, option in enumerate(options) if option.casefold() == yes), None)
        self.numbers: dict[int, int] = {}
        self.rows: list[int] = []
        self.shares: list[Floats] = []

    def add(self, image: int, shares: Floats | None) -> None:
        """One more answer about an image: shares of the options (k,), None where it could not be read."""
        row = self.numbers.setdefault(image, len(self.numbers))
        if shares is not None:
            self.rows.append(row)
            self.shares.append(shares)

    def reading(self, run: Run, code: str, logits: bool) -> Reading:
        """All orders of the options together. Where two options are chosen as often, none is."""
        total = np.zeros((len(self.numbers), len(self.options)))
        if self.rows:
            np.add.at(total, np.array(self.rows), np.array(self.shares))
        answered, highest = total.sum(axis=1) > 0, total.max(axis=1, keepdims=True)
        decided = answered & ((total == highest).sum(axis=1) == 1)
        images = np.array(list(self.numbers), dtype=np.int64)
        chosen = np.where(decided, total.argmax(axis=1) == self.place, np.nan)
        chance = divide_or_nan(total[:, self.place or 0], total.sum(axis=1)) if logits else None
        return in_order(Reading("stereotypes", run.slug, code, images, chosen, chance, logits, self.yes))


def in_order(reading: Reading) -> Reading:
    """The same by ascending image; of an image that was read twice, the first."""
    images, first = np.unique(reading.images, return_index=True)
    chosen, score = (None if values is None else values[first] for values in (reading.chosen, reading.score))
    return Reading(reading.study, reading.run, reading.what, images, chosen, score, reading.probability, reading.option)


OF_STUDY: Mapping[str, Callable[[Run, Images | None], Iterator[Reading]]] = {
    "association": of_association,
    "colours": of_colours,
    "stereotypes": of_stereotypes,
}
