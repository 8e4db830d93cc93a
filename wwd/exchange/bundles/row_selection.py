"""Which rows the chosen tables are computed from: whatever their inputs name, never anything of a withdrawn dish.

Nothing here knows a single table. A table says in its `inputs` what it is made from; a study's table is made from one
run, and a filter that names a run chooses that one.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Model, Q, QuerySet

from collection.models import Country, Dish, DishContinent, DishCountry, DishLanguage, Photo, PhotoLink
from evaluation import models as evaluation
from evaluation.models import GeneratedImage, Outcome, Run, Subject, Unit
from evaluation.registry.runs import chosen_run
from evaluation.tables.scrubbing import erase_words, own_words
from review import models as review
from review.assignment import SKIPS
from review.models import Assignment, CampaignImage, Review, Reviewer
from wwd.exchange.bundles.table_views import View

RUNS = "runs."
REVIEWS = ("reviews", SKIPS)
DISHES, REFERENCES = "dishes", "references"
# What may change a table without rows of its own: what was withdrawn is in no bundle.
NO_ROWS = ("withdrawals",)
# Their clusters are contributors, of whom a bundle reveals nothing, not even which dishes have the same one.
OF_PEOPLE = "overview."
CHUNK = 1000
GONE = Dish.State.WITHDRAWN


@dataclass
class Needed:
    """Primary keys of the rows that go into a bundle, by model.

    `hidden` finds the words of dishes that are not shown to the public, because a steward hid or never accepted them.
    """

    keys: "dict[type[Model], set[Any]]" = field(default_factory=dict)
    hidden: re.Pattern[str] | None = None

    def shown(self, value: Any) -> Any:
        """`value` without these words, however deep they lie."""
        return erase_words(value, self.hidden) if self.hidden else value

    def add(self, model: type[Model], keys: Iterable[Any]) -> None:
        self.keys.setdefault(model, set()).update(keys)

    def add_rows(self, rows: "QuerySet[Any]") -> None:
        self.add(rows.model, rows.order_by().values_list("pk", flat=True).iterator(chunk_size=CHUNK))

    def add_named(self, model: type[Model], rows: "QuerySet[Any]", column: str) -> None:
        """The rows of `model` that a column of `rows` names."""
        named = rows.order_by().exclude(**{column: None}).values_list(column, flat=True).distinct()
        self.add(model, named.iterator(chunk_size=CHUNK))

    def of(self, model: type[Model]) -> list[Any]:
        """In one order."""
        return sorted(self.keys.get(model, ()))

    def chunks(self, model: type[Model]) -> "Iterator[QuerySet[Any]]":
        """The rows in the order of their keys, in pieces that any database takes."""
        keys = self.of(model)
        for start in range(0, len(keys), CHUNK):
            yield model._default_manager.filter(pk__in=keys[start : start + CHUNK])


def unknown_inputs(view: View) -> list[str]:
    """What the view is computed from and no bundle holds: its table comes along and cannot be computed anew."""
    if view.table.startswith(OF_PEOPLE):
        return ["people and devices"]
    known = (*REVIEWS, *NO_ROWS, DISHES, REFERENCES)
    return [name for name in view.spec.inputs if name not in known and not name.startswith(RUNS)]


def runs_of(views: Sequence[View]) -> list[Run]:
    """The finished runs behind these views, in the order of their names."""
    found: dict[int, Run] = {}
    for view in views:
        for name in view.spec.inputs:
            if name.startswith(RUNS):
                found.update({run.pk: run for run in _runs(name.removeprefix(RUNS), view)})
    return sorted(found.values(), key=lambda run: run.slug)


def _runs(study: str, view: View) -> Iterable[Run]:
    finished = Run.objects.filter(study=study, state=Run.State.DONE)
    if view.spec.study == study:
        run = chosen_run(study, view.values)
        return [run] if run else []
    named = list(finished.filter(slug__in=view.values.values()))
    return named or list(finished)


def gather_needed_rows(views: Sequence[View]) -> Needed:
    """The keys of all rows that these views are computed from."""
    needed = Needed()
    for run in runs_of(views):
        add_run(needed, run)
    again = [view for view in views if not unknown_inputs(view)]
    named = {name for view in again for name in view.spec.inputs}
    if named & set(REVIEWS):
        add_reviews(needed, campaigns_of(again))
    if DISHES in named:
        add_dishes(needed)
    if REFERENCES in named:
        needed.add_rows(evaluation.ReferenceList.objects.all())
        needed.add_rows(evaluation.ReferenceDish.objects.all())
    add_what_these_name(needed)
    needed.hidden = words_of_hidden_dishes(needed)
    return needed


def campaigns_of(views: Sequence[View]) -> set[str]:
    """The campaigns that all views of reviews are limited to; empty where one is not."""
    of_reviews = [view for view in views if any(name in REVIEWS for name in view.spec.inputs)]
    if all("campaign" in view.values for view in of_reviews):
        return {view.values["campaign"] for view in of_reviews}
    return set()


def add_run(needed: Needed, run: Run) -> None:
    """A run with its units, outcomes, labels, vectors, and the images that it made or looked at."""
    needed.add(Run, [run.pk])
    needed.add_rows(evaluation.RunLabel.objects.filter(run=run).exclude(subject__dish__state=GONE))
    units = Unit.objects.filter(run=run).exclude(subject__dish__state=GONE)
    outcomes = Outcome.objects.filter(unit__in=units)
    needed.add_rows(units)
    needed.add_rows(outcomes)
    needed.add_rows(evaluation.EarlierOutcome.objects.filter(unit__in=units))
    needed.add_named(evaluation.Model, units, "model")
    needed.add_named(evaluation.Embedding, outcomes, "embedding")
    needed.add_named(GeneratedImage, outcomes, "image")
    needed.add_named(GeneratedImage, outcomes, "embedding__image")
    payloads = units.values_list("payload", flat=True).iterator(chunk_size=CHUNK)
    needed.add(GeneratedImage, {image for payload in payloads if isinstance(image := payload.get("image"), int)})
    words = {value for value in run.config.values() if isinstance(value, str)}
    needed.add_rows(evaluation.QuestionSet.objects.filter(slug__in=words))
    needed.add_rows(evaluation.DescriptorSet.objects.filter(slug__in=words))


def add_reviews(needed: Needed, campaigns: set[str]) -> None:
    """Reviews that their people left with us, what these people were given, and the images of both."""
    reviews = Review.objects.present().exclude(image__image__subject__dish__state=GONE)
    given = Assignment.objects.filter(Q(reviewer__withdrawn_at=None) | Q(reviewer__keep_answers=True))
    given = given.exclude(image__image__subject__dish__state=GONE)
    if campaigns:
        reviews = reviews.filter(reviewer__campaign__slug__in=campaigns)
        given = given.filter(reviewer__campaign__slug__in=campaigns)
    for rows in (reviews, given):
        needed.add_rows(rows)
        needed.add_named(Reviewer, rows, "reviewer")
        needed.add_named(CampaignImage, rows, "image")
    for people in needed.chunks(Reviewer):
        needed.add_named(review.Campaign, people, "campaign")
        needed.add_rows(review.Exclusion.objects.filter(reviewer__in=people))
    for part in needed.chunks(review.Campaign):
        needed.add_named(review.Questionnaire, part, "questionnaire")
    for shown in needed.chunks(CampaignImage):
        needed.add_named(GeneratedImage, shown, "image")


def add_dishes(needed: Needed) -> None:
    """The dishes that the public sees, with what tables count of them."""
    public = Dish.objects.accepted()
    needed.add_rows(public)
    for about in (DishCountry, DishLanguage, DishContinent, PhotoLink):
        needed.add_rows(about._default_manager.filter(dish__in=public))
    needed.add_rows(Photo.objects.filter(dish__in=public, state=Photo.State.ACCEPTED))


def add_what_these_name(needed: Needed) -> None:
    """Subjects, dishes, prompts and makers of images; countries, because tables put places into their order."""
    parts = list(needed.chunks(GeneratedImage))
    needed.keys[GeneratedImage] = set()
    for part in parts:
        images = part.exclude(subject__dish__state=GONE)
        needed.add_rows(images)
        needed.add_named(Subject, images, "subject")
        needed.add_named(evaluation.Model, images, "model")
        needed.add_named(evaluation.PromptTemplate, images, "prompt")
    for units in needed.chunks(Unit):
        needed.add_named(Subject, units, "subject")
    for labels in needed.chunks(evaluation.RunLabel):
        needed.add_named(Subject, labels, "subject")
    for subjects in needed.chunks(Subject):
        needed.add_named(Dish, subjects, "dish")
    needed.add_rows(Country.objects.all())


def words_of_hidden_dishes(needed: Needed) -> re.Pattern[str] | None:
    """Finds names, places and languages that only dishes have which the public does not see."""
    words: set[str] = set()
    for part in needed.chunks(Dish):
        for dish in part.exclude(state=Dish.State.ACCEPTED):
            words |= own_words(dish)
    longest_first = sorted(words, key=lambda word: (-len(word), word))
    return re.compile("|".join(rf"(?<!\w){re.escape(word)}(?!\w)" for word in longest_first)) if words else None


def campaigns_and_runs(needed: Needed) -> tuple[list[review.Campaign], list[Run]]:
    """The campaigns and runs of a bundle, in the order of their names."""
    campaigns = review.Campaign.objects.filter(pk__in=needed.of(review.Campaign)).select_related("questionnaire")
    return list(campaigns.order_by("slug")), list(Run.objects.filter(pk__in=needed.of(Run)).order_by("slug"))


def count_needed_rows(needed: Needed) -> Mapping[str, int]:
    """How many rows of each kind there are."""
    return {model._meta.label_lower: len(keys) for model, keys in sorted(needed.keys.items(), key=_label)}


def _label(item: "tuple[type[Model], set[Any]]") -> str:
    return item[0]._meta.label_lower
