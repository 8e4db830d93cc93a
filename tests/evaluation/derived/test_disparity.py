"""`disparity.<table>`: who is worst, by how much, against what chance gives; and what it never names or compares."""

import re

import pytest
from django.test import Client

from evaluation.contracts.table import TableSpec
from evaluation.derived import disparity
from evaluation.metrics.tidy import TidyTable
from evaluation.registry import derived, lookup
from evaluation.registry.names import TABLES
from evaluation.tables import compute
from tests.evaluation.derived_tables import Row, answers, column, estimates, make_base, make_observations, twice
from tests.evaluation.make_tables import image_result, make_association, make_place_in, make_staff
from tests.review.make_tables import make_campaign, make_cell


def unlike(place: str, model: str, *kinds: tuple[float, ...], dishes: int = 10, people: bool = False) -> list[Row]:
    """Dishes that differ: each in turn has the answers of one of `kinds`."""
    return [
        (value, f"{place} {dish}", f"{place} {who}" if people else "", (place,), model)
        for dish in range(dishes)
        for who, value in enumerate(kinds[dish % len(kinds)])
    ]


KENYA = unlike("Kenya", "painter", (1, 1, 1), (1, 0, 0))
GHANA = unlike("Ghana", "painter", (1, 1, 0), (0, 0, 0))
TOGO = answers("Togo", "painter", 4, (0, 0, 0, 0, 0, 0, 0, 0))
DERIVED = [name for name in lookup.list_table_names() if derived.base_of(name)]


def made(base: TableSpec, **filters: str) -> TidyTable:
    table = disparity.spec_of(base)
    assert table is not None
    return compute.compute_table(table, filters)


def test_the_worst_group_is_named_with_its_own_n() -> None:
    table = made(make_base(make_observations([*KENYA, *GHANA])))
    [ends] = {(row.groups["lowest"], row.groups["highest"], row.groups["worse"]) for row in table.rows}
    assert ends == ("Ghana", "Kenya", "Ghana")
    found = estimates(table, measure="food", by="country", model="painter")
    assert {metric: found[metric].value for metric in ("gap", "ratio", "variation", "lowest_value")} == pytest.approx(
        {"gap": 1 / 3, "ratio": 1 / 2, "variation": 1 / 3, "lowest_value": 1 / 3}
    )
    assert (found["lowest_value"].n, found["lowest_value"].clusters, found["gap"].n) == (30, 10, 60)
    assert found["p"].value == pytest.approx(0.05, abs=0.02)
    assert found["gap"].low is not None
    assert "variance clustered by dishes, range of 9999 draws" in found["p"].method


def test_a_small_group_is_named_nowhere() -> None:
    """Togo has nothing but zeros, in 32 answers about four dishes."""
    table = made(make_base(make_observations([*KENYA, *GHANA, *TOGO])))
    assert "Togo" not in str(table)
    assert column(table, "worse") == {"Ghana"}


def test_more_is_worse_where_the_table_says_so_and_neither_end_where_it_says_nothing() -> None:
    both = make_observations([*KENYA, *GHANA])
    table = made(make_base(twice(both, "disturbing"), worse={"disturbing": "high"}))
    assert {(row.groups["measure"], row.groups["worse"]) for row in table.rows} == {
        ("disturbing", "Ghana"),
        ("food", ""),
    }
    assert "Neither end is the worse one: food." in table.notes


def test_corrections_are_over_all_models_and_a_filter_changes_no_number() -> None:
    weaker = [
        (value, dish, person, places, "sketcher")
        for value, dish, person, places, _model in [*KENYA, *unlike("Ghana", "", (1, 1, 0, 0), (1, 1, 1, 0))]
    ]
    base = make_base(make_observations([*KENYA, *GHANA, *weaker]))
    table = made(base)
    p = {model: estimates(table, model=model)["p"].value or 0 for model in ("painter", "sketcher")}
    adjusted = {model: estimates(table, model=model)["p_holm"].value for model in p}
    assert adjusted == pytest.approx({"painter": 2 * p["painter"], "sketcher": max(p["sketcher"], 2 * p["painter"])})
    assert made(base, model="sketcher").rows == tuple(row for row in table.rows if row.groups["model"] == "sketcher")


def test_measures_are_corrected_on_their_own() -> None:
    table = made(make_base(twice(make_observations([*KENYA, *GHANA]), "other")))
    assert all(
        estimates(table, measure=name)["p_holm"].value == estimates(table)["p"].value for name in ("food", "other")
    )


