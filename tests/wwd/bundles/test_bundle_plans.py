"""Bundles and plans: what a frozen plan lists comes as planned, with the plan and its hash; the rest is exploratory."""

import csv
import hashlib
import io
import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from tests.evaluation.make_plans import listed, make_frozen, make_plan
from tests.wwd.bundles.make import make_bundle, make_world, manifest
from wwd.exchange.bundles import table_views, verification
from wwd.exchange.bundles.table_views import ChosenError

pytestmark = pytest.mark.django_db
ABOUT = {"slug": "before", "title": "Before", "studies": ["association"], "campaigns": []}


def marks(folder: Path, table: str) -> dict[str, set[str]]:
    """Metric → how its numbers stand to plans."""
    found: dict[str, set[str]] = {}
    for row in csv.DictReader(io.StringIO((folder / "tables" / f"{table}.csv").read_text())):
        found.setdefault(row["metric"], set()).add(row["plan"])
    return found


def test_a_plan_comes_with_its_hash_and_marks_what_it_lists(tmp_path: Path) -> None:
    plan = make_frozen(**ABOUT, tables=[listed("association.scores", "net")])
    make_world()
    folder = make_bundle(tmp_path, *table_views.list_plan_views("before"), "generation.counts")
    document = json.loads((folder / "plans" / "before.json").read_text())
    text = json.dumps(document["plan"], ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    assert document["sha256"] == plan.sha256 == hashlib.sha256(text.encode()).hexdigest()
    found = marks(folder, "association.scores")
    assert found.pop("net") == {"planned"}
    assert set().union(*found.values()) == {"exploratory"}
    assert verification.verify_bundle(tmp_path / "test.zip").equal


def test_without_a_plan_everything_is_exploratory_and_the_readme_says_so(tmp_path: Path) -> None:
    make_world()
    folder = make_bundle(tmp_path, "association.scores")
    assert "No plan was frozen about these tables: all numbers are exploratory." in (folder / "README.md").read_text()
    assert [view["listed"] for view in manifest(folder)["views"]] == [[]]


def test_a_masked_table_is_in_no_bundle(tmp_path: Path) -> None:
    make_frozen(**ABOUT, tables=[listed()], masked=True)
    make_world()
    with pytest.raises(CommandError, match="masked by the plan “Before”"):
        call_command("bundle", "test", "association.scores", output=tmp_path / "test.zip")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("slug", ["nothing", "draft", "../x"])
def test_only_frozen_plans_list_something(slug: str) -> None:
    make_plan(slug="draft")
    with pytest.raises(ChosenError, match="There is no frozen plan"):
        table_views.list_plan_views(slug)
