"""What a plan may ask for, read from the database in a stable order."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar

from django.db.models import QuerySet

from collection.models import Dish
from evaluation import subjects
from evaluation.contracts.study import (
    AnswerData,
    ConfigError,
    DescriptorData,
    DishData,
    ImageData,
    ModelData,
    NumbersData,
    PromptData,
    QuestionsData,
    SubjectData,
    VectorData,
)
from evaluation.models import (
    DescriptorSet,
    GeneratedImage,
    Model,
    Outcome,
    PromptTemplate,
    QuestionSet,
    Role,
    Run,
    Subject,
    Unit,
)
from evaluation.suggestions import describe_unknown_name
from evaluation.tables.outcomes import CHUNK, WITHDRAWN, find_asked_image, other_decodes, vector_of

AS_PUBLISHED = "as published"
Versioned = TypeVar("Versioned", PromptTemplate, DescriptorSet, QuestionSet)


def subject_data(row: Subject) -> SubjectData:
    """A stored subject as a study sees it."""
    labels = {dimension: tuple(values) for dimension, values in row.labels.items()}
    return SubjectData(row.pk, row.kind, row.name, labels, row.demonstration, row.source_key)


def model_data(row: Model) -> ModelData:
    """A stored model as a study sees it."""
    return ModelData(
        row.pk, row.slug, row.role, row.backend, row.identifier, row.revision, row.parameters, row.demonstration
    )


def version_of(rows: QuerySet[Versioned], what: str, slug: str, version: str) -> Versioned:
    """The row of this version; without one, the version of ours that was added last.

    What was published is asked for by name: importing it must not change what new runs ask. Raises ConfigError with
    the near names.
    """
    found = {row.version: row for row in rows.filter(slug=slug).order_by("pk")}
    if not found:
        raise ConfigError(describe_unknown_name(what, slug, set(rows.values_list("slug", flat=True))))
    if version and version not in found:
        raise ConfigError(describe_unknown_name(f"version of {what} {slug!r} named", version, found))
    ours = [row for row in found.values() if row.version != AS_PUBLISHED]
    return found[version] if version else (ours or list(found.values()))[-1]


def dish_data(row: Dish) -> DishData:
    """What a contributor says about a dish, as a study sees it."""
    countries = tuple(place.name for place in row.places.all())
    return DishData(countries, tuple(row.time_of_day), tuple(row.kinds), row.utensils, row.ingredients)


def check_run_name(slug: str) -> None:
    """Raises ConfigError with the near names where no run is called so."""
    if not Run.objects.filter(slug=slug).exists():
        raise ConfigError(describe_unknown_name("run", slug, Run.objects.values_list("slug", flat=True)))


class DatabaseCatalogue:
    """The `Catalogue` of studies over the present database."""

    def subjects(self, selection: Mapping[str, Any]) -> Sequence[SubjectData]:
        """See `evaluation.subjects.select_subjects` for what a selection may hold."""
        return [subject_data(row) for row in subjects.select_subjects(selection)]

    def model(self, slug: str) -> ModelData:
        row = Model.objects.filter(slug=slug).first()
        if row is None:
            raise ConfigError(describe_unknown_name("model", slug, Model.objects.values_list("slug", flat=True)))
        return model_data(row)

    def prompt(self, slug: str, version: str = "") -> PromptData:
        """The prompt of this version; without one, see `version_of`."""
        row = version_of(PromptTemplate.objects.all(), "prompt", slug, version)
        return PromptData(row.pk, row.slug, row.version, row.text)

    def descriptors(self, slug: str, version: str = "") -> DescriptorData:
        """The descriptor set of this version; without one, see `version_of`."""
        row = version_of(DescriptorSet.objects.all(), "descriptor set", slug, version)
        return DescriptorData(row.pk, row.slug, row.version, row.groups, row.prompt)

    def questions(self, slug: str, version: str = "") -> QuestionsData:
        """The question set of this version; without one, see `version_of`."""
        row = version_of(QuestionSet.objects.all(), "question set", slug, version)
        return QuestionsData(row.pk, row.slug, row.version, row.questions)

    def images(self, run: str) -> Sequence[ImageData]:
        """The held images of a run, by the run's slug."""
        check_run_name(run)
        rows = GeneratedImage.objects.filter(run__slug=run, state=GeneratedImage.State.HELD)
        rows = rows.exclude(model=None).select_related("subject", "model").order_by("pk")
        return [
            ImageData(
                row.pk,
                subject_data(row.subject),
                row.model.slug,
                row.seed,
                row.sample,
                row.sha256,
                photograph=row.model.role == Role.CAMERA,
            )
            for row in rows
            if row.model is not None
        ]

    def dishes(self, subjects: Sequence[SubjectData]) -> Mapping[int, DishData]:
        """Subject id → what the contributor of its dish says; subjects without a dish are left out."""
        ids = [subject.id for subject in subjects]
        rows = Subject.objects.filter(pk__in=ids, dish__isnull=False).select_related("dish")
        return {row.pk: dish_data(row.dish) for row in rows.prefetch_related("dish__places") if row.dish is not None}

    def answers(self, run: str) -> Sequence[AnswerData]:
        """The texts that the units of a run gave, by the run's slug; those about withdrawn dishes are left out."""
        check_run_name(run)
        rows = Unit.objects.filter(run__slug=run, state=Unit.State.DONE).exclude(outcome__text="")
        rows = rows.exclude(subject=None).exclude(subject__dish__state=Dish.State.WITHDRAWN)
        return [
            AnswerData(row.key, subject_data(row.subject), row.model.slug, row.payload, row.outcome.text)
            for row in rows.select_related("subject", "model", "outcome").order_by("pk")
            if row.subject is not None
        ]

    def vectors(self, run: str) -> Iterator[VectorData]:
        """The vectors that the units of a run gave, by the run's slug, one after the other.

        Left out: those about withdrawn dishes, and of images those of an older decode where a newer one is there.
        """
        check_run_name(run)
        rows = outcomes_of(run).exclude(embedding=None).select_related("embedding")
        old = other_decodes(Run.objects.values_list("pk", flat=True).get(slug=run))
        for row in rows.iterator(chunk_size=CHUNK):
            found, unit = row.embedding, row.unit
            if found is None or (found.image_id and found.preprocessing in old):
                continue
            subject = subject_data(unit.subject) if unit.subject else None
            yield VectorData(
                unit.key, subject, unit.model.slug, found.preprocessing, vector_of(found), found.image_id, found.text
            )

    def numbers(self, run: str) -> Iterator[NumbersData]:
        """The numbers that the units of a run gave, by the run's slug, one after the other.

        Left out: those about withdrawn dishes, and units without any number.
        """
        check_run_name(run)
        for row in outcomes_of(run).exclude(numbers={}).iterator(chunk_size=CHUNK):
            unit = row.unit
            image = row.image_id or find_asked_image(unit.payload)
            subject = subject_data(unit.subject) if unit.subject else None
            yield NumbersData(unit.key, subject, unit.model.slug, unit.payload, row.numbers, image)


def outcomes_of(run: str) -> QuerySet[Outcome]:
    """Outcomes of the done units of a run, in the order of the units, without those about withdrawn dishes."""
    rows = Outcome.objects.filter(unit__run__slug=run, unit__state=Unit.State.DONE).exclude(WITHDRAWN)
    return rows.select_related("unit__subject", "unit__model").order_by("unit_id")
