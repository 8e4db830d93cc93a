"""Plans: frozen with time and hash before the data, never changed, verified whenever they are shown."""

import hashlib
import json
from datetime import date
from typing import Any

import pytest
from django.db import models
from django.test import Client

from evaluation.models import Plan
from evaluation.models.plans import PlanFrozenError
from evaluation.plans.evidence import Data, of_plan, of_table
from evaluation.plans.freezing import build_published_plan, freeze_plan, is_plan_intact
from evaluation.registry.lookup import find_table_spec
from evaluation.tables import compute
from evaluation.unmasking import list_plan_analyses
from tests.evaluation.make_plans import form_of, listed, make_frozen, make_plan, make_planner
from tests.evaluation.make_tables import image_result, make_association, make_place_in, make_staff

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]
PLANS = "/admin/evaluation/plans/"


@pytest.fixture
def planner(client: Client) -> Client:
    client.force_login(make_planner())
    return client


def make_units(slug: str = "vectors") -> None:
    make_association(image_result(make_place_in("Africa"), "painter", 1, 0), slug=slug)


# Freezing.


def test_a_plan_frozen_before_any_unit_says_what_there_was_and_hashes_what_it_says() -> None:
    plan = make_frozen()
    assert plan.evidence == [{"kind": "units", "part": "association", "run": "", "count": 0}]
    assert plan.before_data
    assert is_plan_intact(Plan.objects.get(pk=plan.pk))


def test_a_plan_frozen_after_data_exists_counts_it_and_is_not_before_the_data() -> None:
    make_units()
    plan = make_frozen()
    assert plan.evidence[0]["count"] == 3
    assert not plan.before_data


def test_data_of_other_studies_does_not_matter() -> None:
    make_units()
    assert make_frozen(tables=[listed("stereotypes.answers")]).before_data


def test_a_run_to_come_is_planned_before_it_although_others_exist() -> None:
    make_units()
    plan = make_frozen(tables=[listed(run="to-come")])
    assert plan.before_data
    assert plan.evidence == [{"kind": "units", "part": "association", "run": "to-come", "count": 0}]


def test_what_a_plan_names_counts_beside_what_its_tables_are_computed_from() -> None:
    make_units()
    plan = make_plan(tables=[listed("stereotypes.answers", run="r")], runs=["vectors", "later"], studies=["colours"])
    assert of_plan(plan) == [
        Data("units", "", "later"),
        Data("units", "association", "vectors"),
        Data("units", "colours", ""),
        Data("units", "stereotypes", "r"),
    ]
    assert not freeze_plan(plan, make_planner()).before_data


