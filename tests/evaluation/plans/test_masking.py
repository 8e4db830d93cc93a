"""Masked mode: no name of a model, however it is spelled, until the analyses of a plan ran."""

import json
import re
from datetime import date
from io import StringIO
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.core.management import CommandError, call_command
from django.http import HttpResponse, JsonResponse
from django.test import Client

from evaluation import counters
from evaluation.metrics.tidy import Estimate, TidyRow, TidyTable
from evaluation.models import MaskedName, Model, Plan, PlanAct, Role
from evaluation.plans.mask import NO_MASK, Mask, MaskedNameNotFound, mask_for, mask_of_models
from evaluation.plans.mask_names import number_to_letters
from evaluation.plans.mask_pages import Redaction, redact_response
from evaluation.plans.mask_pairs import order_masked_pair
from evaluation.plans.mask_text import HIDDEN
from evaluation.tables import compute, read
from evaluation.unmasking import (
    ReasonMissingError,
    is_ready_to_unmask,
    lift_mask,
    list_missing_data,
    list_plan_analyses,
)
from tests.evaluation.make import make_model
from tests.evaluation.make_plans import listed, make_frozen, make_planner
from tests.evaluation.make_tables import image_result, make_association, make_place_in, make_row, make_table

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]
NAME = "association.scores"
PAGE = f"/admin/evaluation/tables/{NAME}/"
PLANS = "/admin/evaluation/plans/"
# Slug → title: sorted by either, they come in this order.
MAKERS = {"alpha-1": "Alpha One", "beta-2": "Beta Two", "gamma-3": "Gamma Three"}
SPELLED = re.compile("|".join([*MAKERS, *MAKERS.values(), "maker/", "deadbeef"]), re.IGNORECASE)


@pytest.fixture
def planner(client: Client) -> Client:
    client.force_login(make_planner())
    return client


@pytest.fixture
def masked() -> Plan:
    """A masked plan, and the data that came after it: twelve images of Africa by each of three models."""
    for slug, title in MAKERS.items():
        make_model(slug, title=title, identifier=f"maker/{slug}", revision="deadbeef")
    make_model("snapshot", role=Role.CAMERA, backend="folder", title="Real photographs")
    plan = make_frozen(masked=True, mask_seed="0123456789abcdef")
    add_images()
    return plan


def add_images(slug: str = "vectors") -> None:
    place = make_place_in("Africa")
    makers = [*MAKERS, "snapshot"]
    make_association(
        *(image_result(place, name, i + 1, n) for i, name in enumerate(makers) for n in range(12)), slug=slug
    )
    compute.compute_and_store(NAME, {})


def mask(plan: Plan, places: bool = False) -> Mask:
    return Mask(plan, places)


def a_table(**values: Any) -> TidyTable:
    return make_table([make_row("Kenya", title) for title in (*MAKERS.values(), "Real photographs")], **values)


# What is shown.


def test_page_csv_json_and_what_the_figure_is_drawn_from_hold_no_name(planner: Client, masked: Plan) -> None:
    page = planner.get(PAGE).text
    assert "Names are masked until the analyses of the plan" in page
    seen = read.read_stored_table(NAME, {})
    assert seen.table
    printed = [StringIO(), StringIO()]
    call_command("tables", NAME, stdout=printed[0])
    call_command("tables", NAME, "--format", "json", stdout=printed[1])
    download = planner.get(f"{PAGE}table.csv").text
    for text in (page, download, repr(seen.table), *(out.getvalue() for out in printed)):
        assert SPELLED.findall(text) == []
    assert download == printed[0].getvalue()
    assert {row.groups["model"] for row in seen.table.rows} == {*"ABC", "snapshot"}


def test_photographs_keep_their_name_and_numbers_are_the_real_ones(masked: Plan) -> None:
    hidden, real = read.read_stored_table(NAME, {}).table, read.read_stored_table(NAME, {}, unmasked=True).table
    assert hidden
    assert real
    names = {slug: mask(masked).name("model", slug) for slug in MAKERS} | {"snapshot": "snapshot"}
    by_name = {(names[row.groups["model"]], row.metric): row.estimate.value for row in real.rows}
    assert {(row.groups["model"], row.metric): row.estimate.value for row in hidden.rows} == by_name


