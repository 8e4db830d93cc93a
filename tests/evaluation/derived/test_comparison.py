"""`compare.<table>`: models, prompts, runs on the same dishes; other definitions are refused, naming what differs."""

from collections.abc import Iterable, Sequence
from typing import Any

import pytest
from django.test import Client

from evaluation.contracts.study import Result, SubjectData, UnitPlan
from evaluation.contracts.table import TableSpec
from evaluation.derived import comparison
from evaluation.metrics.tidy import TidyTable
from evaluation.models import Embedding, GeneratedImage, PromptTemplate, Run, StoredTable
from evaluation.plans.evidence import Data, of_table
from evaluation.registry import lookup
from evaluation.runner import import_run
from evaluation.studies.association.study import image_key, image_payload
from evaluation.tables import compute
from tests.evaluation.derived_tables import Row, answers, estimates, make_base, make_observations
from tests.evaluation.make import make_image, make_model, make_subject, vector_result
from tests.evaluation.make_tables import make_staff, word_results
from tests.review.make_tables import make_campaign, make_maker, make_people, make_review, make_shown

pytestmark = pytest.mark.django_db
DISHES = 12


def made(base: TableSpec, **filters: str) -> TidyTable:
    table = comparison.spec_of(base)
    assert table is not None
    return compute.compute_table(table, filters)


def table(name: str, **filters: str) -> TidyTable:
    return compute.compute_table(lookup.find_table_spec(name), filters)


def under(model: str, rows: Iterable[Row], **changes: float) -> list[Row]:
    return [(changes.get("value", value), dish, person, places, model) for value, dish, person, places, _model in rows]


PAINTED = answers("Kenya", "painter", 12, (1, 0))


def make_image_bytes(
    subject: SubjectData, model: str, *, run: Run | None = None, prompt: PromptTemplate | None = None
) -> GeneratedImage:
    return make_image(subject, make_model(model), run=run, prompt=prompt)


def scored(images: Sequence[tuple[GeneratedImage, SubjectData, float]]) -> list[tuple[UnitPlan, Result]]:
    """Each image with the net score that it gets: on the axis of the good word, or of the bad one."""
    encoder = make_model("encoder", role="encoder", backend="stored")
    found = []
    for image, subject, score in images:
        key = image_key(image.pk)
        vector = (1.0, 0.0) if score > 0 else (0.0, 1.0)
        plan = UnitPlan(key, encoder, subject, image_payload(image.pk), key)
        found.append((plan, vector_result(key, *vector, image_id=image.pk)))
    return found


def make_scores(
    images: Sequence[tuple[GeneratedImage, SubjectData, float]], slug: str = "vectors", **values: Any
) -> Run:
    run, _new = import_run("association", slug, {"images": "test"}, [*word_results(), *scored(images)])
    Run.objects.filter(pk=run.pk).update(**values)
    return run


def make_run(slug: str, **definition: Any) -> Run:
    return Run.objects.create(study="generation", study_version="1", slug=slug, state="done", definition=definition)


def make_prompt(version: str) -> PromptTemplate:
    return PromptTemplate.objects.create(slug="plain", version=version, text=f"A dish, {version}")


def dishes(number: int = DISHES) -> list[SubjectData]:
    return [make_subject(f"Dish {n}") for n in range(number)]


def test_two_models_on_the_same_dishes() -> None:
    """Painter 1 and 0 of each dish, sketcher 1 of each but the last, which it never drew."""
    rows = [*PAINTED, *under("sketcher", PAINTED[:-2], value=1)]
    found = made(make_base(make_observations(rows)))
    [names] = {tuple(row.groups[name] for name in ("compared", "within", "first", "second")) for row in found.rows}
    assert names == ("models", "", "painter", "sketcher")
    everywhere = estimates(found, country="all")
    assert (everywhere["difference"].value, everywhere["difference"].n) == (0.5, 11)
    assert (everywhere["first_mean"].value, everywhere["second_mean"].value) == (0.5, 1.0)
    assert (everywhere["without_partner"].value, everywhere["without_partner"].n) == (1, 12)
    assert (everywhere["p"].value, everywhere["p"].reason) == (None, everywhere["difference"].reason)
    assert estimates(found, country="Kenya")["difference"] == everywhere["difference"]
    assert everywhere["p_holm"].value is None


