"""The association study: its plan, its vectors, and the table worked out by hand."""

from collections.abc import Iterator, Mapping, Sequence
from math import sqrt

import numpy as np
import pytest

from evaluation.contracts.study import (
    AnswerData,
    ConfigError,
    DescriptorData,
    DishData,
    ImageData,
    ModelData,
    NumbersData,
    OutcomeData,
    PromptData,
    QuestionsData,
    SubjectData,
    VectorData,
    Work,
)
from evaluation.metrics.tidy import Estimate, TidyTable
from evaluation.models import DescriptorSet
from evaluation.registry.lookup import find_table_spec
from evaluation.runner.catalogue import subject_data
from evaluation.studies.association.study import Association, AssociationConfig, Sign, image_key, text_key, text_payload
from evaluation.studies.association.tables import gather_association_data
from evaluation.subjects import subject_for
from evaluation.tables.compute import compute_table
from evaluation.tables.outcomes import iterate_outcomes
from tests.evaluation.make import make_dish, make_model, plan, vector_result
from tests.evaluation.make_tables import image_result, make_association, make_place_in

pytestmark = pytest.mark.embedded

ENCODER = ModelData(1, "clip", "encoder", "stored", "openai/clip", "abc", {})
PAINTER = ModelData(2, "painter", "image_generator", "sketch", "sketch", "1", {})
AFRICA = SubjectData(1, "place", "Africa", {"continent": ("Africa",)})
WORDS = DescriptorData(
    1,
    "association",
    "1",
    {"taste": {"positive": ("fine", "good"), "negative": ("poor",)}},
    "A photo of {descriptor} food.",
)


class Shelf:
    """A catalogue of two models, three words and two images."""

    def subjects(self, selection: Mapping[str, object]) -> Sequence[SubjectData]:
        return [AFRICA]

    def model(self, slug: str) -> ModelData:
        return {"clip": ENCODER, "painter": PAINTER}[slug]

    def prompt(self, slug: str, version: str = "") -> PromptData:
        raise ConfigError("no prompts")

    def descriptors(self, slug: str, version: str = "") -> DescriptorData:
        return WORDS

    def questions(self, slug: str, version: str = "") -> QuestionsData:
        raise ConfigError("no questions")

    def images(self, run: str) -> Sequence[ImageData]:
        return [ImageData(number, AFRICA, "painter", number, None, "ab") for number in (7, 8)]

    def dishes(self, subjects: Sequence[SubjectData]) -> Mapping[int, DishData]:
        return {}

    def answers(self, run: str) -> Sequence[AnswerData]:
        return []

    def vectors(self, run: str) -> Iterator[VectorData]:
        return iter(())

    def numbers(self, run: str) -> Iterator[NumbersData]:
        return iter(())


class Lengths:
    """An encoder that gives the length of what it reads, in both directions."""

    preprocessing = "lengths"

    def encode_images(self, contents: Sequence[bytes]) -> np.ndarray:
        return np.array([[len(content), 0] for content in contents], dtype=np.float32)

    def encode_texts(self, texts: Sequence[str]) -> np.ndarray:
        return np.array([[0, len(text)] for text in texts], dtype=np.float32)


def estimates(table: TidyTable, **groups: str) -> dict[str, Estimate]:
    """Metric → estimate of the one group."""
    found = {row.metric: row.estimate for row in table.rows if dict(row.groups) == {"group": "taste", **groups}}
    assert found, f"no row of {groups}"
    return found


def test_plan_has_a_unit_for_each_word_and_each_image() -> None:
    plan = Association().plan(AssociationConfig(images="run", encoder="clip"), Shelf())
    units = list(plan.units)
    assert [unit.key for unit in units] == [
        "text:taste:positive:fine",
        "text:taste:positive:good",
        "text:taste:negative:poor",
        "image:7",
        "image:8",
    ]
    assert units[0].payload["text"] == "A photo of fine food."
    assert units[-1].payload == {"image": 8}
    assert units[-1].subject == AFRICA
    assert plan.definition["revision"] == "abc"


def test_a_model_that_is_no_encoder_is_refused_with_its_role() -> None:
    with pytest.raises(ConfigError, match="image_generator"):
        Association().plan(AssociationConfig(images="run", encoder="painter"), Shelf())


