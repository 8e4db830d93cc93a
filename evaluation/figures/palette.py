"""Colours of models: one for each, the same in every figure and on every page, whatever subset is shown.

All twelve are distinguished by people who see few colours: simulated for protanopia, deuteranopia and tritanopia
(Machado, Oliveira & Fernandes 2009) any two lie at least 20 apart in CIE Lab, where those of Okabe & Ito lie 16.
They differ in lightness too, for print in grey: those of the published models by 20 or more. A test holds both.
"""

from collections.abc import Iterable, Mapping
from zlib import crc32

from evaluation.metrics.ordering import model_key

INK = "#2b211a"
COLOURS = {"dalle2": "#0b3c6f", "dalle3": "#e69f00", "sd21": "#b5527e", "real": "#111111", "sketch": "#9ad7f5"}
SPARE = ("#af73c8", "#77520f", "#e1ee90", "#375cd0", "#f9696a", "#591804", "#e3b8ad")
Palette = Mapping[str, str]


def assign_model_colours(models: Iterable[tuple[str, str]]) -> Palette:
    """Key of a model → its colour, from slug and title of all models, oldest first: a new one changes none."""
    found = dict(COLOURS)
    given = 0
    for names in models:
        keys = [model_key(name) for name in names]
        known = next((found[key] for key in keys if key in found), None)
        found = {**dict.fromkeys(keys, known or SPARE[given % len(SPARE)]), **found}
        given += known is None
    return found


def get_model_colour(model: str, palette: Palette = COLOURS) -> str:
    """The colour of `model`; of one that is not in the palette by its name: letters in their order (A, B, C)."""
    key = model_key(model)
    if key in palette:
        return palette[key]
    place = ord(key) - ord("a") if len(key) == 1 else crc32(key.encode())
    return SPARE[place % len(SPARE)]


def colour_lightness(hexadecimal: str) -> float:
    """CIE L* of a colour `#rrggbb`, 0 to 100."""
    parts = [int(hexadecimal[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    return float(116 * luminance ** (1 / 3) - 16 if luminance > 216 / 24389 else 24389 / 27 * luminance)


def choose_contrast_colour(colour_below: str) -> str:
    """Ink or white, whichever is seen on a colour: for hatching."""
    return "#ffffff" if colour_lightness(colour_below) < 60 else INK
