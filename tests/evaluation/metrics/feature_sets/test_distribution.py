"""FID and KID by hand, against torchmetrics on features that are given, and where they are refused."""

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import sqrtm

from evaluation.metrics.feature_sets.distribution import compute_frechet_distance, compute_kernel_distance
from evaluation.metrics.feature_sets.points import PointError

RANDOM = np.random.default_rng(6)
REAL, MADE = RANDOM.normal(size=(300, 24)), RANDOM.gamma(2.0, size=(260, 24))


def test_fid_by_hand() -> None:
    """Means 1 and 4, variances 2 and 8: 3² + 2 + 8 − 2 √16 = 11."""
    found = compute_frechet_distance([[0.0], [1.0], [2.0], [2.0], [0.0]], [[4.0]] * 5)
    assert found.value == pytest.approx(9 + 1.0)
    found = compute_frechet_distance([[0.0], [2.0]], [[2.0], [6.0]])
    assert (found.value, found.n_real, found.n_generated, found.sd) == (pytest.approx(11), 2, 2, None)


def test_fid_is_that_of_scipys_square_root() -> None:
    root = sqrtm(np.cov(REAL.T) @ np.cov(MADE.T)).real
    means = np.square(REAL.mean(axis=0) - MADE.mean(axis=0)).sum()
    wanted = means + np.trace(np.cov(REAL.T) + np.cov(MADE.T) - 2 * root)
    assert compute_frechet_distance(REAL, MADE).value == pytest.approx(wanted, rel=1e-9)
    assert compute_frechet_distance(REAL, REAL).value == pytest.approx(0, abs=1e-9)


@given(st.integers(0, 50), st.floats(-5, 5))
@settings(deadline=None, max_examples=20)
def test_fid_is_symmetric_and_knows_no_place(seed: int, shift: float) -> None:
    random = np.random.default_rng(seed)
    one, other = random.normal(size=(12, 3)), random.normal(1, 2, size=(9, 3))
    found = compute_frechet_distance(one, other).value
    assert found is not None and found >= 0
    assert compute_frechet_distance(other, one).value == pytest.approx(found, rel=1e-9)
    assert compute_frechet_distance(one + shift, other + shift).value == pytest.approx(found, rel=1e-7)


def test_kid_by_hand() -> None:
    """x = (0, 1), y = (1, 2): kernels 1 within x, 27 within y, and (1 + 1 + 8 + 27) ÷ 4 between."""
    found = compute_kernel_distance([[0.0], [1.0]], [[1.0], [2.0]], subset_size=2, subsets=3)
    assert found.value == pytest.approx(1 + 27 - 2 * (1 + 1 + 8 + 27) / 4)
    assert found.sd == pytest.approx(0, abs=1e-12)


def test_kid_of_subsets_is_known_by_its_seed() -> None:
    found = compute_kernel_distance(REAL, MADE, subset_size=50, subsets=20, seed=3)
    assert found == compute_kernel_distance(REAL, MADE, subset_size=50, subsets=20, seed=3)
    assert found.sd is not None and found.sd > 0
    whole = compute_kernel_distance(REAL[:260], MADE, subset_size=260, subsets=1)
    assert whole.value is not None and found.value is not None
    assert abs(found.value - whole.value) < 4 * found.sd


def test_too_few_images_are_refused() -> None:
    assert compute_frechet_distance(REAL[:24], MADE).reason == (
        "not measured: 24 photographs, and vectors of 24 numbers need at least 25"
    )
    assert compute_frechet_distance(REAL, MADE[:3]).reason.startswith("not measured: 3 generated images")
    assert compute_frechet_distance(REAL[:25], MADE[:25]).reason == ""
    few = compute_kernel_distance(REAL, MADE[:49], subset_size=50)
    assert (few.value, few.reason) == (None, "not measured: 49 generated images, and subsets hold 50")
    with pytest.raises(ValueError, match="subsets of 2 or more"):
        compute_kernel_distance(REAL, MADE, subset_size=1)
    with pytest.raises(PointError, match="one width"):
        compute_frechet_distance(REAL, MADE[:, :5])


@pytest.mark.torch
@pytest.mark.parametrize("seed", [1, 2])
def test_equal_to_torchmetrics(seed: int) -> None:
    torch = pytest.importorskip("torch")
    frechet = pytest.importorskip("torchmetrics.image.fid")
    kernel = pytest.importorskip("torchmetrics.image.kid")

    random = np.random.default_rng(seed)
    real, made = random.normal(size=(120, 32)), random.normal(0.3, 1.2, size=(120, 32))

    class Given(torch.nn.Module):  # type: ignore[name-defined]
        """Takes features for images."""

        num_features = 32

        def forward(self, features: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
            return features

    fid = frechet.FrechetInceptionDistance(feature=Given(), normalize=True).set_dtype(torch.float64)
    kid = kernel.KernelInceptionDistance(feature=Given(), subsets=3, subset_size=120, normalize=True).set_dtype(
        torch.float64
    )
    for metric in (fid, kid):
        metric.update(torch.from_numpy(real), real=True)
        metric.update(torch.from_numpy(made), real=False)
    assert compute_frechet_distance(real, made).value == pytest.approx(float(fid.compute()), rel=1e-6)
    found = compute_kernel_distance(real, made, subset_size=120, subsets=3)
    mean, sd = kid.compute()
    assert (found.value, found.sd) == (pytest.approx(float(mean), rel=1e-6), pytest.approx(float(sd), abs=1e-6))
