"""Answers made elsewhere: `manage.py import_answers`."""

import csv
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from collection.models import Dish
from evaluation.ingest.answers import COLUMNS, import_answers
from evaluation.models import Model, Outcome, Run
from evaluation.registry import lookup
from evaluation.tables import compute
from tests.evaluation.make import make_dish, make_model, make_place

pytestmark = pytest.mark.django_db


def write(folder: Path, *rows: tuple[str, ...], header: tuple[str, ...] = COLUMNS) -> Path:
    file = folder / "answers.csv"
    with file.open("w", encoding="utf-8", newline="") as opened:
        csv.writer(opened).writerows([header, *rows])
    return file


@pytest.fixture
def dish() -> Dish:
    make_model("elsewhere", role="chat", backend="import")
    return make_dish("Waakye", utensils="spoon", time_of_day=["lunch"])


def test_answers_enter_as_a_run_from_which_tables_come(tmp_path: Path, dish: Dish) -> None:
    rows = [("Waakye", "elsewhere", "country", "0", "Ghana"), (str(dish.number), "elsewhere", "country", "1", "Togo")]
    run, report = import_answers(write(tmp_path, *rows), "theirs")
    assert (report.new, report.known, report.left_out) == (2, 0, [])
    assert (run.study, run.imported, run.state) == ("knowledge", True, Run.State.DONE)
    table = compute.compute_table(lookup.find_table_spec("knowledge.fields"), {"run": "theirs"})
    [read] = [row.estimate for row in table.rows if row.metric == "read"]
    assert (read.value, read.n, read.clusters) == (50, 2, 1)


def test_importing_twice_changes_nothing(tmp_path: Path, dish: Dish) -> None:
    file = write(tmp_path, ("Waakye", "elsewhere", "utensils", "0", "['Spoon']"))
    import_answers(file, "theirs")
    before = list(Outcome.objects.values())
    _, report = import_answers(file, "theirs")
    assert (report.new, report.known) == (0, 1)
    assert list(Outcome.objects.values()) == before


def test_a_refusal_is_a_result(tmp_path: Path, dish: Dish) -> None:
    header = (*COLUMNS, "state")
    rows = [
        ("Waakye", "elsewhere", "country", "0", "", "refused"),
        ("Waakye", "elsewhere", "country", "1", "Ghana", ""),
    ]
    run, _ = import_answers(write(tmp_path, *rows, header=header), "theirs")
    assert sorted(run.units.values_list("state", flat=True)) == ["done", "refused"]


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (("Waakey", "elsewhere", "country", "0", "Ghana"), "Waakye"),
        (("Africa", "elsewhere", "country", "0", "Ghana"), "Africa is no dish"),
        (("Waakye", "elsewere", "country", "0", "Ghana"), "elsewhere"),
        (("Waakye", "sketch", "country", "0", "Ghana"), "does not chat"),
        (("Waakye", "elsewhere", "contry", "0", "Ghana"), "country"),
        (("Waakye", "elsewhere", "country", "-1", "Ghana"), "sample is '-1'"),
        (("Waakye", "elsewhere", "country", "٣", "Ghana"), "sample is"),
        (("Waakye", "elsewhere", "country", "0"), "not as many cells"),
        (("Waakye", "elsewhere", "country", "0", "Ghana", "more"), "not as many cells"),
        (("Waakye", "elsewhere", "country", "7", "Ghana"), "twice"),
    ],
)
def test_a_row_that_does_not_fit_is_left_out_with_its_line(
    tmp_path: Path, dish: Dish, row: tuple[str, ...], reason: str
) -> None:
    make_place("Africa")
    good = ("Waakye", "elsewhere", "country", "7", "Ghana")
    _, report = import_answers(write(tmp_path, good, row), "theirs")
    [(line, words)] = report.left_out
    assert (report.new, line) == (1, 3)
    assert reason in words


def test_the_command_says_what_it_did(tmp_path: Path, dish: Dish) -> None:
    file = write(tmp_path, ("Waakye", "elsewhere", "country", "0", "Ghana"), ("x", "elsewhere", "country", "0", ""))
    out, err = StringIO(), StringIO()
    with pytest.raises(CommandError, match="1 rows were left out, the rest was taken"):
        call_command("import_answers", str(file), "--run-slug", "theirs", stdout=out, stderr=err)
    assert out.getvalue() == "Run theirs: 1 new answers, 0 known, 1 rows left out.\n"
    assert err.getvalue().startswith("line 3: ")
    whole = write(tmp_path, ("Waakye", "elsewhere", "country", "1", "Ghana"))
    call_command("import_answers", str(whole), "--run-slug", "theirs", stdout=out, stderr=err)
    assert out.getvalue().endswith("Run theirs: 1 new answers, 0 known, 0 rows left out.\n")


def test_lines_that_are_empty_are_passed_over_and_a_cell_without_end_is_left_out(
    tmp_path: Path, dish: Dish, short_cells: int
) -> None:
    good = ("Waakye", "elsewhere", "country", "0", "Ghana")
    file = write(tmp_path, good, (*good[:3], "1", "x" * (short_cells + 1)))
    file.write_text(file.read_text() + "\nWaakye,elsewhere,country,2,Ghana\n")
    _, report = import_answers(file, "theirs")
    assert report.new == 2
    assert [(line, words[:19]) for line, words in report.left_out] == [(3, "not readable as CSV")]


@pytest.mark.parametrize("content", [b"", b"subject,model\n", b"\xff\xfe", b"\x00"])
def test_a_file_that_is_no_list_of_answers_is_refused_with_a_sentence(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "answers.csv"
    file.write_bytes(content)
    with pytest.raises(CommandError, match="lacks the columns"):
        call_command("import_answers", str(file), "--run-slug", "theirs")
    with pytest.raises(CommandError, match="cannot be read"):
        call_command("import_answers", str(tmp_path / "nothing.csv"), "--run-slug", "theirs")


def test_words_that_no_database_takes_are_kept_as_far_as_they_can_be(tmp_path: Path, dish: Dish) -> None:
    file = write(tmp_path, ("Waakye", "elsewhere", "country", "0", "Gh\x00ana"))
    file.write_bytes(file.read_bytes().replace(b"Gh", b"G\xff"))
    _, report = import_answers(file, "theirs")
    assert report.new == 1
    assert Model.objects.filter(slug="elsewhere").exists()
    assert "\x00" not in Outcome.objects.get().text


def test_a_file_in_which_nothing_fits_makes_no_run(tmp_path: Path, dish: Dish) -> None:
    with pytest.raises(CommandError, match=r"holds no answer that fits \(line 2: "):
        file = write(tmp_path, ("Waakye", "elsewhere", "drink", "0", "tea"))
        call_command("import_answers", str(file), "--run-slug", "theirs")
    assert not Run.objects.exists()
