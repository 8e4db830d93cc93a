"""script/unchanged.py: a planted difference is found and shown; what is intended or kept aside is not counted."""

import importlib.util
import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType

import pytest

from tests.wwd.processes import ROOT

pytestmark = pytest.mark.embedded

TABLE = "".join(f"country {number},0.5\n" for number in range(200))


@pytest.fixture
def saved(tmp_path: Path) -> tuple[Path, Path]:
    """Two equal folders with a table, a page and a file that is stored aside."""
    folders = tmp_path / "before", tmp_path / "after"
    for folder in folders:
        put(folder, "demonstration/tables/review.quality.csv", TABLE)
        put(folder, "demonstration/pages/ar/001-start.html", "<h1>طبق</h1>\n")
        put(folder, "kept/upgrade/rows.json", json.dumps({"folder": folder.name}))
    return folders


def put(folder: Path, name: str, text: str) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def compare(*words: str | Path) -> tuple[int, list[str]]:
    """Exit status and printed lines of `compare`."""
    command = [sys.executable, "script/unchanged.py", "compare", *map(str, words)]
    environ = {**os.environ, "PYTHONUTF8": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, text=True, timeout=60, check=False)
    assert not done.stderr, done.stderr
    return done.returncode, done.stdout.splitlines()


def test_equal_folders_are_equal_whatever_is_kept_aside(saved: tuple[Path, Path]) -> None:
    assert compare(*saved) == (0, ["0 of 2 files differ; 0 are ignored."])


def test_a_planted_difference_is_shown_and_fails(saved: tuple[Path, Path]) -> None:
    put(saved[1], "demonstration/tables/review.quality.csv", TABLE.replace("country 7,0.5", "country 7,0.25"))
    code, lines = compare(*saved)
    assert code == 1
    assert lines[0] == "DIFFERENT demonstration/tables/review.quality.csv"
    changed = [line.strip() for line in lines if "country 7," in line]
    assert changed == ["-country 7,0.5", "+country 7,0.25"]
    assert lines[-1] == "1 of 2 files differ; 0 are ignored."


def test_a_long_difference_is_cut(saved: tuple[Path, Path]) -> None:
    put(saved[1], "demonstration/tables/review.quality.csv", TABLE.replace("0.5", "0.25" + "0" * 500))
    code, lines = compare(*saved)
    assert code == 1
    assert len(lines) < 25
    assert max(map(len, lines)) < 260


def test_a_file_that_is_gone_or_new_is_a_difference(saved: tuple[Path, Path]) -> None:
    (saved[1] / "demonstration/pages/ar/001-start.html").unlink()
    put(saved[1], "schema/sqlite.sql", "CREATE TABLE x;\n")
    code, lines = compare(*saved)
    assert code == 1
    assert lines == [
        "GONE demonstration/pages/ar/001-start.html",
        "NEW schema/sqlite.sql",
        "2 of 3 files differ; 0 are ignored.",
    ]


def test_intended_changes_are_left_out(saved: tuple[Path, Path], tmp_path: Path) -> None:
    put(saved[1], "demonstration/pages/ar/001-start.html", "<h1>أطباق</h1>\n")
    put(saved[1], "demonstration/tables/review.quality.csv", "other\n")
    listed = tmp_path / "intended"
    listed.write_text("# New words on the start page\n\n*/pages/*/001-start.html\n")
    assert compare(*saved, "--ignore-list", listed)[0] == 1
    code, lines = compare(*saved, "--ignore-list", listed, "--ignore", "*.csv")
    assert (code, lines) == (0, ["0 of 0 files differ; 2 are ignored."])


def test_an_empty_folder_is_equal_to_nothing(saved: tuple[Path, Path], tmp_path: Path) -> None:
    command = [sys.executable, "script/unchanged.py", "compare", str(saved[0]), str(tmp_path / "nothing")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert "Nothing is saved in" in done.stderr


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("unchanged", ROOT / "script" / "unchanged.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("DELETE FROM dish WHERE name = 'Fufu'", "dish had 2 rows and has 1."),
        ("UPDATE dish SET name = 'Ugali' WHERE name = 'Fufu'", "dish holds other values."),
        ("DROP TABLE dish", "The table dish with 2 rows is gone."),
        ("ALTER TABLE dish ADD COLUMN place text", ""),
        ("CREATE TABLE place (name text)", ""),
        ("INSERT INTO django_migrations VALUES ('0002')", ""),
        ("INSERT INTO auth_permission VALUES ('view_place')", ""),
        ("UPDATE auth_permission SET codename = 'x'", "auth_permission has lost 1 of its 1 rows."),
        ("INSERT INTO dish VALUES ('Ugali', 3)", "dish had 2 rows and has 3."),
        ("ALTER TABLE dish DROP COLUMN votes", "dish has no votes any more (2 rows)."),
        (
            "ALTER TABLE dish ADD COLUMN place text; UPDATE dish SET name = 'Ugali' WHERE name = 'Fufu'",
            "dish holds other values.",
        ),
    ],
)
def test_an_upgrade_may_change_no_row(script: ModuleType, statement: str, said: str) -> None:
    with closing(sqlite3.connect(":memory:")) as base:
        base.execute("CREATE TABLE dish (name text, votes int)")
        base.execute("CREATE TABLE django_migrations (name text)")
        base.execute("CREATE TABLE auth_permission (codename text)")
        base.execute("INSERT INTO dish VALUES ('Jollof', 1), ('Fufu', 2)")
        base.execute("INSERT INTO auth_permission VALUES ('view_dish')")
        before = script.rows_of(base)
        base.executescript(statement)
        assert script.row_troubles(before, script.rows_of(base, before)) == ([said] if said else [])


def test_times_of_filling_become_the_same_ones_in_their_order(script: ModuleType, tmp_path: Path) -> None:
    file = tmp_path / "base.sqlite3"
    told, since = "2024-05-01 10:00:00.000000", datetime(2026, 3, 1, tzinfo=UTC)
    with closing(sqlite3.connect(file)) as base, base:
        base.execute("CREATE TABLE dish (name text, made datetime)")
        made = [("second", "2026-03-01 10:00:01.5"), ("first", "2026-03-01 10:00:00.25"), ("old", told), ("no", None)]
        base.executemany("INSERT INTO dish VALUES (?, ?)", made)
    script.fix_times(file, since)
    with closing(sqlite3.connect(file)) as base:
        assert dict(base.execute("SELECT name, made FROM dish")) == {
            "first": "2025-01-15 12:00:00.000000",
            "second": "2025-01-15 12:00:00.001000",
            "old": told,
            "no": None,
        }
