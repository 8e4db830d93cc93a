"""The other tables of reviews on the published reviews, against the released file read without this project.

The paper's Table E.7 (reviewers, images per reviewer ± population deviation) is counted here from the file with
`statistics`; the figures of Cameroon, Kenya and Nigeria are below as numbers too.
"""

import csv
import io
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import fmean, pstdev
from typing import Any, Literal

import krippendorff
import numpy as np
import pytest
from django.core.management import call_command

from evaluation.registry import lookup
from evaluation.tables import compute
from review.people_machine.registry import PAIRS
from tests.evaluation.table_observations import check
from wwd.exchange.published import release_form
from wwd.exchange.published.reviews import FILE

Row = dict[str, str]
Released = dict[tuple[str, str], list[Row]]
Printed = dict[Any, dict[str, Row]]
COUNTRIES = ("Cameroon", "Kenya", "Nigeria")
MODELS = ("Dalle2", "Dalle3", "Stable Diffusion")
# Country: reviewers; then by model: reviewers, mean, population deviation.
TABLE_E7 = {
    "Cameroon": (10, (7, 61.57, 35.58), (7, 73.43, 55.10), (4, 108.25, 47.21)),
    "Kenya": (7, (7, 20.71, 6.78), (7, 20.71, 6.78), (7, 22.86, 7.49)),
    "Nigeria": (4, (4, 128.00, 33.53), (4, 90.00, 57.77), (4, 85.00, 65.10)),
}
ANSWERED = {"food": "food", "correct_dish": "dish", "good_quality": "good"}
FOOD, DISH = release_form.COLUMN_OF["food"], release_form.COLUMN_OF["correct_dish"]
ASSOCIATES, FAMILIAR = release_form.COLUMN_OF["associates"], release_form.COLUMN_OF["familiarity"]
MATCH_NUMBERS = {wording: number for number, wording in enumerate(release_form.ONE["match_group"])}
UNKNOWN = "Reviewer did not know"
NOT_SIMILAR = "Does not look like the dish"
pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("imported")]


def printed(name: str, *options: str) -> Printed:
    """Groups → metric → row of the printed CSV."""
    out = io.StringIO()
    call_command("tables", name, "--format", "csv", *options, stdout=out)
    found: Printed = defaultdict(dict)
    reader = csv.DictReader(io.StringIO(out.getvalue()))
    columns = (reader.fieldnames or [])[: (reader.fieldnames or []).index("metric")]
    for row in reader:
        found[tuple(row[column] for column in columns)][row["metric"]] = row
    return found


def number(row: Row) -> float:
    return float(row["value"])


@pytest.fixture(scope="module")
def released(published: Path) -> Released:
    """(country, model) → rows of the released file, those without a model left out."""
    found: Released = defaultdict(list)
    with (published / "wwd" / FILE).open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["Model"]:
                found[row["Country"], row["Model"]].append(row)
    return found


def is_equal(column: str, value: str) -> Callable[[Row], bool]:
    return lambda row: row[column] == value


def is_ticked(column: str, wording: str) -> Callable[[Row], bool]:
    return lambda row: wording in row[column].split(", ")


def same_shares(
    table: Mapping[tuple[str, str], dict[str, Row]], metric: str, released: Released, says: Callable[[Row], bool | None]
) -> None:
    """Every cell's share and n are those of the file; `says` None where a row does not count."""
    for cell, said in released.items():
        counted = [answer for row in said if (answer := says(row)) is not None]
        row = table[cell][metric]
        assert int(row["n"]) == len(counted), (cell, metric)
        assert number(row) == pytest.approx(sum(counted) / len(counted), abs=1e-12), (cell, metric)


# Table E.7.


@pytest.mark.parametrize("country", COUNTRIES)
def test_table_e7_in_every_cell(country: str) -> None:
    table = printed("review.reviewers")
    everybody, *by_model = TABLE_E7[country]
    assert int(table[country, "all"]["reviewers"]["value"]) == everybody
    for model, (people, mean, deviation) in zip(MODELS, by_model, strict=True):
        found = table[country, model]
        assert int(found["reviewers"]["value"]) == people
        assert number(found["images_per_reviewer"]) == pytest.approx(mean, abs=0.005)
        assert number(found["deviation"]) == pytest.approx(deviation, abs=0.005)


