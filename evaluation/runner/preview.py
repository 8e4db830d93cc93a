"""What a run would be, before anything is stored or sent: units per model and country, and what they may cost."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction

from evaluation import studies
from evaluation.contracts.study import ConfigError, UnitPlan
from evaluation.models import Model
from evaluation.models.cost import price_of
from evaluation.runner.absent_weights import describe_absent_weights
from evaluation.runner.catalogue import DatabaseCatalogue
from evaluation.runner.planning import check_backend
from evaluation.studies.config import parse_config

NOWHERE = "no country"


@dataclass
class Preview:
    """`countries`: (model, country) → units; a subject of two countries counts in both. `cost`: currency → amount.

    `absent`: a sentence for each model whose weights are not there.
    """

    units: int = 0
    models: Counter[str] = field(default_factory=Counter)
    countries: Counter[tuple[str, str]] = field(default_factory=Counter)
    cost: dict[str, float] = field(default_factory=dict)
    unpriced: list[str] = field(default_factory=list)
    absent: list[str] = field(default_factory=list)


def preview_run(study: str, config: Mapping[str, Any]) -> Preview:
    """Plans the run and undoes it: nothing of it stays in the database. Raises ConfigError."""
    found = studies.load_study(study)
    parsed = parse_config(found, config)
    with transaction.atomic():
        counted = count_planned_units(found.plan(parsed, DatabaseCatalogue()).units)
        transaction.set_rollback(True)
    if not counted.units:
        raise ConfigError("The plan holds no unit: there is nothing to compute.")
    add_cost(counted)
    return counted


def count_planned_units(plans: Iterable[UnitPlan]) -> Preview:
    found = Preview()
    for plan in plans:
        if plan.model.slug not in found.models:
            check_backend(plan.model)
            found.absent += filter(None, [describe_absent_weights(plan.model)])
        found.units += 1
        found.models[plan.model.slug] += 1
        labels = plan.subject.labels.get("country", ()) if plan.subject else ()
        for country in labels or (NOWHERE,):
            found.countries[plan.model.slug, country] += 1
    return found


def add_cost(found: Preview) -> None:
    """The expected cost per currency; models without a price are named."""
    cost: dict[str, float] = defaultdict(float)
    for row in Model.objects.filter(slug__in=found.models).order_by("slug"):
        try:
            price = price_of(row.price)
        except ValueError as error:
            raise ConfigError(f"{row.slug}: {error}") from error
        if price is None:
            found.unpriced.append(row.slug)
        else:
            cost[price.currency] += price.expected(found.models[row.slug])
    found.cost = dict(cost)
