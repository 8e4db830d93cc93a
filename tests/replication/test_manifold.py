"""Precision, recall, density, coverage and consistency equal what DIG In's code and prdc gave on the same vectors.

`expected/geodiversity.json` also says where the published code stops: groups of k + 1 points, which are measured here.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from prdc import compute_prdc

from evaluation.metrics.feature_sets.consistency import compute_consistency
from evaluation.metrics.feature_sets.manifold import manifold_metrics, manifold_points
from evaluation.metrics.feature_sets.nearest import find_nearest

pytestmark = pytest.mark.embedded
MEASURES = ("precision", "recall", "density", "coverage")
Vectors = npt.NDArray[np.float32]
REGIONS = ("Africa", "Americas", "EastAsia", "Europe", "SouthEastAsia", "WestAsia")


@pytest.fixture(scope="module")
def expected(published: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((published / "expected" / "geodiversity.json").read_text())
    return found


@pytest.fixture(scope="module")
def features(published: Path) -> dict[str, npt.NDArray[Any]]:
    return dict(np.load(published / "expected" / "geodiversity_features.npz", allow_pickle=False))


def measure(real: npt.ArrayLike, generated: npt.ArrayLike, k: int) -> dict[str, float | None]:
    found = manifold_metrics(real, generated, k)
    assert found.reason == ""
    return {name: getattr(found, name) for name in MEASURES}


def cases(expected: dict[str, Any]) -> Iterator[dict[str, Any]]:
    assert [case["k"] for case in expected["cases"]] == [1, 3, 5]
    yield from expected["cases"]


def test_each_region_equals_the_published_code_and_prdc(
    expected: dict[str, Any], features: dict[str, npt.NDArray[Any]]
) -> None:
    for case in cases(expected):
        assert set(case["per_region"]) == set(REGIONS)
        for region, by_code in case["per_region"].items():
            mine = features["region"] == region
            found = measure(features["real"][mine], features["fake"][mine], case["k"])
            for code in ("digin", "prdc", "own_float64"):
                assert found == pytest.approx({name: by_code[code][name] for name in MEASURES}, abs=1e-12)


def test_each_object_and_region_and_the_mean_over_objects(
    expected: dict[str, Any], features: dict[str, npt.NDArray[Any]]
) -> None:
    for case in cases(expected):
        by_region: dict[str, list[dict[str, float | None]]] = {}
        for row in case["per_object_region"]:
            mine = (features["region"] == row["region"]) & (features["object"] == row["object"])
            found = measure(features["real"][mine], features["fake"][mine], case["k"])
            assert found == pytest.approx({name: row[name] for name in MEASURES}, abs=1e-12)
            by_region.setdefault(row["region"], []).append(found)
        for region, means in case["mean_over_objects"].items():
            assert len(by_region[region]) == 5
            for name, value in means.items():
                assert np.mean([each[name] for each in by_region[region]]) == pytest.approx(value, abs=1e-12)


def test_groups_under_k_and_one_are_not_measured_and_k_and_one_are(
    expected: dict[str, Any], features: dict[str, npt.NDArray[Any]]
) -> None:
    edge, real, fake = expected["edge"], features["real"], features["fake"]
    assert "ValueError" in edge["N=3,k=3"] and "ValueError" in edge["N=4,k=3"]
    found = manifold_metrics(real[:3], fake[:3], 3)
    assert found.reason == "not measured: 3 photographs, and k = 3 needs at least 4"
    assert [getattr(found, name) for name in MEASURES] == [None] * 4
    # Four points: the third nearest other is the farthest.
    four = manifold_points(real[:4], fake[:4], 3)
    distances = np.linalg.norm(real[:4, None].astype(np.float64) - real[None, :4], axis=2)
    assert four.real_radii == pytest.approx(distances.max(axis=1), rel=1e-12)
    assert four.summarise().reason == ""


def test_points_on_a_line(expected: dict[str, Any]) -> None:
    edge = expected["edge"]
    real, fake = np.array(edge["line_real"])[:, None], np.array(edge["line_fake9"])[:, None]
    for k in (2, 3):
        assert find_nearest(real, None, k)[1][:, k - 1].tolist() == edge[f"line_radii_k{k}"]
    assert manifold_points(real, fake, 2).real_radii.tolist() == edge["line_radii_k2"]
    assert measure(real, fake, 2) == pytest.approx(edge["line_prdc_k2"])
    # A generated point at exactly a radius is not within it.
    tie = manifold_points(real, np.array([[-2.0], [50.0], [51.0], [52.0]]), 2)
    assert "NOT inside" in edge["boundary_tie"]
    assert tie.balls[0] == 0


def test_copies_among_photographs_have_the_radius_0(expected: dict[str, Any]) -> None:
    copies = np.repeat(np.random.default_rng(1).normal(size=(6, 64)), 2, axis=0)
    found = manifold_points(copies, copies, 1)
    assert found.real_radii.tolist() == expected["edge"]["duplicated_real_radii_k1"]
    assert (found.summarise().precision, found.summarise().coverage) == (0, 0)


@pytest.mark.parametrize("seed", range(5))
def test_equal_to_prdc_on_other_seeds(seed: int, capsys: pytest.CaptureFixture[str]) -> None:
    random = np.random.default_rng(seed)
    real = random.normal(size=(150 + 10 * seed, 48))
    fake = random.normal(0.2, 0.8 + 0.05 * seed, size=(130, 48))
    for k in (1, 3, 5, 10):
        theirs = compute_prdc(real_features=real, fake_features=fake, nearest_k=k)
        assert min(theirs.values()) > 0
        assert measure(real, fake, k) == pytest.approx(theirs, abs=1e-12)


def test_consistency_is_the_mean_over_objects_of_the_10th_percentile(expected: dict[str, Any]) -> None:
    wanted, random = expected["clip_p10"], np.random.default_rng(expected["clip_p10"]["seed"])
    objects = np.repeat(np.arange(27), 180).astype(str)
    scores = {
        region: np.concatenate([0.28 + 0.02 * random.normal() + 0.03 * random.normal(size=180) for _ in range(27)])
        for region in REGIONS
    }
    for region, value in wanted["per_region_mean_over_objects"].items():
        assert compute_consistency(scores[region], objects).value == pytest.approx(value, abs=1e-12)
    africa = compute_consistency(scores["Africa"], objects)
    assert africa.by_object[africa.objects.index("0")] == pytest.approx(wanted["first_object_africa"], abs=1e-12)
    assert compute_consistency(scores["Africa"], np.full(27 * 180, "all")).value == pytest.approx(
        wanted["africa_pooled_over_objects"], abs=1e-12
    )
    pooled = compute_consistency(np.concatenate(list(scores.values())), np.tile(objects, 6))
    assert pooled.value == pytest.approx(wanted["overall_mean_over_objects_of_p10_pooled_regions"], abs=1e-12)