def test_rows_come_in_the_order_of_the_shown_names(masked: Plan) -> None:
    seen = read.read_stored_table(NAME, {}).table
    assert seen
    shown = [row.groups["model"] for row in seen.rows if row.metric == "net"]
    assert shown == sorted(shown)


def test_a_page_without_a_masked_plan_hides_nothing(planner: Client) -> None:
    make_model("alpha-1", title="Alpha One")
    make_frozen()
    add_images()
    assert "alpha-1" in planner.get(f"{PAGE}table.csv").text
    assert mask_for(NAME, {}) is NO_MASK


def test_tables_of_other_data_are_not_masked(masked: Plan) -> None:
    assert not mask_for("review.quality", {}).active
    assert not mask_for("stereotypes.answers", {}).active
    assert mask_for("association.top", {}).active


def test_extra_analyses_of_the_same_data_are_masked_and_exploratory(planner: Client, masked: Plan) -> None:
    compute.compute_and_store("association.top", {})
    page = planner.get("/admin/evaluation/tables/association.top/").text
    assert "Exploratory: outside what was planned before the data" in page
    assert SPELLED.findall(page) == []
    assert "Planned before the data" in planner.get(PAGE).text


# Filters.


def test_masked_names_choose_rows_and_real_ones_do_not(planner: Client, masked: Plan) -> None:
    letter = mask(masked).name("model", "beta-2")
    compute.compute_and_store(NAME, {"model": "beta-2"})
    page = planner.get(f"{PAGE}?model={letter}")
    assert page.status_code == 200
    assert SPELLED.findall(page.text) == []
    view = read.read_stored_table(NAME, {"model": letter})
    assert (dict(view.filters), dict(view.stored)) == ({"model": letter}, {"model": "beta-2"})
    assert view.table
    assert {row.groups["model"] for row in view.table.rows} == {letter}
    for guess in ("beta-2", "Beta Two", "nobody"):
        refused = planner.get(f"{PAGE}?model={guess}")
        assert refused.status_code == 404
        assert "is chosen by its masked name" in refused.text


def test_an_unseen_filter_is_computed_by_its_real_name(planner: Client, masked: Plan) -> None:
    letter = mask(masked).name("model", "gamma-3")
    planner.get(f"{PAGE}?model={letter}")
    compute.recompute_wanted()
    assert read.read_stored_table(NAME, {"model": letter}).state == "fresh"


# Names.


def test_names_are_letters_in_an_order_of_their_own_that_stays(masked: Plan) -> None:
    first = {slug: mask(masked).name("model", slug) for slug in MAKERS}
    assert sorted(first.values()) != list(first.values())
    make_model("aaa-first", title="Aaa")
    assert {slug: mask(masked).name("model", slug) for slug in MAKERS} == first
    assert mask(masked).name("model", "aaa-first") not in first.values()


def test_another_seed_gives_another_order() -> None:
    for slug, title in MAKERS.items():
        make_model(slug, title=title)
    orders = set()
    for number in range(8):
        hiding = mask(make_frozen(masked=True, mask_seed=f"{number:032x}"))
        hiding.table(make_table(make_row("Kenya", slug) for slug in MAKERS))
        orders.add(tuple(hiding.name("model", slug) for slug in MAKERS))
    assert len(orders) > 3
    assert {name for order in orders for name in order} == {*"ABC"}


def test_title_and_slug_are_one_model_and_names_lead_back(masked: Plan) -> None:
    hiding = mask(masked)
    letter = hiding.name("model", "Beta Two")
    assert letter == hiding.name("model", "beta-2")
    assert hiding.real("model", letter) == "Beta Two"
    assert hiding.real("model", letter, titles=False) == "beta-2"
    assert hiding.real("model", "Real photographs") == "Real photographs"
    with pytest.raises(MaskedNameNotFound):
        hiding.real("model", "Beta Two")


