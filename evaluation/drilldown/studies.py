"""What is behind the tables of studies: images or units of their run, each read by the study itself."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

from django.db.models import CharField, Exists, OuterRef, Q, QuerySet, Value
from django.db.models.functions import Cast, Concat

from collection.models import Dish
from evaluation import studies
from evaluation.contracts.study import UNIT_LABELS, OutcomeData
from evaluation.contracts.table import PROMPT
from evaluation.drilldown.cells import Cell, Drilldown, Observed
from evaluation.metrics.dimensions import DIMENSION_NAMES, SUBJECT_DIMENSIONS, UNIT_DIMENSIONS
from evaluation.metrics.observations import ALL
from evaluation.models import GeneratedImage, Model, Outcome, PromptTemplate, Role, Run, RunLabel, Unit
from evaluation.registry.runs import chosen_run
from evaluation.tables.format import format_number
from evaluation.tables.from_runs import config_of
from evaluation.tables.outcomes import FINAL, Maker, makers_of, read_outcomes

DIGITS = 3
# Subjects that are named one by one.
FEW = 1000
WITHDRAWN = Q(subject__dish__state=Dish.State.WITHDRAWN)
Read = Callable[[Sequence[OutcomeData]], Iterable[Observed]]


def run_of(cell: Cell) -> Run | None:
    """The run that the stored table was made from; where it does not say so, the one that would be taken now."""
    about = cell.view.table.about if cell.view.table else {}
    slug = about.get("run", {}).get("slug")
    return Run.objects.filter(slug=slug).first() if slug else chosen_run(cell.spec.study, cell.filters)


def labels_of(cell: Cell) -> dict[str, tuple[str, ...]]:
    """The labels of whatever the cell counts: its own columns, and filters on other ones."""
    wanted = {**cell.filters, **cell.groups}
    return {name: (wanted[name],) for name in DIMENSION_NAMES if name in wanted}


def filter_by_cell_labels(run: Run, cell: Cell) -> Q:
    """Rows whose subject has the labels of the cell, as frozen for the run."""
    found = Q()
    for name, (value,) in labels_of(cell).items():
        if name in UNIT_DIMENSIONS:
            continue
        same = RunLabel.objects.filter(run=run, subject=OuterRef("subject"), dimension=name, value=value)
        found &= Q(Exists(same))
    return found


def filter_by_unit_labels(cell: Cell) -> Q:
    """Units with the labels of the cell that are those of units."""
    labels = {name: value for name, (value,) in labels_of(cell).items() if name in UNIT_DIMENSIONS}
    return Q(**{f"payload__{UNIT_LABELS}__{name}": value for name, value in labels.items()})


def by_model(cell: Cell) -> Q:
    """Rows of the cell's model; models of studies go by their slug."""
    return Q(model__slug=cell.groups["model"]) if "model" in cell.groups else Q()


def select_cell_images(cell: Cell, run: Run, endings: Sequence[str] = ("",)) -> QuerySet[GeneratedImage]:
    """Images of the cell's labels and model with a unit of the run, whose key is `image:<id>` and an ending."""
    key = Concat(Value("image:"), Cast(OuterRef("pk"), CharField()))
    keys = [Concat(key, Value(ending)) if ending else key for ending in endings]
    asked = Exists(Unit.objects.filter(filter_by_unit_labels(cell), run=run, key__in=keys))
    # Photographs have no prompt: they stay beside, whatever is chosen.
    prompt = Q(prompt__slug=cell.filters[PROMPT]) | Q(model__role=Role.CAMERA) if PROMPT in cell.filters else Q()
    return GeneratedImage.objects.filter(filter_by_cell_labels(run, cell), by_model(cell), prompt, asked).exclude(
        WITHDRAWN
    )


def select_cell_units(cell: Cell, run: Run) -> QuerySet[Unit]:
    """Ended units of the cell's labels and model."""
    rows = Unit.objects.filter(
        filter_by_cell_labels(run, cell),
        filter_by_unit_labels(cell),
        by_model(cell),
        run=run,
        outcome__isnull=False,
        state__in=FINAL,
    )
    if PROMPT in cell.filters:
        ids = list(PromptTemplate.objects.filter(slug=cell.filters[PROMPT]).values_list("pk", flat=True))
        rows = rows.filter(Q(outcome__image__prompt__in=ids) | Q(outcome__image=None, payload__prompt_id__in=ids))
    return rows.exclude(WITHDRAWN)


