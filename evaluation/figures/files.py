"""Figures of tables as files: SVG, PDF and PNG."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Literal
from evaluation import palette
from evaluation.metrics.tidy import SMALL_CLUSTERS, SMALL_N, SMALL_PEOPLE, Estimate, TidyTable
from evaluation.observations import ALL
from evaluation.ordering import ordered, place
from evaluation.plan_marks import in_short
from evaluation import drawing
from evaluation.figures.model import Bar, Ending, Look, Panel, Plan, scale
from evaluation.figures import layout



def drawn(table: TidyTable, metrics: Sequence[str], ending: Ending, look: Look | None = None) -> bytes | None:
    """The figure of `table` as a file, the same bytes for the same table; None where there is nothing to draw."""
    look = look or Look()
    plan = layout(table, metrics, look)
    return drawing.draw(plan, ending, look.width / 2.54) if plan else None
