"""How far a run is and what is to come: cost from what its units took, time from the pace of the last minutes."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
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
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Sum,
)
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast, Coalesce, Now

from evaluation.models import Batch, EarlierOutcome, Model, Outcome, Run, Unit
from evaluation.models.cost import Price, price_of
from evaluation.runner.control import ACTIVE, OPEN

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


def forecast_run(run: Run, counted: Counter[tuple[str, str]] | None = None) -> Forecast:
    """Where `run` stands now. `counted`: its units by model and state, where they are counted already."""
    if counted is None:
        rows = Unit.objects.filter(run=run).values_list("model__slug", "state").annotate(n=Count("pk")).order_by()
        counted = Counter({(model, state): n for model, state, n in rows})
    spent: dict[str, float] = defaultdict(float)
    to_come: dict[str, float] = defaultdict(float)
    models = Model.objects.filter(slug__in={slug for slug, _ in counted}).order_by("slug")
    prices = {model: known_price(model) for model in models}
    paid = paid_for(run, {model: price for model, price in prices.items() if price})
    for model, price in prices.items():
        if price is None:
            continue
        ended = sum(counted[model.slug, state] for state in ENDED)
        left = sum(counted[model.slug, state] for state in OPEN)
        altogether, current = paid[model]
        spent[price.currency] += altogether
        to_come[price.currency] += left * current / ended if ended else price.expected(left)
    unpriced = tuple(model.slug for model, price in prices.items() if price is None)
    ended = sum(n for (_, state), n in counted.items() if state in ENDED)
    total = counted.total()
    seconds = time_left(run, total - ended)
    return Forecast(ended, total, dict(spent), dict(to_come), unpriced, seconds)


def known_price(model: Model) -> Price | None:
    """The price, or None where there is none that can be read."""
    try:
        return price_of(model.price)
    except ValueError:
        return None


def paid_for(run: Run, prices: Mapping[Model, Price]) -> dict[Model, tuple[float, float]]:
    """What the units of each model cost so far, earlier tries included, and what their last tries alone did."""
    last = sum_model_usage(Outcome.objects.filter(unit__run=run), "unit__state", prices)
    before = sum_model_usage(EarlierOutcome.objects.filter(unit__run=run), "state", prices)
    found = {}
    for model, price in prices.items():
        current, earlier = (
            price.spent(one.delivered, one.input_tokens, one.output_tokens) for one in (last[model], before[model])
        )
        found[model] = current + earlier, current
    return found


def sum_model_usage(rows: "QuerySet[Any]", state: str, prices: Mapping[Model, Price]) -> dict[Model, Taken]:
    """What was delivered of each model, with its tokens where these are paid for, in one query for all of them."""
    if not prices:
        return {}
    delivered = Count("pk", filter=Q(**{f"{state}__in": DELIVERED}))
    counted = rows.filter(unit__model__in=list(prices)).order_by().values("unit__model").annotate(delivered=delivered)
    by_token = any(price.counts_tokens for price in prices.values())
    if by_token:
        counted = counted.annotate(into=sum_circumstance("input_tokens"), out=sum_circumstance("output_tokens"))
    held = {row["unit__model"]: row for row in counted}
    found = {}
    for model, price in prices.items():
        row = held.get(model.pk, {"delivered": 0, "into": 0.0, "out": 0.0})
        found[model] = Taken(row["delivered"], *((row["into"], row["out"]) if price.counts_tokens else ()))
    return found


def sum_circumstance(name: str) -> Coalesce:
    """The sum of a number among the circumstances."""
    return Coalesce(Sum(Cast(KeyTextTransform(name, "circumstances"), FloatField())), 0.0)


def time_left(run: Run, left: int) -> float | None:
    """Seconds until `left` units are ended at the pace of the last minutes, by the database's clock.

    Batches that are worked on count as far as their time says: with many workers much is done that has not ended.
    """
    if not left or run.state not in ACTIVE:
        return 0.0 if not left else None
    recent = Batch.objects.filter(run=run, finished_at__gte=Now() - WINDOW)
    outcomes = Outcome.objects.filter(batch=OuterRef("pk")).order_by().values("batch").values(n=Count("pk"))
    took = recent.annotate(n=Subquery(outcomes)).aggregate(
        start=Min("created_at"),
        end=Max("finished_at"),
        each=Avg(build_duration(F("created_at"), F("finished_at"))),
        ended=Sum("n"),
        clock=Max(Now()),
    )
    ended = took["ended"]
    if not ended or took["start"] is None:
        return None
    going = Batch.objects.filter(run=run, finished_at=None, until__gte=Now(), created_at__gte=took["start"])
    done, kept = under_way(going, took["each"])
    # As long as somebody works, the time since the last batch ended counts too.
    until = took["clock"] if done or kept else took["end"]
    seconds = max((until - took["start"]).total_seconds(), 0.001)
    return max(0.0, left - done) * seconds / (ended + done + kept)


def under_way(batches: QuerySet[Batch], each: timedelta) -> tuple[float, int]:
    """Of batches that are worked on: units that are done by the time that one takes, and units that ended already."""
    done, kept = 0.0, 0
    counted = batches.annotate(
        passed=build_duration(F("created_at"), Now()),
        leased=Count("units", filter=Q(units__state=Unit.State.LEASED)),
        ended=Count("units", filter=~Q(units__state=Unit.State.LEASED)),
    )
    for passed, leased, ended in counted.values_list("passed", "leased", "ended"):
        done += leased * min(1.0, passed / each) if each else 0.0
        kept += ended
    return done, kept


def build_duration(start: Any, end: Any) -> ExpressionWrapper:
    return ExpressionWrapper(end - start, output_field=DurationField())
