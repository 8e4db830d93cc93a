"""Tables of the study *stereotypes*: what was answered about the pictures of a place, and how much alike they are."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from django.utils.translation import gettext_noop as _

from evaluation.metrics.bootstrap import Interval, of_sums, one_way
from evaluation.metrics.flattening import entropy_and_largest
from evaluation.metrics.tidy import Estimate, TidyRow, TidyTable
from evaluation.readers.choice import read_choice
from evaluation.studies.base import OutcomeData
from evaluation.table_spec import TableSpec

Floats = npt.NDArray[np.float64]
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
LEAST_PAIRS = 500
INPUTS = ("runs.stereotypes", "withdrawals")
SOURCE = "World Wide recipe §3.2.2, App. F"

ANSWER_METRICS = {
    "share": _(
        "Mean over the pictures of the share that an option has: of the orders of the options in which the answer was "
        "read, or of the probability of the letters. Pictures without any answer that could be read are left out."
    ),
    "unread": _("Share of the questions asked whose answer was ambiguous, none of the options, or failed."),
    "order_changes": _(
        "Share of the pictures whose likeliest option is not the same in every order of the options; not measured "
        "where one order was asked."
    ),
}
FLATTENING_METRICS = {
    "entropy": _(
        "Entropy of the options' shares divided by the logarithm of their number: 0 where all pictures show the same, "
        "1 where all options are as frequent. Low next to the real photographs: the pictures of a place are alike."
    ),
    "largest_share": _("Share of the most frequent option."),
}


def spec(name: str, title: str, columns: tuple[str, ...], metrics: Mapping[str, str]) -> TableSpec:
    filters = ("run", *(column for column in columns if column != "option"))
    return TableSpec(f"stereotypes.{name}", title, SOURCE, "1", columns, metrics, INPUTS, filters, study="stereotypes")


ANSWERS = spec(
    "answers",
    _("Answers about pictures, by continent"),
    ("question", "option", "continent", "model"),
    ANSWER_METRICS,
)
ANSWERS_COUNTRY = spec(
    "answers_country",
    _("Answers about pictures, by country"),
    ("question", "option", "country", "model"),
    ANSWER_METRICS,
)
FLATTENING = spec(
    "flattening",
    _("How much alike the pictures of a continent are"),
    ("question", "continent", "model"),
    FLATTENING_METRICS,
)
FLATTENING_COUNTRY = spec(
    "flattening_country",
    _("How much alike the pictures of a country are"),
    ("question", "country", "model"),
    FLATTENING_METRICS,
)
READINGS = spec(
    "readings",
    _("Agreement of answers in words with probabilities"),
    ("question",),
    {
        "agreement": _(
            "Share of pairs of picture and question in which the likeliest option by the probabilities is the option "
            "that the model names in words, both in the order as asked; pairs whose words could not be read count as "
            "disagreement."
        ),
        "agreement_read": _("The same over the pairs whose words could be read."),
    },
)


@dataclass
class Asked:
    """One question about one picture: the options' shares in each order that was read, and how many were not."""

    question: str
    options: tuple[str, ...]
    model: str
    cluster: str
    labels: Mapping[str, tuple[str, ...]]
    shares: list[Floats] = field(default_factory=list)
    asked: int = 0

    @property
    def share(self) -> Floats:
        """(k,), NaN where no answer could be read."""
        return np.mean(self.shares, axis=0) if self.shares else np.full(len(self.options), np.nan)

    @property
    def unread(self) -> float:
        return 1 - len(self.shares) / self.asked

    @property
    def changes(self) -> float:
        """1 where the likeliest option depends on the order, 0 where not, NaN where only one order was read."""
        if len(self.shares) < 2:
            return np.nan
        return float(len({int(row.argmax()) for row in self.shares}) > 1)


Pairs = dict[tuple[int, str], Asked]


@dataclass
class Gathered:
    """What was asked, and the pairs that were answered in both ways: question, cluster, likeliest, named (or None)."""

    asked: Pairs = field(default_factory=dict)
    checks: list[tuple[str, str, int, int | None]] = field(default_factory=list)
    unread: Counter[str] = field(default_factory=Counter)
    words: Counter[str] = field(default_factory=Counter)

    def by_question(self) -> dict[str, list[Asked]]:
        found: dict[str, list[Asked]] = defaultdict(list)
        for each in self.asked.values():
            found[each.question].append(each)
        return dict(found)


