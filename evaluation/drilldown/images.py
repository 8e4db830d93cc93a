"""What is behind the tables of association, stereotypes and colours: images, with what was measured of each."""

from collections.abc import Iterator, Sequence
from math import isnan

from evaluation.drilldown.cells import Cell, Drilldown, Observed
from evaluation.drilldown.studies import (
    DIGITS,
    WITHDRAWN,
    drill_down_group,
    iterate_observations,
    load_outcome_data,
    of_run,
    select_cell_images,
    select_image_outcomes,
    with_missing,
    yes_or_no,
)
from evaluation.images.machine_scores import words_of
from evaluation.models import GeneratedImage, Run, RunLabel
from evaluation.studies.stereotypes.tables import QuestionOutcome, gather_stereotype_answers
from evaluation.tables.format import format_number


@of_run
def association_scores(cell: Cell, run: Run) -> Drilldown:
    """Images with their score; rescaled ones by the range that the stored table keeps."""

    def observed(ids: Sequence[int]) -> Iterator[Observed]:
        words = words_of([run]).get(run.pk, [])
        metric = cell.metric if cell.metric in cell.spec.observed else "net"
        rows = [*words, *load_outcome_data(cell, select_image_outcomes(run, ids))]
        found = [
            (image, rescale_score(cell, value)) for image, _unit, value in iterate_observations(cell, run, metric, rows)
        ]
        kept = [Observed(image, value, said=format_number(value, DIGITS)) for image, value in found if not isnan(value)]
        return with_missing(ids, kept, "it has no vector, or there is no range to rescale to")

    return Drilldown("images", select_cell_images(cell, run), observed)


def rescale_score(cell: Cell, value: float) -> float:
    """An unscaled score in the range of its metric; NaN where the stored table names none."""
    scopes = {"normalised_score": cell.shown["model"], "normalised_over_all": "all models"}
    if cell.metric not in scopes:
        return value
    name = f"{cell.shown['group']}/{scopes[cell.metric]}"
    low, high = (float(cell.extra.get(f"{name} {end}", "nan")) for end in ("lowest", "highest"))
    return 2 * (value - low) / (high - low) - 1 if high > low else float("nan")


@of_run
def association_descriptors(cell: Cell, run: Run) -> Drilldown:
    """The images nearest to the words: those of the continent counted as yes, the others as no."""
    listed = str(cell.extra.get(f"{cell.shown['descriptor']}/{cell.shown['model']} nearest", ""))
    if not listed:
        return drill_down_group(cell)
    near = GeneratedImage.objects.filter(pk__in=[int(name) for name in listed.split()]).exclude(WITHDRAWN)

    def observed(ids: Sequence[int]) -> Iterator[Observed]:
        labels = RunLabel.objects.filter(run=run, dimension="continent", value=cell.groups["continent"])
        subjects = set(labels.filter(subject__images__in=ids).values_list("subject", flat=True))
        for image, subject in near.filter(pk__in=ids).values_list("pk", "subject"):
            value = float(subject in subjects)
            yield Observed(image, value, said=yes_or_no(value))

    note = "These are the 50 images of the model nearest to the words; counted is whether they lie in the place."
    return Drilldown("images", near, observed, note=note)


@of_run
def drill_down_stereotypes(cell: Cell, run: Run) -> Drilldown:
    """Images that the question was asked about."""
    question = cell.groups["question"]

    def observed(ids: Sequence[int]) -> Iterator[Observed]:
        rows = load_outcome_data(cell, select_image_outcomes(run, ids).filter(unit__payload__question=question))
        found = [
            observe_asked_image(cell, each)
            for each in gather_stereotype_answers(rows).asked
            if each.question == question
        ]
        return with_missing(ids, found, "it was not asked about this image")

    endings = [f":{question}:0:{reading}" for reading in ("generated", "logits")]
    return Drilldown("images", select_cell_images(cell, run, endings), observed)


def observe_asked_image(cell: Cell, asked: QuestionOutcome) -> Observed:
    """What an image's answers to one question came to for the cell's metric."""
    if cell.metric == "unread":
        return Observed(asked.image, asked.unread_share, said=format_number(asked.unread_share, DIGITS))
    if cell.metric == "order_changes":
        if isnan(asked.changes):
            return Observed(asked.image, None, "only one order of the options was read")
        return Observed(asked.image, asked.changes, said=yes_or_no(asked.changes))
    if not asked.read:
        return Observed(asked.image, None, "no answer could be read ({why})".format(why=", ".join(asked.unread)))
    place = asked.options.index(cell.groups["option"]) if "option" in cell.groups else int(asked.share.argmax())
    share = float(asked.share[place])
    return Observed(asked.image, share, said=f"{asked.options[place]} {format_number(share, DIGITS)}")


@of_run
def stereotypes_readings(cell: Cell, run: Run) -> Drilldown:
    """Images of which a question was answered in words and by probabilities."""
    chosen = cell.groups["question"]
    every = [row.groups["question"] for row in cell.view.table.rows] if cell.view.table else []
    questions = [name for name in dict.fromkeys(every) if name != "all"] if chosen == "all" else [chosen]

    def observed(ids: Sequence[int]) -> Iterator[Observed]:
        rows = load_outcome_data(cell, select_image_outcomes(run, ids))
        for image, _unit, value in iterate_observations(cell, run, cell.metric, rows):
            if isnan(value):
                yield Observed(image, None, "the words could not be read")
            else:
                yield Observed(image, value, said=yes_or_no(value))

    return Drilldown("images", select_cell_images(cell, run, [f":{name}:0:generated" for name in questions]), observed)


@of_run
def drill_down_colours(cell: Cell, run: Run) -> Drilldown:
    """Images with their colourfulness, which is also what can be said of one image where the set is counted."""

    def observed(ids: Sequence[int]) -> Iterator[Observed]:
        rows = load_outcome_data(cell, select_image_outcomes(run, ids))
        found = [
            Observed(image, value, said=f"colourfulness {format_number(value, DIGITS)}")
            for image, _unit, value in iterate_observations(cell, run, "colourfulness", rows)
        ]
        return with_missing(ids, found, "it was not measured")

    return Drilldown("images", select_cell_images(cell, run), observed)
