"""Agreement among people who answered the same question about the same images, not all of them about all.

All coefficients start from counts (units, categories): how many people put the unit into the category. Units with
one opinion say nothing about agreement: they enter only AC1's prevalence, as Gwet has it.

- Krippendorff's alpha: Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability"; missing answers allowed.
- AC1: Gwet 2008, Br. J. Math. Stat. Psychol. 61:29–48, with missing answers as in Gwet 2014, Handbook, ch. 5. It
  stays informative where nearly everybody says the same, where alpha falls towards zero.
- Raw agreement: the mean over units of the share of pairs of opinions that are equal.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from evaluation.metrics.inference.intervals import SHARE, Bounds, Interval, build_empty_interval, of_sums

Level = Literal["nominal", "ordinal", "interval"]
Floats = npt.NDArray[np.float64]
Labels = npt.NDArray[np.generic]
BEYOND_CHANCE = (-1.0, 1.0)
BOUNDS: list[Bounds] = [BEYOND_CHANCE, SHARE, BEYOND_CHANCE]
# Where alpha claims an interval: beyond, it would not hold the truth often enough (`bench.coverage`).
ALPHA_CLUSTERS = 50
ALPHA_MOST = 0.75
FEW_FOR_ALPHA = f"fewer than {ALPHA_CLUSTERS} dishes: alpha claims no interval"
ONE_PREVAILS = f"one answer prevails in over {ALPHA_MOST:.0%}: alpha claims no interval"


class Coefficients(NamedTuple):
    """One value or interval per coefficient."""

    alpha: float | None
    raw_agreement: float | None
    ac1: float | None


class Intervals(NamedTuple):
    """As `Coefficients`: 95 % intervals over clusters of units."""

    alpha: Interval
    raw_agreement: Interval
    ac1: Interval


@dataclass(frozen=True)
class Sums:
    """What the coefficients need, summed over units; leading axes are units, clusters or what is left without each.

    `pairs` (…, K, K) coincidences, `equal` (…) sum of shares of equal pairs, `paired` (…) units with two opinions or
    more, `shares` (…, K) sum of each unit's shares of categories, `rated` (…) units with any opinion.
    """

    pairs: Floats
    equal: Floats
    paired: Floats
    shares: Floats
    rated: Floats

    def flat(self) -> Floats:
        """All of it side by side, (…, K² + K + 3), so that clusters can be added up and taken off."""
        pairs = self.pairs.reshape(*self.equal.shape, self.pairs.shape[-1] ** 2)
        single = np.stack([self.equal, self.paired, self.rated], axis=-1)
        return np.concatenate([pairs, self.shares, single], axis=-1)

    @classmethod
    def unflat(cls, flat: Floats, categories: int) -> "Sums":
        pairs, shares, single = np.split(flat, [categories**2, categories**2 + categories], axis=-1)
        square = pairs.reshape(*pairs.shape[:-1], categories, categories)
        return cls(square, single[..., 0], single[..., 1], shares, single[..., 2])


def tally_codes(units: Labels, codes: npt.ArrayLike, categories: int) -> Floats:
    """Counts (units, categories) in the order of the sorted unit labels, from `units` (n,) and `codes` (n,) 0 … K−1."""
    names, row = np.unique(units, return_inverse=True)
    counts = np.zeros((len(names), categories))
    np.add.at(counts, (row, np.asarray(codes, dtype=np.intp)), 1)
    return counts


def agreement_coefficients(counts: npt.ArrayLike, level: Level, values: Sequence[float] | None = None) -> Coefficients:
    """The three coefficients of `counts` (units, K); None where nothing can be said.

    `values` (K,) are the numbers behind the categories on the interval level, 0 … K−1 by default.
    """
    table = np.asarray(counts, dtype=np.float64)
    flat = _sums(table).flat().sum(axis=0, keepdims=True)
    found = _of_flat(flat, table.shape[1], level, values)
    alpha, raw, ac1 = (None if np.isnan(value[0]) else float(value[0]) for value in found)
    return Coefficients(alpha, raw, ac1)


def coefficient_intervals(
    counts: npt.ArrayLike, clusters: Labels, level: Level, values: Sequence[float] | None = None
) -> Intervals:
    """Intervals of the coefficients over whole `clusters` (units,) of units (dishes), for the people at hand."""
    table = np.asarray(counts, dtype=np.float64)
    names, row = np.unique(clusters, return_inverse=True)
    flat = _sums(table).flat()
    parts = np.zeros((len(names), flat.shape[1]))
    np.add.at(parts, row, flat)
    found = of_sums(parts, lambda sums: np.stack(_of_flat(sums, table.shape[1], level, values), axis=-1), BOUNDS)
    claimed, paired = Intervals(*found), table.sum(axis=1) >= 2
    if len(np.unique(row[paired])) < ALPHA_CLUSTERS:
        return claimed._replace(alpha=build_empty_interval(FEW_FOR_ALPHA))
    if table[paired].sum(axis=0).max(initial=0) > ALPHA_MOST * table[paired].sum():
        return claimed._replace(alpha=build_empty_interval(ONE_PREVAILS))
    return claimed


def _sums(counts: Floats) -> Sums:
    """The parts of each unit of `counts` (units, K)."""
    given = counts.sum(axis=1)
    paired = given >= 2
    by_unit = np.divide(1.0, given - 1, out=np.zeros_like(given), where=paired)
    pairs = np.einsum("uc,uk->uck", counts, counts)
    diagonal = np.arange(counts.shape[1])
    pairs[:, diagonal, diagonal] -= counts
    pairs *= by_unit[:, None, None]
    equal = np.divide(np.trace(pairs, axis1=1, axis2=2), given, out=np.zeros_like(given), where=paired)
    shares = np.divide(counts, given[:, None], out=np.zeros_like(counts), where=given[:, None] > 0)
    return Sums(pairs, equal, paired.astype(np.float64), shares, (given > 0).astype(np.float64))


def _of_flat(flat: Floats, categories: int, level: Level, values: Sequence[float] | None) -> list[Floats]:
    """Alpha, raw agreement and AC1 (draws,) of summed parts (draws, …)."""
    sums = Sums.unflat(flat, categories)
    raw = _divided(sums.equal, sums.paired)
    return [_alpha(sums.pairs, level, values), raw, _ac1(raw, _divided(sums.shares, sums.rated[:, None]))]


def _alpha(pairs: Floats, level: Level, values: Sequence[float] | None) -> Floats:
    """1 − observed ÷ expected disagreement, (draws,), of coincidences (draws, K, K); NaN where none is expected."""
    margins = pairs.sum(axis=-1)
    total = margins.sum(axis=-1)
    distance = _distance(margins, level, values)
    observed = (pairs * distance).sum(axis=(-2, -1))
    expected = (margins[..., :, None] * margins[..., None, :] * distance).sum(axis=(-2, -1))
    return 1 - _divided(observed * (total - 1), expected)


def _distance(margins: Floats, level: Level, values: Sequence[float] | None) -> Floats:
    """Squared distances of categories (draws, K, K). Ordinal: of their middle ranks, which depend on the margins."""
    size = margins.shape[-1]
    if level == "nominal":
        return np.broadcast_to(1 - np.eye(size), (*margins.shape, size))
    if level == "ordinal":
        scale = np.cumsum(margins, axis=-1) - margins / 2
    else:
        scale = np.broadcast_to(np.asarray(range(size) if values is None else values, dtype=np.float64), margins.shape)
    return np.asarray((scale[..., :, None] - scale[..., None, :]) ** 2)


def _ac1(raw: Floats, prevalence: Floats) -> Floats:
    """(raw − chance) ÷ (1 − chance), chance from the mean prevalence (draws, K) of each category."""
    chance = (prevalence * (1 - prevalence)).sum(axis=-1) / max(prevalence.shape[-1] - 1, 1)
    return _divided(raw - chance, 1 - chance)


def _divided(above: Floats, below: Floats) -> Floats:
    """`above` ÷ `below`, NaN where `below` is 0."""
    below = np.broadcast_to(below, above.shape)
    return np.divide(above, below, out=np.full_like(above, np.nan), where=below > 0)