def gather(outcomes: Iterable[OutcomeData]) -> Gathered:
    """Reads every answer. In a run of probabilities the answers in words serve the comparison only."""
    rows = [row for row in outcomes if row.payload["options"] and row.image_id is not None]
    logits = {(row.image_id, row.payload["question"]) for row in rows if row.payload["reading"] == "logits"}
    found = Gathered()
    words: dict[tuple[int, str], tuple[OutcomeData, Floats | None]] = {}
    for row in rows:
        pair = (row.image_id or 0, row.payload["question"])
        shares, state = read(row)
        if row.payload["reading"] == "generated" and pair in logits:
            words[pair] = (row, shares)
            continue
        each = found.asked.setdefault(pair, asked_of(row))
        each.asked += 1
        found.words[row.payload["reading"]] += 1
        if shares is None:
            found.unread[state] += 1
        else:
            each.shares.append(shares)
    found.checks = list(checks(words, rows))
    return found


def asked_of(row: OutcomeData) -> Asked:
    payload = row.payload
    return Asked(payload["question"], tuple(payload["options"]), row.image_model, row.cluster, row.labels)


def read(row: OutcomeData) -> tuple[Floats | None, str]:
    """Shares of the options (k,), or None with the reason."""
    options = row.payload["options"]
    if row.state != "done":
        return None, row.state
    if row.payload["reading"] == "logits":
        values = np.array([row.numbers.get(str(place), np.nan) for place in range(len(options))])
        return (values, "") if np.isfinite(values).all() else (None, "failed")
    shift = row.payload["shift"]
    turned = [*options[shift:], *options[:shift]]
    choice = read_choice(row.text, dict(zip(LETTERS, turned, strict=False)))
    if choice.state != "answered":
        return None, choice.state
    values = np.zeros(len(options))
    values[(LETTERS.index(choice.letter) + shift) % len(options)] = 1
    return values, ""


def checks(
    words: Mapping[tuple[int, str], tuple[OutcomeData, Floats | None]], rows: Sequence[OutcomeData]
) -> Iterator[tuple[str, str, int, int | None]]:
    """Question, cluster, likeliest option by the probabilities in the order as asked, and the one named in words."""
    for row in rows:
        pair = (row.image_id or 0, row.payload["question"])
        if row.payload["reading"] != "logits" or row.payload["shift"] or pair not in words:
            continue
        likeliest, _state = read(row)
        if likeliest is not None:
            named = words[pair][1]
            yield row.payload["question"], row.cluster, int(likeliest.argmax()), named_option(named)


def named_option(shares: Floats | None) -> int | None:
    return None if shares is None else int(shares.argmax())


def cells(asked: Sequence[Asked], dimension: str) -> dict[tuple[str, str], list[Asked]]:
    """(place, model) → what was asked about its pictures; a picture of several places counts in each."""
    found: dict[tuple[str, str], list[Asked]] = defaultdict(list)
    for each in asked:
        for place in each.labels.get(dimension, ()):
            found[place, each.model].append(each)
    return dict(sorted(found.items()))


def answers(outcomes: Iterable[OutcomeData]) -> TidyTable:
    """`stereotypes.answers`."""
    return answer_table(ANSWERS, outcomes)


def answers_country(outcomes: Iterable[OutcomeData]) -> TidyTable:
    """`stereotypes.answers_country`."""
    return answer_table(ANSWERS_COUNTRY, outcomes)


def answer_table(table: TableSpec, outcomes: Iterable[OutcomeData]) -> TidyTable:
    found, dimension = gather(outcomes), table.columns[2]
    rows: list[TidyRow] = []
    for question, asked in found.by_question().items():
        for (place, model), members in cells(asked, dimension).items():
            named = {"question": question, dimension: place, "model": model}
            rows += answer_rows(named, members)
    return TidyTable(table.name, table.version, table.columns, tuple(rows), notes(found))


def answer_rows(named: Mapping[str, str], members: Sequence[Asked]) -> Iterator[TidyRow]:
    """Rows of one question about the pictures of one place and model: an option after the other."""
    options, clusters = members[0].options, np.array([each.cluster for each in members])
    shares = np.array([each.share for each in members])
    beside = np.array([[each.unread, each.changes] for each in members])
    values = np.column_stack([shares, beside])
    found = [
        estimate(column, clusters, interval)
        for column, interval in zip(values.T, one_way(values, clusters), strict=True)
    ]
    unread, changes = found[len(options) :]
    for place, option in enumerate(options):
        groups = {**named, "option": option}
        yield TidyRow(groups, "share", found[place])
        yield TidyRow(groups, "unread", unread)
        yield TidyRow(groups, "order_changes", changes)


