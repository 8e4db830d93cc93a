"""CSV files as people make them are read, and no spreadsheet runs what a cell of ours says."""

import csv
import io
import json
import zipfile
from pathlib import Path

import pandas
import pytest
from django.core.management import call_command
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from evaluation.images.archive import choose_archive_images, pack_archive
from evaluation.ingest.answers import Report, read_answer_rows
from evaluation.models import GeneratedImage, ReferenceDish
from evaluation.novelty.reference import import_reference
from evaluation.tables import compute
from tests.evaluation.make import make_image, make_model, make_subject
from tests.evaluation.make_tables import make_staff
from tests.wwd.bundles.make import make_bundle, make_world
from wwd.base.csv_files import CSV_NOTE, READ_EXACT, csv_text, exact_to_spreadsheet, for_spreadsheet, open_reader
from wwd.exchange.published.source import Report as Published
from wwd.exchange.published.source import read_wellformed_rows as published_rows

FORMULAS = ['=HYPERLINK("http://x.example","y")', "@SUM(A1)", "+1+1", "-2+3", "\t=1", " =1", "＝1+1", "\r=1"]
# Signs that a spreadsheet drops, whatever follows them; a number among them.
FORMULAS += ["\tSUM(A1)", "\rcmd", "\ncmd", "\t1", "＋1+1", "－2+3", "＠SUM(A1)", "\0=1"]
# What pandas takes for missing unless told otherwise.
MISSING = ["nan", "null", "NA", "None", "N/A", "NaN", "-nan", ""]
SEPARATED = [",", ";", "\t", "|"]


@pytest.mark.parametrize("cell", FORMULAS)
def test_a_spreadsheet_gets_no_cell_that_begins_like_a_formula(cell: str) -> None:
    assert for_spreadsheet(cell) == f"'{cell}"


@pytest.mark.parametrize("cell", ["-0.25", "1e-05", "+3", "مقلوبة", "rice = water", "", None, 7, -3.5])
def test_numbers_and_words_stay_as_they_are(cell: object) -> None:
    assert for_spreadsheet(cell) == ("" if cell is None else str(cell))


@given(st.lists(st.lists(st.text(), min_size=2, max_size=2)))
def test_an_exact_file_gives_back_every_cell(cells: list[list[str]]) -> None:
    told = [[text.replace("\r\n", "\n").replace("\r", "\n") for text in row] for row in cells]
    text = csv_text(["a", "b"], told)
    assert [*csv.reader(io.StringIO(text, newline=""))] == [["a", "b"], *told]


@given(st.lists(st.lists(st.text(), min_size=2, max_size=2)))
def test_no_cell_of_a_file_for_spreadsheets_is_a_formula(cells: list[list[str]]) -> None:
    text = exact_to_spreadsheet(csv_text(["a", "b"], cells))
    found = [*csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline=""))]
    assert all(for_spreadsheet(cell) == cell for row in found for cell in row)


@pytest.mark.parametrize("separator", SEPARATED)
@pytest.mark.parametrize("head", ["", "sep={}\r\n", "\ufeff", "\ufeffsep={}\n"])
def test_the_separator_is_found_or_read_from_its_line(separator: str, head: str) -> None:
    text = head.format(separator) + separator.join(["name", "origin"]) + "\r\n" + separator.join(["a", "b"]) + "\r\n"
    reader = open_reader(io.StringIO(text, newline=""), ["name", "origin"])
    assert (reader.header, [*reader]) == (["name", "origin"], [["a", "b"]])


@pytest.mark.parametrize("sign", ["\u0085", "\u2028", "\u2029", "\x0b", "\x0c", "\x1c", "\x1e"])
@pytest.mark.django_db
def test_a_row_ends_where_csv_says_and_nowhere_else(sign: str, tmp_path: Path) -> None:
    path = tmp_path / "list.csv"
    path.write_bytes(f"name,aliases,countries\nJol{sign}lof,,Ghana\n".encode())
    import_reference(path, "list", "plain")
    assert ReferenceDish.objects.count() == 1


