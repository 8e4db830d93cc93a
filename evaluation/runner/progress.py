"""What became of a run's units, by country, language, model; refusals and rewritten prompts as results of their own."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from django.db.models import Count, FloatField, Max, Q, Sum
from django.db.models.fields.json import KeyTransform
from django.db.models.functions import Cast

from evaluation.models import Batch, Outcome, Run, RunLabel, Unit

DIMENSIONS = ("country", "language")
UNCOMPUTED = "The dish was withdrawn before this was computed."
UNKNOWN = "no reason given"
# What is before a worker's process in its name.
HOST_END = ":"
Labels = Mapping[int, Sequence[str]]


@dataclass
class Counted:
    """Units of one label and model by state; every state is named."""

    label: str
    model: str
    states: Counter[str] = field(default_factory=Counter)

    @property
    def total(self) -> int:
        return self.states.total()


@dataclass(frozen=True)
class Refusals:
    """How often one model refused about one label with one category, and words that it gave once."""

    label: str
    model: str
    category: str
    n: int
    words: str


@dataclass
class Rewritten:
    """Prompts that the provider rewrote, and how many of these still hold the name and all the countries."""

    label: str
    model: str
    n: int = 0
    name_kept: int = 0
    countries_kept: int = 0


@dataclass
class HostTime:
    """Seconds of a host's workers on a run: `computed` while units were executed, `waited` while none was."""

    host: str
    batches: int = 0
    computed: float = 0.0
    waited: float = 0.0

    @property
    def percent(self) -> float:
        """Share of the time in which units were executed, 0 to 100."""
        return 100 * self.computed / max(self.computed + self.waited, 1e-9)


def count_time_by_host(run: Run) -> list[HostTime]:
    """How long each host computed and waited, by name; batches from before this was measured are left out."""
    found: dict[str, HostTime] = {}
    rows = Batch.objects.filter(run=run, seconds_computed__isnull=False).values_list("worker")
    for worker, n, computed, waited in rows.annotate(Count("pk"), Sum("seconds_computed"), Sum("seconds_waited")):
        host = worker.rpartition(HOST_END)[0] or worker
        row = found.setdefault(host, HostTime(host))
        row.batches, row.computed, row.waited = row.batches + n, row.computed + computed, row.waited + (waited or 0)
    return [found[host] for host in sorted(found)]


def count_units_by_state(run: Run) -> dict[str, int]:
    """Unit state → number, every state named."""
    counted = dict(Unit.objects.filter(run=run).values_list("state").annotate(Count("pk")).order_by())
    return {state: counted.get(state, 0) for state in Unit.State.values}


def count_failure_reasons(run: Run) -> list[tuple[str, str, int]]:
    """Why units gave nothing: state, reason and how many, the most frequent first."""
    unhappy = (Unit.State.FAILED, Unit.State.REFUSED, Unit.State.FILTERED, Unit.State.EMPTY)
    rows = Unit.objects.filter(run=run, state__in=unhappy).values_list("state", "outcome__reason")
    counted = rows.annotate(n=Count("pk")).order_by("-n", "state", "outcome__reason")
    return [(state, describe_reason(reason), number) for state, reason, number in counted]


def describe_reason(reason: str | None) -> str:
    """Why a unit gave nothing, in words. None: it has no outcome. Empty: its reason is no longer held."""
    return UNCOMPUTED if reason is None else reason or UNKNOWN


def by_label(run: Run, dimension: str) -> list[Counted]:
    """Units by label of `dimension` ("country", "language") and model. A subject of two countries counts in both."""
    return group_units_by_label(count_units_by_subject(run), labels_of(run, dimension))


def count_units_by_subject(run: Run) -> list[tuple[int | None, str, str, int]]:
    """How many units of a run there are by subject, model and state."""
    rows = Unit.objects.filter(run=run).values_list("subject", "model__slug", "state").annotate(n=Count("pk"))
    return list(rows.order_by())


def group_units_by_label(units: Iterable[tuple[int | None, str, str, int]], labels: Labels) -> list[Counted]:
    """See `by_label`."""
    found: dict[tuple[str, str], Counted] = {}
    for subject, model, state, n in units:
        for label in labels.get(subject or 0, ("",)):
            found.setdefault((label, model), Counted(label, model)).states[state] += n
    return [found[key] for key in sorted(found)]


def labels_of(run: Run, dimension: str) -> Labels:
    """Subject id → its labels, as frozen for the run."""
    found: dict[int, list[str]] = defaultdict(list)
    rows = RunLabel.objects.filter(run=run, dimension=dimension)
    for subject, value in rows.order_by("value").values_list("subject", "value"):
        found[subject].append(value)
    return found


def count_refusals(run: Run, dimension: str = "country", labels: Labels | None = None) -> list[Refusals]:
    """Refusals by label, model and the provider's category. `labels`: `labels_of`, where they are read already."""
    labels = labels_of(run, dimension) if labels is None else labels
    counted: Counter[tuple[str, str, str]] = Counter()
    words: dict[tuple[str, str, str], str] = {}
    rows = Outcome.objects.filter(unit__run=run, unit__state=Unit.State.REFUSED)
    grouped = rows.values_list("unit__subject", "unit__model__slug", "reason").annotate(Count("pk"), Max("text"))
    for subject, model, category, n, text in grouped.order_by():
        for label in labels.get(subject, ("",)):
            counted[label, model, category] += n
            words[label, model, category] = text or category
    return [Refusals(*key, counted[key], words[key]) for key in sorted(counted)]


def count_rewritten_prompts(run: Run, dimension: str = "country", labels: Labels | None = None) -> list[Rewritten]:
    """Rewritten prompts by label and model. `labels`: as for `refusals`."""
    labels = labels_of(run, dimension) if labels is None else labels
    found: dict[tuple[str, str], Rewritten] = {}
    rows = Outcome.objects.filter(unit__run=run).exclude(Q(image=None) | Q(image__prompt_revised=""))
    grouped = rows.values_list("unit__subject", "unit__model__slug").annotate(
        Count("pk"), names=Sum(build_number_cast("name_kept")), countries=Sum(build_number_cast("countries_kept"))
    )
    for subject, model, n, names, countries in grouped.order_by():
        add_rewritten(found, labels.get(subject, ("",)), model, (n, int(names or 0), int(countries or 0)))
    return [found[key] for key in sorted(found)]


def build_number_cast(name: str) -> Cast:
    return Cast(KeyTransform(name, "numbers"), FloatField())


def add_rewritten(
    found: dict[tuple[str, str], Rewritten], labels: Iterable[str], model: str, counts: tuple[int, int, int]
) -> None:
    for label in labels:
        row = found.setdefault((label, model), Rewritten(label, model))
        row.n += counts[0]
        row.name_kept += counts[1]
        row.countries_kept += counts[2]
