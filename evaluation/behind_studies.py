"""What stands behind the tables of studies: pictures or units of their run, each read by the study itself."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from django.db.models import CharField, Exists, OuterRef, Q, QuerySet, Value
from django.db.models.functions import Cast, Concat
from django.utils.translation import gettext as _

from collection.models import Dish
from evaluation import studies
from evaluation.behind import Behind, Cell, Observed
from evaluation.models import GeneratedImage, Outcome, Run, RunLabel, Unit
from evaluation.models import Model as Maker
from evaluation.runner.results import FINAL, image_models, outcome_data
from evaluation.studies.base import OutcomeData
from evaluation.study_tables import chosen_run
from evaluation.table_page import number

# Columns that are labels of subjects, frozen for each run.
LABELS = ("country", "continent", "language", "kind")
DIGITS = 3
WITHDRAWN = Q(subject__dish__state=Dish.State.WITHDRAWN)
Read = Callable[[Sequence[OutcomeData]], Iterable[Observed]]


def labelled(run: Run, cell: Cell) -> Q:
    """Rows whose subject has the labels that the cell names, as frozen for the run."""
    found = Q()
    for column in LABELS:
        if column in cell.groups:
            same = RunLabel.objects.filter(run=run, subject=OuterRef("subject"), dimension=column)
            found &= Q(Exists(same.filter(value=cell.groups[column])))
    return found


def by_model(cell: Cell) -> Q:
    """Rows of the cell's model; models of studies go by their slug."""
    if "model" not in cell.groups:
        return Q()
    return Q(model__in=list(Maker.objects.filter(slug=cell.groups["model"]).values_list("pk", flat=True)))


def pictures(cell: Cell, run: Run, endings: Sequence[str] = ("",)) -> QuerySet[GeneratedImage]:
    """Pictures of the cell's labels and model with a unit of the run, whose key is `image:<id>` and an ending."""
    key = Concat(Value("image:"), Cast(OuterRef("pk"), CharField()))
    keys = [Concat(key, Value(ending)) if ending else key for ending in endings]
    asked = Exists(Unit.objects.filter(run=run, key__in=keys))
    return GeneratedImage.objects.filter(labelled(run, cell), by_model(cell), asked).exclude(WITHDRAWN)


def units(cell: Cell, run: Run) -> QuerySet[Unit]:
    """Ended units of the cell's labels and model."""
    rows = Unit.objects.filter(labelled(run, cell), by_model(cell), run=run, outcome__isnull=False, state__in=FINAL)
    return rows.exclude(WITHDRAWN)


def told(run: Run, outcomes: QuerySet[Outcome]) -> list[OutcomeData]:
    """A page's outcomes as the study's own functions read them."""
    rows = list(outcomes.select_related("unit__subject", "unit__model", "embedding").order_by("unit_id"))
    labels: dict[int, dict[str, tuple[str, ...]]] = {}
    subjects = {row.unit.subject_id for row in rows if row.unit.subject_id}
    for label in RunLabel.objects.filter(run=run, subject__in=subjects).order_by("pk"):
        mine = labels.setdefault(label.subject_id, {})
        mine[label.dimension] = (*mine.get(label.dimension, ()), label.value)
    makers = image_models(rows)
    return [outcome_data(row, labels.get(row.unit.subject_id or 0, {}), makers) for row in rows]


def about_images(run: Run, ids: Sequence[int]) -> QuerySet[Outcome]:
    return Outcome.objects.filter(unit__run=run, unit__payload__image__in=list(ids), unit__state__in=FINAL)


def seen(cell: Cell, run: Run, metric: str, rows: Sequence[OutcomeData]) -> Iterator[tuple[int, int, float]]:
    """(picture, unit, value) of each observation of the cell, NaN where it does not count, by the study's `observe`."""
    found = studies.load(cell.spec.study).observe(cell.spec.name.partition(".")[2], rows, run.config)
    if found is None or metric not in found.values:
        return
    kept = found.picked(found.within(cell.groups))
    yield from zip(kept.images.tolist(), kept.units.tolist(), kept.values[metric].tolist(), strict=True)


def yes_or_no(value: float) -> str:
    return {1.0: _("yes"), 0.0: _("no")}.get(value, number(value, DIGITS))


def with_missing(ids: Sequence[int], found: Iterable[Observed], why: str) -> Iterator[Observed]:
    """What was found, then a line for each of `ids` of which nothing was."""
    left = dict.fromkeys(ids)
    for each in found:
        left.pop(each.of, None)
        yield each
    for of in left:
        yield Observed(of, None, why)


def nothing() -> Behind:
    """Where there is no run any more."""
    return Behind("pictures", GeneratedImage.objects.none(), lambda ids: (), note=_("There is no finished run of it."))


def of_run(made: Callable[[Cell, Run], Behind]) -> Callable[[Cell], Behind]:
    """A source that needs the run of the table."""

    def source(cell: Cell) -> Behind:
        run = chosen_run(cell.spec.study, cell.filters)
        return made(cell, run) if run else nothing()

    return source


def group(cell: Cell) -> Behind:
    """For a table whose numbers count no single pictures: those of its groups."""
    by_title = Q()
    if "model" in cell.groups and cell.groups["model"] != "all":
        makers = Maker.objects.filter(Q(slug=cell.groups["model"]) | Q(title=cell.groups["model"]))
        by_title = Q(model__in=list(makers.values_list("pk", flat=True)))
    rows = GeneratedImage.objects.filter(by_title).exclude(WITHDRAWN)
    for column in LABELS:
        if cell.groups.get(column, "all") != "all":
            same = RunLabel.objects.filter(subject=OuterRef("subject"), dimension=column, value=cell.groups[column])
            rows = rows.filter(Exists(same))
    note = _("This number is no mean over single pictures. These are the pictures of its group.")
    return Behind("pictures", rows, lambda ids: (), note=note)