def test_reviewers_of_all_countries_equal_a_count_of_the_file(released: Released) -> None:
    table = printed("review.reviewers")
    people: dict[str, set[str]] = defaultdict(set)
    for (country, _model), said in released.items():
        people[country] |= {row["Rater_id"] for row in said}
    for (country, model), said in released.items():
        given = Counter(row["Rater_id"] for row in said)
        of_country = [given[person] for person in people[country]]
        found = {metric: number(row) for metric, row in table[country, model].items()}
        assert found == {
            "reviewers": len(given),
            "images_per_reviewer": pytest.approx(fmean(given.values())),
            "deviation": pytest.approx(pstdev(given.values()) if len(given) > 1 else 0),
            "images": found["images"],
            "images_per_reviewer_of_country": pytest.approx(fmean(of_country)),
            "deviation_of_country": pytest.approx(pstdev(of_country)),
        }
        complete = {(row["Dish name"], row["Generation_count"]) for row in said if row["Generation_count"]}
        unknown = sum(not row["Generation_count"] for row in said)
        assert found["images"] == len(complete) + unknown


# Other denominators.


def test_answered_only_equals_the_independent_values(published: Path) -> None:
    expected = json.loads((published / "expected" / "review_tables.json").read_text(encoding="utf-8"))
    table = printed("review.quality_answered")
    for country, models in expected["per_country_model"].items():
        for model, cell in models.items():
            for metric, name in ANSWERED.items():
                row = table[country, model][metric]
                assert number(row) == pytest.approx(cell[f"share_{name}_answered"], abs=1e-6), (country, model, metric)


def test_reviews_of_ones_own_dishes_equal_a_count_of_the_file(released: Released) -> None:
    own: Released = {
        cell: [
            row for row in said if row[ASSOCIATES] == "Yes" and row[FAMILIAR] and not row[FAMILIAR].startswith("Not")
        ]
        for cell, said in released.items()
    }
    table = printed("review.quality_own")
    assert set(table) == {cell for cell, said in own.items() if said}
    own = {cell: said for cell, said in own.items() if said}
    same_shares(table, "correct_dish", own, is_equal(DISH, "Yes"))
    same_shares(table, "disturbing", own, is_equal("Disturbing", "Yes"))


# Match, boxes, words.


def test_match_equals_a_count_of_the_file(released: Released) -> None:
    table = printed("review.match")
    for wording, code in release_form.ONE["match_group"].items():
        same_shares(table, code, released, is_equal("Image_match", wording))
    same_shares(table, "unanswered", released, is_equal("Image_match", ""))
    assert {row["added"]["value"] for row in table.values()} == {""}


def test_boxes_equal_a_count_of_the_file(released: Released) -> None:
    table = printed("review.checks")
    for group, wordings in release_form.SEVERAL.items():
        column = release_form.COLUMN_OF[group]
        for wording, code in wordings.items():
            same_shares(table, code, released, is_ticked(column, wording))


def test_words_as_published_are_the_released_columns(released: Released) -> None:
    table = printed("review.words")
    for word in release_form.WORDS:
        of_word = {cell: table[(*cell, word.lower())] for cell in released}
        same_shares(of_word, "as_published", released, is_equal(word, "Yes"))
    any_of_them = {cell: table[(*cell, "any of them")] for cell in released}
    same_shares(any_of_them, "as_published", released, is_equal("Unappetising_combined", "Yes"))


def test_the_better_rule_finds_the_american_spellings_too() -> None:
    table = printed("review.words")
    found = dict.fromkeys(("as_published", "better"), 0.0)
    for (_country, _model, word), metrics in table.items():
        if word == "any of them":
            for metric in found:
                found[metric] += number(metrics[metric]) * int(metrics[metric]["n"]) if metrics[metric]["value"] else 0
    # 134 flags were released, 21 of them from a column that was not. Of the other 113 none is denied or part of another
    # word; two more reviews have the American spelling.
    assert round(found["as_published"]) == 134
    assert round(found["better"]) == 115


