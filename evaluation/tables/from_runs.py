"""Tables of studies: which run a table is made from, and what is said about it."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from evaluation import studies
from evaluation.contracts.study import ConfigError, OutcomeData, Study, StudyConfig
from evaluation.contracts.table import NARROWING, Filters, TableSpec
from evaluation.metrics.dimensions import SUBJECT_DIMENSIONS
from evaluation.metrics.observations import Observations, create_empty_observations
from evaluation.metrics.tidy import TidyTable
from evaluation.models import Run
from evaluation.registry.runs import chosen_run
from evaluation.studies.config import parse_config
from evaluation.tables.metadata import Watched
from evaluation.tables.outcomes import iterate_outcomes, labels_of, subjects_of, withdrawn_dishes

BESIDE = "Real photographs have no prompt: they are counted beside the images of any prompt."
NO_RUN = "There is no finished run of this study yet, or none with the chosen name."


def study_table(table: TableSpec, filters: Filters) -> TidyTable:
    """The table of a study by its own `summarise`; without a finished run an empty one that says so."""
    run = chosen_run(table.study, filters)
    if run is None:
        return TidyTable(table.name, table.version, table.columns, (), (NO_RUN,))
    study = studies.load_study(table.study)
    watched = watch_outcomes(study, run, select_narrowing_filters(table, filters))
    made = study.summarise(table.name.partition(".")[2], watched, config_of(study, run))
    notes = (*_describe_run(run), *_only(watched), *made.notes)
    about = {"run": build_run_metadata(run), **watched.build_metadata()}
    return replace(made, notes=notes, demonstration=run.demonstration, about=about)


def study_observations(table: TableSpec, filters: Filters) -> Observations:
    """What the numbers of a study's table are means of, by its own `observe`; none without a finished run."""
    run = chosen_run(table.study, filters)
    if run is None:
        return create_empty_observations(table.columns, (NO_RUN,))
    study = studies.load_study(table.study)
    watched = watch_outcomes(study, run, select_narrowing_filters(table, filters))
    found = study.observe(table.name.partition(".")[2], watched, config_of(study, run))
    assert found is not None, "a study observes what its tables say that they are means of"
    notes = (*_describe_run(run), *_only(watched), *found.notes)
    return replace(found, notes=notes, demonstration=run.demonstration)


def config_of(study: Study, run: Run) -> StudyConfig:
    """The configuration of a run as its study's Config.

    Of a run made elsewhere, or by an earlier version, the fields may be others: they are then taken as they are.
    """
    try:
        found: StudyConfig = parse_config(study, run.config)
    except ConfigError:
        return study.Config.model_construct(**run.config)
    return found


def cluster_outcomes(study: Study, outcomes: Iterable[OutcomeData]) -> Iterable[OutcomeData]:
    """The outcomes in the clusters of the study."""
    if type(study).cluster_of is Study.cluster_of:
        return outcomes
    return (replace(row, cluster=study.cluster_of(row)) for row in outcomes)


def watch_outcomes(study: Study, run: Run, chosen: Filters) -> Watched:
    """The outcomes that are chosen. By labels they are chosen in the database: of a million few are about one place."""
    wanted = {name: value for name, value in chosen.items() if name in SUBJECT_DIMENSIONS}
    if not wanted:
        return Watched(cluster_outcomes(study, iterate_outcomes(run)), chosen)
    labels = labels_of(run)
    subjects = [pk for pk, held in labels.items() if all(value in held.get(name, ()) for name, value in wanted.items())]
    watched = Watched(cluster_outcomes(study, iterate_outcomes(run, subjects)), chosen)
    for subject in subjects_of(run) & labels.keys():
        watched.offer(labels[subject])
    return watched


def select_narrowing_filters(table: TableSpec, filters: Filters) -> Filters:
    """The filters that choose outcomes; one that is a column keeps rows, after the table is made."""
    return {name: value for name, value in filters.items() if name in NARROWING and name not in table.columns}


def _only(watched: Watched) -> list[str]:
    """What was chosen; read once all outcomes were seen."""
    chosen = "; ".join(f"{name}: {value}" for name, value in sorted(watched.filters.items()))
    if not chosen:
        return []
    beside = [BESIDE] if watched.photographs else []
    return [f"Only what is about {chosen} was counted, also where images are ranked or rescaled.", *beside]


def build_run_metadata(run: Run) -> dict[str, Any]:
    """The run as a stored table keeps it: see `evaluation/tables/metadata.py`."""
    return {
        "slug": run.slug,
        "study": run.study,
        "version": run.study_version,
        "imported": run.imported,
        "finished": run.finished_at.date().isoformat() if run.finished_at else "",
        "definition": run.definition,
    }


def _describe_run(run: Run) -> list[str]:
    """Sentences about the run: where it was made and with which definition."""
    where = "made elsewhere and imported" if run.imported else "made here"
    sentences = [f"Run {run.slug}, version {run.study_version} of the study, {where}."]
    if run.definition:
        sentences.append("; ".join(f"{name}: {value}" for name, value in sorted(run.definition.items())) + ".")
    if withdrawn := withdrawn_dishes(run):
        sentences.append(f"Dishes left out because they were withdrawn: {withdrawn}.")
    return sentences
