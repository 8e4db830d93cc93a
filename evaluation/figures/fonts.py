"""Fonts of figures: the same on every machine, and letters for whatever script a name is written in.

Noto Sans (Latin, Greek, Cyrillic, Devanagari) and Noto Sans Arabic come with the project as packages of fonts, so
that a bare server draws them and a figure has the same bytes everywhere. Other scripts are drawn with the Noto fonts
that the system has (Debian: fonts-noto-core). Words are shaped and put in order by the drawing library itself, which
brings HarfBuzz and libraqm since its version 3.11.
"""

import logging
import textwrap
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

PACKAGES = ("fontpkg_noto_sans", "fontpkg_noto_sans_arabic")
LAST = "DejaVu Sans"  # comes with the drawing library
INVISIBLE = frozenset("\n\u200b\u200c\u200d\u200e\u200f\u2066\u2067\u2068\u2069\ufeff")
COMMON = "".join(chr(code) for code in (*range(0x20, 0x7F), *range(0xA0, 0x250), 0x2013, 0x2019, 0x2026, 0x2212))

logger = logging.getLogger(__name__)


@cache
def list_shipped_families() -> tuple[str, ...]:
    """The families that come with the project, in the order in which letters are looked for."""
    found = [*map(_registered, PACKAGES)]
    if lacking := [package for package, family in zip(PACKAGES, found, strict=True) if family is None]:
        logger.warning("fonts of figures are not installed, figures look poorer: %s", ", ".join(lacking))
    return (*(family for family in found if family), LAST)


def choose_font_families(texts: Iterable[str]) -> list[str]:
    """The families that `texts` need, those of the system only where the shipped ones lack a letter."""
    wanted = {ord(sign) for text in texts for sign in text if sign not in INVISIBLE}
    names = list(list_shipped_families())
    wanted -= set().union(*(read_font_code_points(path_of(name)) for name in names))
    for path in _of_system() if wanted else ():
        if wanted & read_font_code_points(path):
            wanted -= read_font_code_points(path)
            names.append(_family(path))
    if wanted:
        signs = " ".join(f"U+{code:04X}" for code in sorted(wanted)[:20])
        logger.warning("no font of this machine has these letters, boxes are drawn: %s", signs)
    return names


@cache
def path_of(family: str) -> str:
    """The file of a family."""
    return str(_manager().findfont(family))


@cache
def read_font_code_points(path: str) -> frozenset[int]:
    """The code points that a font has."""
    from matplotlib.ft2font import FT2Font

    return frozenset(FT2Font(path).get_charmap())


@cache
def measure_letter_widths() -> dict[str, float]:
    """How wide the common letters of the first font are, in parts of the letters' size."""
    from matplotlib.ft2font import FT2Font, LoadFlags

    font = FT2Font(path_of(list_shipped_families()[0]))
    flags = LoadFlags.NO_SCALE | LoadFlags.NO_HINTING
    return {sign: font.load_char(ord(sign), flags).horiAdvance / font.units_per_EM for sign in COMMON}


def wrap_text(text: str, size: float, width: float) -> list[str]:
    """`text` in lines of at most `width` inches, broken between words, within them only where one is too long."""
    found: list[str] = []
    line = ""
    for word in text.split():
        longer = f"{line} {word}" if line else word
        if text_width(longer, size) <= width:
            line = longer
            continue
        *whole, line = _broken(word, size, width)
        found += [*([longer[: -len(word) - 1]] if longer != word else []), *whole]
    return [*found, line]


def _broken(word: str, size: float, width: float) -> list[str]:
    """A word in parts that fit."""
    signs = max(1, int(len(word) * width / max(text_width(word, size), width)))
    return textwrap.wrap(word, signs) or [""]


def text_width(text: str, size: float) -> float:
    """Inches of a line of `text`, its letters beside one another as in the first font; others are taken for an n."""
    widths = measure_letter_widths()
    return sum(widths.get(sign, widths["n"]) for sign in text) * size / 72


def _registered(package: str) -> str | None:
    """The family of an installed package of fonts, under a name that no font of the system has."""
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        return None
    files = Path(spec.origin).parent.glob("files/*.ttf")
    return _family(str(next(path for path in sorted(files) if "Italic" not in path.name)))


@cache
def _family(path: str) -> str:
    manager = _manager()
    manager.addfont(path)
    # Brackets and commas, as in the file names of variable fonts, mean something else in a family's name.
    added = replace(manager.ttflist[-1], name=f"World Wide Dishes {Path(path).stem.partition('[')[0]}")
    manager.ttflist[-1] = added
    return str(added.name)


@cache
def _of_system() -> tuple[str, ...]:
    """Upright Noto Sans fonts of the system, one for each script."""
    held = {str(entry.fname) for entry in _manager().ttflist if Path(entry.fname).name.startswith("NotoSans")}
    return tuple(sorted(path for path in held if path.endswith("-Regular.ttf")))


def _manager() -> Any:
    from matplotlib import font_manager

    return font_manager.fontManager
