"""Many people review at once over broken lines; the simulation of tests/faults/test_review_simulation.py, in figures.

    DATABASE_URL=postgres://… python -m bench.review_simulation [--large] [--wanted 2]

Real web server, a database of its own. Prints what happened and whether every promise was kept.
"""

import argparse
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import django


def figures(large: bool, wanted: int) -> Iterator[str]:
    from tests.faults.test_review_simulation import LARGE, SMALL, check, opinions, simulate, unbalanced

    with tempfile.TemporaryDirectory() as folder:
        world = simulate(Path(folder), replace(LARGE if large else SMALL, wanted=wanted))
    people = world.people
    wrong, looked = unbalanced(world)
    exact = sum(number == world.size.wanted for number in opinions(world).values())
    answered = sum(world.statuses.values())
    yield f"{len(people)} people in {len(world.size.countries)} countries, {len(world.images)} pictures"
    yield f"pictures by model in each country: {world.size.pictures}; wanted opinions: {world.size.wanted}"
    yield f"answers: {len(world.reviews)}, of which surplus {sum(row['surplus'] for row in world.reviews)}, "
    yield f"  repeats {sum(row['repeat'] for row in world.reviews)}"
    yield f"skips: {sum(person.skipped for person in people)}, run out: {sum(person.expired for person in people)}"
    yield f"requests answered: {answered}, cut: {sum(person.line.cuts for person in people)}"
    yield f"statuses: {dict(world.statuses)}"
    yield f"pictures with exactly {world.size.wanted} opinions: {exact} of {len(world.images)}"
    yield f"assignments where another model had been given less and was looked through: {looked}, wrong: {len(wrong)}"
    yield f"seconds: {world.seconds:.0f}, requests a second: {answered / world.seconds:.0f}"
    check(world)
    yield "every promise kept"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--large", action="store_true", help="200 people and 3,000 pictures; takes many minutes")
    parser.add_argument("--wanted", type=int, default=2, help="opinions wanted of each picture")
    options = parser.parse_args()
    django.setup()
    for line in figures(options.large, options.wanted):
        print(line)


if __name__ == "__main__":
    main()