def test_what_the_release_does_not_hold_is_not_measured() -> None:
    assert {row["value"] for metrics in printed("review.skips").values() for row in metrics.values()} == {""}
    assert printed("review.controls") == {}


# Agreement.

Level = Literal["nominal", "ordinal"]
ORDINAL = ("familiarity", "rating")


def yes_or_no(answer: str) -> int | None:
    return {"Yes": 1, "No": 0}.get(answer)


def no_food(row: Row) -> bool:
    return row[FOOD] == "No"


def answers(question: str, row: Row) -> float | None:
    """The number that stands for what a row says of the question, or None."""
    name, _comma, branch = question.partition(", ")
    if branch and no_food(row):
        return float(MATCH_NUMBERS[NOT_SIMILAR]) if name == "match" else 0.0
    readers: dict[str, Callable[[], float | None]] = {
        "associates": lambda: yes_or_no(row[ASSOCIATES]),
        "familiarity": lambda: {"N": 0, "S": 1, "V": 2}.get(row[FAMILIAR][:1]),
        "rating": lambda: float(row[release_form.COLUMN_OF["quality"]] or "nan"),
        "food": lambda: yes_or_no(row[FOOD]),
        "correct_dish": lambda: yes_or_no(row[DISH]),
        "match": lambda: None if row["Image_match"] in ("", UNKNOWN) else MATCH_NUMBERS[row["Image_match"]],
        "disturbing": lambda: _disturbing(row),
    }
    return readers[name]()


def _disturbing(row: Row) -> float | None:
    """The form had shown the box where the image is food, or where anything was ticked or written beside it."""
    cell = row[release_form.COLUMN_OF["others"]]
    shown = cell or row[FOOD] == "Yes"
    return float("This image looks disturbing" in cell.split(", ")) if shown else None


def matrix(question: str, said: list[Row]) -> tuple[np.ndarray, int]:
    """Reliability data (raters, images) with NaN for no answer, and how many images have two answers."""
    images: dict[tuple[str, ...], int] = {}
    raters: dict[tuple[str, str], int] = {}
    held: dict[tuple[int, int], float] = {}
    for row in said:
        value = answers(question, row)
        if value is None or value != value:
            continue
        image: tuple[str, ...] = (row["Country"], row["Dish name"], row["Model"], row["Generation_count"])
        if not (row["Model"] and row["Generation_count"]):
            image = (*image, row["Rater_id"])
        column = images.setdefault(image, len(images))
        held[raters.setdefault((row["Country"], row["Rater_id"]), len(raters)), column] = value
    data = np.full((len(raters), len(images)), np.nan)
    for place, value in held.items():
        data[place] = value
    return data, int(((~np.isnan(data)).sum(axis=0) >= 2).sum())


def test_alpha_equals_the_krippendorff_package_for_every_question_and_country(published: Path) -> None:
    with (published / "wwd" / FILE).open(encoding="utf-8", newline="") as file:
        every = list(csv.DictReader(file))
    table = printed("review.agreement")
    assert {question for question, _country in table} >= {"food", "correct_dish", "rating", "match, no food is no"}
    for (question, country), metrics in table.items():
        said = [row for row in every if country in ("all", row["Country"])]
        data, units = matrix(question, said)
        row = metrics["alpha_computed"]
        assert int(row["n"]) == units, (question, country)
        if not row["value"]:
            continue
        level: Level = "ordinal" if question in ORDINAL else "nominal"
        theirs = krippendorff.alpha(reliability_data=data, level_of_measurement=level)
        assert number(row) == pytest.approx(theirs, abs=1e-6), (question, country)
    assert sum(bool(metrics["alpha_computed"]["value"]) for metrics in table.values()) > 40


def test_agreement_of_few_images_is_computed_but_not_reported() -> None:
    table = printed("review.agreement")
    for metrics in table.values():
        few = int(metrics["alpha"]["n"]) < 30 or int(metrics["alpha"]["clusters"]) < 10
        assert not (few and metrics["alpha"]["value"])
        assert metrics["raw_agreement_computed"]["value"] or metrics["alpha"]["n"] == "0"


