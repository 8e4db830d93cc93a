"""From a statistic to what a table says of it, and whether a machine may speak for a community."""

import numpy as np

from evaluation.metrics.arrays import Floats
from evaluation.metrics.inference.intervals import Interval
from evaluation.metrics.observations import ALL
from evaluation.metrics.tidy import SMALL_CLUSTERS, SMALL_N, SMALL_PEOPLE, Estimate
from review.people_machine.pairing import Cell

ONE_ANSWER = "people say the same of all these images: agreement beyond chance cannot be estimated"
ONE_VALUE = "the machine gives all these images the same value"
NOT_ONE_COMMUNITY = "said of single communities only"
NOT_BOTH = "the machine’s agreement or the ceiling is not measured"
SMALL = (
    f"a small group, of the machine or of the ceiling: under {SMALL_N} images, {SMALL_CLUSTERS} dishes or "
    f"{SMALL_PEOPLE} people"
)
NO_BOUNDS = "no interval is claimed for the machine or for the ceiling"


def build_estimate(value: object, interval: object, n: int, clusters: int, people: int, why: str) -> Estimate:
    """A value with its interval, of what `people` people said; `why` says what is missing where there is no value."""
    assert value is None or isinstance(value, float)
    assert isinstance(interval, Interval)
    if value is None:
        return Estimate(None, n, clusters, reason=why, people=people)
    return Estimate(value, n, clusters, interval.low, interval.high, interval.method, interval.reason, people)


def estimate_dropped_ties(cell: Cell) -> Estimate:
    """How many images in common were dropped because people tie; n are all of them."""
    if cell.lacking:
        return Estimate(None, 0, 0, reason=cell.lacking, people=0)
    return Estimate(cell.ties, len(cell.machine), cell.clusters, people=cell.people)


def explain_missing_correlation(machine: Floats, people: Floats) -> str:
    """Why two values do not correlate."""
    return ONE_ANSWER if len(np.unique(people)) < 2 else ONE_VALUE


def may_speak(country: str, machine: Estimate, ceiling: Estimate) -> Estimate:
    """1 where the lower bound of the machine's agreement reaches that of the ceiling, 0 where not; else why not said.

    Never of all countries together, and never of a small group.
    """
    n, clusters, people = machine.n, machine.clusters, machine.people
    if country == ALL:
        why = NOT_ONE_COMMUNITY
    elif machine.value is None or ceiling.value is None:
        why = NOT_BOTH
    elif machine.small or ceiling.small:
        why = SMALL
    elif machine.low is None or ceiling.low is None:
        why = NO_BOUNDS
    else:
        return Estimate(int(machine.low >= ceiling.low), n, clusters, people=people)
    return Estimate(None, n, clusters, reason=why, people=people)
