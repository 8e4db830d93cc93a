"""What a figure shows: bars in panels, with their scale and their look."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from typing import Literal

from evaluation.figures import palette
from evaluation.metrics.tidy import Estimate

Ending = Literal["svg", "pdf", "png"]


@dataclass(frozen=True)
class Bar:
    """One number: `place` is the name at the side, `model` decides the colour."""

    place: str
    model: str
    estimate: Estimate


@dataclass(frozen=True)
class Panel:
    """Bars of one metric, those of a place together. `scale` is that of the metric."""

    title: str
    scale: tuple[float, float]
    bars: tuple[Bar, ...]

    def places(self) -> list[tuple[str, tuple[Bar, ...]]]:
        return [(name, tuple(held)) for name, held in groupby(self.bars, lambda bar: bar.place)]


@dataclass(frozen=True)
class FigurePlan:
    """`models`: model → colour, in order, empty where the table has none. `foot`: sentences under the figure."""

    panels: tuple[Panel, ...]
    models: Mapping[str, str]
    foot: tuple[str, ...] = ()
    left_out: int = 0
    demonstration: bool = False

    def colour(self, model: str) -> str:
        return self.models.get(model, palette.COLOURS["dalle2"])

    def texts(self) -> Iterator[str]:
        """Every text that is drawn."""
        yield from (*self.models, *self.foot)
        for panel in self.panels:
            yield panel.title
            yield from (bar.place for bar in panel.bars)


@dataclass(frozen=True)
class FigureStyle:
    """How a figure is wanted: `width` in cm (one printed column, or a page), `source` a sentence for its foot."""

    width: int = 17
    source: str = ""
    colours: palette.Palette = field(default_factory=lambda: palette.COLOURS)


def find_value_range(estimates: Iterator[Estimate]) -> tuple[float, float]:
    """The range that all values and intervals lie in, zero included; 0 to 1 where nothing else says it."""
    ends = [0.0]
    for estimate in estimates:
        ends += [float(end) for end in (estimate.value, estimate.low, estimate.high) if end is not None]
    low, high = min(ends), max(ends)
    return (low, high) if low < high else (0.0, 1.0)