def estimate(column: Floats, clusters: npt.NDArray[np.str_], interval: Interval) -> Estimate:
    """The mean of what is not NaN."""
    held = ~np.isnan(column)
    n, many = int(held.sum()), len(set(clusters[held].tolist()))
    if not n:
        return Estimate(None, 0, 0, reason="no answer that could be compared")
    mean = float(column[held].mean())
    return Estimate(mean, n, many, interval.low, interval.high, interval.method, interval.reason)


def flattening(outcomes: Iterable[OutcomeData]) -> TidyTable:
    """`stereotypes.flattening`."""
    return flattening_table(FLATTENING, outcomes)


def flattening_country(outcomes: Iterable[OutcomeData]) -> TidyTable:
    """`stereotypes.flattening_country`."""
    return flattening_table(FLATTENING_COUNTRY, outcomes)


def flattening_table(table: TableSpec, outcomes: Iterable[OutcomeData]) -> TidyTable:
    found, dimension = gather(outcomes), table.columns[1]
    rows: list[TidyRow] = []
    for question, asked in found.by_question().items():
        for (place, model), members in cells(asked, dimension).items():
            groups = {"question": question, dimension: place, "model": model}
            rows += [TidyRow(groups, metric, value) for metric, value in flatness(members).items()]
    return TidyTable(table.name, table.version, table.columns, tuple(rows), notes(found))


def flatness(members: Sequence[Asked]) -> dict[str, Estimate]:
    """Entropy and largest share of the pictures that were answered, with intervals over dishes."""
    held = [each for each in members if each.shares]
    if not held:
        lacking = Estimate(None, 0, 0, reason="no answer that could be read")
        return dict.fromkeys(FLATTENING_METRICS, lacking)
    names, place = np.unique([each.cluster for each in held], return_inverse=True)
    parts = np.zeros((len(names), len(held[0].options)))
    np.add.at(parts, place, np.array([each.share for each in held]))
    values = entropy_and_largest(parts.sum(axis=0, keepdims=True))[0]
    intervals = of_sums(parts, entropy_and_largest)
    return {
        metric: Estimate(float(value), len(held), len(names), found.low, found.high, found.method, found.reason)
        for metric, value, found in zip(FLATTENING_METRICS, values, intervals, strict=True)
    }


def readings(outcomes: Iterable[OutcomeData]) -> TidyTable:
    """`stereotypes.readings`."""
    found = gather(outcomes)
    questions = ["all", *dict.fromkeys(question for question, *_rest in found.checks)]
    rows = [
        TidyRow({"question": question}, metric, value)
        for question in questions
        for metric, value in agreement(found, question).items()
    ]
    return TidyTable(READINGS.name, READINGS.version, READINGS.columns, tuple(rows), notes(found))


def agreement(found: Gathered, question: str = "all") -> dict[str, Estimate]:
    """How often words and probabilities name the same option."""
    pairs = [pair for pair in found.checks if question in ("all", pair[0])]
    clusters = np.array([cluster for _question, cluster, *_rest in pairs], dtype=np.str_)
    same = np.array([float(likeliest == named) for *_rest, likeliest, named in pairs])
    held = np.array([named is not None for *_rest, named in pairs], dtype=bool)
    values = np.column_stack([same, np.where(held, same, np.nan)]) if pairs else np.zeros((0, 2))
    if not pairs:
        lacking = Estimate(None, 0, 0, reason="no pair was answered in both ways")
        return {"agreement": lacking, "agreement_read": lacking}
    made = [estimate(column, clusters, each) for column, each in zip(values.T, one_way(values, clusters), strict=True)]
    return dict(zip(("agreement", "agreement_read"), made, strict=True))


def notes(found: Gathered) -> tuple[str, ...]:
    """Sentences shown under every table of the study."""
    asked = sum(found.words.values())
    unread = "; ".join(f"{state} {n}" for state, n in sorted(found.unread.items()))
    sentences = [
        f"Answers asked for: {asked}; not read: {sum(found.unread.values())}{f' ({unread})' if unread else ''}.",
        "Intervals resample dishes, or pictures where no dish is known. A picture of several places counts in each.",
    ]
    if found.words["logits"]:
        sentences.append(beside_probabilities(agreement(found)["agreement"]))
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