def test_corrections_count_the_comparisons_that_could_be_tested() -> None:
    """Everywhere and in Kenya the same twelve dishes; Togo has too few of them for a test."""
    rows = answers("Togo", "painter", 4, (1, 0))
    unlike = [(value, *row[1:]) for value, row in zip([0.0, 1.0, 1.0, 1.0] * 6, PAINTED, strict=True)]
    found = made(make_base(make_observations([*unlike, *rows, *under("sketcher", [*PAINTED, *rows], value=1)])))
    everywhere, kenya, togo = (estimates(found, country=name) for name in ("all", "Kenya", "Togo"))
    assert everywhere["p"].value is not None and kenya["p"].value is not None and togo["p"].value is None
    assert everywhere["p"].value < kenya["p"].value
    assert everywhere["p_holm"].value == pytest.approx(2 * everywhere["p"].value)
    assert kenya["p_holm"].value == pytest.approx(kenya["p"].value)
    assert "Holm over 2 tests" in kenya["p_holm"].method


def test_people_are_paired_with_themselves() -> None:
    campaign = make_campaign()
    people = make_people(campaign, 6)
    for number in range(DISHES):
        subject = {"name": f"Dish {number}", "source_key": f"shared:{number}"}
        shown = make_shown(campaign, model=make_maker("Dalle2"), **subject)
        other = make_shown(campaign, model=make_maker("Dalle3"), name=f"Dish {number}", source_key=f"other:{number}")
        other.image.subject = shown.image.subject
        other.image.save()
        for place, person in enumerate(people):
            make_review(shown, person, food=False)
            if place < 4:
                make_review(other, person, food=number % 2 == 0)
    found = estimates(table("compare.review.quality"), measure="food", country="Kenya")
    assert (found["difference"].value, found["difference"].n, found["difference"].clusters) == (0.5, 4 * DISHES, DISHES)
    assert "fewer than 5 reviewers" in found["difference"].reason
    notes = table("compare.review.quality").notes
    assert any("know dishes and people" in note for note in notes)
    assert found["difference"].small, "four people"


def test_models_are_compared_only_within_a_prompt_and_prompts_within_a_model() -> None:
    """Painter: prompt 1 good, prompt 2 bad. Sketcher: prompt 1 bad. A photograph of each dish: good."""
    one, two = make_prompt("1"), make_prompt("2")
    make_model("real", role="camera")
    images = []
    for subject in dishes():
        images += [
            (make_image_bytes(subject, "painter", prompt=one), subject, 1.0),
            (make_image_bytes(subject, "painter", prompt=two), subject, -1.0),
            (make_image_bytes(subject, "sketcher", prompt=one), subject, -1.0),
            (make_image(subject, make_model("real", role="camera")), subject, 1.0),
        ]
    make_scores(images)
    found = table("compare.association.scores", measure="net", continent="all")
    differences = {
        tuple(row.groups[name] for name in ("compared", "within", "first", "second")): row.estimate.value
        for row in found.rows
        if row.metric == "difference"
    }
    assert differences == {
        ("models", "plain 1", "painter", "sketcher"): -2.0,
        ("models", "plain 1", "real", "painter"): 0.0,
        ("models", "plain 1", "real", "sketcher"): -2.0,
        ("models", "plain 2", "real", "painter"): -2.0,
        ("prompts", "painter", "plain 1", "plain 2"): -2.0,
    }


@pytest.mark.parametrize(
    ("other", "part"),
    [
        ({"revision": "b"}, "model revision"),
        ({"prompt_sha256": "2"}, "prompt hash"),
        ({"parameters": {}}, "parameters"),
    ],
)
def test_images_of_a_model_by_different_definitions_are_not_compared(other: dict[str, Any], part: str) -> None:
    definition = {"revision": "a", "prompt_sha256": "1", "parameters": {"steps": 50}}
    runs = [make_run("first", **definition), make_run("second", **{**definition, **other})]
    images = []
    for number, subject in enumerate(dishes()):
        images.append((make_image_bytes(subject, "painter", run=runs[number % 2]), subject, 1.0))
        images.append((make_image_bytes(subject, "sketcher", run=runs[0]), subject, 1.0))
    make_scores(images)
    found = table("compare.association.scores")
    assert found.rows == ()
    sentence = f"painter is not compared: its own images differ in {part}."
    assert sentence in found.notes


