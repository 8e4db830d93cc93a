"""What people say of an image together, and how well one of them agrees with the others: the ceiling of a machine."""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from evaluation.metrics.classification import Floats, divide_or_nan

Label = Literal["majority", "any", "opinions"]
LABELS: tuple[Label, ...] = get_args(Label)
LEAST_OPINIONS = 3


def community_label_weights(yes: Floats, count: Floats, label: Label) -> tuple[Floats, Floats]:
    """Weights of yes and of no (u,) of units of which `yes` (u,) of `count` (u,) people say yes.

    `majority`: 1 and 0 by what more people say, 0 and 0 for a tie; `any`: yes where anybody says it; `opinions`: each
    opinion counts by itself.
    """
    if label == "opinions":
        return yes, count - yes
    if label == "any":
        return ((count > 0) & (yes > 0)).astype(np.float64), ((count > 0) & (yes == 0)).astype(np.float64)
    return (2 * yes > count).astype(np.float64), (2 * yes < count).astype(np.float64)


@dataclass(frozen=True)
class HeldOut:
    """One row per opinion on a unit with three or more, each against the others' label (m,).

    `unit`: which; `value`: the opinion itself; `yes`, `no`: weights of the others' label, each opinion weighing one
    by the number of the unit's opinions, 0 and 0 where the others tie; `others`: their mean; `weight`: without ties;
    `rater`: whose the opinion is.
    """

    unit: npt.NDArray[np.intp]
    value: Floats
    yes: Floats
    no: Floats
    others: Floats
    weight: Floats
    rater: npt.NDArray[np.intp]

    @property
    def tied(self) -> npt.NDArray[np.bool_]:
        """(m,) where the others tie."""
        return np.asarray(self.yes + self.no == 0)


def held_out(
    unit: npt.NDArray[np.intp], values: Floats, cut: float, label: Label, raters: npt.NDArray[np.intp] | None = None
) -> HeldOut:
    """Every opinion against the others about the same unit: `values` (n,) ≥ `cut` are yes, `unit` (n,) from 0, `raters`
    (n,) whose they are, all somebody else's where that is not said."""
    raters = np.arange(len(unit)) if raters is None else raters
    count = np.bincount(unit).astype(np.float64)[unit]
    enough = count >= LEAST_OPINIONS
    unit, values, count, raters = unit[enough], values[enough], count[enough], raters[enough]
    says = (values >= cut).astype(np.float64)
    others_yes, others = (
        np.bincount(unit, weights=each)[unit] - each if len(unit) else each for each in (says, values)
    )
    yes, no = community_label_weights(others_yes, count - 1, label)
    weight = 1 / count
    shared = divide_or_nan(weight, yes + no) if label == "opinions" else weight
    return HeldOut(unit, values, yes * shared, no * shared, others / (count - 1), weight, raters)
