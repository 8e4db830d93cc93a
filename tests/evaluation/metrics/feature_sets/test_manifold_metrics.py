"""The four measures against every distance written out, for data that float32 cannot order, and for subsets."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from evaluation.metrics.feature_sets import points as point_module
from evaluation.metrics.feature_sets.manifold import (
    ManifoldMetrics,
    draw_manifold_metrics,
    manifold_metrics,
    manifold_points,
    median_of_draws,
)
from evaluation.metrics.feature_sets.nearest import find_nearest
from evaluation.metrics.feature_sets.points import PointError

Floats = npt.NDArray[np.float64]


def squares(first: Floats, second: Floats) -> Floats:
    return np.array([np.square(first.astype(np.float64) - other).sum(axis=1) for other in second.astype(np.float64)]).T


def within(points: Floats) -> Floats:
    found = squares(points, points)
    np.fill_diagonal(found, np.inf)
    return found


def written_out(real: Floats, generated: Floats, k: int) -> tuple[float, float, float, float]:
    """Precision, recall, density, coverage of the whole matrix of distances in float64."""
    real_radii, generated_radii = (np.sort(within(points), axis=1)[:, k - 1] for points in (real, generated))
    between = squares(real, generated)
    balls, recalled = between < real_radii[:, None], between < generated_radii
    return (
        float(balls.any(axis=0).mean()),
        float(recalled.any(axis=1).mean()),
        float(balls.sum(axis=0).mean() / k),
        float(balls.any(axis=1).mean()),
    )


def measured(found: ManifoldMetrics) -> tuple[float | None, ...]:
    return found.precision, found.recall, found.density, found.coverage


@pytest.fixture(params=[2048, 7])
def _rows(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks larger than the data, and many of them."""
    monkeypatch.setattr(point_module, "MOST_ROWS", request.param)


def hard_sets() -> Iterator[tuple[str, Floats, Floats]]:
    random = np.random.default_rng(3)
    real, generated = random.normal(size=(60, 8)), random.normal(size=(50, 8))
    yield "far apart", real, generated
    yield "ties", np.round(real), np.round(generated)
    yield "far from the origin", 1e6 + real, 1e6 + generated
    yield (
        "float32 far from the origin",
        (1e3 + real * 1e-3).astype(np.float32),
        (1e3 + generated * 1e-3).astype(np.float32),
    )
    yield "two kinds of numbers", real.astype(np.float32), generated
    near = np.repeat(real[:3], 20, axis=0) + 1e-9 * random.integers(0, 3, (60, 8))
    yield "more near copies than neighbours are listed", near, near[::2] + 1e-9 * random.integers(0, 2, (30, 8))
    yield "tiny", real * 1e-40, generated * 1e-40
    yield "huge", real * 1e60, generated * 1e60
    yield "all within an outlier", np.vstack([real * 1e-3, np.full((1, 8), 9.0)]), generated * 1e-3
    yield "half precision", real.astype(np.float16), generated.astype(np.float16)
    yield "all the same", np.ones((30, 4)), np.ones((20, 4))


@pytest.mark.usefixtures("_rows")
@pytest.mark.parametrize(("name", "real", "generated"), list(hard_sets()))
def test_results_are_those_of_float64(name: str, real: Floats, generated: Floats) -> None:
    for k in (1, 3, 12):
        assert measured(manifold_metrics(real, generated, k)) == pytest.approx(written_out(real, generated, k)), k
    for count in (1, 5, 15):
        index, distances = find_nearest(generated, real, count)
        exact = squares(generated, real)
        assert index.tolist() == np.argsort(exact, axis=1, kind="stable")[:, :count].tolist()
        assert distances**2 == pytest.approx(np.sort(exact, axis=1)[:, :count])
        index, _ = find_nearest(real, None, count)
        assert index.tolist() == np.argsort(within(real), axis=1, kind="stable")[:, :count].tolist()


@given(
    st.integers(1, 4).flatmap(
        lambda width: st.tuples(
            *(arrays(np.float64, st.tuples(st.integers(5, 25), st.just(width)), elements=st.integers(-4, 4)),) * 2
        )
    ),
    st.integers(1, 4),
)
@settings(deadline=None, max_examples=60)
def test_whatever_the_points_all_distances_say_the_same(sets: tuple[Floats, Floats], k: int) -> None:
    found = manifold_metrics(*sets, k)
    assert measured(found) == pytest.approx(written_out(*sets, k))
    assert found.precision is not None and found.density is not None
    assert found.density >= found.precision / k - 1e-12