def test_a_word_of_two_groups_has_a_unit_in_each() -> None:
    keys = {
        text_key(text_payload("A photo of plain food.", "plain", group, "negative")) for group in ("taste", "style")
    }
    assert len(keys) == 2


def test_executing_gives_one_vector_for_each_unit() -> None:
    payload = text_payload("abc", "abc", "taste", "positive")
    units = [
        Work("image:7", AFRICA, ENCODER, {"image": 7}, image_bytes=b"12345"),
        Work(text_key(payload), None, ENCODER, payload),
        Work("image:8", AFRICA, ENCODER, {"image": 8}, stored_vector=np.array([9, 9], dtype=np.float32)),
    ]
    found = {result.key: result.vector for result in Association().execute(units, Lengths())}
    vectors = {key: vector.vector.tolist() for key, vector in found.items() if vector}
    assert vectors == {"image:7": [5, 0], text_key(payload): [0, 3], "image:8": [9, 9]}
    assert found["image:7"] is not None
    assert (found["image:7"].image_id, found["image:7"].preprocessing) == (7, "lengths")


def test_an_image_that_nobody_holds_fails_with_a_reason_and_stops_nothing() -> None:
    units = [Work("image:7", AFRICA, ENCODER, {"image": 7}), Work("image:8", AFRICA, ENCODER, {"image": 8}, b"1")]
    states = {result.key: (result.state, bool(result.reason)) for result in Association().execute(units, Lengths())}
    assert states == {"image:7": ("failed", True), "image:8": ("done", False)}


@pytest.mark.django_db
def test_scores_by_hand() -> None:
    # Words along the axes, so net = first − second coordinate of the unit vector.
    # (1, 0): 1. (0, 1): −1. (3, 4): 0.6 − 0.8 = −0.2. Within the model: −1 → −1, 1 → 1, −0.2 → 2·0.8/2 − 1 = −0.2.
    africa, asia = make_place_in("Africa"), make_place_in("Asia")
    make_association(
        image_result(africa, "painter", 1, 0),
        image_result(africa, "painter", 3, 4),
        image_result(asia, "painter", 0, 1),
    )
    table = compute_table(find_table_spec("association.scores"), {})
    africa_rows = estimates(table, continent="Africa", model="painter")
    assert africa_rows["net"].value == pytest.approx((1 - 0.2) / 2)
    assert africa_rows["normalised_score"].value == pytest.approx((1 - 0.2) / 2)
    assert (africa_rows["net"].n, africa_rows["net"].clusters) == (2, 2)
    assert estimates(table, continent="Asia", model="painter")["net"].value == pytest.approx(-1)
    assert africa_rows["as_printed"].value == pytest.approx((1 + 1.4) / 2)
    assert table.extra == {
        "taste/painter lowest": pytest.approx(-1),
        "taste/painter highest": pytest.approx(1),
        "taste/all models lowest": pytest.approx(-1),
        "taste/all models highest": pytest.approx(1),
    }


@pytest.mark.django_db
def test_the_range_of_one_model_does_not_reach_another() -> None:
    place = make_place_in("Africa")
    make_association(
        image_result(place, "wide", 1, 0),
        image_result(place, "wide", 0, 1),
        image_result(place, "narrow", 1, 1),
        image_result(place, "narrow", 2, 1),
    )
    table = compute_table(find_table_spec("association.scores"), {})
    narrow = estimates(table, continent="Africa", model="narrow")
    assert narrow["normalised_score"].value == pytest.approx(0)
    # (2 − 1) ÷ √5 and 0; over all models the range is −1 to 1, so nothing is rescaled.
    assert narrow["net"].value == pytest.approx(1 / sqrt(5) / 2)
    assert narrow["normalised_over_all"].value == pytest.approx(1 / sqrt(5) / 2)


@pytest.mark.django_db
def test_an_image_without_a_continent_counts_in_the_range_alone() -> None:
    make_association(image_result(make_place_in("Africa"), "painter", 1, 0), image_result(make_place_in(), "b", 0, 1))
    made = compute_table(find_table_spec("association.scores"), {})
    assert {row.groups["continent"] for row in made.rows} == {"Africa"}
    assert "1 scored images have no continent: they count in the rescaling and in no row." in made.notes


