"""How far a 95 % interval reaches in standard errors: Student's t for many degrees of freedom at once."""

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from evaluation.metrics.arrays import Floats
from evaluation.metrics.inference.student_t import student_t_quantile

LEVEL = 0.975
LEAST = 1.0
_STEPS = 128


def t_critical_value(freedom: npt.ArrayLike) -> Floats:
    """The 97.5 % point of t for each of `freedom`, 1 at least, read between 128 computed ones."""
    inverse, points = _points()
    return np.asarray(np.exp(np.interp(1 / np.maximum(np.asarray(freedom, dtype=np.float64), LEAST), inverse, points)))


@lru_cache(maxsize=1)
def _points() -> tuple[Floats, Floats]:
    """1 ÷ degrees of freedom upwards from 0, and the logarithm of the point of each: nearly a straight line."""
    inverse = np.linspace(0, 1, _STEPS + 1)
    points = [np.log(student_t_quantile(LEVEL, 1 / max(step, 1e-7))) for step in inverse]
    return inverse, np.array(points)
