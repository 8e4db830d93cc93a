"""What the contract of studies gives: photographs by role, clusters, dimensions, values within groups, Config."""

import pytest
from django.test import Client

from evaluation import content_store, runner
from evaluation.contracts.study import OutcomeData, Result, UnitPlan
from evaluation.metrics.tidy import TidyTable
from evaluation.models import GeneratedImage, PromptTemplate, Run, RunLabel
from evaluation.plans.mask import Mask, MaskedNameNotFound
from evaluation.registry import lookup
from evaluation.runner import import_run
from evaluation.runner.catalogue import DatabaseCatalogue
from evaluation.tables import compute
from evaluation.tables.outcomes import iterate_outcomes
from tests.evaluation import drilldown
from tests.evaluation.derived_tables import column, estimates
from tests.evaluation.make import make_country, make_image, make_model, make_place, make_subject
from tests.evaluation.make_plans import make_frozen
from tests.evaluation.make_tables import make_staff
from tests.evaluation.provider import png
from tests.evaluation.region_study import Reach, look_at, make_object, make_reach
from tests.evaluation.region_study import reach as reach
from tests.evaluation.table_observations import check, observed

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]


def table(name: str, **filters: str) -> TidyTable:
    return compute.compute_table(lookup.find_table_spec(name), filters)


def make_two_regions(objects: int = 12, shared: int = 4) -> Run:
    """Images of the West are near (0.8 and 1), of the East not; shared ones lie in both and are 1 here, 0 there."""
    looked = []
    for n in range(objects):
        for sample in (1, 2, 3):
            looked.append(look_at(f"thing {n}", {"West": 0.8 + 0.2 * (n % 2)}, sample=sample))
            looked.append(look_at(f"other thing {n}", {"East": 0.2 * (n % 2)}, sample=sample))
    looked += [look_at(f"shared {n}", {"West": 1.0, "East": 0.0}) for n in range(shared)]
    return make_reach(*looked)


# An observation within a group.


def test_an_image_of_two_regions_has_its_own_value_in_each(reach: None) -> None:
    make_two_regions()
    assert check("reach.near") == 2
    found = observed("reach.near")
    assert len(found) == 12 * 3 * 2 + 2 * 4
    assert sorted(set(found.count_groups("region").tolist())) == [1, 2]


def test_disparities_take_the_value_of_the_group_and_half_the_weight(reach: None) -> None:
    make_two_regions()
    made = table("disparity.reach.near")
    assert (column(made, "lowest"), column(made, "highest")) == ({"East"}, {"West"})
    found = estimates(made)
    assert found["highest_value"].value == pytest.approx((36 * 0.9 + 4 * 0.5 * 1) / 38)
    assert found["lowest_value"].value == pytest.approx((36 * 0.1 + 4 * 0.5 * 0) / 38)
    # Each image counts once in what was compared, and the shared ones are known as such.
    assert (found["gap"].n, found["gap"].clusters, found["highest_value"].n) == (76, 28, 40)
    assert found["gap_unshared"].value == pytest.approx(0.8)
    assert found["gap_unshared"].n == 72


def test_comparisons_take_the_value_of_the_group(reach: None) -> None:
    """Two makers; the second's images of two regions are the other way round."""
    prompt = PromptTemplate.objects.create(slug="plain", version="1", text="{object}")
    looked = []
    for n in range(12):
        looked.append(look_at(f"thing {n}", {"West": 1.0, "East": 0.0}, "painter", prompt=prompt))
        looked.append(look_at(f"thing {n}", {"West": 0.0, "East": 0.5}, "sketcher", prompt=prompt))
        looked.append(look_at(f"thing {n}", {"West": 0.0}, "sketcher", prompt=prompt, sample=2))
    make_reach(*looked)
    made = table("compare.reach.near")
    means = {
        place: (found["first_mean"].value, found["second_mean"].value)
        for place in ("West", "East", "all")
        for found in [estimates(made, region=place, compared="models")]
    }
    # Everywhere, an image in two regions counts once, by its mean.
    assert means == {"West": (1.0, 0.0), "East": (0.0, 0.5), "all": (0.5, pytest.approx(0.125))}
    assert estimates(made, region="all", compared="models")["difference"].n == 12


# Photographs.


def test_photographs_stay_beside_under_a_prompt(reach: None) -> None:
    prompt = PromptTemplate.objects.create(slug="plain", version="1", text="{object}")
    other = PromptTemplate.objects.create(slug="other", version="1", text="A {object}")
    make_model("snaps", role="camera", backend="folder")
    make_reach(
        look_at("pot", {"West": 1.0}, prompt=prompt),
        look_at("pot", {"West": 0.0}, prompt=other),
        *(look_at("pot", {"West": 1.0}, "snaps", sample=n) for n in range(3)),
    )
    found = estimates(table("reach.near", prompt="plain"))
    assert (found["near"].value, found["photographs"].value) == (1.0, 3)
    assert "Real photographs have no prompt" in " ".join(table("reach.near", prompt="plain").notes)
    assert "Real photographs have no prompt" not in " ".join(table("reach.near", region="West").notes)


