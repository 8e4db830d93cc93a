"""What the page of a run shows: how far it is, what it costs, what was refused, rewritten and failed."""

from collections import Counter
from dataclasses import asdict, astuple, dataclass, field, replace
from datetime import datetime, timedelta

from django.db.models import Count, Min
from django.utils.timesince import timeuntil

from evaluation import cached_counts, runner
from evaluation.models import Run, Unit
from evaluation.runner.control import ACTIVE, AGAIN
from evaluation.runner.forecast import Forecast
from evaluation.runner.progress import (
    Counted,
    HostTime,
    Refusals,
    Rewritten,
    count_refusals,
    count_rewritten_prompts,
    count_time_by_host,
    count_units_by_subject,
    describe_reason,
    group_units_by_label,
    labels_of,
)

KIND = "run"
MOST_REASONS = 30
GOING = (Run.State.WAITING, Run.State.PLANNED, Run.State.RUNNING)
STOPPED = (Run.State.PAUSED, Run.State.CANCELLED)


@dataclass(frozen=True)
class Failure:
    """A reason, how many units failed for it, and the id of one of them."""

    reason: str
    n: int
    unit: int


@dataclass(frozen=True)
class RunStatus:
    """Everything that the page of one run says."""

    run: Run
    states: list[tuple[str, str, int]]  # those that occur: code, words, number
    forecast: Forecast
    countries: list[tuple[Counted, list[int]]]
    refusals: list[Refusals]
    rewritten: list[Rewritten]
    failures: list[Failure]
    hosts: list[HostTime] = field(default_factory=list)
    counted_at: datetime | None = None
    counting: bool = False

    @property
    def going(self) -> bool:
        return self.run.state in GOING

    @property
    def stopped(self) -> bool:
        return self.run.state in STOPPED

    @property
    def cancellable(self) -> bool:
        return self.going or self.run.state == Run.State.PAUSED

    @property
    def again(self) -> list[tuple[str, str, int]]:
        """States whose units may be tried again, where there are any."""
        return [row for row in self.states if row[0] in AGAIN and not self.run.imported]

    @property
    def time_left(self) -> str:
        """The time until the last unit in words; empty where nobody knows it."""
        seconds = self.forecast.seconds
        if seconds is None or not self.forecast.open:
            return ""
        if seconds < 60:
            return "less than a minute"
        start = datetime(2000, 1, 1)
        return timeuntil(start + timedelta(seconds=seconds), start, depth=1)


def get_run_status(run: Run) -> RunStatus:
    """How `run` stands: counted now, or, where it has very many units, as a worker counted it last."""
    if not cached_counts.exceeds_count_limit(Unit.objects.filter(run=run)):
        return from_content(run, compute_run_counts(run))
    return restore_run_status(
        run, cached_counts.read_cached_counts(KIND, [run.pk], settled={run.pk: run.finished_at})[run.pk]
    )


def restore_run_status(run: Run, held: cached_counts.CachedCount) -> RunStatus:
    """A large run as it was counted; nothing but its state while it is first being counted."""
    if held.content is None:
        return RunStatus(run, [], Forecast(0, 0, {}, {}), [], [], [], [], counting=True)
    return replace(from_content(run, held.content), counted_at=held.counted_at)


def compute_run_counts(run: Run) -> cached_counts.Content:
    """All that the page says, as JSON holds it."""
    found, labels = count_units_by_subject(run), labels_of(run, "country")
    states, of_models = Counter[str](), Counter[tuple[str, str]]()
    for _subject, model, state, n in found:
        states[state] += n
        of_models[model, state] += n
    return {
        "states": states,
        "forecast": asdict(runner.forecast_run(run, of_models)),
        "countries": [[row.label, row.model, dict(row.states)] for row in group_units_by_label(found, labels)],
        "refusals": [astuple(row) for row in count_refusals(run, labels=labels)],
        "rewritten": [astuple(row) for row in count_rewritten_prompts(run, labels=labels)],
        "failures": [astuple(row) for row in list_failure_reasons(run)],
        # While it is worked on, the pace is asked for instead.
        "hosts": [astuple(row) for row in count_time_by_host(run)] if run.state not in ACTIVE else [],
    }


def from_content(run: Run, content: cached_counts.Content) -> RunStatus:
    forecast, states = content["forecast"], content["states"]
    countries = [Counted(label, model, Counter(found)) for label, model, found in content["countries"]]
    return RunStatus(
        run=run,
        states=[(state, str(Unit.State(state).label), states[state]) for state in Unit.State.values if state in states],
        forecast=Forecast(**{**forecast, "unpriced": tuple(forecast["unpriced"])}),
        countries=[(row, [row.states[state] for state in Unit.State.values if state in states]) for row in countries],
        refusals=[Refusals(*row) for row in content["refusals"]],
        rewritten=[Rewritten(*row) for row in content["rewritten"]],
        failures=[Failure(*row) for row in content["failures"]],
        # Counts that were stored before hosts were counted lack them.
        hosts=[HostTime(*row) for row in content.get("hosts", ())],
    )


def recount_run(pk: int) -> cached_counts.Content | None:
    """For the worker; None where the run is gone."""
    run = Run.objects.filter(pk=pk).first()
    return compute_run_counts(run) if run else None


cached_counts.makers[KIND] = recount_run


def list_failure_reasons(run: Run) -> list[Failure]:
    """The commonest reasons of failure. A unit without an outcome was stopped, one without a reason was erased."""
    rows = Unit.objects.filter(run=run, state=Unit.State.FAILED).values_list("outcome__reason")
    grouped = rows.annotate(n=Count("pk"), unit=Min("pk")).order_by("-n", "outcome__reason")[:MOST_REASONS]
    return [Failure(describe_reason(reason), n, unit) for reason, n, unit in grouped]