@pytest.mark.parametrize(
    ("name", "numbers"),
    [
        ("review.quality", 90),
        ("review.quality_answered", 80),
        ("review.quality_own", 80),
        ("review.match", 100),
        ("review.checks", 100),
        ("association.scores", 100),
    ],
)
def test_every_number_is_the_mean_of_its_observations(name: str, numbers: int) -> None:
    assert check(name) >= numbers


# People and machine: the released vectors are of images of continents, the reviews of images not released.


@pytest.mark.parametrize("name", ["labels", "scores"])
def test_people_and_machine_have_no_images_in_common(name: str) -> None:
    made = compute.compute_table(lookup.find_table_spec(f"agreement.{name}"), {})
    assert {row.groups["question"] for row in made.rows} == {
        each.question for each in PAIRS if each.study == "association"
    }
    assert {row.estimate.value for row in made.rows} == {None}
    reasons = {row.estimate.reason for row in made.rows if not row.metric.startswith(("ceiling", "may_speak"))}
    assert reasons == {"no images in common"}
    assert any("no images in common" in note for note in made.notes)


@pytest.mark.parametrize("name", ["calibration", "disagreements"])
def test_there_are_no_probabilities_and_no_images_to_show(name: str) -> None:
    made = compute.compute_table(lookup.find_table_spec(f"agreement.{name}"), {})
    assert made.rows == ()
    assert any("no images in common" in note for note in made.notes)


def test_people_and_machine_name_published_questions_and_options(published: Path) -> None:
    asked = json.loads((published / "wwd" / "vqa_questions.json").read_text(encoding="utf-8"))["questions"]
    options = {each["question_id"]: [text.casefold() for text in each["choices"].values()] for each in asked}
    for pair in (each for each in PAIRS if each.study == "stereotypes"):
        assert pair.yes in options[pair.what[1]]


@pytest.mark.parametrize("name", ["review.quality", "association.scores"])
def test_gaps_are_those_of_the_rows_of_the_table(name: str) -> None:
    """No dish of these is shared, so weights change nothing."""
    base = compute.compute_table(lookup.find_table_spec(name), {})
    made = compute.compute_table(lookup.find_table_spec(f"disparity.{name}"), {})
    by = "country" if name.startswith("review") else "continent"
    compared = 0
    for row in made.rows:
        if row.metric != "gap":
            continue
        same = {column: row.groups[column] for column in base.columns if column != by}
        inside = [
            each for each in base.rows if each.metric == row.groups["measure"] and same.items() <= each.groups.items()
        ]
        values = {each.groups[by]: each.estimate.value for each in inside if not each.estimate.small}
        known = {place: value for place, value in values.items() if value is not None}
        assert row.estimate.value == pytest.approx(max(known.values()) - min(known.values()), abs=1e-12)
        ends = (row.groups["lowest"], row.groups["highest"])
        named = (min(known, key=known.__getitem__), max(known, key=known.__getitem__))
        assert ends == (named if row.estimate.low is not None else ("", ""))
        compared += 1
    assert compared == (15 if by == "country" else 18)


def test_what_the_published_gaps_and_differences_say() -> None:
    gaps = compute.compute_table(
        lookup.find_table_spec("disparity.review.quality"), {"measure": "correct_dish", "model": "Dalle2"}
    )
    found = {row.metric: row.estimate for row in gaps.rows}
    [ends] = {(row.groups["lowest"], row.groups["highest"], row.groups["worse"]) for row in gaps.rows}
    assert ends == ("Cameroon", "South Africa", "Cameroon"), "three people judged for Algeria, four for Nigeria"
    assert (found["lowest_value"].n, found["lowest_value"].people) == (431, 7)
    assert found["gap"].low is not None and found["p"].value is not None
    assert (found["p"].value <= 0.05) == (found["gap"].low > 0)
    pairs = compute.compute_table(
        lookup.find_table_spec("compare.review.quality"), {"measure": "correct_dish", "country": "all"}
    )
    worst = [row for row in pairs.rows if row.metric == "difference" and row.groups["second"] == "Stable Diffusion"]
    assert all(row.estimate.high is not None and row.estimate.high < 0 for row in worst)