def test_models_may_differ_in_what_is_their_own_but_not_in_how_they_were_asked() -> None:
    definition = {"model": "a", "revision": "a", "prompt_sha256": "1"}
    first = make_run("first", **definition)
    same, other = (
        make_run("same", **{**definition, "model": "b"}),
        make_run("other", **{**definition, "prompt_sha256": "2"}),
    )
    subjects = dishes()
    for run, rows in ((same, 1), (other, 0)):
        images = [(make_image_bytes(subject, "painter", run=first), subject, 1.0) for subject in subjects]
        images += [(make_image_bytes(subject, f"by-{run.slug}", run=run), subject, 1.0) for subject in subjects]
        make_scores(images, slug=f"vectors-{run.slug}")
        found = table("compare.association.scores", run=f"vectors-{run.slug}")
        assert bool(found.rows) == bool(rows), run
    assert any("painter are not compared: their images differ in prompt hash." in note for note in found.notes)


def two_runs(**definition: Any) -> None:
    """Two runs over the same images; in the second every score is the lowest."""
    subjects = dishes()
    images = [make_image_bytes(subject, "painter") for subject in subjects]
    make_scores([(image, subject, 1.0) for image, subject in zip(images, subjects, strict=True)], "first")
    more = [make_image_bytes(subject, "painter") for subject in subjects]
    make_scores([(image, subject, -1.0) for image, subject in zip(more, subjects, strict=True)], "second", **definition)


def test_two_runs_of_a_study_are_paired_by_dish() -> None:
    two_runs()
    found = table("compare.association.scores", run="first", **{"with": "second"})
    [names] = {tuple(row.groups[name] for name in ("compared", "within", "first", "second")) for row in found.rows}
    assert names == ("runs", "painter", "first", "second")
    assert estimates(found, measure="net", continent="Africa")["difference"].value == -2.0
    assert "Runs first (first) and second (second)." in found.notes


def test_a_model_of_one_run_alone_is_paired_with_nothing() -> None:
    subjects = dishes()
    for slug, names in (("first", ("painter", "sketcher")), ("second", ("painter",))):
        make_scores([(make_image_bytes(each, name), each, 1.0) for each in subjects for name in names], slug)
    found = table("compare.association.scores", run="first", **{"with": "second"})
    assert {row.groups["within"] for row in found.rows} == {"painter"}


@pytest.mark.parametrize(
    ("changed", "part"),
    [
        ({"study_version": "2"}, "study version"),
        ({"definition": {"revision": "b"}}, "model revision"),
        ({"definition": {"encoder": "other", "prompt": "An image of {descriptor}."}}, "encoder, prompt"),
    ],
)
def test_runs_of_different_definitions_are_refused_and_the_part_is_named(changed: dict[str, Any], part: str) -> None:
    two_runs(**changed)
    found = table("compare.association.scores", run="first", **{"with": "second"})
    assert (found.rows, found.notes) == ((), (f"first and second are not compared: they differ in {part}.",))


def test_runs_whose_images_were_prepared_differently_are_refused() -> None:
    two_runs()
    Embedding.objects.filter(outcome__unit__run__slug="second").exclude(image=None).update(preprocessing="crop")
    found = table("compare.association.scores", run="first", **{"with": "second"})
    assert found.notes == ("first and second are not compared: they differ in preprocessing.",)


@pytest.mark.parametrize(("other", "sentence"), [("nothing", "no finished run"), ("first", "not compared with itself")])
def test_a_run_that_is_not_there_is_said(other: str, sentence: str) -> None:
    two_runs()
    found = table("compare.association.scores", run="first", **{"with": other})
    assert found.rows == ()
    assert sentence in found.notes[0]


def make_generation(slug: str, model: str, subjects: list[SubjectData], refused: int = 0, **definition: Any) -> None:
    """A run in which so many of the dishes were refused."""
    name = make_model(model)
    plans = [
        (UnitPlan(f"{n}", name, subject, {}, f"{n}"), Result(f"{n}", "refused" if n < refused else "empty"))
        for n, subject in enumerate(subjects)
    ]
    run, _new = import_run("generation", slug, {"model": model}, plans)
    Run.objects.filter(pk=run.pk).update(
        definition={"model": model, "prompt": "plain 1", "prompt_sha256": "1", **definition}
    )


def test_runs_of_generation_compare_their_models_or_their_prompts() -> None:
    subjects = dishes()
    make_generation("a", "painter", subjects, refused=6)
    make_generation("b", "sketcher", subjects)
    make_generation("c", "painter", subjects, prompt="plain 2", prompt_sha256="2")
    make_generation("d", "sketcher", subjects, prompt="plain 2", prompt_sha256="2")
    for other, names in (
        ("b", ("models", "plain 1", "painter", "sketcher")),
        ("c", ("prompts", "painter", "plain 1", "plain 2")),
    ):
        found = table("compare.generation.counts", run="a", **{"with": other})
        held = {tuple(row.groups[name] for name in ("compared", "within", "first", "second")) for row in found.rows}
        assert held == {names}
        assert estimates(found, measure="refused", country="all")["difference"].value == -0.5
    refused = table("compare.generation.counts", run="a", **{"with": "d"})
    assert refused.notes == ("a and d are not compared: they differ in model, prompt, prompt hash.",)