def test_the_result_without_shared_dishes_stands_beside() -> None:
    shared = answers(("Africa", "Asia"), "painter", 6, (1, 1, 1))
    rows = [*answers("Africa", "painter", 10, (0, 0, 0)), *answers("Asia", "painter", 10, (1, 1, 1)), *shared]
    found = estimates(made(make_base(make_observations(rows, "continent"))))
    assert found["gap"].value == pytest.approx(1 - 3 / 13)
    assert (found["gap_unshared"].value, found["gap_unshared"].n) == (1.0, 60)
    assert found["p_holm_unshared"].value == found["p_unshared"].value


def test_without_shared_dishes_that_part_is_not_measured() -> None:
    found = estimates(made(make_base(make_observations([*KENYA, *GHANA]))))
    for metric in ("gap_unshared", "gap_expected_unshared", "p_unshared", "p_holm_unshared"):
        assert (found[metric].value, found[metric].reason) == (None, "no dish lies in several groups")


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        (KENYA, "fewer than two groups that are not small"),
        ([*KENYA, *TOGO], "fewer than two groups that are not small"),
        (TOGO, "fewer than 10 dishes"),
        ([*KENYA, *answers("Ghana", "painter", 10, (float("nan"),) * 3)], "fewer than two groups"),
    ],
)
def test_what_cannot_be_compared_says_why_and_names_nobody(rows: list[Row], reason: str) -> None:
    table = made(make_base(make_observations(rows)))
    assert column(table, "lowest") == column(table, "worse") == {""}
    assert {row.metric for row in table.rows} == set(disparity.METRICS)
    for row in table.rows:
        assert row.estimate.value is None
        assert row.metric.endswith("unshared") or reason in row.estimate.reason


def test_where_all_are_equal_nobody_is_worst() -> None:
    table = made(make_base(make_observations([*KENYA, *unlike("Ghana", "painter", (1, 0, 1), dishes=12)])))
    found = estimates(table)
    assert found["gap"].value == pytest.approx(0)
    assert column(table, "worse") == {""}


def test_without_an_interval_there_is_no_p_and_nobody_is_worst() -> None:
    """All of Ghana's answers are no: how far another sample would differ cannot be known."""
    table = made(make_base(make_observations([*KENYA, *unlike("Ghana", "painter", (0, 0, 0))])))
    found = estimates(table)
    assert (found["gap"].low, found["p"].value, found["p_holm"].value) == (None, None, None)
    assert found["p"].reason == found["gap"].reason
    assert {name for row in table.rows for end in disparity.ENDS for name in [row.groups[end]]} == {""}


def test_a_country_with_four_reviewers_is_neither_worst_nor_tested() -> None:
    """Togo's four people say no to everything; Kenya and Ghana have five."""
    rows = [
        *unlike("Kenya", "a", (1, 1, 1, 1, 0), (1, 1, 0, 0, 0), people=True),
        *unlike("Ghana", "a", (1, 1, 0, 0, 0), (1, 0, 0, 0, 1), people=True),
        *unlike("Togo", "a", (0, 0, 0, 0), (1, 0, 0, 0), people=True),
    ]
    table = made(make_base(make_observations(rows)))
    found = estimates(table)
    assert (column(table, "worse"), found["gap"].people) == ({"Ghana"}, 10)
    assert found["p"].value is not None and found["p"].value > 0.05
    assert "under 5 people who judged" in " ".join(table.notes)


def test_reviews_say_that_regions_differ_in_raters_too() -> None:
    people = [*answers("Kenya", "a", 10, (1, 1, 0), people=True), *answers("Ghana", "a", 10, (1, 0, 0), people=True)]
    with_people, machines = made(make_base(make_observations(people))), made(make_base(make_observations(KENYA)))
    assert any("differ in the people who judged too" in note for note in with_people.notes)
    assert not any("differ in the people" in note for note in machines.notes)
    assert "5 reviewers" in estimates(with_people)["gap"].reason


def test_the_notes_of_the_table_itself_follow() -> None:
    assert made(make_base(make_observations(KENYA))).notes[-1] == "Said under the table."


def test_a_row_of_all_together_is_no_group() -> None:
    rows = [(value, dish, person, (*places, "all"), model) for value, dish, person, places, model in [*KENYA, *GHANA]]
    found = estimates(made(make_base(make_observations(rows))))
    assert (found["gap"].value, found["gap_unshared"].value) == (pytest.approx(1 / 3), None)


def test_tables_without_observations_or_places_have_none() -> None:
    base = make_base(make_observations(KENYA))
    assert disparity.spec_of(make_base(make_observations(KENYA), observe=None)) is None
    assert disparity.spec_of(make_base(make_observations(KENYA, "question"))) is None
    assert disparity.spec_of(base) is not None
    for name in ("disparity.association.top", "disparity.stereotypes.readings", "disparity.nothing", "disparity."):
        with pytest.raises(lookup.TableNotFound, match="There is no table"):
            lookup.find_table_spec(name)