def test_the_hash_is_that_of_the_file_that_anybody_can_download() -> None:
    plan = make_frozen(title="إفريقيا “first”")
    document = json.loads(json.dumps(build_published_plan(plan)))
    text = json.dumps(document["plan"], ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    assert hashlib.sha256(text.encode()).hexdigest() == document["sha256"] == plan.sha256
    assert document["plan"]["evidence"] == plan.evidence


# What a plan does not say: who wrote it and when, the letters of its mask, the hash itself.
UNHASHED = {"id", "created_by", "created_at", "frozen_by", "mask_seed", "sha256"}
COLUMNS = [field for field in Plan._meta.concrete_fields if field.name not in UNHASHED]


def something_else(field: "models.Field[Any, Any]", value: Any) -> Any:
    """Another value of a plan's column."""
    if isinstance(field, models.ForeignKey):
        return make_frozen(slug="earlier").pk
    if isinstance(field, models.DateField):
        return "2030-01-01T00:00:00Z" if isinstance(field, models.DateTimeField) else date(2030, 1, 1)
    if isinstance(field, models.JSONField):
        return [*value, "another"]
    if isinstance(field, models.BooleanField):
        return not value
    return (value or 0) + 1 if isinstance(field, models.IntegerField) else f"~{value}"[: field.max_length]


@pytest.mark.parametrize("field", COLUMNS, ids=lambda field: str(field.name))
def test_a_change_behind_our_back_is_noticed(field: "models.Field[Any, Any]") -> None:
    """Of any column: a new one is part of the hash, or is named above."""
    plan = make_frozen()
    changed = something_else(field, getattr(plan, field.name))
    Plan.objects.filter(pk=plan.pk)._update([(field, None, changed)])  # type: ignore[attr-defined]
    assert not is_plan_intact(Plan.objects.get(pk=plan.pk))


def test_a_frozen_plan_is_neither_changed_nor_deleted_nor_frozen_again() -> None:
    plan = make_frozen()
    for attempt in (
        plan.save,
        plan.delete,
        lambda: freeze_plan(plan, make_planner()),
        lambda: Plan.objects.update(title="x"),
        lambda: Plan.objects.all().delete(),
    ):
        with pytest.raises(PlanFrozenError):
            attempt()
    assert is_plan_intact(Plan.objects.get(pk=plan.pk))


def test_many_drafts_are_changed_and_deleted_at_once() -> None:
    make_plan(), make_plan()
    assert Plan.objects.update(title="Renamed") == 2
    assert Plan.objects.filter(title="Renamed").delete()[0] == 2


def test_a_plan_outlives_its_tables() -> None:
    plan = make_plan(tables=[listed(), {**listed(), "table": "no.longer"}])
    assert [(one.table, one.why_not) for one in list_plan_analyses(plan)] == [
        ("association.scores", "not computed yet"),
        ("no.longer", "the definition of this table changed since the plan was frozen"),
    ]


def test_a_draft_read_before_it_was_frozen_cannot_overwrite_it() -> None:
    plan = make_plan()
    stale = Plan.objects.get(pk=plan.pk)
    freeze_plan(plan, make_planner())
    with pytest.raises(PlanFrozenError):
        stale.save()


def test_drafts_can_be_changed_and_deleted() -> None:
    plan = make_plan()
    plan.title = "Better"
    plan.save()
    plan.delete()
    assert not Plan.objects.exists()


# Data.


def test_reviews_are_told_apart_by_campaign_and_units_by_study_and_run() -> None:
    assert of_table(find_table_spec("review.quality"), {"campaign": "a"}) == {Data("reviews", "a")}
    assert of_table(find_table_spec("association.scores"), {"run": "r", "model": "m"}) == {
        Data("units", "association", "r")
    }
    assert Data("reviews", "a").meets(Data("reviews"))
    assert not Data("reviews", "a").meets(Data("reviews", "b"))
    assert not Data("reviews").meets(Data("units"))
    assert Data("units", "s", "r").meets(Data("units", "s"))
    assert not Data("units", "s", "r").meets(Data("units", "s", "q"))


def test_nothing_is_counted_of_what_does_not_exist_yet() -> None:
    assert Data("reviews", "to-come").count() is None
    assert Data("units", "association", "to-come").count() is None
    assert Data("reviews").count() == 0


# Pages.


@pytest.mark.parametrize("page", ["", "new/", "{}/", "{}/edit/", "{}/freeze/", "{}/unmask/", "{}/plan.json"])
def test_pages_of_plans_are_for_those_who_may(client: Client, page: str) -> None:
    address = PLANS + page.format(make_plan().slug)
    assert client.get(address).status_code == 302
    client.force_login(make_staff(name="other"))
    assert client.get(address).status_code == 403


def test_a_plan_is_written_frozen_and_shown(planner: Client) -> None:
    wanted = make_plan(title="Kenya first", tables=[listed("review.quality", "food", campaign="kenya")])
    sent = form_of(wanted, campaigns="kenya, uganda", stop_reviews="300", stop_on="2030-05-01", masked="on")
    answer = planner.post(f"{PLANS}new/", sent)
    assert answer.status_code == 302
    address = answer.headers["Location"]
    assert address == f"{PLANS}kenya-first/"
    assert "Draft: not frozen" in planner.get(address).text
    assert "There is no data yet" in planner.get(f"{address}freeze/").text
    planner.post(f"{address}freeze/")
    shown = planner.get(address).text
    assert "before the data." in shown
    assert "computed again now: the same" in shown
    plan = Plan.objects.get(slug="kenya-first")
    assert plan.sha256 in shown
    assert (plan.campaigns, plan.stop_reviews, plan.masked) == (["kenya", "uganda"], 300, True)
    assert plan.tables == [listed("review.quality", "food", campaign="kenya")]
    assert planner.get(f"{address}plan.json").json()["sha256"] == plan.sha256
    assert "Kenya first" in planner.get(PLANS).text


def test_freezing_after_the_data_says_so_before_and_on_the_face(planner: Client) -> None:
    make_units()
    address = f"{PLANS}{make_plan().slug}/"
    assert "There is data already" in planner.get(f"{address}freeze/").text
    planner.post(f"{address}freeze/")
    assert "it does not count as made before the data" in planner.get(address).text


def test_a_plan_changed_behind_our_back_says_so(planner: Client) -> None:
    plan = make_frozen()
    Plan.objects.filter(pk=plan.pk)._update([(Plan._meta.get_field("title"), None, "Other")])  # type: ignore[attr-defined]
    assert "it counts as no plan" in planner.get(f"{PLANS}{plan.slug}/").text


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"lines-0-table": "review.qualty"}, "Did you mean review.quality"),
        ({"lines-0-table": ""}, "This field is required"),
        ({"lines-0-table": "", "lines-0-filters": "", "lines-0-metrics": ""}, "List at least one table."),
        ({"lines-0-filters": "country"}, "Filters are written name=value"),
        ({"lines-0-filters": "countri=Kenya"}, "Did you mean country"),
        ({"lines-0-filters": "country='Kenya"}, "No closing quotation"),
        ({"lines-0-metrics": "fod"}, "Did you mean food"),
        ({"primary_metric": "disturbing"}, "not among the tables listed"),
        ({"title": ""}, "This field is required"),
        ({"title": "\x00"}, "Null characters are not allowed"),
        ({"stop_reviews": "-3"}, "greater than or equal to 0"),
        ({"stop_on": "soon"}, "Enter a valid date"),
        ({"campaigns": "a b; drop"}, "is no short name"),
        ({"amends": "99999"}, "not one of the available choices"),
        ({"lines-TOTAL_FORMS": "x"}, "ManagementForm data is missing"),
        ({"lines-TOTAL_FORMS": "999999"}, "at most 40"),
    ],
)
def test_what_cannot_be_used_is_said_and_the_typing_is_kept(
    planner: Client, wrong: dict[str, str], sentence: str
) -> None:
    plan = make_plan(tables=[listed("review.quality", "food", country="Kenya")], stopping="After the rains.")
    answer = planner.post(f"{PLANS}new/", form_of(plan, **wrong))
    assert answer.status_code == 422
    assert sentence in answer.text.replace("&#x27;", "'")
    assert "After the rains." in answer.text
    assert Plan.objects.count() == 1


