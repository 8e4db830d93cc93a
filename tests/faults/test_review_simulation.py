"""Many people review at once over broken lines, on PostgreSQL and a real server: nothing is lost, nobody is too many.

Each round of people takes images until there are no more for them. A part of the images is skipped, a part of
the answers comes after its reservation ran out, a part of the requests is cut before the answer was read and sent
again. Afterwards the database is read and every assignment checked in its order.

The order in which places were given is that of `created_at`: it is written while the image's row is held. What a
skip or a late hour sets free may be seen a moment later than its time says, so that an image counts as open in the
check only `SLACK` after it was freed.
"""

import asyncio
import logging
import random
import re
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg2
import psycopg2.extras
import pytest

from tests.browser.server import own_database
from tests.faults.event_loops import run
from tests.faults.simulated_reviewers import Line, Person
from tests.wwd.processes import ROOT, environment, gunicorn, manage

logger = logging.getLogger(__name__)

SLACK = timedelta(seconds=2)
SKIPS, LATE, CUT = 0.05, 0.05, 0.10
AT_ONCE = 16
MARKS = ("explanation", "seen", "more")
# In the log a status is after method and path; 500 may also be a number of bytes or milliseconds.
FAILED = re.compile(r" (?:GET|POST) \S+ 5\d\d |ERROR|CRITICAL|Traceback")
HANDLED = ("answered", "skipped", "reported")
pytestmark = [pytest.mark.postgres, pytest.mark.embedded]


@dataclass(frozen=True)
class Size:
    """How much is simulated: `images` of each country by model, `people` of each country."""

    countries: tuple[str, ...]
    people: int
    images: tuple[int, ...]
    wanted: int


SMALL = Size(("Kenya", "Nigeria"), people=12, images=(36, 18, 6), wanted=2)
LARGE = Size(("Algeria", "Cameroon", "Kenya", "Nigeria", "South Africa"), people=40, images=(340, 200, 60), wanted=2)


@dataclass(frozen=True)
class Given:
    """One assignment as the database has it."""

    reviewer: str
    image: str
    model: int
    state: str
    created_at: datetime
    freed_at: datetime | None


@dataclass
class World:
    """What the simulation left: the people, and the rows of the database."""

    size: Size
    people: list[Person]
    statuses: Counter[int]
    log: str
    images: dict[str, tuple[str, int]]
    country_of: dict[str, str]
    reviews: list[dict[str, Any]]
    assignments: list[Given]
    seconds: float


def rows(database: str, query: str, *values: Any) -> list[dict[str, Any]]:
    with closing(psycopg2.connect(database)) as connection, connection, connection.cursor() as cursor:
        cursor.execute(query, values)
        names = [column.name for column in cursor.description or ()]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()] if names else []