def test_places_are_masked_where_wished(masked: Plan) -> None:
    assert mask(masked).name("country", "Kenya") == "Kenya"
    hiding = mask(masked, places=True)
    hidden = hiding.table(a_table(notes=("Reviewers: Kenya, Alpha One: 7.",)))
    shown = hiding.name("country", "Kenya")
    assert re.fullmatch(r"Country [A-Z]+", shown)
    assert {row.groups["country"] for row in hidden.rows} == {shown}
    assert hidden.notes[1] == f"Reviewers: {shown}, {hiding.name('model', 'alpha-1')}: 7."
    assert hiding.real("country", shown) == "Kenya"


@pytest.mark.parametrize(("number", "text"), [(0, "A"), (25, "Z"), (26, "AA"), (701, "ZZ"), (702, "AAA")])
def test_letters_go_on_after_z(number: int, text: str) -> None:
    assert number_to_letters(number) == text


# Words.


@pytest.mark.parametrize(
    "text",
    [
        "Alpha One: 7; Beta Two: 9",
        "run-with-ALPHA-1-of-June",
        "maker/beta-2",
        "alpha_1 and Alpha·1",
        "weights deadbeef",
        "model: x; size: 1024",
    ],
)
def test_names_leave_running_text_however_they_are_spelled(masked: Plan, text: str) -> None:
    hidden = mask(masked).text(text)
    assert SPELLED.findall(hidden) == []
    assert hidden == HIDDEN or "alpha" not in hidden.casefold()


def test_the_order_of_names_in_a_text_is_not_that_of_the_real_ones(masked: Plan) -> None:
    hiding = mask(masked)
    letters = {title: hiding.name("model", title) for title in MAKERS.values()}
    text = hiding.text("Reviewers: Kenya, Alpha One: 7; Kenya, Beta Two: 9; Kenya, Gamma Three: 8.")
    counts = {"Alpha One": 7, "Beta Two": 9, "Gamma Three": 8}
    parts = sorted(f"Kenya, {letters[title]}: {n}" for title, n in counts.items())
    assert text == f"Reviewers: {'; '.join(parts)}."
    assert hiding.text("Alpha One and Beta Two are not compared.") == HIDDEN
    assert hiding.text("Nothing named: b; a.") == "Nothing named: b; a."
    assert hiding.text("Compared: Alpha One and Beta Two: 7; Kenya: 9.") == HIDDEN
    notes = ("First.", *(f"{title} lacks prompts." for title in MAKERS.values()), "Last.")
    shown = hiding.table(make_table(notes=notes)).notes
    assert (shown[1], shown[-1]) == ("First.", "Last.")
    assert list(shown[2:-1]) == sorted(f"{letter} lacks prompts." for letter in letters.values())


def test_words_that_only_contain_a_name_stay(masked: Plan) -> None:
    make_model("paint", title="Paint")
    assert mask(masked).text("painters stand still") == "painters stand still"


def test_notes_reasons_methods_and_extra_are_masked(masked: Plan) -> None:
    rows = [make_row("Kenya", "Alpha One", reason="alpha-1 gave none", method="over Beta Two")]
    table = make_table(rows, notes=("Run gamma-3.",), extra={"lowest of Alpha One": -1.0, "text": "Beta Two"})
    assert SPELLED.findall(repr(mask(masked).table(table))) == []


# Until when.


def test_the_mask_is_lifted_after_the_analyses_ran(planner: Client, masked: Plan) -> None:
    assert is_ready_to_unmask(masked)
    plan_page = f"{PLANS}{masked.slug}/"
    address = f"{plan_page}unmask/"
    assert SPELLED.findall(planner.get(plan_page).text) == []
    assert planner.post(address, {}).status_code == 422
    planner.post(address, {"complete": "1"})
    act = PlanAct.objects.get()
    assert (act.kind, act.name) == (PlanAct.Kind.UNMASKED, "planner")
    assert "alpha-1" in planner.get(PAGE).text
    assert f"<li>{mask(masked).name('model', 'alpha-1')}: <bdi>Alpha One</bdi></li>" in planner.get(plan_page).text
    assert planner.get(address).status_code == 302


