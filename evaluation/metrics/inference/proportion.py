"""Shares of yes among n, and Wilson's interval as the second, named variant.

Wilson takes every observation for independent: for clustered reviews it is too narrow. It is beside the
default interval to show by how much (Wilson 1927, JASA 22:209–212; Brown, Cai & DasGupta 2001, §3.1.1).
"""

from dataclasses import replace
from math import sqrt

from evaluation.metrics.inference.intervals import Interval, build_empty_interval, explain_few_clusters

LEAST = 50
Z = 1.959963984540054  # 97.5 % point of the standard normal distribution
WILSON = (
    "Wilson, as if observations were independent: of clustered reviews it holds the truth in 24 to 98 % "
    "(bench.coverage: reviews, Wilson)"
)
ALONE = "Wilson, of independent dishes (bench.coverage: Wilson, independent)"


def compute_share(yes: int, n: int) -> float | None:
    """`yes` ÷ `n` in [0, 1]; None where there is nothing to divide by."""
    if not 0 <= yes <= n:
        raise ValueError(f"{yes} of {n} is no share")
    return yes / n if n else None


def wilson_interval(yes: int, n: int) -> Interval:
    """Wilson's 95 % score interval of a share, within [0, 1]."""
    p = compute_share(yes, n)
    if p is None:
        return Interval(None, None, reason="nothing observed")
    middle = p + Z * Z / (2 * n)
    half = Z * sqrt(p * (1 - p) / n + Z * Z / (4 * n * n))
    scale = 1 + Z * Z / n
    low = 0.0 if yes == 0 else (middle - half) / scale
    high = 1.0 if yes == n else (middle + half) / scale
    return Interval(low, high, WILSON)


def chance_alone(yes: int, n: int) -> Interval:
    """Wilson's interval where each observation does stand for itself; from 50 of them on it holds the truth often
    enough (`bench.coverage`)."""
    return (
        replace(wilson_interval(yes, n), method=ALONE)
        if n >= LEAST
        else build_empty_interval(explain_few_clusters(LEAST, "observations"))
    )
