"""`agreement.*`: people beside machines on sets with known values; and every way in which nothing can be measured."""

from collections.abc import Sequence
from math import isnan
from typing import Any

import numpy as np
import pytest
from django.http import QueryDict
from django.test import Client
from django.urls import reverse
from django.utils.http import urlencode
from scipy.stats import spearmanr
from sklearn.metrics import brier_score_loss, cohen_kappa_score, roc_auc_score

from collection.models import Dish
from evaluation.drilldown.cells import cell_of, load_drilldown
from evaluation.metrics.human_ceiling import LABELS
from evaluation.metrics.thresholds import fitted_labels
from evaluation.models import Model, Role, Run
from evaluation.registry import lookup
from evaluation.registry.names import TABLES
from evaluation.tables import compute
from review.models import CampaignImage, Questionnaire
from review.people_machine import opinions as gathering
from review.people_machine.labels import FITTED
from review.people_machine.registry import PAIRS, asked_of_people
from tests.evaluation.make import make_dish
from tests.evaluation.make_tables import make_staff
from tests.review.machines import (
    agreement,
    chances,
    found,
    make_answers,
    make_colours,
    make_judged,
    make_scores,
    opinions,
    ticked,
)
from tests.review.make_tables import make_campaign, make_exclusion, make_maker, make_opinion, make_shown, table

pytestmark = pytest.mark.django_db
NAMES = [name for name in TABLES if name.startswith("agreement.")]
FOOD = {"question": "food"}
CHOSEN = {**FOOD, "threshold": "none"}


def honest(**filters: str) -> None:
    """No table says NaN, and wherever a number is missing there is a reason."""
    for name in NAMES:
        for row in table(name, **filters).rows:
            estimate = row.estimate
            assert estimate.value is not None or estimate.reason, (name, row)
            numbers = (estimate.value, estimate.low, estimate.high)
            assert not any(isnan(number) for number in numbers if number is not None), (name, row)


# Labels.


def test_by_hand_labels() -> None:
    # As in the test of the metric: both yes 4, machine alone 1, people alone 2, neither 3; every image by three
    # people of one mind, so that the ceiling is 1.
    people, machine = [1, 1, 1, 1, 0, 1, 1, 0, 0, 0], [1, 1, 1, 1, 1, 0, 0, 0, 0, 0]
    images = make_judged([opinions(3 * yes, 3 - 3 * yes) for yes in people])
    make_answers(images, ["A: Yes" if yes else "B: No" for yes in machine])
    row = agreement("labels", FOOD)
    values = [row[name].value for name in ("kappa", "raw_agreement", "ac1", "prevalence", "machine_yes")]
    assert values == pytest.approx([0.4, 0.7, 0.205 / 0.505, 0.6, 0.5])
    assert [row[f"ceiling_{name}"].value for name in ("kappa", "raw_agreement", "ac1")] == [1, 1, 1]
    assert {(estimate.n, estimate.clusters) for estimate in (row["kappa"], row["ceiling_kappa"])} == {(10, 10)}
    assert (row["ties"].value, row["ties"].n, row["ceiling_ties"].value, row["ceiling_ties"].n) == (0, 10, 0, 30)
    assert (row["kappa"].low, row["kappa"].reason) == (None, "fewer than 20 dishes: kappa claims no interval")
    assert row["raw_agreement"].low is not None
    assert "over dishes" in row["raw_agreement"].method


def test_by_hand_ties_are_dropped_and_counted_and_the_variants_keep_them() -> None:
    # yes yes no | yes no | no no, and one who says yes alone. The machine says yes to the first two.
    images = make_judged([opinions(2, 1), opinions(1, 1), opinions(0, 2), opinions(1, 0)])
    make_answers(images, ["A", "A", "B", "B"])
    row = agreement("labels", FOOD)
    assert (row["ties"].value, row["ties"].n, row["raw_agreement"].n) == (1, 4, 3)
    assert row["raw_agreement"].value == pytest.approx(2 / 3)
    row = agreement("labels", FOOD, label="any")
    assert (row["ties"].value, row["raw_agreement"].n, row["raw_agreement"].value) == (0, 4, 0.75)
    row = agreement("labels", FOOD, label="opinions")
    assert (row["raw_agreement"].n, row["raw_agreement"].value) == (8, pytest.approx(5 / 8))
    # Ceiling: of yes yes no, each yes sees a tie, the no sees yes.
    row = agreement("labels", FOOD)
    assert (row["ceiling_ties"].value, row["ceiling_ties"].n) == (2, 3)
    assert (row["ceiling_raw_agreement"].value, row["ceiling_raw_agreement"].n) == (0, 1)


