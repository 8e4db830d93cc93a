"""Ranks and recall by hand and by sorting, failure rate, variation and splits."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import top_k_accuracy_score

from evaluation.metrics import retrieval
from evaluation.metrics.classifier_splits import draw_splits, summarise_splits
from evaluation.metrics.label_accuracy import compute_variation, find_failed_labels

# Three images; the first has two captions.
OWNERS = [0, 0, 1, 2]
SCORES = np.array([[0.1, 0.9, 0.8, 0.2], [0.3, 0.7, 0.6, 0.6], [0.2, 0.1, 0.9, 0.5]])


def test_ranks_by_hand() -> None:
    """Image 0 finds its second caption first. For image 1 another caption scores more, and one the same; for image 2
    one more. Caption 0 has two images before its own, caption 2 two, caption 3 one."""
    found = retrieval.rank_by_scores(SCORES, OWNERS)
    assert found.image_to_text.tolist() == [1, 3, 2]
    assert found.text_to_image.tolist() == [3, 1, 3, 2]
    assert retrieval.compute_recall(found.image_to_text, 1) == pytest.approx(1 / 3)
    assert retrieval.compute_recall(found.text_to_image, 2) == pytest.approx(2 / 4)
    assert retrieval.compute_recall(found.text_to_image, 5) == 1
    assert retrieval.compute_recall(found.image_to_text[:0], 1) is None


def test_a_model_that_tells_nothing_apart_finds_nothing() -> None:
    found = retrieval.rank_by_scores(np.ones((4, 8)), np.repeat(np.arange(4), 2))
    assert found.image_to_text.tolist() == [7] * 4
    assert found.text_to_image.tolist() == [4] * 8


@given(st.integers(0, 99), st.integers(1, 30), st.sampled_from([1, 4, 1024]))
@settings(deadline=None, max_examples=40)
def test_ranks_are_those_of_sorting(seed: int, images: int, rows: int) -> None:
    random = np.random.default_rng(seed)
    owners = np.concatenate([np.arange(images), random.integers(0, images, 2 * images)])
    one, other = random.normal(size=(images, 5)), random.normal(size=(3 * images, 5))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(retrieval, "MOST_ROWS", rows)
        found = retrieval.rank_by_vectors(one, other, owners)
    cosines = (one / np.linalg.norm(one, axis=1)[:, None]) @ (other / np.linalg.norm(other, axis=1)[:, None]).T
    for image in range(images):
        order = np.argsort(-cosines[image])
        assert found.image_to_text[image] == next(
            1 + np.sum(owners[order[:place]] != image) for place in range(3 * images) if owners[order[place]] == image
        )
    for caption, owner in enumerate(owners):
        assert found.text_to_image[caption] == 1 + np.flatnonzero(np.argsort(-cosines[:, caption]) == owner)[0]
    assert (found.text_to_image <= images).all() and (found.image_to_text <= 3 * images).all()
    again = retrieval.rank_by_scores(cosines, owners)
    assert again.image_to_text.tolist() == found.image_to_text.tolist()


def test_recall_is_the_top_k_accuracy_of_scikit_learn() -> None:
    random = np.random.default_rng(0)
    scores = random.normal(size=(40, 40))
    found = retrieval.rank_by_scores(scores, np.arange(40))
    for at in retrieval.RECALL_AT:
        theirs = top_k_accuracy_score(np.arange(40), scores, k=at)
        assert retrieval.compute_recall(found.image_to_text, at) == pytest.approx(theirs)
        theirs = top_k_accuracy_score(np.arange(40), scores.T, k=at)
        assert retrieval.compute_recall(found.text_to_image, at) == pytest.approx(theirs)


@pytest.mark.parametrize(
    ("scores", "owners", "says"),
    [
        (SCORES, [0, 0, 1], "one image for each of 4 captions"),
        (SCORES, [0, 0, 1, 3], "none of the 3"),
        (SCORES, [0, 0, 1, 1], "1 images have no caption"),
        (SCORES * np.nan, OWNERS, "a score is NaN"),
        (SCORES[0], OWNERS, "shape"),
    ],
)
def test_what_cannot_be_ranked_is_refused(scores: np.ndarray, owners: list[int], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        retrieval.rank_by_scores(scores, owners)


def test_vectors_without_direction_are_refused() -> None:
    with pytest.raises(ValueError, match="a vector is zero"):
        retrieval.rank_by_vectors(np.zeros((1, 2)), np.ones((1, 2)), [0])
    with pytest.raises(ValueError, match="finite numbers"):
        retrieval.rank_by_vectors(np.full((1, 2), np.inf), np.ones((1, 2)), [0])


def test_failure_rate_by_hand() -> None:
    found = find_failed_labels(["pie", "pho", "pie", "dal", "dal"], [False, True, True, False, False])
    assert (found.rate, found.names, found.labels) == (pytest.approx(1 / 3), ("dal",), 3)
    assert find_failed_labels([], []).rate is None
    with pytest.raises(ValueError, match="one label and one answer"):
        find_failed_labels(["pie"], [])


def test_variation_by_hand_and_as_scipy_has_it() -> None:
    """Mean 3, squares 4, 0, 4: √(8 ÷ 3) ÷ 3 of the population, √(8 ÷ 2) ÷ 3 of a sample."""
    assert compute_variation([1, 3, 5]).value == pytest.approx((8 / 3) ** 0.5 / 3)
    assert compute_variation([1, 3, 5], ddof=1).value == pytest.approx(2 / 3)
    values = [0.41, 0.2, 0.33, 0.5]
    for ddof in (0, 1):
        found = compute_variation(values, ddof)
        assert (found.value, found.n, found.ddof) == (pytest.approx(stats.variation(values, ddof=ddof)), 4, ddof)


@pytest.mark.parametrize(
    ("values", "says"), [([0.1], "1 regions"), ([0, 0], "no ratio"), ([-1, 2], "no ratio"), ([np.nan, 1], "no value")]
)
def test_variation_that_says_nothing(values: list[float], says: str) -> None:
    found = compute_variation(values)
    assert found.value is None and says in found.reason


@given(st.lists(st.floats(0.01, 10), min_size=2, max_size=9), st.floats(0.1, 10))
def test_variation_has_no_unit(values: list[float], times: float) -> None:
    found, scaled = compute_variation(values).value, compute_variation([times * value for value in values]).value
    assert scaled == pytest.approx(found, rel=1e-6, abs=1e-9)


def test_splits_cut_each_label() -> None:
    labels = ["pie"] * 10 + ["pho"] * 5 + ["dal"] * 2
    splits = draw_splits(labels, seed=4)
    assert len(splits) == 10
    assert len({learn.tobytes() for learn, _ in splits}) > 5
    for learn, test in splits:
        assert sorted([*learn, *test]) == list(range(17))
        assert [np.isin(learn, part).sum() for part in (range(10), range(10, 15), range(15, 17))] == [8, 4, 1]
    again = draw_splits(labels, seed=4)
    assert all((one[0] == other[0]).all() for one, other in zip(splits, again, strict=True))
    for wrong, says in ((["pie", "pie", "pho"], "pho has one image"), (["pie"] * 3, "two labels or more")):
        with pytest.raises(ValueError, match=says):
            draw_splits(wrong)
    with pytest.raises(ValueError, match="between 0 and 1"):
        draw_splits(labels, share=1.0)


def test_accuracies_of_splits_by_hand() -> None:
    """Mean 0.5, squares 0.01, 0, 0.01: √(0.02 ÷ 2) = 0.1."""
    found = summarise_splits([0.4, 0.5, 0.6])
    assert (found.n, found.accuracy, found.sd) == (3, pytest.approx(0.5), pytest.approx(0.1))
    assert summarise_splits([0.4]).sd is None
    with pytest.raises(ValueError, match="no split"):
        summarise_splits([])
