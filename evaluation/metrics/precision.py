"""How wide intervals will be, and which gap can be seen, before the data: for dishes × images × reviewers.

In a balanced design of D dishes with I images each, R opinions on each image and P people who share the work
evenly, N = D·I·R, the mean has the variance

    dish/D + image/(D·I) + reviewer/P + residual/N.

Our intervals leave out dishes and people one by one (`evaluation/metrics/inference/intervals.py`), those of machine
scores dishes alone. With few of a kind their variance is expected to be larger, by D ÷ (D − 1) for dishes and
P ÷ (P − 1) for people. They reach as far as Student's t with the degrees of freedom that these variances would have.
Gaps are those of two groups with dishes and people of their own, found with probability 0.8 at two-sided level 0.05.
"""

from dataclasses import asdict, dataclass
from math import sqrt
from statistics import NormalDist

from evaluation.metrics.inference.intervals import CAUTION, LEAST_CLUSTERS, LEAST_REVIEWERS
from evaluation.metrics.inference.student_t import student_t_quantile
from evaluation.metrics.tidy import SMALL_N
from evaluation.metrics.variance_components import Components

POWER, ALPHA, COVERAGE = 0.8, 0.05, 0.95


@dataclass(frozen=True)
class Design:
    """One group: `dishes`, images per dish, opinions per image, and `people` among whom the opinions are shared.

    `reviewers` 0: machine scores, one for each image. Raises ValueError for what cannot be.
    """

    dishes: int
    images: int
    reviewers: int = 0
    people: int = 0

    def __post_init__(self) -> None:
        if self.dishes < 1 or self.images < 1 or self.reviewers < 0:
            raise ValueError("A design has at least one dish and one image of each.")
        if self.people < self.reviewers:
            raise ValueError("Nobody judges the same image twice: there are at least as many people as opinions.")
        if self.people > self.n:
            raise ValueError("There are more people than opinions to give.")

    @property
    def n(self) -> int:
        """Observations of the group."""
        return self.dishes * self.images * max(1, self.reviewers)

    @property
    def lacks(self) -> tuple[str, ...]:
        """Why no interval would be claimed, or why the group would count as small: codes, see the planner's page."""
        found = []
        if self.dishes < LEAST_CLUSTERS:
            found.append("dishes")
        if self.reviewers and self.people < LEAST_REVIEWERS:
            found.append("people")
        if self.n < SMALL_N:
            found.append("small")
        return tuple(found)


@dataclass(frozen=True)
class Precision:
    """What a design is expected to give. `width` None: no interval would be claimed.

    `gap`: between two groups of this design, by a test that knows the variances; `gap_of_intervals`: by intervals of
    ours, which estimate them.
    """

    design: Design
    width: float | None
    gap: float
    gap_of_intervals: float | None


def compute_mean_variance(design: Design, parts: Components) -> float:
    """Variance of the group's mean."""
    images = design.dishes * design.images
    people = parts.reviewer / design.people if design.reviewers else parts.reviewer / design.n
    return parts.dish / design.dishes + parts.image / images + people + parts.residual / design.n


def interval_variance(design: Design, parts: Components) -> float:
    """Expected variance of our interval: over dishes and people, or over dishes alone for machine scores."""
    return _interval_parts(design, parts)[0]


def interval_freedom(design: Design, parts: Components) -> float:
    """Degrees of freedom of our interval, for the variances that are expected."""
    return _interval_parts(design, parts)[1]


def _interval_parts(design: Design, parts: Components) -> tuple[float, float]:
    d, images = design.dishes, design.dishes * design.images
    own = max(d - 1, 1)
    if not design.reviewers:
        return compute_mean_variance(design, parts) * d / own, float(own)
    other, n = max(design.people - 1, 1), design.n
    # What only an opinion has, or only an image among people, is seen by both kinds and taken off once.
    single = parts.residual / n
    by_dish = (parts.dish / d + parts.image / images + single) * d / own
    by_person = (parts.reviewer / design.people + single) * design.people / other
    few, many = sorted((own, other))
    scarce, rest = (by_dish, by_person) if own <= other else (by_person, by_dish)
    cautious = CAUTION * max(scarce - single, 0)
    share = cautious / (cautious + rest) if cautious + rest else 1.0
    freedom = max(few, 1 / (share**2 / few + (1 - share) ** 2 / many))
    return max(by_dish + by_person - single, by_dish, by_person), freedom


def compute_precision(design: Design, parts: Components, tests: int = 1) -> Precision:
    """Expected width and gaps; `tests`: how many the family holds, all as strict as Holm's first step."""
    level = 1 - ALPHA / 2 / tests
    outer, power = NormalDist().inv_cdf(level), NormalDist().inv_cdf(POWER)
    freedom = interval_freedom(design, parts)
    real, ours = sqrt(compute_mean_variance(design, parts)), sqrt(interval_variance(design, parts))
    claimed = not {"dishes", "people"} & set(design.lacks)
    return Precision(
        design,
        2 * student_t_quantile(0.5 + COVERAGE / 2, freedom) * ours if claimed else None,
        sqrt(2) * (outer + power) * real,
        sqrt(2) * (student_t_quantile(level, 2 * freedom) * max(ours, real) + power * real) if claimed else None,
    )


def list_alternative_designs(design: Design) -> list[Design]:
    """The design, then with each of its numbers halved and doubled, as far as that can be."""
    numbers = asdict(design)
    found = [design]
    for name in ("dishes", "images", "reviewers", "people") if design.reviewers else ("dishes", "images"):
        for changed in (numbers[name] // 2, numbers[name] * 2):
            try:
                found.append(Design(**{**numbers, name: changed}))
            except ValueError:
                continue
    return [other for other in dict.fromkeys(found) if bool(other.reviewers) == bool(design.reviewers)]