def test_an_early_look_at_names_needs_a_reason_that_stays_visible(planner: Client, masked: Plan) -> None:
    counters.bump_input_counters("runs.association")
    assert not is_ready_to_unmask(masked)
    address = f"{PLANS}{masked.slug}/"
    refused = planner.post(f"{address}unmask/", {"complete": "1", "reason": " "})
    assert refused.status_code == 422
    assert "Say why names are shown before that" in refused.text
    planner.post(f"{address}unmask/", {"reason": "A reviewer asked."})
    assert "before the analyses ran: “A reviewer asked.”" in planner.get(address).text
    assert not mask_for(NAME, {}).active


def test_lifting_twice_records_one_act(masked: Plan) -> None:
    acts = {lift_mask(masked, make_planner(), "because", complete=False).pk for _ in range(2)}
    assert len(acts) == 1
    with pytest.raises(ReasonMissingError):
        lift_mask(make_frozen(masked=True), make_planner(), "", complete=False)


def test_analyses_count_on_the_complete_data_only(masked: Plan) -> None:
    assert [analysis.ran for analysis in list_plan_analyses(masked)] == [True]
    for changed, says in (
        ({"stop_on": date(2999, 1, 1)}, "not complete before 2999-01-01"),
        ({"stop_reviews": 3, "campaigns": ["to-come"]}, "There are 0 of 3 reviews."),
        ({"runs": ["to-come"]}, "no run is done"),
    ):
        plan = make_frozen(**changed)
        assert any(says in reason for reason in list_missing_data(plan)), changed
        assert not is_ready_to_unmask(plan)


def test_a_table_computed_before_the_plan_does_not_count() -> None:
    make_model("alpha-1")
    add_images()
    plan = make_frozen(tables=[listed(), listed("association.top")])
    assert [one.why_not for one in list_plan_analyses(plan)] == [
        "computed before the plan was frozen",
        "not computed yet",
    ]


def test_the_command_shows_names_only_with_a_reason_that_is_recorded(masked: Plan) -> None:
    out = StringIO()
    with pytest.raises(CommandError, match="Say why"):
        call_command("tables", NAME, "--unmask", " ", stdout=out)
    call_command("tables", NAME, "--unmask", "To check the file.", stdout=out)
    assert "alpha-1" in out.getvalue()
    act = PlanAct.objects.get()
    assert (act.plan, act.kind, act.reason) == (masked, PlanAct.Kind.LOOKED, "To check the file.")
    assert mask_for(NAME, {}).active


def test_of_two_plans_about_the_same_data_the_older_gives_the_names(masked: Plan) -> None:
    later = make_frozen(masked=True, mask_places=True)
    assert mask_for(NAME, {}) == Mask(masked, places=True)
    lift_mask(masked, User.objects.get(username="planner"), "done", complete=False)
    assert mask_for(NAME, {}) == Mask(later, places=True) == mask_of_models()


def test_drafts_mask_nothing() -> None:
    assert not mask_of_models().active
    assert not MaskedName.objects.exists()
    assert Model.objects.exists()
    assert json.dumps(mask_of_models().text("dall-e-3")) == '"dall-e-3"'


# Derived tables.


def compared(metric: str, first: str, second: str, **estimate: Any) -> TidyRow:
    groups = {"compared": "models", "within": "", "first": first, "second": second}
    values = {"value": 0.25, "n": 40, "clusters": 12, "low": 0.1, "high": 0.5, **estimate}
    return TidyRow(groups, metric, Estimate(**values))


def test_which_of_two_masked_models_comes_first_tells_nothing(masked: Plan) -> None:
    hiding = mask(masked)
    pairs = [("alpha-1", "beta-2"), ("alpha-1", "gamma-3"), ("beta-2", "gamma-3")]
    rows = [compared(metric, *pair) for pair in pairs for metric in ("difference", "first_mean", "second_mean")]
    hidden = hiding.table(make_table(rows, name="compare.x", columns=("compared", "within", "first", "second")))
    assert all(row.groups["first"] < row.groups["second"] for row in hidden.rows)
    for first, second in pairs:
        shown = hiding.name("model", first), hiding.name("model", second)
        (difference,) = (
            row.estimate
            for row in hidden.rows
            if row.metric == "difference" and {row.groups["first"], row.groups["second"]} == set(shown)
        )
        sign = 1 if shown[0] < shown[1] else -1
        assert difference.value == 0.25 * sign
        assert (difference.low, difference.high) == ((0.1, 0.5) if sign == 1 else (-0.5, -0.1))


