"""The dimensions by which subjects and units are grouped, as data.

One list for filters, for the order of values and of columns, for disparities and comparisons, for masks, and for the
images behind a cell. A new dimension is one line here, and labels of this name on subjects or in payloads.
"""

from collections.abc import Mapping
from dataclasses import dataclass

CONTINENTS = ("Africa", "Asia", "Europe", "North America", "South America", "Oceania", "Antarctica")


@dataclass(frozen=True)
class Dimension:
    """A dimension: `name` in labels, columns and filters; `title` over its filter; `several`: its values in a sentence.

    `compared`: its values are groups of which a disparity is the gap; of others, each value is a cell of its own.
    `masked`: what a hidden value is called before its letter; empty where values are never hidden. `values`: those
    that have a fixed order. `side`: which comes first at the side of a figure. `of_units`: the label is that of a
    unit, in its payload under `labels`, and not that of its subject.
    """

    name: str
    title: str
    several: str
    compared: bool = False
    masked: str = ""
    values: tuple[str, ...] = ()
    side: int = 0
    of_units: bool = False


# In the order in which filters are offered.
DIMENSIONS = (
    Dimension("country", "Country", "countries", compared=True, masked="Country ", side=4),
    Dimension("continent", "Continent", "continents", compared=True, masked="Continent ", values=CONTINENTS, side=1),
    Dimension("language", "Language", "languages", compared=True, side=5),
    Dimension("kind", "Kind of dish", "kinds"),
    Dimension("region", "Region", "regions", compared=True, masked="Region ", side=2),
    Dimension("culture", "Culture", "cultures", compared=True, masked="Culture ", side=3),
    Dimension("object", "Object", "objects"),
    Dimension(
        "question_language", "Language of the question", "languages of questions", compared=True, side=6, of_units=True
    ),
)
DIMENSION_NAMES = tuple(each.name for each in DIMENSIONS)
# Those that dishes have.
DISH_DIMENSIONS = ("country", "continent", "language", "kind")
SUBJECT_DIMENSIONS = tuple(each.name for each in DIMENSIONS if not each.of_units)
UNIT_DIMENSIONS = tuple(each.name for each in DIMENSIONS if each.of_units)
COMPARED_DIMENSIONS = tuple(each.name for each in DIMENSIONS if each.compared)
SIDE_DIMENSIONS = tuple(each.name for each in sorted(DIMENSIONS, key=lambda each: each.side) if each.compared)
# Dimension → what a hidden value is called before its letter, and what several are called in a sentence.
MASKED_DIMENSIONS: Mapping[str, Dimension] = {each.name: each for each in DIMENSIONS if each.masked}
FIXED_VALUES: Mapping[str, tuple[str, ...]] = {each.name: each.values for each in DIMENSIONS if each.values}
