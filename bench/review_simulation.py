"""Many people review at once over broken lines; the simulation of tests/faults/test_review_simulation.py, in figures.

    DATABASE_URL=postgres://… python -m bench.review_simulation [--large] [--wanted 2]

Real web server, a database of its own. Prints what happened and whether every promise was stored.
"""

import argparse
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import django


def figures(large: bool, wanted: int) -> Iterator[str]:
    from tests.faults import test_review_simulation as simulation

    size = simulation.LARGE if large else simulation.SMALL
    with tempfile.TemporaryDirectory() as folder:
        world = simulation.simulate(Path(folder), replace(size, wanted=wanted))
    yield from simulation.figures(world)
    simulation.check(world)
    yield "every promise kept"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--large", action="store_true", help="200 people and 3,000 images; takes many minutes")
    parser.add_argument("--wanted", type=int, default=2, help="opinions wanted of each image")
    options = parser.parse_args()
    django.setup()
    for line in figures(options.large, options.wanted):
        print(line)


if __name__ == "__main__":
    main()