def test_colours_of_photographs_stay_beside_under_a_prompt_and_behind_the_cell() -> None:
    """The camera has a name of its own: its role says what it is."""
    prompt = PromptTemplate.objects.create(slug="plain", version="1", text="{place}")
    sha256 = content_store.store_content(png())
    runs = [Run.objects.create(study="generation", slug=slug, state=Run.State.DONE) for slug in ("made", "taken")]
    makers = make_model("painter"), make_model("snaps", role="camera", backend="folder")
    for number in range(3):
        subject = make_subject(f"Dish {number}", country=make_country())
        make_image(subject, makers[0], run=runs[0], sha256=sha256, prompt=prompt)
        make_image(subject, makers[1], run=runs[1], sha256=sha256)
    assert [image.photograph for slug in ("made", "taken") for image in DatabaseCatalogue().images(slug)] == [
        *[False] * 3,
        *[True] * 3,
    ]
    run = runner.create_run("colours", {"images": "made", "beside": "taken"})
    while runner.process_run(run.pk, "tests"):
        pass
    assert {(row.image_model, row.photograph) for row in iterate_outcomes(run)} == {("painter", False), ("snaps", True)}
    view = compute.compute_and_store("colours.diversity", {"prompt": "plain"})
    assert view.table
    assert {row.groups["model"] for row in view.table.rows} == {"painter", "snaps"}
    assert drilldown.check(view, prompt="plain") == 4


# Clusters.


def test_the_study_says_what_may_be_resampled(reach: None) -> None:
    """Nine images of three objects are three clusters, in the table and in what it is a mean of."""
    make_reach(*(look_at(f"thing {n}", {"West": 1.0}, sample=s) for n in range(3) for s in range(3)))
    assert estimates(table("reach.near"))["near"].clusters == 3
    assert check("reach.near") == 1


def test_a_subject_that_is_no_dish_is_a_cluster_and_a_place_is_none() -> None:
    """Two images of each."""
    eye, painter, given = make_model("eye", role="features", backend="pixels"), make_model(), []
    for subject in (make_object("pot", "West"), make_place("Africa")):
        for sample in (1, 2):
            image = make_image(subject, painter, sample=sample)
            key = f"image:{image.pk}"
            given.append((UnitPlan(key, eye, subject, {"image": image.pk}, key), Result(key)))
    rows = list(iterate_outcomes(import_run("colours", "mixed", {}, given)[0]))
    assert [row.subject_kind for row in rows] == ["object", "object", "place", "place"]
    assert rows[0].cluster == rows[1].cluster == f"subject:{rows[0].subject_key}"
    assert len({row.cluster for row in rows}) == 3


def test_requests_for_a_place_are_one_cluster_in_counts_and_their_observations() -> None:
    place, painter = make_place("Ghana", country=["Ghana"]), make_model()
    given = [
        (UnitPlan(f"{n}", painter, place, {}, "a"), Result(f"{n}", "refused", reason="Against the rules."))
        for n in range(3)
    ]
    import_run("generation", "places", {}, given)
    assert estimates(table("generation.counts"))["refused"].clusters == 1
    assert check("generation.counts") == 5


# Dimensions.


def test_the_language_of_a_question_is_a_label_of_its_unit(reach: None) -> None:
    """A filter on it chooses units, and it is offered like any other."""
    eye, given = make_model("eye", role="features", backend="pixels"), []
    for language, value in (("yor", 1.0), ("eng", 0.0)):
        image, subject, _ = look_at("pot", {"West": value})
        payload = {"image": image.pk, "labels": {"question_language": language}}
        key = f"image:{image.pk}:{language}"
        given.append((UnitPlan(key, eye, subject, payload, key), Result(key, numbers={"West": value, "seen": 1.0})))
    import_run("reach", "asked", {"images": "x"}, given)
    assert estimates(table("reach.near", question_language="yor"))["near"].value == 1.0
    assert estimates(table("reach.near"))["near"].n == 2
    assert table("reach.near").about["options"]["question_language"] == ["eng", "yor"]


def test_a_filter_on_a_region_chooses_in_every_table_of_studies() -> None:
    """Colours have no such column."""
    eye, given = make_model("eye", role="features", backend="pixels"), []
    for name, region in (("pot", "West"), ("lamp", "East")):
        image, subject, _ = look_at(name, {region: 1.0})
        told = {"colourfulness": 5.0, **{str(box): 1 / 27 for box in range(27)}}
        key = f"image:{image.pk}"
        given.append((UnitPlan(key, eye, subject, {"image": image.pk}, key), Result(key, numbers=told)))
    import_run("colours", "shelf", {"images": "x"}, given)
    made = table("colours.top", region="West")
    assert any("region: West" in note for note in made.notes)
    assert made.about["counted"]["outcomes"] == 1
    assert made.about["options"]["region"] == ["East", "West"]