def test_a_dish_in_two_continents_weighs_a_half_in_each() -> None:
    """Africa: a difference of 2 at weight 1 and one of 0 at weight ½."""
    rows = [
        (0.0, "d1", "", ("Africa",), "painter"),
        (2.0, "d1", "", ("Africa",), "sketcher"),
        (1.0, "d2", "", ("Africa", "Asia"), "painter"),
        (1.0, "d2", "", ("Africa", "Asia"), "sketcher"),
    ]
    found = made(make_base(make_observations(rows, "continent")))
    assert estimates(found, continent="Africa")["difference"].value == pytest.approx(2 / 1.5)
    assert estimates(found, continent="Asia")["difference"].value == 0.0
    assert estimates(found, continent="all")["difference"].value == 1.0


def test_one_model_has_nothing_to_be_compared_with() -> None:
    found = made(make_base(make_observations(PAINTED)))
    assert found.rows == ()
    assert "Nothing is compared: there are no two models, prompts or runs here." in found.notes


def test_models_without_a_common_dish_are_not_measured_and_say_so() -> None:
    rows = [*PAINTED, *answers("Ghana", "sketcher", 12, (1, 1))]
    found = estimates(made(make_base(make_observations(rows))), country="all")
    for metric in ("difference", "p", "p_holm", "first_mean", "second_mean"):
        assert (found[metric].value, found[metric].reason) == (None, "no dish was measured under both")
    assert (found["without_partner"].value, found["without_partner"].n) == (24, 24)


def test_few_dishes_have_a_difference_but_no_interval_and_no_test() -> None:
    rows = [*PAINTED[:8], *under("sketcher", PAINTED[:8], value=1)]
    found = estimates(made(make_base(make_observations(rows))), country="all")
    assert (found["difference"].value, found["difference"].low, found["difference"].small) == (0.5, None, True)
    assert (found["p"].value, found["p"].reason[:22]) == (None, "fewer than 10 dishes: ")


def test_behind_a_difference_stand_the_images_of_a_model_in_a_place(client: Client) -> None:
    subjects = dishes()
    make_scores([(make_image_bytes(subject, name), subject, 1.0) for subject in subjects for name in ("one", "two")])
    for name in ("association.scores", "compare.association.scores"):
        compute.compute_and_store(name, {})
    client.force_login(make_staff())
    names = {"compared": "models", "within": "", "first": "one", "second": "two"}
    for place, seen in (("Africa", "all images of two here"), ("all", "choose a row with a place")):
        groups = {"measure": "net", "group": "taste", "continent": place, **names}
        query = {**{f"cell.{name}": value for name, value in groups.items()}, "metric": "second_mean"}
        page = client.get("/admin/evaluation/tables/compare.association.scores/drilldown/", query).content.decode()
        assert seen in page
        assert page.count('class="image"') == (DISHES if place == "Africa" else 0)
    StoredTable.objects.filter(name="association.scores").delete()
    query["cell.continent"] = "Africa"
    page = client.get("/admin/evaluation/tables/compare.association.scores/drilldown/", query).content.decode()
    assert "The table association.scores was not computed yet" in page


def test_two_runs_are_both_data_of_their_table() -> None:
    """A plan that masks one of them masks the table."""
    spec = lookup.find_table_spec("compare.association.scores")
    both = {Data("units", "association", "first"), Data("units", "association", "second")}
    assert of_table(spec, {"run": "first", "with": "second"}) == both
    assert of_table(spec, {}) == {Data("units", "association", "")}
    assert of_table(spec, {"with": "second"}) == {
        Data("units", "association", ""),
        Data("units", "association", "second"),
    }


def test_the_page_offers_the_other_runs(client: Client) -> None:
    two_runs()
    client.force_login(make_staff())
    page = client.get("/admin/evaluation/tables/compare.association.scores/").content.decode()
    assert 'name="with"' in page
    assert client.get("/admin/evaluation/tables/compare.association.scores/?run=first&with=second").status_code == 200


def test_tables_without_models_have_none() -> None:
    assert comparison.spec_of(lookup.find_table_spec("review.controls")) is None
    with pytest.raises(lookup.TableNotFound):
        lookup.find_table_spec("compare.review.controls")