def test_the_figure_shows_gaps_beside_what_chance_gives() -> None:
    table = disparity.with_chance(made(make_base(make_observations([*KENYA, *GHANA]))))
    assert table.columns == ("measure", "by", "model")
    assert [(row.groups["measure"], row.metric) for row in table.rows] == [("food", "gap"), ("food, by chance", "gap")]


def test_a_derived_table_is_stale_when_its_base_is_and_changes_version_with_it() -> None:
    base, table = lookup.find_table_spec("review.quality"), lookup.find_table_spec("disparity.review.quality")
    assert (table.inputs, table.version) == (base.inputs, f"{base.version}.2")
    assert "interval" not in table.filters and "country" not in table.filters


def test_every_derived_name_stands_after_its_table() -> None:
    names = lookup.list_table_names()
    assert set(names) > set(TABLES)
    assert names[names.index("review.quality") + 1 :][:2] == ["disparity.review.quality", "compare.review.quality"]


@pytest.mark.django_db
@pytest.mark.parametrize("name", DERIVED)
def test_an_empty_install_has_empty_derived_tables_that_say_so(name: str) -> None:
    table = compute.compute_table(lookup.find_table_spec(name), {})
    assert table.rows == ()
    assert any("no finished run" in note or "no reviews yet" in note for note in table.notes)


@pytest.mark.django_db
def test_rescaled_scores_are_never_compared() -> None:
    places = (make_place_in("Africa"), make_place_in("Asia"))
    make_association(*(image_result(place, "painter", 1, at) for place in places for at in range(15)))
    for name in ("disparity.association.scores", "compare.association.scores"):
        table = compute.compute_table(lookup.find_table_spec(name), {})
        assert not {"normalised_score", "normalised_over_all"} & (column(table, "measure") if table.rows else set())
        assert any(note.startswith("Never compared: normalised_score, normalised_over_all.") for note in table.notes)
    assert (
        compute.compute_table(
            lookup.find_table_spec("disparity.association.scores"), {"measure": "normalised_score"}
        ).rows
        == ()
    )


@pytest.mark.django_db
def test_the_page_names_the_worst_country_and_never_a_small_one(client: Client) -> None:
    campaign = make_campaign()
    make_cell(campaign, "Kenya", dishes=10, reviewers=5, says=lambda dish, who: {"food": dish * who % 4 < 3})
    for country, dishes, people in (("Ghana", 10, 5), ("Togo", 3, 5), ("Benin", 10, 4)):
        make_cell(campaign, country, "Dalle2", dishes, people, says=lambda dish, who: {"food": dish * who % 4 > 1})
    compute.compute_and_store("disparity.review.quality", {})
    client.force_login(make_staff())
    page = client.get("/admin/evaluation/tables/disparity.review.quality/").content.decode()
    assert "Ghana" in page
    assert not {"Togo", "Benin"} & {*re.findall(r"\w+", page)}
    assert "differ in the people who judged too" in page
    assert "/admin/evaluation/tables/review.quality/" in page
    base = client.get("/admin/evaluation/tables/review.quality/").content.decode()
    assert "/admin/evaluation/tables/disparity.review.quality/" in base
    assert client.get("/admin/evaluation/tables/disparity.review.quality/figure.svg").status_code == 200


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("metric", "ends", "seen"),
    [
        ("gap", ("Ghana", "Kenya", "Ghana"), "the lowest group, Ghana"),
        ("highest_value", ("Ghana", "Kenya", "Ghana"), "the highest group, Kenya"),
        ("gap", ("", "", ""), "No group is named"),
    ],
)
def test_behind_a_gap_stand_the_images_of_the_group_at_its_end(
    client: Client, metric: str, ends: tuple[str, str, str], seen: str
) -> None:
    campaign = make_campaign()
    make_cell(campaign, "Kenya", dishes=10, reviewers=5, says=lambda dish, who: {"food": dish * who % 4 < 3})
    few = (lambda dish, who: {"food": dish * who % 4 > 1}) if any(ends) else (lambda dish, who: {"food": False})
    make_cell(campaign, "Ghana", dishes=10, reviewers=5, says=few)
    for name in ("review.quality", "disparity.review.quality"):
        compute.compute_and_store(name, {})
    client.force_login(make_staff())
    groups = {"measure": "food", "by": "country", "model": "Dalle2", **dict(zip(disparity.ENDS, ends, strict=True))}
    query = {**{f"cell.{name}": value for name, value in groups.items()}, "metric": metric}
    page = client.get("/admin/evaluation/tables/disparity.review.quality/drilldown/", query).content.decode()
    assert seen in page
    assert ('class="image"' in page) == any(ends)
