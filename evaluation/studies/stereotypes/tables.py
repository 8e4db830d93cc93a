"""Tables of the study *stereotypes*: what was answered about the images of a place, and how much alike they are."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Literal

import numpy as np
import numpy.typing as npt

from evaluation.contracts.study import OutcomeData
from evaluation.contracts.table import TableSpec
from evaluation.metrics.arrays import Floats
from evaluation.metrics.concentration import entropy_and_largest
from evaluation.metrics.dimensions import DIMENSION_NAMES
from evaluation.metrics.inference.intervals import SHARE, Interval, one_way
from evaluation.metrics.tidy import Estimate, TidyRow, TidyTable
from evaluation.readers.choice import read_choice

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
LEAST_PAIRS = 500
BIASED = "images by chance look more alike than they are, the fewer the more: no interval is claimed"
SOURCE = "World Wide recipe §3.2.2, App. F"

UNREAD = "Share of the questions asked whose answer was ambiguous, none of the options, refused, or failed."
ANSWER_METRICS = {
    "share": (
        "Mean over the images of the share that an option has: of the orders of the options in which the answer was "
        "read, or of the probability of the letters. Images without any answer that could be read are left out."
    ),
    "unread": UNREAD,
    "order_changes": (
        "Share of the images whose likeliest option is not the same in every order of the options; not measured "
        "where one order was asked."
    ),
}
FLATTENING_METRICS = {
    "entropy": (
        "Entropy of the options' shares divided by the logarithm of their number: 0 where all images show the same, "
        "1 where all options are as frequent. Low next to the real photographs: the images of a place are alike. The "
        "fewer the images, the lower by chance: compare cells of the same size; no interval is claimed."
    ),
    "largest_share": (
        "Share of the most frequent option: by chance the higher the fewer the images; no interval is claimed."
    ),
    "unread": UNREAD,
}


def build_stereotypes_spec(
    name: str,
    title: str,
    columns: tuple[str, ...],
    metrics: Mapping[str, str],
    observed: tuple[str, ...],
    worse: Mapping[str, Literal["low", "high"]] = MappingProxyType({}),
) -> TableSpec:
    filters = ("run", *(column for column in columns if column != "option"))
    return TableSpec(
        name=f"stereotypes.{name}",
        title=title,
        source=SOURCE,
        version="2",
        columns=columns,
        metrics=metrics,
        filters=filters,
        study="stereotypes",
        observed=observed,
        worse=worse,
    )


ANSWERS = build_stereotypes_spec(
    "answers",
    "Answers about images, by continent",
    ("question", "option", "continent", "model"),
    ANSWER_METRICS,
    observed=("share",),
)
ANSWERS_COUNTRY = build_stereotypes_spec(
    "answers_country",
    "Answers about images, by country",
    ("question", "option", "country", "model"),
    ANSWER_METRICS,
    observed=("share",),
)
FLATTENING = build_stereotypes_spec(
    "flattening",
    "How much alike the images of a continent are",
    ("question", "continent", "model"),
    FLATTENING_METRICS,
    observed=("unread",),
    worse={"unread": "high"},
)
FLATTENING_COUNTRY = build_stereotypes_spec(
    "flattening_country",
    "How much alike the images of a country are",
    ("question", "country", "model"),
    FLATTENING_METRICS,
    observed=("unread",),
    worse={"unread": "high"},
)
READINGS = build_stereotypes_spec(
    "readings",
    "Agreement of answers in words with probabilities",
    ("question",),
    {
        "agreement": (
            "Share of pairs of image and question in which the likeliest option by the probabilities is the option "
            "that the model names in words, both in the order as asked; pairs whose words could not be read count as "
            "disagreement."
        ),
        "agreement_read": "The same over the pairs whose words could be read.",
    },
    observed=("agreement", "agreement_read"),
    worse={"agreement": "low", "agreement_read": "low"},
)


@dataclass(slots=True)
class QuestionOutcome:
    """One question about one image by one reading: what its answers in all orders of the options come to.

    `total`: (k,) sum of the options' shares over the `read` orders whose answer was read; `likeliest`: the options
    that were so in any of them; `first`: the one in the order as asked; `unread`: what became of the other answers.
    """

    question: str
    options: tuple[str, ...]
    model: str
    cluster: str
    labels: Mapping[str, tuple[str, ...]]
    image: int
    total: Floats
    read: int = 0
    likeliest: frozenset[int] = frozenset()
    first: int | None = None
    unread: tuple[str, ...] = ()

    def add(self, shares: Floats | None, state: str, shift: int) -> None:
        """One more answer, by its shares of the options or by why there are none."""
        if shares is None:
            self.unread += (state,)
            return
        option = int(shares.argmax())
        self.total += shares
        self.read += 1
        self.likeliest |= {option}
        if shift == 0:
            self.first = option

    @property
    def share(self) -> Floats:
        """(k,), NaN where no answer could be read."""
        return self.total / self.read if self.read else np.full(len(self.options), np.nan)

    @property
    def unread_share(self) -> float:
        return len(self.unread) / (self.read + len(self.unread))

    @property
    def changes(self) -> float:
        """1 where the likeliest option depends on the order, 0 where not, NaN where only one order was read."""
        return float(len(self.likeliest) > 1) if self.read > 1 else np.nan


Pairs = dict[tuple[int, str], QuestionOutcome]


@dataclass(frozen=True)
class Check:
    """A pair answered in both ways: the likeliest option by the probabilities, and the one named in words."""

    question: str
    cluster: str
    image: int
    likeliest: int
    named: int | None


@dataclass(frozen=True)
class Gathered:
    """All answers of a run, read. `logits`: how many of `asked` are probabilities."""

    asked: tuple[QuestionOutcome, ...]
    checks: tuple[Check, ...]
    logits: int

    def by_question(self) -> dict[str, list[QuestionOutcome]]:
        found: dict[str, list[QuestionOutcome]] = defaultdict(list)
        for each in self.asked:
            found[each.question].append(each)
        return dict(found)


def gather_stereotype_answers(outcomes: Iterable[OutcomeData]) -> Gathered:
    """Reads every answer as it comes: a run may hold millions.

    In a run of probabilities the answers in words serve the comparison only.
    """
    pairs: dict[str, Pairs] = {"generated": {}, "logits": {}}
    for row in outcomes:
        if not row.payload["options"] or row.image_id is None:
            continue
        of_reading = pairs[row.payload["reading"]]
        pair = (row.image_id, row.payload["question"])
        each = of_reading.get(pair) or of_reading.setdefault(pair, asked_of(row))
        each.add(*read_option_shares(row), row.payload["shift"])
    words, logits = pairs["generated"], pairs["logits"]
    checks = tuple(
        Check(each.question, each.cluster, each.image, each.first, words[pair].first)
        for pair, each in logits.items()
        if pair in words and each.first is not None
    )
    return Gathered(tuple({**words, **logits}.values()), checks, len(logits))


def asked_of(row: OutcomeData) -> QuestionOutcome:
    options = tuple(row.payload["options"])
    return QuestionOutcome(
        row.payload["question"],
        options,
        row.image_model,
        row.cluster,
        row.labels,
        row.image_id or 0,
        np.zeros(len(options)),
    )


def read_option_shares(row: OutcomeData) -> tuple[Floats | None, str]:
    """Shares of the options (k,), or None with the reason."""
    options = row.payload["options"]
    if row.state != "done":
        return None, row.state
    if row.payload["reading"] == "logits":
        values = np.array([row.numbers.get(str(place), np.nan) for place in range(len(options))])
        return (values, "") if np.isfinite(values).all() else (None, "failed")
    return read_words(row.text, tuple(options), row.payload["shift"])


@lru_cache(maxsize=16_384)
def read_words(text: str, options: tuple[str, ...], shift: int) -> tuple[Floats | None, str]:
    """What an answer in words says. Models say the same few things millions of times; each is read once."""
    choice = read_choice(text, dict(zip(LETTERS, rotate_options(options, shift), strict=False)))
    if choice.state != "answered":
        return None, choice.state
    values = np.zeros(len(options))
    values[(LETTERS.index(choice.letter) + shift) % len(options)] = 1
    values.flags.writeable = False
    return values, ""


def rotate_options(options: Sequence[str], shift: int) -> list[str]:
    """The options in the order of a unit: letter i names option (i + shift) mod k of the set."""
    return [*options[shift:], *options[:shift]]


def group_asked_by_cell(
    asked: Sequence[QuestionOutcome], dimension: str
) -> dict[tuple[str, str], list[QuestionOutcome]]:
    """(place, model) → what was asked about its images; an image of several places counts in each."""
    found: dict[tuple[str, str], list[QuestionOutcome]] = defaultdict(list)
    for each in asked:
        for place in each.labels.get(dimension, ()):
            found[place, each.model].append(each)
    return dict(sorted(found.items()))


def tabulate_cells(
    table: TableSpec,
    outcomes: Iterable[OutcomeData],
    estimate: Callable[[Mapping[str, str], list[QuestionOutcome]], Iterable[TidyRow]],
) -> TidyTable:
    """The rows that `estimate` makes of each question, place and model, and of what was asked there."""
    found = gather_stereotype_answers(outcomes)
    dimension = next(column for column in table.columns if column in DIMENSION_NAMES)
    rows: list[TidyRow] = []
    for question, asked in found.by_question().items():
        for (place, model), members in group_asked_by_cell(asked, dimension).items():
            rows += estimate({"question": question, dimension: place, "model": model}, members)
    return TidyTable(table.name, table.version, table.columns, tuple(rows), build_stereotype_notes(found))


def tabulate_answers(table: TableSpec, outcomes: Iterable[OutcomeData]) -> TidyTable:
    """`stereotypes.answers` and `stereotypes.answers_country`."""
    return tabulate_cells(table, outcomes, answer_rows)


def answer_rows(named: Mapping[str, str], members: Sequence[QuestionOutcome]) -> Iterator[TidyRow]:
    """Rows of one question about the images of one place and model: an option after the other."""
    options, clusters = members[0].options, np.array([each.cluster for each in members])
    shares = np.array([each.share for each in members])
    beside = np.array([[each.unread_share, each.changes] for each in members])
    values = np.column_stack([shares, beside])
    found = [
        estimate_answered_mean(column, clusters, interval)
        for column, interval in zip(values.T, one_way(values, clusters, bounds=SHARE), strict=True)
    ]
    unread, changes = found[len(options) :]
    for place, option in enumerate(options):
        groups = {**named, "option": option}
        yield TidyRow(groups, "share", found[place])
        yield TidyRow(groups, "unread", unread)
        yield TidyRow(groups, "order_changes", changes)


def estimate_answered_mean(column: Floats, clusters: npt.NDArray[np.str_], interval: Interval) -> Estimate:
    """The mean of what is not NaN."""
    held = ~np.isnan(column)
    n, many = int(held.sum()), len(set(clusters[held].tolist()))
    if not n:
        return Estimate(None, 0, 0, reason="no answer that could be compared")
    mean = float(column[held].mean())
    return Estimate(mean, n, many, interval.low, interval.high, interval.method, interval.reason)


def tabulate_flattening(table: TableSpec, outcomes: Iterable[OutcomeData]) -> TidyTable:
    """`stereotypes.flattening` and `stereotypes.flattening_country`."""
    return tabulate_cells(table, outcomes, flatness_rows)


def flatness_rows(named: Mapping[str, str], members: Sequence[QuestionOutcome]) -> Iterator[TidyRow]:
    for metric, value in estimate_flatness(members).items():
        yield TidyRow(named, metric, value)


def estimate_flatness(members: Sequence[QuestionOutcome]) -> dict[str, Estimate]:
    """Entropy and largest share of the images that were answered, and the unread."""
    clusters = np.array([each.cluster for each in members])
    unread = np.array([[each.unread_share] for each in members])
    [interval] = one_way(unread, clusters, bounds=SHARE)
    beside = {"unread": estimate_answered_mean(unread[:, 0], clusters, interval)}
    held = [each for each in members if each.read]
    if not held:
        lacking = Estimate(None, 0, 0, reason="no answer that could be read")
        return {"entropy": lacking, "largest_share": lacking, **beside}
    dishes = len({each.cluster for each in held})
    values = entropy_and_largest(np.sum([each.share for each in held], axis=0)[None])[0]
    flat = {
        metric: Estimate(float(value), len(held), dishes, reason=BIASED)
        for metric, value in zip(("entropy", "largest_share"), values, strict=True)
    }
    return flat | beside


def build_stereotype_readings(outcomes: Iterable[OutcomeData]) -> TidyTable:
    """`stereotypes.readings`."""
    found = gather_stereotype_answers(outcomes)
    questions = ["all", *dict.fromkeys(check.question for check in found.checks)]
    rows = [
        TidyRow({"question": question}, metric, value)
        for question in questions
        for metric, value in estimate_reading_agreement(found, question).items()
    ]
    return TidyTable(READINGS.name, READINGS.version, READINGS.columns, tuple(rows), build_stereotype_notes(found))


def estimate_reading_agreement(found: Gathered, question: str = "all") -> dict[str, Estimate]:
    """How often words and probabilities name the same option."""
    pairs = [check for check in found.checks if question in ("all", check.question)]
    if not pairs:
        lacking = Estimate(None, 0, 0, reason="no pair was answered in both ways")
        return {"agreement": lacking, "agreement_read": lacking}
    clusters = np.array([check.cluster for check in pairs])
    values = mark_same_options(pairs)
    intervals = one_way(values, clusters, bounds=SHARE)
    made = [estimate_answered_mean(column, clusters, each) for column, each in zip(values.T, intervals, strict=True)]
    return dict(zip(("agreement", "agreement_read"), made, strict=True))


def mark_same_options(pairs: Sequence[Check]) -> Floats:
    """(n, 2), 1 where words and probabilities name the same option, else 0; the second NaN where no words were read."""
    same = np.array([float(check.likeliest == check.named) for check in pairs])
    return np.column_stack([same, np.where([check.named is not None for check in pairs], same, np.nan)])


def build_stereotype_notes(found: Gathered) -> tuple[str, ...]:
    """Sentences shown under every table of the study."""
    unread = Counter(state for each in found.asked for state in each.unread)
    asked = sum(each.read for each in found.asked) + unread.total()
    why = "; ".join(f"{state} {n}" for state, n in sorted(unread.items()))
    sentences = [
        f"Answers asked for: {asked}; not read: {unread.total()}{f' ({why})' if why else ''}.",
        "Intervals are over dishes, or images where no dish is known. An image of several places counts in each.",
    ]
    if found.logits:
        sentences.append(beside_probabilities(estimate_reading_agreement(found)["agreement"]))
    return tuple(sentences)


def beside_probabilities(found: Estimate) -> str:
    if found.value is None or found.n < LEAST_PAIRS:
        return (
            f"Agreement with answers in words: not measured, {found.n} pairs were answered in both ways and "
            f"{LEAST_PAIRS} are needed."
        )
    interval = "" if found.low is None else f" [{found.low:.3f}, {found.high:.3f}]"
    return (
        f"Agreement of the likeliest option with the answer in words: {found.value:.3f}{interval} of {found.n} pairs."
    )
