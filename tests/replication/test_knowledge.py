"""Tables H.9 and H.10 of the World Wide recipe from the published answers, and the same code on all three models."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from pytest_django.plugin import DjangoDbBlocker

from evaluation.contracts.study import OutcomeData
from evaluation.metrics.dimensions import CONTINENTS
from evaluation.metrics.tidy import Estimate, TidyTable
from evaluation.models import Run, Unit
from evaluation.studies.knowledge.study import Knowledge
from evaluation.tables.outcomes import iterate_outcomes
from wwd.exchange.published.knowledge import RUN
from wwd.exchange.published.source import Report

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("answered"), pytest.mark.embedded]
FIELDS = ("country", "time_of_day", "type_of_dish", "utensils", "ingredients")
FAILURES = {"apologize": "apologises", "not known": "not_known", "not real": "not_real", "take a guess": "guesses"}
MODELS = ("gpt-3.5", "llama-3-8b", "llama-3-70b")


@pytest.fixture(scope="module")
def expected(published: Path) -> Mapping[str, Any]:
    content = json.loads((published / "expected" / "knowledge_gpt35.json").read_text(encoding="utf-8"))
    assert isinstance(content, dict)
    return content


@pytest.fixture(scope="module")
def rows(answered: Report, django_db_blocker: DjangoDbBlocker) -> list[OutcomeData]:
    """All published answers, read once: every table below is made of them."""
    with django_db_blocker.unblock():
        return list(iterate_outcomes(Run.objects.get(slug=RUN)))


@pytest.fixture(scope="module")
def fields(rows: list[OutcomeData]) -> TidyTable:
    return Knowledge().summarise("fields", rows, {})


@pytest.fixture(scope="module")
def failures(rows: list[OutcomeData]) -> TidyTable:
    return Knowledge().summarise("failures", rows, {})


def cell(table: TidyTable, metric: str, **groups: str) -> Estimate:
    [found] = [row.estimate for row in table.rows if row.metric == metric and row.groups == groups]
    return found


def test_every_cell_of_table_h9(fields: TidyTable, expected: Mapping[str, Any]) -> None:
    """Values, SEMs and rows of GPT 3.5. The paper prints 61.0 for country and Africa; the data says 60.9."""
    wanted = expected["reference_rule_H9_H10"]["gpt35"]
    assert set(wanted) == set(CONTINENTS[:-1])
    for continent, values in wanted.items():
        for field in FIELDS:
            groups = {"field": field, "continent": continent, "model": "gpt-3.5"}
            mean, sem = cell(fields, "as_published", **groups), cell(fields, "sem", **groups)
            assert mean.value == pytest.approx(values[field]["mean"], abs=1e-9), groups
            assert sem.value == pytest.approx(values[field]["sem_ddof0"], abs=1e-9), groups
            assert mean.n == sem.n == values[field]["n"], groups
    africa = cell(fields, "as_published", field="country", continent="Africa", model="gpt-3.5")
    assert (round(africa.value or 0, 1), africa.clusters) == (60.9, 512)


def test_every_cell_of_table_h10_to_the_printed_digit(failures: TidyTable, expected: Mapping[str, Any]) -> None:
    assert len(expected["table_H10"]) == 4 * 6
    for row in expected["table_H10"]:
        groups = {"failure": FAILURES[row["mode"]], "continent": row["continent"], "model": "gpt-3.5"}
        mean, sem = cell(failures, "share", **groups), cell(failures, "sem", **groups)
        assert round(mean.value or 0, 2) == row["paper"], groups
        assert round(sem.value or 0, 2) == row["paper_sem"], groups
        assert mean.value == pytest.approx(row["ours"], abs=1e-9), groups


def test_the_same_code_reads_the_other_models(fields: TidyTable, failures: TidyTable) -> None:
    for model, samples in zip(MODELS, (5, 5, 1), strict=True):
        found = cell(fields, "as_published", field="country", continent="Africa", model=model)
        assert (found.n, found.clusters) == (512 * samples, 512)
        assert found.low is not None
    described = cell(failures, "share", failure="apologises", continent="Africa", model="llama-3-70b")
    assert described.n == 512
    lacking = cell(failures, "share", failure="apologises", continent="Africa", model="llama-3-8b")
    assert (lacking.value, lacking.n) == (None, 0)
    assert "none was released" in lacking.reason


def test_the_answers_are_a_finished_run_that_was_made_elsewhere() -> None:
    run = Run.objects.get(slug=RUN)
    assert (run.study, run.state, run.imported, run.demonstration) == ("knowledge", "done", True, False)
    assert Unit.objects.filter(run=run).count() == 765 * (5 + 5 + 1) * 5 + 765 * (5 + 1)
    assert set(run.labels.values_list("dimension", flat=True)) == {"country", "continent", "language", "kind"}
    assert not Unit.objects.filter(run=run, subject__dish=None).exists()


def test_a_judge_model_accepts_more_than_can_be_read(rows: list[OutcomeData]) -> None:
    judge = Knowledge().summarise("judge", rows, {})
    groups = {"field": "country", "continent": "Africa", "model": "gpt-3.5"}
    difference = cell(judge, "difference", **groups)
    assert difference.value == pytest.approx(-4.296875)
    assert difference.high is not None
    assert difference.high < -2
    assert cell(judge, "as_published", **groups).value == pytest.approx(60.8984375)


def test_disagreements_about_countries_are_listed_by_kind(rows: list[OutcomeData]) -> None:
    """At least 3 % of GPT 3.5's answers; a neighbour accepted for Algeria and for the Netherlands are among them."""
    found = Knowledge().summarise("disagreements", rows, {})
    counts = [(row.groups, row.estimate.n) for row in found.rows]
    assert sum(n for groups, n in counts if groups["model"] == "gpt-3.5") / 3825 > 0.03
    accepted = {(groups["answer"], groups["countries"]) for groups, _ in counts if "another" in groups["disagreement"]}
    assert {("Tunisia", "Algeria"), ("Denmark", "Netherlands")} <= accepted
    assert {groups["disagreement"] for groups, _ in counts} == {
        "another country accepted",
        "no country named, accepted",
        "several countries named, accepted",
        "the country itself rejected",
        "a part of the country, or its whole, rejected",
        "a name that countries share rejected",
    }


def test_one_sample_of_each_dish_has_nothing_to_agree_with(rows: list[OutcomeData]) -> None:
    found = Knowledge().summarise("consistency", rows, {})
    groups = {"field": "country", "continent": "Asia"}
    assert cell(found, "agreement", model="llama-3-70b", **groups).value is None
    assert (cell(found, "agreement", model="gpt-3.5", **groups).value or 0) > 95


def test_the_cell_that_the_paper_prints_otherwise_is_said_under_the_table(fields: TidyTable) -> None:
    assert [note for note in fields.notes if "61.0" in note and "60.9" in note]