class World:
    """60 images of 30 dishes with 3 to 5 opinions each, and a machine that is right more often than not."""

    def __init__(self) -> None:
        rng = np.random.default_rng(11)
        self.truth = rng.random(60) < 0.5
        self.said = [(rng.random(rng.integers(3, 6)) < (0.8 if yes else 0.25)).tolist() for yes in self.truth]
        self.chances = np.round(np.clip(self.truth * 0.3 + rng.random(60) * 0.7, 0.01, 0.99), 2)
        self.images = make_judged([[{"food": yes} for yes in each] for each in self.said])
        for first, second in zip(self.images[::2], self.images[1::2], strict=True):
            second.image.subject = first.image.subject
            second.image.save()
        make_answers(self.images, chances(self.chances.tolist()))

    @property
    def share(self) -> np.ndarray:
        return np.array([np.mean(each) for each in self.said])

    @property
    def untied(self) -> np.ndarray:
        return self.share != 0.5


def test_a_synthetic_world_equals_other_libraries() -> None:
    world = World()
    kept, people = world.untied, world.share > 0.5
    labels = agreement("labels", CHOSEN)
    machine = world.chances > 0.5
    decided = kept & (world.chances != 0.5)
    assert labels["kappa"].value == pytest.approx(cohen_kappa_score(people[decided], machine[decided]))
    assert labels["raw_agreement"].value == pytest.approx((people == machine)[decided].mean())
    assert (labels["kappa"].n, labels["ties"].n) == (decided.sum(), (world.chances != 0.5).sum())
    scores = agreement("scores", FOOD)
    assert scores["auc"].value == pytest.approx(roc_auc_score(people[kept], world.chances[kept]))
    assert scores["spearman"].value == pytest.approx(spearmanr(world.chances, world.share).statistic)
    assert (scores["auc"].n, scores["spearman"].n, scores["spearman"].clusters) == (kept.sum(), 60, 30)
    whole = agreement("calibration", {**FOOD, "bin": "whole"})
    assert whole["brier"].value == pytest.approx(brier_score_loss(people[kept], world.chances[kept]))
    bins = [row for row in table("agreement.calibration", country="Kenya").rows if row.metric == "observed"]
    assert sum(row.estimate.n for row in bins) == kept.sum()
    assert all(estimate.low is not None for estimate in (labels["kappa"], scores["auc"], whole["brier"]))
    assert {scores["spearman"].low, scores["ceiling_spearman"].low, whole["ece"].low} == {None}


def test_the_ceiling_is_one_person_against_the_others() -> None:
    world = World()
    pairs = []
    for said in world.said:
        for me, mine in enumerate(said):
            others = said[:me] + said[me + 1 :]
            if 2 * sum(others) != len(others):
                pairs.append((mine, 2 * sum(others) > len(others), 1 / len(said)))
    mine, theirs, weights = (np.array(column) for column in zip(*pairs, strict=True))
    labels, scores = agreement("labels", {**FOOD, "threshold": FITTED}), agreement("scores", FOOD)
    assert labels["ceiling_kappa"].value == pytest.approx(cohen_kappa_score(theirs, mine, sample_weight=weights))
    assert scores["ceiling_auc"].value == pytest.approx(roc_auc_score(theirs, mine, sample_weight=weights))
    assert scores["ceiling_ties"].value == labels["ceiling_ties"].value == sum(map(len, world.said)) - len(pairs)


def test_thresholds_come_from_other_dishes() -> None:
    world = World()
    _names, dish = np.unique([shown.image.subject.source_key for shown in world.images], return_inverse=True)
    kept = world.untied
    yes, no = (kept & (world.share > 0.5)).astype(float), (kept & (world.share < 0.5)).astype(float)
    machine = fitted_labels(world.chances.astype(float), yes, no, dish)
    expected = cohen_kappa_score(yes[kept], machine[kept])
    fitted = {**FOOD, "threshold": FITTED}
    assert agreement("labels", fitted)["kappa"].value == pytest.approx(expected)