def load_outcome_data(cell: Cell, outcomes: QuerySet[Outcome]) -> list[OutcomeData]:
    """A page's outcomes as the study's own functions read them; of labels and models, what the cell says of all."""
    labels, maker = labels_of(cell), cell.groups.get("model", "any")

    def makers(images: Collection[int]) -> dict[int, Maker]:
        return {image: found._replace(model=maker, prompt=None) for image, found in makers_of(images).items()}

    return list(read_outcomes(outcomes, lambda subject: labels, makers))


def select_image_outcomes(run: Run, ids: Sequence[int]) -> QuerySet[Outcome]:
    return Outcome.objects.filter(unit__run=run, unit__payload__image__in=list(ids), unit__state__in=FINAL)


def iterate_observations(
    cell: Cell, run: Run, metric: str, rows: Sequence[OutcomeData]
) -> Iterator[tuple[int, int, float]]:
    """(image, unit, value) of each observation of the cell, NaN where it does not count, by the study's `observe`."""
    study = studies.load_study(cell.spec.study)
    found = study.observe(cell.spec.name.partition(".")[2], rows, config_of(study, run))
    if found is None or metric not in found.values:
        return
    kept = found.picked(found.within(cell.groups))
    yield from zip(kept.images.tolist(), kept.units.tolist(), kept.values[metric].tolist(), strict=True)


def yes_or_no(value: float) -> str:
    return {1.0: "yes", 0.0: "no"}.get(value, format_number(value, DIGITS))


def with_missing(ids: Sequence[int], found: Iterable[Observed], why: str) -> Iterator[Observed]:
    """What was found, then a line for each of `ids` of which nothing was."""
    left = dict.fromkeys(ids)
    for each in found:
        left.pop(each.of, None)
        yield each
    for of in left:
        yield Observed(of, None, why)


def build_drilldown_without_run() -> Drilldown:
    """Where there is no run any more."""
    return Drilldown("images", GeneratedImage.objects.none(), lambda ids: (), note="There is no finished run of it.")


def of_run(made: Callable[[Cell, Run], Drilldown]) -> Callable[[Cell], Drilldown]:
    """A source that needs the run of the table."""

    def source(cell: Cell) -> Drilldown:
        run = run_of(cell)
        return made(cell, run) if run else build_drilldown_without_run()

    return source


def drill_down_single_image(cell: Cell) -> Drilldown:
    """The one image of a row."""
    named = cell.groups["picture"]
    rows = GeneratedImage.objects.filter(pk=int(named)) if named.isdigit() else GeneratedImage.objects.none()
    value = cell.row.estimate.value if cell.row else None
    said = "" if value is None else format_number(value, DIGITS)
    return Drilldown(
        "images", rows.exclude(WITHDRAWN), lambda ids: [Observed(image, value, said=said) for image in ids]
    )


def with_label(rows: QuerySet[GeneratedImage], dimension: str, value: str) -> QuerySet[GeneratedImage]:
    """Images of subjects that have the label in some run. Where few have it, no database searches all images."""
    # The index of labels begins with the run.
    same = RunLabel.objects.filter(run__in=Run.objects.values("pk"), dimension=dimension, value=value)
    few = list(same.order_by().values_list("subject", flat=True).distinct()[: FEW + 1])
    if len(few) <= FEW:
        return rows.filter(subject__in=few)
    return rows.filter(Exists(same.filter(subject=OuterRef("subject"))))


def drill_down_group(cell: Cell) -> Drilldown:
    """For a table whose numbers count no single images: the one that its row names, or those of its groups."""
    if "picture" in cell.groups:
        return drill_down_single_image(cell)
    rows = GeneratedImage.objects.exclude(WITHDRAWN)
    if not any(column in cell.groups for column in (*SUBJECT_DIMENSIONS, "model")):
        rows = rows.none()
    if (maker := cell.groups.get("model", ALL)) != ALL:
        named = Model.objects.filter(Q(slug=maker) | Q(title=maker))
        rows = rows.filter(model__in=list(named.values_list("pk", flat=True)))
    for column in SUBJECT_DIMENSIONS:
        if (value := cell.groups.get(column, ALL)) != ALL:
            rows = with_label(rows, column, value)
    note = "This number is no mean over single images. What is listed are the images of its group, if it has one."
    return Drilldown("images", rows, lambda ids: (), note=note)
