"""script/test --coverage: enough branches are reached, and each unreached function is listed with a true reason."""

import json
from pathlib import Path

import pytest

from tests.coverage_check import check, problems, read_reasons, read_report

REACHED: dict[str, list[int]] = {"missing_lines": [], "missing_branches": []}


def report(folder: Path, covered: int = 99) -> Path:
    """One file: a function that is reached, one with an unreached line, one with an unreached branch."""
    functions = {
        "reached": REACHED,
        "line": {"missing_lines": [7, 8], "missing_branches": [[7, 8]]},
        "branch": {"missing_lines": [], "missing_branches": [[3, 5]]},
    }
    totals = {"num_branches": 100, "covered_branches": covered}
    path = folder / "coverage.json"
    path.write_text(json.dumps({"files": {"a/b.py": {"functions": functions}}, "totals": totals}))
    return path


def reasons(folder: Path, *lines: str) -> Path:
    path = folder / "uncovered.txt"
    path.write_text("# head\n\n" + "\n".join(lines))
    return path


BOTH = ("a/b.py::line: needs a card", "a/b.py::branch: cannot happen since 3.12")


def test_all_is_well_where_each_gap_has_its_reason(tmp_path: Path) -> None:
    assert check(report(tmp_path), reasons(tmp_path, *BOTH)) == 0


def test_a_gap_without_a_reason_is_named_with_its_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert check(report(tmp_path), reasons(tmp_path, BOTH[0])) == 1
    assert "a/b.py::branch is not reached (3→5)" in capsys.readouterr().out
    assert check(report(tmp_path), reasons(tmp_path, BOTH[1])) == 1
    assert "a/b.py::line is not reached (7 8)" in capsys.readouterr().out


def test_a_reason_for_what_is_reached_is_refused(tmp_path: Path) -> None:
    found = problems(read_report(report(tmp_path)), read_reasons(reasons(tmp_path, *BOTH, "a/b.py::reached: was hard")))
    assert found == ["a/b.py::reached is reached now: take its line out of tests/uncovered.txt."]


def test_too_few_branches_fail_whatever_the_reasons(tmp_path: Path) -> None:
    assert check(report(tmp_path, covered=95), reasons(tmp_path, *BOTH)) == 0
    assert check(report(tmp_path, covered=94), reasons(tmp_path, *BOTH)) == 1


@pytest.mark.parametrize("line", ["a/b.py::line", "a/b.py::line: ", BOTH[1]])
def test_a_line_without_a_reason_or_there_twice_is_refused(line: str, tmp_path: Path) -> None:
    assert check(report(tmp_path), reasons(tmp_path, *BOTH, line)) == 1