def test_answers_in_words_are_labels_and_no_probabilities() -> None:
    images = make_judged([opinions(3, 0), opinions(0, 3), opinions(3, 0), opinions(3, 0)])
    # Two orders: agreeing, one unread, contradicting each other (turned: A is No), nothing that can be read.
    make_answers(images, ["A: Yes | B: Yes", "I cannot tell. | A: No", "A: Yes | A: No", "Perhaps? | Who knows?"])
    row = agreement("labels", FOOD)
    assert (row["raw_agreement"].value, row["raw_agreement"].n) == (1, 2)
    assert table("agreement.scores").rows == ()
    assert table("agreement.calibration").rows == ()
    assert "None of these runs gives probabilities, so that nothing can be calibrated." in (
        table("agreement.calibration").notes
    )


def test_ratings_keep_their_order_beside_scores() -> None:
    ratings = [[1, 2, 0], [5, 4, 4], [3, 2, 3], [0, 1, 5], [4, 4, 2], [2, 2, 1]]
    images = make_judged([[{"quality": rating} for rating in each] for each in ratings])
    values = [-0.2, 0.4, 0.1, -0.3, 0.2, 0.3]
    make_scores(images, values)
    row = agreement("scores", {"question": "good_quality"})
    means = [np.mean(each) for each in ratings]
    assert row["spearman"].value == pytest.approx(spearmanr(values, means).statistic)
    good = [sum(rating >= 3 for rating in each) >= 2 for each in ratings]
    assert row["auc"].value == pytest.approx(roc_auc_score(good, values))
    mine = [rating for each in ratings for rating in each]
    others = [(sum(each) - rating) / 2 for each in ratings for rating in each]
    assert row["ceiling_spearman"].value == pytest.approx(spearmanr(mine, others).statistic)


def test_a_low_score_is_expected_to_mean_disturbing() -> None:
    images = make_judged([opinions(0, 3, "disturbing"), opinions(3, 0, "disturbing"), opinions(0, 3, "disturbing")])
    make_scores(images, [0.5, -0.5, 0.1])
    row = agreement("scores", {"question": "disturbing, no food is no", "reading": "association: taste, low"})
    assert row["auc"].value == 1
    assert agreement("scores", {"question": "disturbing, no food is no"})["spearman"].value == pytest.approx(3**0.5 / 2)


# May it speak?