@pytest.mark.django_db
def test_a_subject_of_two_continents_counts_in_both_and_once_in_the_range() -> None:
    both = make_place_in("Africa", "Asia")
    make_association(image_result(both, "painter", 1, 0), image_result(both, "painter", 0, 1))
    table = compute_table(find_table_spec("association.scores"), {})
    assert {row.groups["continent"] for row in table.rows} == {"Africa", "Asia"}
    assert estimates(table, continent="Asia", model="painter")["net"].n == 2


@pytest.mark.django_db
def test_images_of_one_dish_are_one_cluster() -> None:
    dish = subject_data(subject_for(make_dish()))
    make_association(*(image_result(dish, "painter", 1, number) for number in range(12)))
    found = estimates(compute_table(find_table_spec("association.scores"), {}), continent="Africa", model="painter")[
        "net"
    ]
    assert (found.n, found.clusters) == (12, 1)
    assert found.low is None
    assert "fewer than 10 dishes" in found.reason


@pytest.mark.django_db
def test_ten_images_without_a_dish_claim_an_interval_around_their_mean() -> None:
    place = make_place_in("Africa")
    make_association(*(image_result(place, "painter", 1, number) for number in range(10)))
    found = estimates(compute_table(find_table_spec("association.scores"), {}), continent="Africa", model="painter")[
        "net"
    ]
    assert found.low is not None
    assert found.high is not None
    assert found.value is not None
    assert found.low < found.value < found.high
    assert "Student’s t" in found.method


@pytest.mark.django_db
def test_images_without_a_vector_are_counted_and_not_scored_as_zero() -> None:
    africa, asia = make_place_in("Africa"), make_place_in("Asia")
    make_association(
        image_result(africa, "painter", 1, 0),
        image_result(africa, "painter", 0, 1),
        image_result(asia, "painter", failed=True),
    )
    table = compute_table(find_table_spec("association.scores"), {})
    found = estimates(table, continent="Asia", model="painter")["net"]
    assert (found.value, found.n) == (None, 0)
    assert found.reason
    assert any("left out: 1" in note for note in table.notes)


@pytest.mark.django_db
def test_equal_scores_leave_the_rescaled_one_unmeasured() -> None:
    place = make_place_in("Africa")
    make_association(image_result(place, "painter", 1, 0), image_result(place, "painter", 2, 0))
    found = estimates(compute_table(find_table_spec("association.scores"), {}), continent="Africa", model="painter")
    assert found["normalised_score"].value is None
    assert "no range" in found["normalised_score"].reason
    assert found["net"].value == pytest.approx(1)


@pytest.mark.django_db
def test_words_that_are_only_ranked_make_no_row() -> None:
    payload = text_payload("a photo of weird food", "weird", "comparison", "none")
    key = text_key(payload)
    encoder = make_model("encoder", role="encoder", backend="stored")
    ranked = (plan(key, encoder, **payload), vector_result(key, 1, 1, text=payload["text"]))
    run = make_association(image_result(make_place_in("Africa"), "painter", 1, 0), ranked)
    table = Association().summarise("scores", iterate_outcomes(run), None)
    assert {row.groups["group"] for row in table.rows} == {"taste"}


def test_a_run_without_outcomes_gives_an_empty_table() -> None:
    table = Association().summarise("scores", [], None)
    assert table.rows == ()
    assert "Words: none." in table.notes


@pytest.mark.django_db
def test_a_run_in_which_every_image_failed_says_so_in_its_rows() -> None:
    make_association(image_result(make_place_in("Africa"), "painter", failed=True))
    found = estimates(compute_table(find_table_spec("association.scores"), {}), continent="Africa", model="painter")
    assert {estimate.value for estimate in found.values()} == {None}


def test_another_table_is_refused() -> None:
    with pytest.raises(ValueError, match="no table"):
        Association().summarise("ranks", [], None)


@pytest.mark.parametrize("name", Association.tables)
def test_every_table_of_a_run_without_outcomes_is_empty(name: str) -> None:
    assert Association().summarise(name, [], None).rows == ()


def image(number: int, place: str, *vector: float, cluster: str = "") -> OutcomeData:
    return OutcomeData(
        key=image_key(number),
        state="done",
        model="clip",
        subject=place,
        cluster=cluster or f"image:{number}",
        labels={"continent": (place,)},
        payload={"image": number},
        image_model="painter",
        image_id=number,
        vector=np.array(vector, dtype=np.float32),
    )


