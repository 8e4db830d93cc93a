"""Products by torch give the very results of numpy's, since what is near a boundary is measured in float64."""

import numpy as np
import pytest

from evaluation.backends.torch_bounds import choose_device
from evaluation.metrics.feature_sets import points
from evaluation.metrics.feature_sets.manifold import draw_manifold_metrics, manifold_points
from evaluation.metrics.feature_sets.nearest import find_nearest

pytest.importorskip("torch")
pytestmark = pytest.mark.torch


@pytest.mark.parametrize("rows", [2048, 16])
def test_the_same_as_numpy_to_the_last_digit(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(points, "MOST_ROWS", rows)
    random = np.random.default_rng(3)
    real, made = np.round(random.normal(size=(70, 3)), 1), np.round(random.normal(size=(50, 3)), 1)
    device = choose_device("cpu")
    one, other = manifold_points(real, made, 3, device), manifold_points(real, made, 3)
    assert one.balls.tolist() == other.balls.tolist()
    assert one.covered.tolist() == other.covered.tolist()
    assert one.recalled.tolist() == other.recalled.tolist()
    assert one.real_radii.tolist() == other.real_radii.tolist()
    assert draw_manifold_metrics(real, made, 40, draws=3, device=device) == draw_manifold_metrics(
        real, made, 40, draws=3
    )
    for mine, theirs in zip(find_nearest(made, real, 5, device), find_nearest(made, real, 5), strict=True):
        assert mine.tolist() == theirs.tolist()