def test_order_and_a_shift_by_a_power_of_two_change_nothing() -> None:
    random = np.random.default_rng(8)
    real, generated = random.normal(size=(40, 6)), random.normal(size=(30, 6))
    plain = manifold_points(real, generated)
    order, other = random.permutation(40), random.permutation(30)
    turned = manifold_points(8 * real[order], 8 * generated[other])
    assert turned.covered.tolist() == plain.covered[order].tolist()
    assert turned.balls.tolist() == plain.balls[other].tolist()
    assert turned.real_radii.tolist() == (8 * plain.real_radii[order]).tolist()


def test_exact_distances_do_not_depend_on_what_is_computed_beside_them() -> None:
    random = np.random.default_rng(2)
    (points,) = point_module.prepare_points(random.normal(size=(40, 301)).astype(np.float32))
    rows, columns = np.divmod(np.arange(1600), 40)
    together = points.square_distances(rows, points, columns)
    assert together.tolist() == points.square_distances(columns, points, rows).tolist()
    alone = [points.square_distances(rows[[i]], points, columns[[i]])[0] for i in range(1600)]
    assert together.tolist() == alone


@pytest.mark.usefixtures("_rows")
@pytest.mark.parametrize("size", [4, 20, 34, 45])
def test_draws_are_the_measures_of_their_subsets(size: int) -> None:
    """Under a size of 20 each draw is measured alone, above it they share distances: the same numbers."""
    random = np.random.default_rng(5)
    real, generated = np.round(random.normal(size=(60, 3)), 1), np.round(random.normal(size=(45, 3)), 1)
    found = draw_manifold_metrics(real, generated, size, draws=6, seed=9)
    again = np.random.default_rng(9)
    for each in found:
        mine, made = (np.sort(again.choice(len(points), size, replace=False)) for points in (real, generated))
        assert measured(each) == pytest.approx(written_out(real[mine], generated[made], 3))
        assert (each.n_real, each.n_generated, each.k, each.reason) == (size, size, 3, "")
    assert found == draw_manifold_metrics(real, generated, size, draws=6, seed=9)
    median = median_of_draws(found)
    assert median.coverage == np.median([each.coverage for each in found])
    assert (median.n_real, median.n_generated, median.k) == (size, size, 3)


def test_all_points_drawn_are_measured_once() -> None:
    points = np.random.default_rng(1).normal(size=(9, 2))
    found = draw_manifold_metrics(points, points + 0.1, 9)
    assert len(found) == 20
    assert set(found) == {manifold_metrics(points, points + 0.1)}


def test_what_cannot_be_measured_says_why() -> None:
    points = np.random.default_rng(1).normal(size=(9, 2))
    assert manifold_metrics(points, points[:3]).reason == (
        "not measured: 3 generated images, and k = 3 needs at least 4"
    )
    few = draw_manifold_metrics(points, points, 3, draws=5)
    assert median_of_draws(few).reason == "not measured: 3 photographs, and k = 3 needs at least 4"
    assert median_of_draws(few).precision is None
    assert manifold_metrics(np.empty((0, 2)), points).n_real == 0
    with pytest.raises(ValueError, match="k = 3 needs at least 4"):
        manifold_points(points[:2], points)
    with pytest.raises(ValueError, match="10 points cannot be drawn of 9"):
        draw_manifold_metrics(points, points, 10)
    with pytest.raises(ValueError, match="1 or more is needed"):
        manifold_metrics(points, points, 0)
    with pytest.raises(ValueError, match="9 nearest of 9 points"):
        find_nearest(points, None, 9)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (np.ones((5, 3)), "vectors of one width are needed, got 2, 3"),
        (np.ones(5), "an array \\(n, d\\) of vectors is needed"),
        (np.array([[1.0, np.nan]] * 5), "vectors hold NaN"),
        (np.array([[1.0, np.inf]] * 5), "vectors hold NaN, infinity"),
    ],
)
def test_vectors_that_do_not_fit_are_refused(wrong: Floats, says: str) -> None:
    with pytest.raises(PointError, match=says):
        manifold_metrics(np.ones((5, 2)) * np.arange(5)[:, None], wrong)
