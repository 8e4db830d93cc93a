"""What a table keeps about itself: values to choose from, circumstances and counts, and nothing that a mask hides."""

from dataclasses import replace
from typing import Any

import pytest

from evaluation.contracts.study import OutcomeData
from evaluation.contracts.table import NARROWING, with_narrowing
from evaluation.plans.mask import Mask, mask_metadata
from evaluation.studies.association.tables import SCORES
from evaluation.tables import metadata
from evaluation.tables.metadata import MOST_KINDS, Watched
from tests.evaluation.make_tables import make_row, make_table


def outcome(number: int, **values: Any) -> OutcomeData:
    fields: dict[str, Any] = {
        "key": str(number),
        "state": "done",
        "model": "painter",
        "subject": "Waakye",
        "cluster": f"dish:{number}",
        "labels": {"language": ("hau",), "country": ("Ghana", "Nigeria")},
        "payload": {},
        "circumstances": {"card": "H100", "batch": 8, "seconds": 1.5 + number},
        **values,
    }
    return OutcomeData(**fields)


def test_only_what_has_all_chosen_values_goes_on() -> None:
    rows = [outcome(1), outcome(2, labels={"language": ("twi",)}), outcome(3, labels={})]
    assert [row.key for row in Watched(rows, {"language": "hau"})] == ["1"]
    assert [row.key for row in Watched(rows, {"language": "hau", "country": "Mali"})] == []


def test_what_is_about_no_dish_belongs_to_every_choice() -> None:
    words = outcome(1, subject="", labels={})
    assert list(Watched([words], {"language": "hau", "prompt": "plain"})) == [words]


def test_what_was_seen_is_kept_and_only_what_went_on_is_counted() -> None:
    rows = [outcome(1), outcome(2, state="failed"), outcome(3, labels={"language": ("twi",)}, prompt="plain")]
    watched = Watched(rows, {"language": "hau"})
    assert len(list(watched)) == 2
    assert watched.build_metadata() == {
        "options": {"country": ["Ghana", "Nigeria"], "language": ["hau", "twi"], "prompt": ["plain"]},
        "circumstances": {"batch": {"8": 2}, "card": {"H100": 2}},
        "counted": {"outcomes": 2, "done": 1, "failed": 1, "clusters": 2},
    }


def test_many_different_circumstances_are_counted_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metadata, "MOST_HELD", 2)
    watched = Watched((outcome(n, circumstances={"card": "AB"[n % 2]}) for n in range(9)), {})
    assert len(list(watched)) == 9
    assert watched.build_metadata()["circumstances"] == {"card": {"A": 5, "B": 4}}


def test_what_differs_from_call_to_call_is_no_circumstance() -> None:
    watched = Watched((outcome(n, circumstances={"request": f"r{n}"}) for n in range(MOST_KINDS + 5)), {})
    assert list(watched)
    assert watched.build_metadata()["circumstances"] == {}


def test_tables_of_studies_alone_get_the_filters_that_choose_outcomes() -> None:
    others = (name for name in NARROWING if name not in SCORES.filters)
    assert with_narrowing(SCORES).filters == (*SCORES.filters, *others)
    assert {"country", "language", "kind", "region", "prompt"} <= set(with_narrowing(SCORES).filters)
    own = replace(SCORES, study="")
    assert with_narrowing(own) == own


def test_a_mask_leaves_no_name_in_what_a_table_keeps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Mask, "hides", lambda _self, column: column == "model")
    monkeypatch.setattr(Mask, "name", lambda _self, _column, value: {"Dalle2": "B", "Dalle3": "A"}[value])
    monkeypatch.setattr(Mask, "text", lambda _self, text: text.replace("Dalle2", "B"))
    about = {
        "options": {"model": ["Dalle2", "Dalle3"], "campaign": ["about Dalle2"]},
        "run": {"slug": "Dalle2", "definition": {"model": "dall-e-2"}},
        "circumstances": {"backend": {"openai": 3}},
        "counted": {"reviews": 3},
    }
    kept = mask_metadata(make_table([make_row("Kenya", "Dalle2")], about=about).about, Mask())
    assert kept == {"options": {"model": ["A", "B"], "campaign": ["about B"]}, "counted": {"reviews": 3}}
