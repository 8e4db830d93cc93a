"""Makes `evaluation/data/world.json` from the npm package world-atlas (Natural Earth, public domain).

    npm pack world-atlas@2.0.2 && tar xzf world-atlas-2.0.2.tgz
    .venv/bin/python -m script.world_map package

Shapes at 1 : 110 million; a country too small for that is a dot where its largest piece lies at 1 : 50 million.
Equal Earth projection (Šavrič, Patterson & Jenny 2018): shades of equal areas weigh the same.
"""

import argparse
import json
import os
from collections.abc import Iterator, Sequence
from math import asin, cos, radians, sin, sqrt
from pathlib import Path
from typing import Any

TARGET = Path(__file__).resolve().parent.parent / "evaluation" / "data" / "world.json"
WIDTH, HEIGHT = 960, 424
# Equal Earth reaches 2.7066 from the middle to either side; Antarctica has no dishes of its own and is cut off.
SCALE = WIDTH / (2 * 2.7067)
MIDDLE = 234
A1, A2, A3, A4 = 1.340264, -0.081106, 0.000893, 0.003796
# What the atlas abbreviates or calls otherwise than our list of places.
NAMES = {
    "Bosnia and Herz.": "BIH",
    "Central African Rep.": "CAF",
    "Congo": "COG",
    "Dem. Rep. Congo": "COD",
    "Dominican Rep.": "DOM",
    "Eq. Guinea": "GNQ",
    "Falkland Is.": "FLK",
    "Fr. S. Antarctic Lands": "ATF",
    "S. Sudan": "SSD",
    "Solomon Is.": "SLB",
    "W. Sahara": "ESH",
    "Antigua and Barb.": "ATG",
    "Cook Is.": "COK",
    "Cabo Verde": "CPV",
    "Faeroe Is.": "FRO",
    "Fr. Polynesia": "PYF",
    "Marshall Is.": "MHL",
    "N. Mariana Is.": "MNP",
    "Pitcairn Is.": "PCN",
    "S. Geo. and the Is.": "SGS",
    "St. Kitts and Nevis": "KNA",
    "St. Pierre and Miquelon": "SPM",
    "St. Vin. and Gren.": "VCT",
    "St-Barthélemy": "BLM",
    "St-Martin": "MAF",
    "São Tomé and Principe": "STP",
    "Turks and Caicos Is.": "TCA",
    "U.S. Virgin Is.": "VIR",
    "Wallis and Futuna Is.": "WLF",
    "British Virgin Is.": "VGB",
    "Cayman Is.": "CYM",
    "Br. Indian Ocean Ter.": "IOT",
    "Heard I. and McDonald Is.": "HMD",
    "Macao": "MAC",
    "Vatican": "VAT",
    "N. Cyprus": "X-NCY",
}
LEFT_OUT = ("Antarctica",)
Point = tuple[float, float]


def projected(longitude: float, latitude: float) -> Point:
    """x and y of the drawing, from degrees."""
    theta = asin(sqrt(3) / 2 * sin(radians(latitude)))
    square = theta * theta
    sixth = square * square * square
    below = 3 * (9 * A4 * sixth * square + 7 * A3 * sixth + 3 * A2 * square + A1)
    x = 2 * sqrt(3) * radians(longitude) * cos(theta) / below
    y = theta * (A1 + A2 * square + sixth * (A3 + A4 * square))
    return WIDTH / 2 + x * SCALE, MIDDLE - y * SCALE


def arcs_of(atlas: dict[str, Any]) -> list[list[Point]]:
    """The arcs in degrees: TopoJSON keeps whole steps from point to point."""
    (sx, sy), (tx, ty) = atlas["transform"]["scale"], atlas["transform"]["translate"]
    found = []
    for arc in atlas["arcs"]:
        x = y = 0
        points = []
        for dx, dy in arc:
            x, y = x + dx, y + dy
            points.append((x * sx + tx, y * sy + ty))
        found.append(points)
    return found


def rings(geometry: dict[str, Any], arcs: Sequence[Sequence[Point]]) -> Iterator[list[Point]]:
    """The rings of a country, projected. A negative arc is walked backwards."""
    pieces = geometry["arcs"] if geometry["type"] == "MultiPolygon" else [geometry["arcs"]]
    for piece in pieces:
        for ring in piece:
            points = [point for arc in ring for point in (arcs[arc] if arc >= 0 else list(arcs[~arc])[::-1])]
            yield [projected(*point) for point in whole(points)]


def whole(points: list[Point]) -> list[Point]:
    """A ring that crosses the date line goes on beyond it, instead of back around the world."""
    longitudes = [x for x, _ in points]
    if max(longitudes) - min(longitudes) <= 180:
        return points
    return [(x + 360 if x < 0 else x, y) for x, y in points]


def path(shapes: Sequence[Sequence[Point]]) -> str:
    """An SVG path, in tenths; points that fall together are one."""
    parts = []
    for ring in shapes:
        points = list(dict.fromkeys((round(x, 1), round(y, 1)) for x, y in ring))
        if len(points) > 2:
            parts.append("M" + "L".join(f"{x:g},{y:g}" for x, y in points) + "Z")
    return "".join(parts)


def area(ring: Sequence[Point]) -> float:
    pairs = zip(ring, [*ring[1:], ring[0]], strict=True)
    return abs(sum(a[0] * b[1] - b[0] * a[1] for a, b in pairs)) / 2


def dot(shapes: Sequence[Sequence[Point]]) -> list[float]:
    """The middle of the largest piece."""
    ring = max(shapes, key=area)
    return [round(sum(values) / len(ring), 1) for values in zip(*ring, strict=True)]


def countries(file: Path) -> Iterator[tuple[str, list[list[Point]]]]:
    """(code, rings) of each country that our list of places knows."""
    from collection.vocabularies.places import code_for

    atlas = json.loads(file.read_text(encoding="utf-8"))
    arcs = arcs_of(atlas)
    for geometry in atlas["objects"]["countries"]["geometries"]:
        name = geometry["properties"]["name"]
        code = NAMES.get(name) or code_for(name)
        if code is None:
            print(f"not in our list of places: {name}")
        elif name not in LEFT_OUT:
            yield code, list(rings(geometry, arcs))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("package", type=Path)
    folder: Path = parser.parse_args().package
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "wwd.settings")
    import django

    django.setup()
    shapes = {code: path(rings) for code, rings in countries(folder / "countries-110m.json")}
    small = {code: dot(rings) for code, rings in countries(folder / "countries-50m.json") if code not in shapes}
    made = {"width": WIDTH, "height": HEIGHT, "shapes": shapes, "dots": small}
    TARGET.write_text(json.dumps(made, sort_keys=True, separators=(",", ":")) + "\n", encoding="utf-8")
    print(f"{len(shapes)} shapes and {len(small)} dots, {TARGET.stat().st_size} bytes")


if __name__ == "__main__":
    main()