def community(right: float, dishes: int = 40, people: int = 6) -> list[CampaignImage]:
    """Images of forty dishes about which three people nearly agree, and a machine that is so often right."""
    truth = np.arange(dishes) % 2 == 0
    said = [opinions(2 + n // 2 % 2, 1 - n // 2 % 2) if yes else opinions(0, 3) for n, yes in enumerate(truth)]
    images = make_judged(said, people=people)
    says = np.where(np.arange(dishes) < right * dishes, truth, ~truth)
    make_answers(images, chances(np.where(says, 0.9, 0.1).tolist()))
    return images


def test_a_machine_that_agrees_as_people_do_may_speak() -> None:
    community(right=1)
    row = agreement("labels", CHOSEN)
    assert row["ceiling_kappa"].low is not None
    assert row["kappa"].value == 1
    # All its answers are right: resampling cannot vary that, so no bound is claimed and nothing is said.
    assert (row["may_speak"].value, row["may_speak"].reason) == (
        None,
        "no interval is claimed for the machine or for the ceiling",
    )


@pytest.mark.parametrize(
    ("name", "statistic", "right", "speaks"),
    [("labels", "kappa", 0.99, 1), ("labels", "kappa", 0.5, 0), ("scores", "auc", 0.94, 1), ("scores", "auc", 0.5, 0)],
)
def test_may_speak_compares_the_lower_bounds(name: str, statistic: str, right: float, speaks: int) -> None:
    community(right, dishes=100)
    row = agreement(name, CHOSEN if name == "labels" else FOOD)
    low, ceiling = row[statistic].low, row[f"ceiling_{statistic}"].low
    assert low is not None
    assert ceiling is not None
    assert row["may_speak"].value == int(low >= ceiling) == speaks


def test_nothing_is_said_of_all_countries_and_of_small_groups() -> None:
    community(0.9, dishes=20)
    row = agreement("labels", CHOSEN)
    assert row["may_speak"].value is None
    assert "a small group" in row["may_speak"].reason
    assert agreement("labels", {**CHOSEN, "country": "all"})["may_speak"].reason == "said of single communities only"


def test_no_machine_speaks_for_four_people() -> None:
    community(0.95, people=4)
    row = agreement("labels", CHOSEN)
    assert (row["kappa"].small, row["kappa"].people, row["may_speak"].value) == (True, 4, None)
    assert "5 people" in row["may_speak"].reason


# Nothing to measure.


def reasons(name: str, groups: dict[str, str] | None = None, **filters: str) -> dict[str, str]:
    return {metric: estimate.reason for metric, estimate in agreement(name, groups, **filters).items()}


def test_without_a_run_all_tables_say_so() -> None:
    make_judged([opinions(3, 0)])
    for name in NAMES:
        made = table(name)
        assert made.rows == ()
        assert any("no finished run" in note for note in made.notes)


def test_without_reviews_all_tables_say_so() -> None:
    make_answers([make_shown(make_campaign(), model=make_maker())], ["A"])
    for name in NAMES:
        assert "There are no reviews yet, or none for this choice." in table(name).notes
    honest()


def test_a_run_about_other_images_has_no_images_in_common() -> None:
    make_judged([opinions(3, 0)])
    others = [make_shown(make_campaign(), model=make_maker()) for _ in range(3)]
    make_answers(others, chances([0.2, 0.3, 0.4]))
    make_scores(others, [0.1, 0.2, 0.3])
    for name in ("labels", "scores", "calibration"):
        made = table(f"agreement.{name}")
        assert {row.groups["country"] for row in made.rows} == {"all"}
        machine = [row.estimate for row in made.rows if row.groups["question"] == "food" and row.metric != "may_speak"]
        assert {estimate.value for estimate in machine} == {None}
        assert "no images in common" in {estimate.reason for estimate in machine}
        assert any("no images in common" in note for note in made.notes)
    assert table("agreement.disagreements").rows == ()
    assert {row.groups["country"] for row in table("agreement.scores", country="Kenya").rows} == {"Kenya"}
    honest()


def test_one_reviewer_has_no_ceiling() -> None:
    images = make_judged([opinions(1, 0), opinions(0, 1), opinions(1, 0)])
    make_answers(images, chances([0.8, 0.3, 0.4]))
    row = agreement("labels", CHOSEN)
    assert row["raw_agreement"].value == pytest.approx(2 / 3)
    assert {row[f"ceiling_{name}"].value for name in ("kappa", "raw_agreement", "ac1", "ties")} == {None}
    assert row["ceiling_kappa"].reason == "no image in common has three opinions"
    assert row["may_speak"].value is None
    assert agreement("scores", FOOD)["ceiling_auc"].value is None
    honest()


def test_one_answer_by_everybody_has_no_kappa_and_no_auc() -> None:
    images = make_judged([opinions(3, 0)] * 12)
    make_answers(images, chances([0.9] * 6 + [0.2] * 6))
    row = agreement("labels", CHOSEN)
    assert (row["kappa"].value, row["ceiling_kappa"].value, row["raw_agreement"].value) == (None, None, 0.5)
    assert "people say the same of all these images" in row["kappa"].reason
    scores = agreement("scores", FOOD)
    assert (scores["auc"].value, scores["spearman"].value, scores["prevalence"].value) == (None, None, 1)
    assert "people say the same" in scores["auc"].reason
    fitted = agreement("labels", {**FOOD, "threshold": FITTED, "country": "all"})
    assert fitted["kappa"].value is None
    assert "no threshold could be fitted" in fitted["kappa"].reason
    honest()


def test_all_ties_leave_no_label() -> None:
    make_answers(make_judged([opinions(1, 1)] * 4), chances([0.9, 0.8, 0.1, 0.2]))
    row = agreement("labels", CHOSEN)
    assert (row["raw_agreement"].value, row["ties"].value, row["ties"].n) == (None, 4, 4)
    assert row["raw_agreement"].reason == "people are equally divided about every one of these images"
    assert agreement("scores", FOOD)["auc"].value is None
    honest()


def test_answers_that_never_came_are_not_measured() -> None:
    make_answers(make_judged([opinions(3, 0), opinions(0, 3)]), [None, None])
    for name in ("labels", "scores"):
        row = agreement(name, {**FOOD, **({"threshold": "none"} if name == "labels" else {}), "country": "all"})
        measured = {metric: estimate for metric, estimate in row.items() if not metric.startswith(("ceiling", "may"))}
        assert {estimate.value for estimate in measured.values()} == {None}
        assert {estimate.reason for estimate in measured.values()} == {
            "the machine gave no value of these images that could be read"
        }
    honest()


def test_a_machine_that_never_varies_has_no_rank_correlation() -> None:
    make_answers(make_judged([opinions(3, 0), opinions(0, 3)] * 6), chances([0.7] * 12))
    scores = agreement("scores", FOOD)
    assert (scores["auc"].value, scores["spearman"].value) == (0.5, None)
    assert scores["spearman"].reason == "the machine gives all these images the same value"
    assert agreement("labels", CHOSEN)["kappa"].value == 0
    honest()


def test_a_country_without_the_machine_is_a_row_that_says_so() -> None:
    make_judged([opinions(3, 0)], country="Mali")
    make_answers(make_judged([opinions(3, 0), opinions(0, 3)]), chances([0.9, 0.2]))
    assert reasons("labels", {**CHOSEN, "country": "Mali"})["kappa"] == "no images in common"
    assert agreement("labels", {**CHOSEN, "country": "all"})["kappa"].n == 2


# What is chosen.


def test_filters_choose_model_campaign_run_question_and_country() -> None:
    campaign, again = make_campaign(), make_campaign()
    first = make_judged([opinions(3, 0), opinions(0, 3)], campaign)
    second = make_judged([opinions(3, 0)], again, country="Mali", model="Dalle3")
    images = [*first, *second]
    make_answers(images, chances([0.9, 0.9, 0.9]), slug="earlier")
    make_answers(images, chances([0.9, 0.1, 0.1]), slug="later")
    everywhere = {**CHOSEN, "country": "all"}
    assert agreement("labels", everywhere)["raw_agreement"].value == pytest.approx(2 / 3)
    assert agreement("labels", everywhere, run="earlier")["machine_yes"].value == 1
    assert {row.groups["run"] for row in table("agreement.labels", run="earlier").rows} == {"earlier"}
    assert agreement("labels", everywhere, campaign=campaign.slug)["raw_agreement"].n == 2
    assert agreement("labels", everywhere, model="Dalle3")["raw_agreement"].n == 1
    assert {row.groups["country"] for row in table("agreement.labels", country="Mali").rows} == {"Mali"}
    assert {row.groups["question"] for row in table("agreement.labels", question="food").rows} == {"food"}
    assert table("agreement.labels", question="nothing").rows == ()


def test_a_filtered_table_holds_the_numbers_of_the_whole() -> None:
    World()
    for name in ("labels", "scores", "calibration"):
        whole = table(f"agreement.{name}")
        kept = [row for row in whole.rows if row.groups["country"] == "Kenya"]
        assert list(table(f"agreement.{name}", country="Kenya").rows) == kept


def test_every_variant_of_the_label_is_honest() -> None:
    World()
    for label in LABELS:
        honest(label=label)
        assert agreement("labels", CHOSEN, label=label)["ceiling_kappa"].value is not None


def test_photographs_left_out_people_and_withdrawn_dishes_do_not_count() -> None:
    campaign = make_campaign()
    images = make_judged([opinions(3, 0), opinions(0, 3), opinions(3, 0)], campaign)
    camera = Model.objects.create(slug="camera", title="Photographs", role=Role.CAMERA, identifier="camera")
    images[0].image.model = camera
    images[0].image.save()
    dish = make_dish(state=Dish.State.WITHDRAWN)
    images[1].image.subject.dish = dish
    images[1].image.subject.save()
    make_answers(images, chances([0.9, 0.9, 0.9]))
    assert agreement("labels", CHOSEN)["raw_agreement"].n == 1
    for review in images[2].reviews.all():
        make_exclusion(review.reviewer)
    assert table("agreement.labels").rows == ()
    assert agreement("labels", CHOSEN, excluded="with")["raw_agreement"].n == 1


def test_a_demonstration_on_either_side_marks_the_table() -> None:
    images = make_judged([opinions(3, 0)])
    make_answers(images, chances([0.9]))
    assert not table("agreement.labels").demonstration
    Run.objects.update(demonstration=True)
    assert table("agreement.labels").demonstration


def test_reviews_and_runs_make_the_tables_stale() -> None:
    for name in NAMES:
        assert set(lookup.find_table_spec(name).inputs) >= {
            "reviews",
            "withdrawals",
            "runs.stereotypes",
            "runs.association",
        }


# Disagreement.


def test_by_hand_the_furthest_apart_come_first() -> None:
    images = make_judged([opinions(0, 3), opinions(3, 0), opinions(0, 2), opinions(2, 1), opinions(0, 4)])
    make_answers(images, chances([0.9, 0.1, 0.9, 0.6, 0.6]))
    rows = [row for row in table("agreement.disagreements").rows if row.metric == "distance"]
    ids = [str(shown.image_id) for shown in images]
    listed = [(row.groups["end"], row.groups["place"], row.groups["picture"]) for row in rows]
    assert listed == [
        ("machine says yes", "01", ids[0]),
        ("machine says yes", "02", ids[2]),
        ("machine says yes", "03", ids[4]),
        ("people say yes", "01", ids[1]),
    ]
    assert [row.estimate.value for row in rows] == pytest.approx([0.9, 0.9, 0.6, -0.9])
    row = found(table("agreement.disagreements"), picture=ids[1])
    assert (row["machine"].value, row["people"].value, row["people"].n) == (pytest.approx(0.1), 1, 3)


def test_scores_disagree_by_their_ranks_and_are_shown_as_they_are() -> None:
    said = [opinions(0, 3, "disturbing")] * 5 + [opinions(3, 0, "disturbing")] * 5
    images = make_judged(said)
    values = [-0.9, 0.1, 0.2, 0.3, 0.4, -0.1, -0.2, -0.3, -0.4, 0.9]
    make_scores(images, values)
    rows = table("agreement.disagreements", question="disturbing, no food is no").rows
    shown = {row.groups["picture"]: row.estimate.value for row in rows if row.metric == "machine"}
    assert shown == {
        str(images[0].image_id): pytest.approx(-0.9, abs=1e-6),
        str(images[9].image_id): pytest.approx(0.9, abs=1e-6),
    }


def test_no_images_of_a_country_have_no_furthest() -> None:
    make_answers(make_judged([opinions(0, 3), opinions(3, 0)]), chances([0.9, 0.1]))
    assert not [row for row in table("agreement.disagreements", country="Mali").rows if row.estimate.value is not None]


def test_opinions_are_the_same_in_whatever_portions_they_are_packed(monkeypatch: pytest.MonkeyPatch) -> None:
    make_answers(make_judged([opinions(0, 3), opinions(3, 0), opinions(2, 1)]), chances([0.9, 0.1, 0.6]))
    whole = table("agreement.disagreements").rows
    monkeypatch.setattr(gathering, "PACK_AT_ONCE", 2)
    assert whole and table("agreement.disagreements").rows == whole


def test_opinions_with_answers_that_were_read_before_are_gathered_too() -> None:
    questions = asked_of_people(Questionnaire.objects.get(slug="e2", version="1"))
    gathered = gathering.Gathering(questions)
    for image, food in enumerate((True, False, None)):
        gathered.add(make_opinion(image=image, food=food))
    column = [question.name for question in questions].index("food")
    assert [row[column] for row in gathered.rows] == [True, False, None]


# The registry.


@pytest.mark.parametrize(
    ("question", "said", "level"),
    [
        ("food", {"food": False}, False),
        ("food", {}, None),
        ("correct_dish, no food is no", {"food": False}, False),
        ("good_quality", {"quality": 4}, 4),
        ("match, no food is no", {"match": "exact"}, 2),
        ("match, no food is no", {"match": "missing"}, 1),
        ("match, no food is no", {"food": False}, 0),
        ("match, no food is no", {"match": "unknown"}, None),
        ("disturbing, no food is no", {"food": False}, False),
        ("unappetising", {"answers": {"explanation": "It looks burnt"}}, True),
        ("unappetising", {"flags": {"unappetising": False}, "answers": {"explanation": "burnt"}}, False),
        ("people", ticked("faces"), True),
        ("people", ticked(), False),
        ("people", {}, None),
        ("outdoors", ticked("outdoors"), True),
        ("outdoors", ticked("indoors"), False),
        ("outdoors", ticked("indoors", "outdoors"), None),
        ("outdoors", ticked(), None),
        ("utensils", ticked("utensils_unwanted"), True),
        ("utensils", ticked("utensils_wanted"), False),
        ("utensils", ticked("utensils_wanted", "utensils_incorrect"), None),
    ],
)
def test_what_an_opinion_says(question: str, said: dict[str, Any], level: object) -> None:
    asked = asked_of_people(Questionnaire.objects.get(slug="e2", version="1"))
    [one] = [each for each in asked if each.name == question]
    assert one.level(make_opinion(**said)) == level


@pytest.mark.parametrize("version", ["1", "release-2024"])
def test_every_pair_asks_people_something(version: str) -> None:
    names = {question.name for question in asked_of_people(Questionnaire.objects.get(slug="e2", version=version))}
    assert {pair.question for pair in PAIRS} == names


def test_every_pair_names_a_question_and_an_option_of_ours(questions: Sequence[dict[str, Any]]) -> None:
    options = {each["question_id"]: [text.casefold() for text in each["choices"].values()] for each in questions}
    for pair in (pair for pair in PAIRS if pair.study == "stereotypes"):
        assert pair.yes in options[pair.what[0]]


@pytest.fixture
def questions() -> Sequence[dict[str, Any]]:
    from evaluation.models import QuestionSet

    return QuestionSet.objects.get(slug="vqa-probes", version="1").questions


def test_a_question_with_other_options_is_not_read() -> None:
    make_answers(make_judged([opinions(3, 0)]), [(0.2, 0.8)], options=("Food", "No food"))
    assert table("agreement.labels").rows == ()


def test_colours_stand_beside_ratings() -> None:
    images = make_judged([[{"quality": 5}] * 3, [{"quality": 1}] * 3])
    make_colours(images, [80, 10])
    assert agreement("scores", {"question": "good_quality"})["auc"].value == 1


# Pages.


def test_a_number_leads_to_its_images_and_the_answers_about_them(client: Client) -> None:
    images = make_judged([opinions(2, 1), opinions(0, 3), [{"food": None}] * 3])
    make_judged([opinions(3, 0)], country="Mali")
    make_answers(images, chances([0.9, 0.8, 0.7]))
    compute.compute_and_store("agreement.scores", {})
    groups = {"question": "food", "reading": "stereotypes: food = yes", "run": "asked", "country": "Kenya"}
    query = QueryDict(urlencode({**{f"cell.{name}": value for name, value in groups.items()}, "metric": "auc"}))
    found = load_drilldown(cell_of("agreement.scores", query))
    ids, _more = found.page()
    assert ids == sorted(shown.image_id for shown in images)
    said = [each.value for each in found.observed(ids)]
    assert sorted(value for value in said if value is not None) == [0, 0, 0, 0, 1, 1]
    assert said.count(None) == 3
    client.force_login(make_staff())
    address = reverse("evaluation:drilldown", args=["agreement.scores"])
    assert client.get(f"{address}?{query.urlencode()}").status_code == 200


def test_pages_show_numbers_and_what_is_not_measured(client: Client) -> None:
    World()
    client.force_login(make_staff())
    addresses = [reverse("evaluation:table", args=[name]) for name in NAMES]
    assert {client.get(address).status_code for address in addresses} == {200}
    compute.recompute_wanted()
    for address in addresses:
        assert "stereotypes: food = yes" in client.get(address).content.decode()
        assert client.get(address, {"label": "perhaps"}).status_code == 404


def test_few_labels_have_a_brier_score_but_no_bins() -> None:
    make_answers(make_judged([opinions(3, 0), opinions(0, 3)] * 14), chances([0.9, 0.2] * 14))
    rows = table("agreement.calibration", country="Kenya").rows
    assert {(row.groups["bin"], row.metric) for row in rows} == {("whole", "ece"), ("whole", "brier")}
    assert agreement("calibration")["brier"].value == pytest.approx((0.01 + 0.04) / 2)