def word(sign: Sign, *vector: float) -> OutcomeData:
    payload = text_payload(f"A photo of {sign} food.", sign, "taste", sign)
    return OutcomeData(
        text_key(payload), "done", "clip", "", "", {}, payload, vector=np.array(vector, dtype=np.float32)
    )


def fan(number: int, *, places: Sequence[str], each: int = 1) -> list[OutcomeData]:
    """Images along a quarter circle, from the positive word to the negative one; `each` of them per cluster."""
    angles = np.linspace(0, np.pi / 2, number)
    return [
        image(at, places[at % len(places)], np.cos(angle), np.sin(angle), cluster=f"dish:{at // each}")
        for at, angle in enumerate(angles)
    ]


def test_shares_among_the_nearest_fifty_by_hand() -> None:
    # Africa, Asia, Asia, Africa, Asia, Asia …: of the first 50 images 17 lie in Africa, 33 in Asia.
    words = [word("positive", 1, 0), word("negative", 0, 1)]
    table = Association().summarise("descriptors", [*words, *fan(120, places=["Africa", "Asia", "Asia"])], None)
    found = {(row.groups["descriptor"], row.groups["continent"]): row.estimate for row in table.rows}
    africa = found["A photo of positive food.", "Africa"]
    assert (africa.value, africa.n, africa.clusters) == (pytest.approx(17 / 50), 50, 50)
    assert found["A photo of positive food.", "Asia"].value == pytest.approx(33 / 50)
    # From the other end: 119, 118, … 70; 119 % 3 = 2, so 16 in Africa.
    assert found["A photo of negative food.", "Africa"].value == pytest.approx(16 / 50)
    assert africa.low is not None and africa.high is not None and africa.low < 17 / 50 < africa.high


def test_a_place_without_any_near_image_has_an_exact_upper_limit_and_no_interval_of_width_zero() -> None:
    # Fifty images, each a cluster of its own, none of them in Asia: 1 − .025^(1/50) = .0711.
    outcomes = [word("positive", 1, 0), *fan(120, places=["Africa"] * 60 + ["Asia"] * 60)]
    rows = Association().summarise("descriptors", outcomes, None).rows
    found = {row.groups["continent"]: row.estimate for row in rows}
    assert (found["Asia"].value, found["Asia"].low, found["Asia"].high) == (0, 0, pytest.approx(0.0711, abs=1e-4))
    assert (found["Africa"].value, found["Africa"].low) == (1, pytest.approx(0.9289, abs=1e-4))


def test_with_fifty_images_or_fewer_nothing_is_nearest() -> None:
    table = Association().summarise("descriptors", [word("positive", 1, 0), *fan(50, places=["Africa"])], None)
    [row] = table.rows
    assert row.estimate.value is None
    assert "no more than 50" in row.estimate.reason


def test_an_interval_of_shares_is_over_dishes_and_not_images() -> None:
    def width(each: int) -> float:
        outcomes = [word("positive", 1, 0), *fan(240, places=["Africa"] * each + ["Asia"] * each, each=each)]
        rows = Association().summarise("descriptors", outcomes, None).rows
        found = next(row.estimate for row in rows if row.groups["continent"] == "Africa")
        assert found.low is not None and found.high is not None
        return found.high - found.low

    assert width(5) > 1.5 * width(1)


def test_extreme_images_stand_in_their_order_and_never_at_both_ends() -> None:
    words = [word("positive", 1, 0), word("negative", 0, 1)]
    table = Association().summarise("top", [*words, *fan(7, places=["Africa"])], None)
    ends = {(row.groups["end"], row.groups["place"]): row.groups["picture"] for row in table.rows}
    assert ends == {
        **{("top", str(place)): str(place - 1) for place in (1, 2, 3)},
        **{("bottom", str(place)): str(7 - place) for place in (1, 2, 3)},
    }


@pytest.mark.django_db
def test_the_default_descriptor_set_ships_with_the_project() -> None:
    assert DescriptorSet.objects.filter(slug=AssociationConfig(images="x").descriptors).exists()
    assert image_key(3) == "image:3"


def test_words_without_a_vector_are_left_out() -> None:
    word = OutcomeData(
        "key", "failed", "clip", "", "", {}, {"text": "tasty", "group": "taste", "sign": "positive"}, "", {}
    )
    found = gather_association_data([word])
    assert not found.texts and found.groups() == {}