def test_drafts_are_edited_with_their_lines_and_frozen_plans_are_not(planner: Client) -> None:
    plan = make_plan(tables=[listed("review.quality", "food", country="Côte d'Ivoire")])
    address = f"{PLANS}{plan.slug}/edit/"
    assert "country=Côte d" in planner.get(address).text
    planner.post(address, form_of(plan, title="Renamed", **{"lines-0-filters": 'country="Côte d\'Ivoire"'}))
    plan.refresh_from_db()
    assert (plan.title, plan.tables[0]["filters"]) == ("Renamed", {"country": "Côte d'Ivoire"})
    freeze_plan(plan, make_planner())
    answer = planner.post(address, form_of(plan, title="Late"), follow=True)
    assert "A frozen plan is never changed" in answer.text
    plan.refresh_from_db()
    assert plan.title == "Renamed"


def test_an_amendment_begins_as_a_copy_and_names_the_old_plan(planner: Client) -> None:
    old = make_frozen(title="First")
    page = planner.get(f"{PLANS}new/?amends={old.slug}").text
    assert f'<option value="{old.pk}" selected>First</option>' in page
    assert "Pictures of dishes of Africa" in page
    planner.post(f"{PLANS}new/", form_of(old, title="Second", amends=str(old.pk)))
    new = freeze_plan(Plan.objects.get(title="Second"), make_planner())
    assert build_published_plan(new)["plan"]["amends"] == old.sha256
    assert f'href="{PLANS}{old.slug}/"' in planner.get(f"{PLANS}{new.slug}/").text


def test_titles_of_any_script_get_an_address_of_their_own(planner: Client) -> None:
    plan = make_plan(slug="start")
    for _ in range(2):
        planner.post(f"{PLANS}new/", form_of(plan, title="خطة"))
    assert set(Plan.objects.values_list("slug", flat=True)) == {"start", "plan", "plan-2"}


def test_hostile_words_are_shown_as_words(planner: Client) -> None:
    plan = make_frozen(title="<script>x</script>", hypotheses="<b>y</b>")
    for address in (PLANS, f"{PLANS}{plan.slug}/"):
        assert "<script>x" not in planner.get(address).text
    assert planner.get(f"{PLANS}nothing/").status_code == 404


def test_the_list_of_the_admin_leads_to_the_page_and_changes_nothing(planner: Client) -> None:
    plan = make_frozen()
    assert plan.title in planner.get("/admin/evaluation/plan/").text
    assert planner.get(f"/admin/evaluation/plan/{plan.pk}/change/").headers["Location"] == f"{PLANS}{plan.slug}/"
    assert planner.post(f"/admin/evaluation/plan/{plan.pk}/delete/", {"post": "yes"}).status_code == 403


def test_a_plan_frozen_in_another_window_is_not_frozen_again(planner: Client) -> None:
    plan = make_frozen()
    page = planner.post(f"{PLANS}{plan.slug}/freeze/", follow=True).text
    assert "A frozen plan is never changed" in page
    assert "The plan is frozen." not in page


def test_the_admin_leads_nobody_to_a_plan_who_may_not_see_plans(client: Client) -> None:
    plan = make_frozen()
    client.force_login(make_staff())
    assert client.get(f"/admin/evaluation/plan/{plan.pk}/change/").status_code == 403


def test_a_table_planned_in_part_marks_its_other_numbers(planner: Client) -> None:
    make_frozen(tables=[listed("association.scores", "net")])
    make_units()
    compute.compute_and_store("association.scores", {})
    page = planner.get("/admin/evaluation/tables/association.scores/").text
    assert "In part exploratory: 1 of 4 numbers were planned before the data" in page
    assert page.count(">exploratory</span>") == 3
