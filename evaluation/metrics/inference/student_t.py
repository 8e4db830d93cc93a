"""Student's t for any degrees of freedom above 0, in plain Python: hosts of the web have numpy alone."""

from math import exp, lgamma, log, log1p

TINY = 1e-300
_STEPS = 400


def student_t_survival(t: float, freedom: float) -> float:
    """P(T ≥ t) for T of `freedom` degrees: half of the regularised incomplete beta function (Abramowitz & Stegun 1964,
    26.7.1)."""
    tail = 0.5 * _beta(freedom / (freedom + t * t), freedom / 2, 0.5)
    return tail if t >= 0 else 1 - tail


def student_t_quantile(share: float, freedom: float) -> float:
    """The t below which `share` of the distribution lies, by bisection. Raises ValueError outside of (0, 1)."""
    if not 0 < share < 1:
        raise ValueError(f"a share between 0 and 1 is needed, got {share}")
    if share < 0.5:
        return -student_t_quantile(1 - share, freedom)
    low, high = 0.0, 1.0
    while student_t_survival(high, freedom) > 1 - share:
        low, high = high, 2 * high
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        if student_t_survival(middle, freedom) > 1 - share:
            low = middle
        else:
            high = middle
    return high


def _beta(x: float, a: float, b: float) -> float:
    """The regularised incomplete beta function by its continued fraction, on the side where it converges fast."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x))
    if x < (a + 1) / (a + b + 2):
        return front * _fraction(x, a, b) / a
    return 1 - front * _fraction(1 - x, b, a) / b


def _fraction(x: float, a: float, b: float) -> float:
    """Lentz's evaluation of the continued fraction (Press et al. 2007, Numerical Recipes, §6.4)."""
    c, d = 1.0, 1 / _apart(1 - (a + b) * x / (a + 1))
    found = d
    for m in range(1, _STEPS):
        for step in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 / _apart(1 + step * d)
            c = _apart(1 + step / c)
            found *= d * c
        if abs(d * c - 1) < 1e-15:
            break
    return found


def _apart(value: float) -> float:
    return value if abs(value) > TINY else TINY