@pytest.mark.parametrize("separator", SEPARATED)
@pytest.mark.django_db
def test_every_import_reads_every_separator(separator: str, tmp_path: Path) -> None:
    def write(name: str, *lines: list[str]) -> Path:
        path = tmp_path / name
        path.write_text("sep=" + separator + "\n" + "".join(separator.join(line) + "\n" for line in lines))
        return path

    listed = write("list.csv", ["name", "aliases", "countries"], ["Jollof", "", "Ghana"])
    import_reference(listed, "list", "plain")
    assert ReferenceDish.objects.get().name == "Jollof"
    answers = write("answers.csv", ["subject", "model", "question", "sample", "answer"], ["1", "m", "q", "0", "x"])
    assert [line for line, _row in read_answer_rows(answers, Report())] == [3]
    other = write("other.csv", ["a", "b"], ["1", "2"], ["3"])
    report = Published()
    assert [row.line for row in published_rows(tmp_path, other.name, ["a", "b"], report)] == [3]
    assert [problem.line for problem in report.problems] == [4]


def test_missing_columns_are_named_with_what_is_there() -> None:
    reader = open_reader(io.StringIO("dish;country\nJollof;Ghana\n", newline=""), ["name"])
    assert reader.missing(["name"]) == "lacks the columns: name. Its first line holds: dish;country"


@pytest.mark.django_db
def test_images_that_are_taken_come_with_an_exact_list_one_for_spreadsheets_and_json_lines() -> None:
    model = make_model()
    for place, name in enumerate([*FORMULAS[:4], *MISSING[:5]]):
        make_image(make_subject(name), model, sha256=str(place) * 64)
    taken = choose_archive_images(list(GeneratedImage.objects.values_list("pk", flat=True)))
    with zipfile.ZipFile(pack_archive(taken)[0]) as archive:
        held = {name: archive.read(name).decode() for name in archive.namelist()}
    names = [*FORMULAS[:4], *MISSING[:5]]
    exact = pandas.read_csv(io.StringIO(held["pictures.csv"]), keep_default_na=False, dtype=str)
    assert [*exact["dish"]] == names
    shown = csv.DictReader(io.StringIO(held["pictures.spreadsheet.csv"].removeprefix("\ufeff")))
    assert [row["dish"] for row in shown] == [for_spreadsheet(name) for name in names]
    assert [json.loads(line)["dish"] for line in held["pictures.jsonl"].splitlines()] == names
    assert READ_EXACT in held["README.txt"]


@pytest.mark.django_db
def test_a_table_is_there_exactly_and_for_a_spreadsheet(capsys: pytest.CaptureFixture[str]) -> None:
    make_world()
    compute.compute_and_store("generation.counts", {})
    client = Client()
    client.force_login(make_staff())
    exact = client.get("/admin/evaluation/tables/generation.counts/table.csv").text
    shown = client.get("/admin/evaluation/tables/generation.counts/table.spreadsheet.csv")
    assert shown.text == exact_to_spreadsheet(exact) and shown.text.startswith("\ufeff")
    assert 'filename="generation.counts.' in shown.headers["Content-Disposition"]
    call_command("tables", "generation.counts", "--format", "spreadsheet")
    assert capsys.readouterr().out == shown.text


@pytest.mark.django_db
def test_a_bundle_holds_each_listing_three_times_and_says_how_to_read_it(tmp_path: Path) -> None:
    make_world()
    folder = make_bundle(tmp_path, "generation.counts")
    assert CSV_NOTE in (folder / "README.md").read_text()
    for name in ("prompts", "answers", "refusals"):
        exact = pandas.read_csv(folder / f"{name}.csv", keep_default_na=False, dtype=str)
        lines = [json.loads(line) for line in (folder / f"{name}.jsonl").read_text().splitlines()]
        assert [{key: "" if value is None else str(value) for key, value in row.items()} for row in lines] == [
            *exact.to_dict("records")
        ]
        assert (folder / f"{name}.spreadsheet.csv").exists()
    assert (folder / "tables" / "generation.counts.spreadsheet.csv").exists()