def test_regions_are_masked_with_the_places_and_lead_back(reach: None) -> None:
    run = make_two_regions()
    assert RunLabel.objects.filter(run=run, dimension="region").exists()
    mask = Mask(make_frozen(masked=True, mask_places=True), places=True)
    for name in ("disparity.reach.near", "compare.reach.near", "reach.near"):
        hidden = mask.table(table(name))
        assert not {"West", "East"} & {value for row in hidden.rows for value in row.groups.values()}, name
    assert hidden.notes[0].startswith("Models, countries, continents and regions are masked")
    shown = mask.name("region", "West")
    assert shown in ("Region A", "Region B")
    assert mask.real("region", shown) == "West"
    with pytest.raises(MaskedNameNotFound):
        mask.real("region", "West")
    assert Mask(mask.plan).name("region", "West") == "West"


def test_behind_a_cell_are_the_images_of_its_region_with_their_value_there(reach: None) -> None:
    make_two_regions(objects=2, shared=2)
    view = compute.compute_and_store("reach.near", {})
    assert view.table
    for row in view.table.rows:
        if row.metric == "near":
            found = drilldown.everything(drilldown.cells.load_drilldown(drilldown.cell_of("reach.near", row)))
            assert len(found) == row.estimate.n == 8
            assert sum(each.value or 0 for each in found) / 8 == pytest.approx(row.estimate.value)


def test_behind_gaps_between_regions_are_the_images_of_a_region(reach: None, client: Client) -> None:
    make_two_regions()
    for name in ("reach.near", "disparity.reach.near"):
        compute.compute_and_store(name, {})
    [row] = [row for row in table("disparity.reach.near").rows if row.metric == "gap"]
    client.force_login(make_staff())
    query = {f"cell.{name}": value for name, value in row.groups.items()}
    page = client.get("/admin/evaluation/tables/disparity.reach.near/drilldown/", {**query, "metric": "gap"})
    assert "the lowest group, East" in page.text


# The model compared is the instrument.


def test_models_that_look_at_photographs_are_compared(reach: None) -> None:
    make_model("snaps", role="camera", backend="folder")
    photographs = [look_at(f"thing {n}", {"West": 1.0}, "snaps") for n in range(12)]
    make_reach(*photographs, models=("eye", "ear"))
    assert check("reach.seen") == 2
    found = estimates(table("compare.reach.seen"), region="all", first="ear", second="eye")
    assert (found["difference"].value, found["difference"].n) == (1.0, 12)


def test_instruments_of_two_runs_are_compared_on_the_images_that_both_saw(reach: None) -> None:
    both = [look_at(f"thing {n}", {"West": 1.0}) for n in range(10)]
    alone = [look_at(f"alone {n}", {"West": 1.0}) for n in range(2)]
    definition = {"model": "maker/eye", "revision": "1", "prompt": "plain"}
    make_reach(*both, *alone, slug="one", models=("eye",), definition=definition)
    make_reach(*both, slug="two", models=("ear",), definition={**definition, "model": "maker/ear"})
    make_reach(*both, slug="three", models=("ear",), definition={**definition, "prompt": "other"})
    found = estimates(table("compare.reach.seen", run="one", **{"with": "two"}), region="all", compared="models")
    assert (found["difference"].n, found["without_partner"].value) == (10, 0)
    refused = table("compare.reach.seen", run="one", **{"with": "three"})
    assert (refused.rows, refused.notes) == ((), ("one and three are not compared: they differ in prompt.",))


def test_instruments_that_saw_nothing_in_common_are_not_compared(reach: None) -> None:
    definitions = [{"model": f"maker/{name}"} for name in ("eye", "ear")]
    for name, definition in zip(("eye", "ear"), definitions, strict=True):
        make_reach(look_at("pot", {"West": 1.0}), slug=name, models=(name,), definition=definition)
    made = table("compare.reach.seen", run="eye", **{"with": "ear"})
    assert made.rows == ()
    assert "maker/eye and maker/ear are not compared: they looked at no image in common." in made.notes


# Config.


def test_a_table_is_made_with_the_configuration_of_its_run(reach: None) -> None:
    make_model("snaps", role="camera", backend="folder")
    run = make_reach(look_at("pot", {"West": 1.0}), look_at("pot", {"West": 1.0}, "snaps"))
    assert estimates(table("reach.near"))["photographs"].value is None
    Run.objects.filter(pk=run.pk).update(config={"images": "x", "least": 1})
    assert estimates(table("reach.near"))["photographs"].value == 1


def test_a_configuration_of_an_earlier_version_still_makes_a_table(reach: None) -> None:
    run = make_reach(look_at("pot", {"West": 1.0}))
    Run.objects.filter(pk=run.pk).update(config={"shelf": 3})
    assert estimates(table("reach.near"))["near"].value == 1.0


def test_inputs_of_a_table_follow_from_its_study(reach: None) -> None:
    assert lookup.find_table_spec("reach.near").inputs == ("runs.reach", "withdrawals")
    assert lookup.find_table_spec("disparity.reach.near").inputs == ("runs.reach", "withdrawals")


def test_a_study_may_read_the_cluster_that_it_would_have_had() -> None:
    outcome = OutcomeData("a", "done", "eye", "pot", "subject:x", {"object": ("pot",)}, {})
    assert (Reach().cluster_of(outcome), GeneratedImage.objects.count()) == ("object:pot", 0)
