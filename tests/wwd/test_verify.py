"""script/test: whatever fails, fails it; what was skipped is said with its reason; pytest's closing line comes last."""

import os
import subprocess
import sys
from pathlib import Path

from tests.wwd.processes import ROOT

PASSES = "def test_passes() -> None:\n    assert True\n"
FAILS = "def test_fails() -> None:\n    assert 1 == 2\n"
SKIPS = """
import pytest

@pytest.mark.skip(reason="needs a kitchen")
def test_needs_a_kitchen() -> None:
    assert False

@pytest.mark.skip(reason="needs a kitchen")
def test_needs_it_too() -> None:
    assert False
"""


def verify(folder: Path, *texts: str) -> tuple[int, list[str]]:
    """Exit status and printed lines of a run over one test file that consists of `texts`."""
    (folder / "test_small.py").write_text("\n\n".join(texts))
    words = ["--tests-only", "-n", "0", "-c", "pyproject.toml", "--rootdir", str(folder), str(folder)]
    environ = {**os.environ, "WWD_TEST_OUTPUT": str(folder / "output")}
    done = subprocess.run(
        [sys.executable, "script/verify.py", *words],
        cwd=ROOT,
        env=environ,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return done.returncode, done.stdout.splitlines()


def test_when_all_is_well_it_ends_with_the_closing_line_of_pytest(tmp_path: Path) -> None:
    code, lines = verify(tmp_path, PASSES)
    assert code == 0, lines
    assert " 1 passed in " in lines[-1]
    assert any(line.startswith("passed  pytest") for line in lines)


def test_a_failing_test_fails_the_command(tmp_path: Path) -> None:
    code, lines = verify(tmp_path, PASSES, FAILS)
    assert code == 1
    assert any(line.startswith("FAILED  pytest") for line in lines)
    assert " 1 failed, 1 passed in " in lines[-1]


def test_no_test_at_all_fails_the_command(tmp_path: Path) -> None:
    code, _ = verify(tmp_path, "")
    assert code == 1


def test_skipped_tests_are_counted_by_their_reason(tmp_path: Path) -> None:
    code, lines = verify(tmp_path, PASSES, SKIPS)
    assert code == 0
    assert "skipped    2  needs a kitchen" in lines
    assert " 1 passed, 2 skipped in " in lines[-1]
