"""What machines say of pictures: labels, probabilities and scores of the runs of a study, by picture."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt

from evaluation.metrics import association
from evaluation.models import Outcome, Run, Unit
from evaluation.runner.results import WITHDRAWN
from evaluation.studies.base import OutcomeData
from evaluation.studies.stereotypes_tables import read
from review.people_machine.registry import PAIRS

Floats = npt.NDArray[np.float64]
CHUNK = 5000


@dataclass(frozen=True)
class Reading:
    """One value for each picture. `images` (k,) primary keys, ascending; values (k,) aligned, NaN where unread.

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


def readings(run: Run) -> list[Reading]:
    """All that the registry may ask of a run."""
    return list(OF_STUDY[run.study](run))


def of_association(run: Run) -> Iterator[Reading]:
    """The unscaled score of each group of words that has both signs."""
    words = vectors_of_words(run)
    groups = {group: signs for group, signs in words.items() if signs["positive"] and signs["negative"]}
    rows = Outcome.objects.filter(unit__run=run, embedding__image__isnull=False).exclude(WITHDRAWN)
    found = rows.values_list("embedding__image", "embedding__vector").iterator(chunk_size=CHUNK)
    images: list[int] = []
    nets: dict[str, list[Floats]] = {group: [] for group in groups}
    while chunk := list(islice(found, CHUNK)):
        vectors = np.array([np.frombuffer(bytes(vector), dtype="<f4") for _image, vector in chunk])
        images += [image for image, _vector in chunk]
        for group, signs in groups.items():
            both = (association.cosine(vectors, np.array(signs[sign])) for sign in ("positive", "negative"))
            nets[group].append(association.net(*both))
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


def of_colours(run: Run) -> Iterator[Reading]:
    rows = Outcome.objects.filter(unit__run=run, unit__state=Unit.State.DONE).exclude(WITHDRAWN)
    found = list(rows.values_list("unit__payload__image", "numbers__colourfulness").iterator(chunk_size=CHUNK))
    images = np.array([image for image, _value in found], dtype=np.int64)
    score = np.array([value for _image, value in found], dtype=np.float64)
    yield in_order(Reading("colours", run.slug, "colourfulness", images, score=score))


def of_stereotypes(run: Run) -> Iterator[Reading]:
    """Of each question in the registry: the option chosen, and its probability where the run gives probabilities.

    In a run of probabilities the answers in words, given for some pictures only, are left out.
    """
    logits = run.config.get("reading") == "logits"
    for codes, yes in ((pair.what, pair.yes) for pair in PAIRS if pair.study == "stereotypes"):
        for code in codes:
            totals = answers(run, code, yes, "logits" if logits else "generated")
            if totals:
                yield stereotype(run, code, yes, totals, logits)


Totals = Mapping[int, tuple[int, Floats]]


@lru_cache
def place_of(yes: str, options: tuple[str, ...]) -> int | None:
    """Which of the options is `yes`, compared without case."""
    return next((place for place, option in enumerate(options) if option.casefold() == yes), None)


def answers(run: Run, code: str, yes: str, reading: str) -> Totals:
    """Picture → place of `yes` among its options, and the sum of their shares over all orders that could be read.

    A question with other options under the same code is left out.
    """
    rows = Outcome.objects.filter(unit__run=run, unit__payload__question=code).exclude(WITHDRAWN)
    found: dict[int, tuple[int, Floats]] = {}
    for payload, state, text, numbers in rows.values_list("unit__payload", "unit__state", "text", "numbers").iterator(
        chunk_size=CHUNK
    ):
        place = place_of(yes, tuple(payload["options"]))
        if payload["reading"] != reading or place is None:
            continue
        shares, _why = read(one_answer(payload, state, text, numbers))
        total = found.setdefault(payload["image"], (place, np.zeros(len(payload["options"]))))[1]
        if shares is not None:
            total += shares
    return found


def one_answer(payload: Mapping[str, Any], state: Any, text: str, numbers: Mapping[str, float]) -> OutcomeData:
    return OutcomeData("", state, "", "", "", {}, payload, text, numbers)


def stereotype(run: Run, code: str, yes: str, totals: Totals, logits: bool) -> Reading:
    """The option `yes` of one question. Where two options are chosen as often, none is."""
    images = np.array(list(totals), dtype=np.int64)
    chosen, chance = (np.full(len(images), np.nan) for _ in range(2))
    for row, (place, total) in enumerate(totals.values()):
        best = np.flatnonzero(total == total.max())
        if total.any() and len(best) == 1:
            chosen[row] = best[0] == place
        if total.any():
            chance[row] = total[place] / total.sum()
    score = chance if logits else None
    return in_order(Reading("stereotypes", run.slug, code, images, chosen, score, logits, yes))


def in_order(reading: Reading) -> Reading:
    """The same by ascending picture; of a picture that was read twice, the first."""
    images, first = np.unique(reading.images, return_index=True)
    chosen, score = (None if values is None else values[first] for values in (reading.chosen, reading.score))
    return Reading(reading.study, reading.run, reading.what, images, chosen, score, reading.probability, reading.option)


OF_STUDY: Mapping[str, Callable[[Run], Iterator[Reading]]] = {
    "association": of_association,
    "colours": of_colours,
    "stereotypes": of_stereotypes,
}
