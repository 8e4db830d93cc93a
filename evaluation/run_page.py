"""What the page of a run shows: how far it is, what it costs, what was refused, rewritten and failed."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Count, Min
from django.utils.timesince import timeuntil
from django.utils.translation import gettext as _

from evaluation import runner
from evaluation.models import Outcome, Run, Unit
from evaluation.runner.counting import Counted, Refusals, Rewritten, by_label, refusals, rewritten
from evaluation.runner.forecast import Forecast
from evaluation.runner.steering import AGAIN

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
class Standing:
    """Everything that the page of one run says."""

    run: Run
    states: list[tuple[str, str, int]]  # those that occur: code, words, number
    forecast: Forecast
    countries: list[tuple[Counted, list[int]]]
    refusals: list[Refusals]
    rewritten: list[Rewritten]
    failures: list[Failure]

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
            return _("less than a minute")
        start = datetime(2000, 1, 1)
        return timeuntil(start + timedelta(seconds=seconds), start, depth=1)


def standing(run: Run) -> Standing:
    """How `run` stands now."""
    counted = runner.progress(run)
    found = [state for state, n in counted.items() if n]
    return Standing(
        run=run,
        states=[(state, str(Unit.State(state).label), counted[state]) for state in found],
        forecast=runner.forecast(run),
        countries=[(row, [row.states[state] for state in found]) for row in by_label(run, "country")],
        refusals=refusals(run),
        rewritten=rewritten(run),
        failures=failures(run),
    )


def failures(run: Run) -> list[Failure]:
    """The commonest reasons of failure."""
    rows = Outcome.objects.filter(unit__run=run, unit__state=Unit.State.FAILED)
    grouped = rows.values_list("reason").annotate(n=Count("pk"), unit=Min("unit")).order_by("-n", "reason")
    return [Failure(*row) for row in grouped[:MOST_REASONS]]