def test_turning_a_comparison_swaps_its_means() -> None:
    kept, swapped = compared("first_mean", "A", "B"), compared("first_mean", "B", "A")
    assert order_masked_pair(kept) == kept
    assert (order_masked_pair(swapped).metric, order_masked_pair(swapped).groups["first"]) == ("second_mean", "A")
    assert order_masked_pair(compared("difference", "B", "A", value=None, low=None, high=None)).estimate.value is None


def test_names_of_places_leave_all_cells_where_places_are_masked(masked: Plan) -> None:
    row = TidyRow({"by": "continent", "lowest": "Africa", "worse": ""}, "gap", Estimate(0.1, 40, 12))
    hidden = mask(masked, places=True).table(make_table([row], columns=("by", "lowest", "worse")))
    assert "Africa" not in repr(hidden)
    assert hidden.rows[0].groups["lowest"].startswith("Continent ")
    assert mask(masked).text("Dishes of Africa") == "Dishes of Africa", "names of places are known, and not hidden"


def test_names_leave_what_a_page_answers_as_json(masked: Plan) -> None:
    told = {"alpha-1": ["Alpha One", {"n": 7, "none": None}], "plain": True}
    response = JsonResponse(told)
    response.headers["Content-Length"] = str(len(response.content))
    answer = redact_response(response, Redaction(mask(masked)))
    assert json.loads(answer.content) == {"[masked]": ["[masked]", {"n": 7, "none": None}], "plain": True}
    assert answer.headers["Content-Length"] == str(len(answer.content))


FREE_TEXT_FIELDS: tuple[str, ...] = ("alt", "title", "href", "label", "placeholder", "abbr", "content", "data-name")
FREE_TEXT_FIELDS += ("aria-label", "aria-description", "aria-valuetext", "aria-roledescription")


@pytest.mark.parametrize("sign", ['"', "'"])
@pytest.mark.parametrize("attribute", FREE_TEXT_FIELDS)
def test_names_leave_every_attribute_that_tells_people_something(masked: Plan, attribute: str, sign: str) -> None:
    """Seen, read aloud, or shown while nothing is typed. What a form would send back stays."""
    page = f"<p {attribute}={sign}by Alpha One{sign}>a dish</p><input value={sign}Alpha One{sign}>"
    answer = redact_response(HttpResponse(page), Redaction(mask(masked)))
    assert answer.text == page.replace("by Alpha One", "by [masked]")


def test_runs_that_are_called_by_a_model_are_not_offered(planner: Client, masked: Plan) -> None:
    add_images("run-of-alpha-1")
    add_images("plain-run")
    compute.compute_and_store(NAME, {})
    page = planner.get(PAGE).text
    assert "plain-run" in page
    assert SPELLED.findall(page) == []


def test_pages_of_masked_runs_show_no_numbers_by_model_to_those_who_do_not_steer_them(client: Client) -> None:
    make_frozen(tables=[listed("association.scores", run="vectors")], masked=True)
    for slug in ("vectors", "others"):
        make_association(image_result(make_place_in("Africa"), "painter", 1, 0), slug=slug)
    user = User.objects.create_user("reader", is_staff=True)
    user.user_permissions.add(Permission.objects.get(codename="view_run"))
    client.force_login(user)
    pages = {slug: client.get(f"/admin/evaluation/runs/{slug}/").text for slug in ("vectors", "others")}
    assert {slug for slug, page in pages.items() if "Units by country" in page} == {"others"}
    assert "A plan masks the names of models" in pages["vectors"]
    user.user_permissions.add(Permission.objects.get(codename="change_run"))
    assert "Units by country" in client.get("/admin/evaluation/runs/vectors/").text
