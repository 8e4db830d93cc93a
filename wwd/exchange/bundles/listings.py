"""What was asked and answered, as files that a person can read: prompts, raw answers, refusals, runs, campaigns."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Exists, OuterRef

from collection.models import Opening
from evaluation.models import EarlierOutcome, GeneratedImage, Model, Outcome, Run, Unit
from review.models import Campaign, Reviewer
from wwd.exchange.bundles.row_selection import Needed
from wwd.exchange.bundles.rows import without_address
from wwd.exchange.bundles.table_views import View

PROMPTS = (
    "image",
    "run__slug",
    "model__slug",
    "subject__name",
    "state",
    "seed",
    "sample",
    "prompt__slug",
    "prompt__version",
    "prompt_sent",
    "prompt_revised",
    "sha256",
)
ANSWERS = ("run", "unit", "model", "subject", "state", "text", "reason", "numbers")
REFUSALS = ("run", "unit", "try", "model", "subject", "state", "reason", "text")
ANSWERED = ("unit__run__slug", "unit__key", "unit__model__slug", "unit__subject__name", "unit__state", "text", "reason")
NOT_DONE = (Unit.State.REFUSED, Unit.State.FILTERED, Unit.State.EMPTY, Unit.State.FAILED)
# More different values of one circumstance than this are numbers that vary: only their ends are told.
MOST_VALUES = 20
NO_ETHICS = "missing: no reference of an ethics approval was recorded for this campaign"


@dataclass(frozen=True)
class Listing:
    """A file for people: `columns`, and `rows` as they are read."""

    columns: Sequence[str]
    rows: Iterable[Sequence[Any]]


def list_bundle_prompts(needed: Needed) -> Listing:
    """Every image with its prompt as sent and as the provider rewrote it."""
    columns = ("pk", *PROMPTS[1:])
    images = (row for part in needed.chunks(GeneratedImage) for row in part.order_by("pk").values_list(*columns))
    return Listing([name.replace("__", "_") for name in PROMPTS], _shown(needed, images))


def list_bundle_outcomes(needed: Needed) -> Listing:
    """Every outcome of the runs, as it came."""
    rows = (row for part in needed.chunks(Outcome) for row in _ordered(part, *ANSWERED, "numbers"))
    return Listing(ANSWERS, _shown(needed, ((*row[:-1], json.dumps(row[-1], ensure_ascii=False)) for row in rows)))


def list_bundle_refusals(needed: Needed) -> Listing:
    """What was refused, held back, empty or failed, and why; tries before the last one too."""
    return Listing(REFUSALS, _shown(needed, _refusals(needed)))


def _refusals(needed: Needed) -> Iterator[tuple[Any, ...]]:
    for part in needed.chunks(EarlierOutcome):
        for run, unit, model, subject, _now, text, reason, number, state in _ordered(
            part, *ANSWERED, "number", "state"
        ):
            yield run, unit, number, model, subject, state, reason, text
    for part in needed.chunks(Outcome):
        for run, unit, model, subject, state, text, reason in _ordered(
            part.filter(unit__state__in=NOT_DONE), *ANSWERED
        ):
            yield run, unit, "last", model, subject, state, reason, text


def _ordered(rows: Any, *columns: str) -> Iterator[tuple[Any, ...]]:
    return iter(rows.order_by("pk").values_list(*columns))


def _shown(needed: Needed, rows: Iterable[Sequence[Any]]) -> Iterator[list[Any]]:
    """The rows without words of dishes that are not shown to the public."""
    return ([needed.shown(value) for value in row] for row in rows)


def run_document(run: Run) -> dict[str, Any]:
    """A run: what it was asked to do, with which models, on what, and what became of its units."""
    units = Unit.objects.filter(run=run).order_by()
    states = units.values_list("state").annotate(n=Count("pk"))
    makers = Model.objects.filter(pk__in=units.values("model")).order_by("slug")
    return {
        "run": run.slug,
        "study": run.study,
        "study_version": run.study_version,
        "config": run.config,
        "definition": run.definition,
        "state": run.state,
        "demonstration": run.demonstration,
        "imported": run.imported,
        "created_at": run.created_at.isoformat(),
        "finished_at": run.finished_at.isoformat() if run.finished_at else None,
        "units": dict(sorted(states)),
        "models": [model_document(model) for model in makers],
        "circumstances": describe_run_conditions(run),
    }


def model_document(model: Model) -> dict[str, Any]:
    return {
        "slug": model.slug,
        "title": model.title,
        "role": model.role,
        "backend": model.backend,
        "identifier": model.identifier,
        "revision": model.revision,
        "parameters": without_address(model.parameters),
        "demonstration": model.demonstration,
    }


def describe_run_conditions(run: Run) -> dict[str, Any]:
    """Hardware, library versions, batch sizes: value → number of outcomes, or the ends of what varies."""
    found: Mapping[str, Counter[str]] = defaultdict(Counter)
    numbers: Mapping[str, list[float]] = defaultdict(list)
    rows = Outcome.objects.filter(unit__run=run).values_list("circumstances", flat=True)
    for held in rows.iterator(chunk_size=2000):
        for name, value in held.items():
            if isinstance(value, int | float) and not isinstance(value, bool):
                numbers[name].append(value)
            found[name][value if isinstance(value, str) else json.dumps(value, sort_keys=True)] += 1
    told: dict[str, Any] = {}
    for name, values in sorted(found.items()):
        if len(values) <= MOST_VALUES:
            told[name] = dict(sorted(values.items()))
        elif name in numbers:
            told[name] = {"least": min(numbers[name]), "most": max(numbers[name])}
        else:
            told[name] = {"different values": len(values)}
    return told


def campaign_document(campaign: Campaign) -> dict[str, Any]:
    """A campaign with its ethics approval, or the sentence that none was recorded."""
    return {
        "campaign": campaign.slug,
        "title": campaign.title,
        "questionnaire": str(campaign.questionnaire),
        "wanted_opinions": campaign.wanted_opinions,
        "real_percent": campaign.real_percent,
        "repeat_percent": campaign.repeat_percent,
        "source": campaign.source,
        "ethics_approval": campaign.ethics_reference.strip() or NO_ETHICS,
    }


def list_counted_campaigns(views: Iterable[View]) -> list[Campaign]:
    """The campaigns that these views count: those that filters name, else all in which somebody judged an image."""
    of_reviews = [view for view in views if "reviews" in view.spec.inputs]
    if not of_reviews:
        return []
    judged = Campaign.objects.filter(Exists(Reviewer.objects.filter(campaign=OuterRef("pk"), reviews__isnull=False)))
    named = {view.values.get("campaign", "") for view in of_reviews}
    return list((judged if "" in named else judged.filter(slug__in=named)).order_by("slug"))


def collection_ethics() -> str:
    """The approval under which dishes are collected now."""
    opening = Opening.objects.first()
    if opening is None or not opening.ethics_reference.strip():
        return "missing: no reference of an ethics approval was recorded for the collection of dishes"
    until = f", until {opening.ethics_until}" if opening.ethics_until else ""
    return f"{opening.ethics_reference.strip()}{until}"
