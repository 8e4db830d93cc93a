"""The world map by dishes: one inline SVG from `data/world.json` (Natural Earth, made by `script/world_map.py`).

Five shades on a scale of powers of ten, because one country may have a hundred times what another has; the numbers
themselves are in each country's title and in the table beside the map.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from collection.vocabularies.places import code_for

FILE = Path(__file__).resolve().parent.parent / "data" / "world.json"
# Dishes from which a shade begins; a country without any has shade 0.
STEPS = (1, 3, 10, 30, 100)


@dataclass(frozen=True)
class Country:
    """One country as drawn: a `path`, or a dot at `x`, `y`. `shade` 0 to 5; `title` only where there are dishes."""

    shade: int
    title: str
    path: str = ""
    x: float = 0
    y: float = 0


@dataclass(frozen=True)
class Step:
    """A line of the legend."""

    shade: int
    words: str


@dataclass(frozen=True)
class WorldMap:
    """`elsewhere`: places with dishes that the map does not show, with their numbers."""

    width: int
    height: int
    countries: tuple[Country, ...]
    legend: tuple[Step, ...]
    elsewhere: tuple[tuple[str, int], ...]


@lru_cache(maxsize=1)
def load_atlas() -> Mapping[str, Any]:
    content: Mapping[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return content


def find_shade(number: int) -> int:
    return sum(number >= step for step in STEPS)


def world_map(dishes: Mapping[str, int]) -> WorldMap:
    """The map of `dishes`: name of a country → number."""
    codes = {name: code_for(name) for name in dishes}
    named = {code: name for name, code in codes.items() if code}
    drawn = load_atlas()
    shown = {**drawn["shapes"], **drawn["dots"]}
    elsewhere = sorted((name, number) for name, number in dishes.items() if codes[name] not in shown)
    numbers = {code: (name, dishes[name]) for code, name in named.items()}
    return WorldMap(
        drawn["width"], drawn["height"], tuple(draw_countries(numbers)), tuple(build_map_legend()), tuple(elsewhere)
    )


def draw_countries(numbers: Mapping[str, tuple[str, int]]) -> Iterator[Country]:
    """All shapes, then all dots, so that a small country is never hidden."""
    drawn = load_atlas()
    for code, path in drawn["shapes"].items():
        yield Country(*describe_country_count(numbers.get(code)), path=path)
    for code, (x, y) in drawn["dots"].items():
        yield Country(*describe_country_count(numbers.get(code)), x=x, y=y)


def describe_country_count(found: tuple[str, int] | None) -> tuple[int, str]:
    return (find_shade(found[1]), f"{found[0]}: {found[1]}") if found else (0, "")


def build_map_legend() -> Iterator[Step]:
    yield Step(0, "0")
    for number, (start, end) in enumerate(zip(STEPS, (*STEPS[1:], None), strict=True), 1):
        last = end - 1 if end else None
        yield Step(number, f"{start}–{last}" if last and last > start else str(start) if last else f"≥ {start}")