def build(environ: dict[str, str], size: Size) -> list[str]:
    """A campaign made through the product's own functions, and an invitation for each person; their codes."""
    code = (
        "import django\ndjango.setup()\n"
        "from tests.faults.review_campaign import build\n"
        f"print(*build({size.countries!r}, {size.people}, {size.images!r}, {size.wanted}))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environ, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@contextmanager
def site(folder: Path, database: str, size: Size) -> Iterator[tuple[str, list[str], Path]]:
    """The running server's address, the codes of the invitations, the server's log."""
    environ = environment(folder, DATABASE_URL=database, WWD_WEB_PROCESSES="2")
    done = manage(environ, "collectstatic", "--no-input", "-v0")
    assert done.returncode == 0, done.stderr
    codes = build(environ, size)
    with gunicorn(environ, folder / "log") as url:
        yield url, codes, folder / "log"


async def everybody(people: list[Person]) -> None:
    """All join at once and take images, again and again, until nobody gets one any more."""
    await asyncio.gather(*(person.join() for person in people))
    while any(await asyncio.gather(*(person.review_everything() for person in people))):
        continue


def simulate(folder: Path, size: Size) -> World:
    with own_database() as database, closing(psycopg2.connect(database)) as late, site(folder, database, size) as found:
        url, codes, log = found
        late.autocommit = True

        def expire(invitation: str) -> None:
            with late.cursor() as cursor:
                cursor.execute(
                    "UPDATE review_assignment SET until = now() - interval '1 second' WHERE state = 'reserved' AND "
                    "reviewer_id = (SELECT r.id FROM review_reviewer r JOIN review_invitation i "
                    "ON i.id = r.invitation_id WHERE i.code = %s)",
                    [invitation],
                )

        host, port = urlsplit(url).hostname or "", urlsplit(url).port or 0
        at_once = asyncio.Semaphore(AT_ONCE)
        people = [
            Person(
                Line(host, port, random.Random(number), CUT, at_once),
                code,
                size.countries[number % len(size.countries)],
                SKIPS,
                LATE,
                expire,
            )
            for number, code in enumerate(codes)
        ]
        started = time.monotonic()
        run(everybody(people))
        return read_world(database, size, people, log.read_text(), time.monotonic() - started)


def read_world(database: str, size: Size, people: list[Person], log: str, seconds: float) -> World:
    images = rows(
        database,
        "SELECT c.id::text, c.country, g.model_id FROM review_campaignimage c "
        "JOIN evaluation_generatedimage g ON g.id = c.image_id",
    )
    by_id = {row["id"]: (row["country"], row["model_id"]) for row in images}
    assignments = rows(
        database,
        "SELECT reviewer_id::text AS reviewer, image_id::text AS image, state, created_at, handled_at, until "
        "FROM review_assignment WHERE NOT repeat ORDER BY created_at",
    )
    given = [
        Given(row["reviewer"], row["image"], by_id[row["image"]][1], row["state"], row["created_at"], freed(row))
        for row in assignments
    ]
    reviewers = rows(database, "SELECT id::text, country FROM review_reviewer")
    return World(
        size=size,
        people=people,
        statuses=sum((person.line.statuses for person in people), Counter()),
        log=log,
        images=by_id,
        country_of={row["id"]: row["country"] for row in reviewers},
        reviews=rows(
            database,
            "SELECT reviewer_id::text AS reviewer, image_id::text AS image, surplus, repeat, answers "
            "FROM review_review",
        ),
        assignments=given,
        seconds=seconds,
    )


def freed(row: dict[str, Any]) -> datetime | None:
    """When a place was certainly free again for somebody else; None where it was answered."""
    if row["state"] == "skipped":
        return row["handled_at"] + SLACK
    return row["until"] + SLACK if row["state"] in ("expired", "reserved") else None


def opinions(world: World) -> Counter[str]:
    return Counter(row["image"] for row in world.reviews if not row["surplus"] and not row["repeat"])


def left_without_reason(world: World) -> list[str]:
    """Images with too few opinions though somebody of their country has not handled them."""
    handled = defaultdict(set)
    for one in world.assignments:
        if one.state in HANDLED:
            handled[one.image].add(one.reviewer)
    of_country = defaultdict(set)
    for reviewer, country in world.country_of.items():
        of_country[country].add(reviewer)
    counted = opinions(world)
    return [
        image
        for image, (country, _model) in world.images.items()
        if counted[image] < world.size.wanted and of_country[country] - handled[image]
    ]


def unbalanced(world: World) -> tuple[list[Given], int]:
    """Assignments of a model of which this person had had more than of another with an open image for them; and
    how often another model had been given less, so that its images had to be looked through."""
    images = defaultdict(list)
    for image, (country, model) in world.images.items():
        images[country, model].append(image)
    holders: dict[str, list[Given]] = defaultdict(list)
    had: dict[str, Counter[int]] = defaultdict(Counter)
    seen: dict[str, set[str]] = defaultdict(set)
    wrong, looked = [], 0
    for one in world.assignments:
        country, mine = world.country_of[one.reviewer], had[one.reviewer]
        for model in {model for place, model in images if place == country and mine[model] < mine[one.model]}:
            looked += 1
            unseen = [image for image in images[country, model] if image not in seen[one.reviewer]]
            if any(load(holders[image], one.created_at) < world.size.wanted for image in unseen):
                wrong.append(one)
        mine[one.model] += 1
        seen[one.reviewer].add(one.image)
        holders[one.image].append(one)
    return wrong, looked


def load(holders: list[Given], at: datetime) -> int:
    return sum(one.freed_at is None or one.freed_at > at for one in holders)


def marks(world: World) -> list[str]:
    """The marks in all stored answers."""
    return [row["answers"][code] for row in world.reviews for code in MARKS if row["answers"].get(code)]


def failures(log: str) -> list[str]:
    """Lines about answers that failed on the server, also to requests that were cut, and about errors."""
    return [line for line in log.splitlines() if FAILED.search(line)]


def figures(world: World) -> list[str]:
    """What happened, in lines for people."""
    wrong, looked = unbalanced(world)
    exact = sum(number == world.size.wanted for number in opinions(world).values())
    answered = sum(world.statuses.values())
    people = world.people
    return [
        f"{len(people)} people in {len(world.size.countries)} countries, {len(world.images)} pictures",
        f"images by model in each country: {world.size.images}; wanted opinions: {world.size.wanted}",
        f"answers: {len(world.reviews)}, of which surplus {sum(row['surplus'] for row in world.reviews)}, "
        f"repeats {sum(row['repeat'] for row in world.reviews)}; "
        f"said by people: {sum(len(person.said) for person in people)}",
        f"skips: {sum(person.skipped for person in people)}, run out: {sum(person.expired for person in people)}",
        f"requests answered: {answered}, cut: {sum(person.line.cuts for person in people)}",
        f"statuses: {dict(world.statuses)}; lines about failures in the log: {len(failures(world.log))}",
        f"images with exactly {world.size.wanted} opinions: {exact} of {len(world.images)}; "
        f"too few without a reason: {len(left_without_reason(world))}",
        f"assignments where another model had been given less and was looked through: {looked}, wrong: {len(wrong)}",
        f"seconds: {world.seconds:.0f}, requests a second: {answered / world.seconds:.0f}",
    ]


def check(world: World) -> None:
    size = world.size
    assert len(world.country_of) == len(world.people) == size.people * len(size.countries)
    assert set(world.statuses) == {200}, world.statuses
    assert failures(world.log) == []
    assert not [page for person in world.people for page in person.odd]
    said = [mark for person in world.people for mark in person.said]
    assert Counter(marks(world)) == Counter(said)
    assert max(opinions(world).values()) <= size.wanted
    assert left_without_reason(world) == []
    wrong, looked = unbalanced(world)
    assert wrong == []
    assert looked, "no model ran out of images: nothing was checked"


@pytest.mark.parametrize(
    ("line", "failed"),
    [
        ("INFO gunicorn.access: POST /review/a/pictures/ 200 4121 bytes 500 ms", False),
        ("INFO gunicorn.access: POST /review/a/pictures/ 200 500 bytes 31 ms", False),
        ("INFO gunicorn.access: POST /review/a/pictures/ 500 145 bytes 31 ms", True),
        ("INFO gunicorn.access: GET /review/a/ 503 145 bytes 31 ms", True),
        ("ERROR django.request: Internal Server Error: /review/a/pictures/", True),
    ],
)
def test_only_a_status_is_a_failure(line: str, failed: bool) -> None:
    assert bool(failures(line)) is failed


def test_people_on_broken_lines_fill_every_image_exactly_and_lose_nothing(tmp_path: Path) -> None:
    check(simulate(tmp_path, SMALL))


@pytest.mark.long
# --log-cli-level=INFO shows the figures.
def test_two_hundred_people_and_three_thousand_images(tmp_path: Path) -> None:
    world = simulate(tmp_path, LARGE)
    logger.info("\n".join(figures(world)))
    check(world)
