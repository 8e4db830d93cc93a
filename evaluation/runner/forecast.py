"""How far a run is and what is to come: cost from what its units took, time from the pace of the last minutes."""

from collections import Counter, defaultdict
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import (
    Avg,
    Count,
    DurationField,
    ExpressionWrapper,
    F,
    FloatField,
    Max,
    Min,
    Q,
    QuerySet,
    Sum,
)
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast, Coalesce, Now

from evaluation.cost import Price, price_of
from evaluation.models import Batch, EarlierOutcome, Model, Outcome, Run, Unit
from evaluation.runner.steering import ACTIVE, OPEN

WINDOW = timedelta(minutes=10)
DELIVERED = (Unit.State.DONE, Unit.State.EMPTY, Unit.State.FILTERED)
ENDED = [state for state in Unit.State.values if state not in OPEN]


@dataclass(frozen=True)
class Forecast:
    """`spent`, `to_come`: currency → amount. `seconds`: until the last unit, None where no pace is known."""

    ended: int
    total: int
    spent: dict[str, float]
    to_come: dict[str, float]
    unpriced: tuple[str, ...] = ()
    seconds: float | None = None

    @property
    def open(self) -> int:
        return self.total - self.ended

    @property
    def percent(self) -> float:
        return 100 * self.ended / self.total if self.total else 0.0


@dataclass
class Taken:
    """What the ended units of one model took: tries that were delivered, and their tokens."""

    delivered: int = 0
    input_tokens: float = 0
    output_tokens: float = 0


def forecast(run: Run) -> Forecast:
    """Where `run` stands now."""
    counted = Counter[tuple[int, str]]()
    for model, state, n in Unit.objects.filter(run=run).values_list("model", "state").annotate(Count("pk")).order_by():
        counted[model, state] = n
    spent: dict[str, float] = defaultdict(float)
    to_come: dict[str, float] = defaultdict(float)
    unpriced = []
    for model in Model.objects.filter(pk__in={pk for pk, _ in counted}).order_by("slug"):
        price = known_price(model)
        if price is None:
            unpriced.append(model.slug)
            continue
        ended = sum(counted[model.pk, state] for state in ENDED)
        left = sum(counted[model.pk, state] for state in OPEN)
        paid, current = paid_for(run, model, price)
        spent[price.currency] += paid
        to_come[price.currency] += left * current / ended if ended else price.expected(left)
    ended = sum(n for (_, state), n in counted.items() if state in ENDED)
    total = counted.total()
    seconds = time_left(run, total - ended)
    return Forecast(ended, total, dict(spent), dict(to_come), tuple(unpriced), seconds)


def known_price(model: Model) -> Price | None:
    """The price, or None where there is none that can be read."""
    try:
        return price_of(model.price)
    except ValueError:
        return None


def paid_for(run: Run, model: Model, price: Price) -> tuple[float, float]:
    """What the units of a model cost so far, earlier tries included, and what their last tries alone did."""
    of_model = {"unit__run": run, "unit__model": model}
    last = taken(Outcome.objects.filter(**of_model), "unit__state", price)
    before = taken(EarlierOutcome.objects.filter(**of_model), "state", price)
    current = price.spent(last.delivered, last.input_tokens, last.output_tokens)
    return current + price.spent(before.delivered, before.input_tokens, before.output_tokens), current


def taken(rows: "QuerySet[Any]", state: str, price: Price) -> Taken:
    delivered = rows.filter(**{f"{state}__in": DELIVERED}).count()
    if not price.counts_tokens:
        return Taken(delivered)
    sums = rows.aggregate(into=total("input_tokens"), out=total("output_tokens"))
    return Taken(delivered, sums["into"], sums["out"])


def total(name: str) -> Coalesce:
    """The sum of a number among the circumstances."""
    return Coalesce(Sum(Cast(KeyTextTransform(name, "circumstances"), FloatField())), 0.0)


def time_left(run: Run, left: int) -> float | None:
    """Seconds until `left` units are ended at the pace of the last minutes, by the database's clock.

    Batches that are worked on count as far as their time says: with many workers much is done that has not ended.
    """
    if not left or run.state not in ACTIVE:
        return 0.0 if not left else None
    recent = Batch.objects.filter(run=run, finished_at__gte=Now() - WINDOW)
    took = recent.aggregate(
        start=Min("created_at"), end=Max("finished_at"), each=Avg(span(F("created_at"), F("finished_at")))
    )
    ended = Outcome.objects.filter(batch__in=recent.values("pk")).count()
    if not ended or took["start"] is None:
        return None
    going = Batch.objects.filter(run=run, finished_at=None, until__gte=Now(), created_at__gte=took["start"])
    done, kept = under_way(going, took["each"])
    # As long as somebody works, the time since the last batch ended counts too.
    until = clock() if done or kept else took["end"]
    seconds = max((until - took["start"]).total_seconds(), 0.001)
    return max(0.0, left - done) * seconds / (ended + done + kept)


def clock() -> datetime:
    """The database's time."""
    found = Run.objects.values_list(Now(), flat=True).first()
    assert isinstance(found, datetime)
    return found


def under_way(batches: QuerySet[Batch], each: timedelta) -> tuple[float, int]:
    """Of batches that are worked on: units that are done by the time that one takes, and units that ended already."""
    done, kept = 0.0, 0
    counted = batches.annotate(
        passed=span(F("created_at"), Now()),
        leased=Count("units", filter=Q(units__state=Unit.State.LEASED)),
        ended=Count("units", filter=~Q(units__state=Unit.State.LEASED)),
    )
    for passed, leased, ended in counted.values_list("passed", "leased", "ended"):
        done += leased * min(1.0, passed / each) if each else 0.0
        kept += ended
    return done, kept


def span(start: Any, end: Any) -> ExpressionWrapper:
    return ExpressionWrapper(end - start, output_field=DurationField())
