"""What the numbers of a table are means of: one row per observation, for disparities, comparisons and planning.

A table says how to get them in its `TableSpec.observe`, a study's table by its `Study.observe`. For every row of such
a table, the mean of the observations in its cell is its value, and their number its n: a test holds it for all.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class Observations:
    """Columns of one length n, aligned.

    `values`: metric → (n,) float64, NaN where the observation does not count for it. `groups`: column of the table →
    the values that each observation belongs to (several continents, in one order). `dishes`: (n,) cluster labels;
    `raters`: (n,) labels of the people who judged, None where machines did. `images`, `units`, `reviews`: (n,) primary
    keys, 0 where there is none. `demonstration`: made by stand-ins.
    """

    values: Mapping[str, npt.NDArray[np.float64]]
    groups: Mapping[str, Sequence[tuple[str, ...]]]
    dishes: npt.NDArray[np.str_]
    raters: npt.NDArray[np.str_] | None
    images: npt.NDArray[np.int64]
    units: npt.NDArray[np.int64]
    reviews: npt.NDArray[np.int64]
    demonstration: bool = False

    def within(self, cell: Mapping[str, str]) -> npt.NDArray[np.bool_]:
        """(n,) which observations belong to a cell: column → value."""
        inside = np.ones(len(self.dishes), dtype=np.bool_)
        for column, value in cell.items():
            inside &= np.fromiter((value in values for values in self.groups[column]), np.bool_, len(inside))
        return inside
