"""The leaderboard with many dishes, and what its counters cost: `python -m bench.leaderboard [--dishes 1000000]`.

Makes a database of its own on the PostgreSQL of `DATABASE_URL` and drops it again. Prints the ratio of the page's time
at all dishes to that at a hundredth of them, its queries, and how much longer a submission takes with counters than
without, alone and 50 at once to one country, up to and with the decision that counts it. Exits with 1 where a bound is
passed. With `--night` everything is counted from scratch too: that must find the counters that SQL made here right.
"""

import argparse
import os
import statistics
import sys
import threading
import time
import uuid
from collections.abc import Callable

from bench.dashboards import database
from bench.slow_clients import machine

NAME = "wwd_bench_leaderboard"
ROUNDS, FEW_ROUNDS = 30, 5
AT_ONCE = 50
MOST_RATIO, MOST_COST, MOST_QUERIES = 1.5, 1.3, 2
# What a dish stands for: kind of name → key, label and dish.
STANDS = {
    "country": "SELECT country_id AS key, name AS label, dish_id FROM collection_dishcountry",
    "language": "SELECT '~' || lower(name) AS key, name AS label, dish_id FROM collection_dishlanguage",
    "region": "SELECT lower(regions) AS key, regions AS label, id AS dish_id FROM collection_dish",
}
NAMES = """INSERT INTO collection_boardname (kind, key, label, first_at)
  SELECT '{kind}', key, min(label), min(d.created_at) FROM ({rows}) s JOIN collection_dish d ON d.id = s.dish_id
  WHERE d.number BETWEEN %s AND %s GROUP BY key
  ON CONFLICT (kind, key) DO UPDATE SET first_at = least(collection_boardname.first_at, excluded.first_at)"""
HEARD = """INSERT INTO collection_heard (dish_id, name_id, label, at, imported)
  SELECT s.dish_id, b.id, s.label, d.created_at, false FROM ({rows}) s JOIN collection_dish d ON d.id = s.dish_id
  JOIN collection_boardname b ON b.kind = '{kind}' AND b.key = s.key WHERE d.number BETWEEN %s AND %s"""
TALLIES = """INSERT INTO collection_tally (name_id, kind, period, start, dishes, people)
  SELECT b.id, b.kind, '{period}', {start}, count(*), 0 FROM collection_heard h
  JOIN collection_boardname b ON b.id = h.name_id GROUP BY 1, 2, 3, 4"""
DAY = "(h.at AT TIME ZONE 'UTC')::date"
PERIODS = (("ever", "date '1970-01-01'"), ("month", f"date_trunc('month', {DAY})::date"), ("day", DAY))


def fill(first: int, last: int) -> None:
    """Accepted dishes of these numbers over all countries and two years, with their counters."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(
            """INSERT INTO collection_dish (number, source, state, created_at, changed_at, local_name, english_name,
                 ingredients, regions, cultures, time_of_day, time_of_day_more, kinds, kinds_more, utensils, drink,
                 occasions, occasions_more, recipe, more_details, mixed_letters)
               SELECT n, 'form', 'accepted', now() - (n %% 730) * interval '1 day', now(), 'Dish ' || n, '', 'rice',
                 'Region ' || n %% 3000, '', '[]', '', '[]', '', '', '', '', '', '', '', false
               FROM generate_series(%s, %s) AS n""",
            [first, last],
        )
        cursor.execute(
            """INSERT INTO collection_dishcountry (dish_id, position, name, country_id)
               SELECT d.id, 0, c.name, c.code FROM collection_dish d
               JOIN (SELECT code, name, row_number() OVER (ORDER BY code) - 1 AS r, count(*) OVER () AS n
                     FROM collection_country) c ON c.r = d.number %% c.n WHERE d.number BETWEEN %s AND %s""",
            [first, last],
        )
        cursor.execute(
            """INSERT INTO collection_dishlanguage (dish_id, position, name, code)
               SELECT id, 0, 'Language ' || number %% 900, 'mis' FROM collection_dish WHERE number BETWEEN %s AND %s""",
            [first, last],
        )
        # The next dish gets the next number.
        cursor.execute("DELETE FROM collection_counter WHERE name = 'dish'")
        cursor.execute("INSERT INTO collection_counter (name, value) VALUES ('dish', %s)", [last])
        for kind, rows in STANDS.items():
            cursor.execute(NAMES.format(kind=kind, rows=rows), [first, last])
            cursor.execute(HEARD.format(kind=kind, rows=rows), [first, last])
        cursor.execute("DELETE FROM collection_tally")
        for period, start in PERIODS:
            cursor.execute(TALLIES.format(period=period, start=start))
        cursor.execute("ANALYZE")


def night() -> tuple[int, float]:
    """How many counters the count from scratch found wrong, and how many seconds it took."""
    from collection.leaderboard.counters import rebuild_leaderboard

    start = time.perf_counter()
    return rebuild_leaderboard(), time.perf_counter() - start


def page_seconds() -> float:
    """Median of the leaderboard's page, in the test client: everything but the network."""
    from django.test import Client

    client = Client()
    client.get("/leaderboard/")
    return median(lambda: client.get("/leaderboard/"), ROUNDS)


def median(what: Callable[[], object], rounds: int) -> float:
    found = []
    for _ in range(rounds):
        start = time.perf_counter()
        what()
        found.append(time.perf_counter() - start)
    return statistics.median(found)


def tell() -> uuid.UUID:
    """Somebody agrees and sends one dish through the site; its contributor."""
    from django.test import Client

    from collection.access.form_tokens import Proof
    from collection.consent.record import consent_for, register_contributor

    contributor = register_contributor(consent_for(), uuid.uuid4())
    proof = Proof.new("dish", contributor.pk).token
    answers = {"local_name": "Dish", "languages": "Twi", "places": "Ghana", "ingredients": "rice"}
    response = Client().post("/dish/", {**answers, "proof": proof})
    assert b"Your dish is saved" in response.content
    return contributor.pk


def submit() -> None:
    """One dish told, and accepted: only then it is counted."""
    from collection.dishes.curation import decide_dishes
    from collection.models import Dish

    decide_dishes(Dish.objects.filter(contributor=tell()), "accepted", None)


def at_once(what: Callable[[], object]) -> float:
    """So many at the same moment, all of one country, each in a thread of its own."""
    from django.db import connections

    def one() -> None:
        try:
            what()
        finally:
            connections.close_all()

    threads = [threading.Thread(target=one) for _ in range(AT_ONCE)]
    start = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return time.perf_counter() - start


def cost(measure: Callable[[], float], rounds: int) -> tuple[float, float]:
    """Median seconds without and with counters, measured in turn so that both meet the same machine."""
    from unittest.mock import patch

    plain, counted = [], []
    for _ in range(rounds):
        with patch("collection.dishes.events.update_leaderboard_counters", lambda pks: None):
            plain.append(measure())
        counted.append(measure())
    return statistics.median(plain), statistics.median(counted)


def queries() -> int:
    """Queries of the page."""
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    with CaptureQueriesContext(connection) as asked:
        Client().get("/leaderboard/")
    return len(asked)


def run(dishes: int) -> bool:
    """Prints all figures; whether every bound holds."""
    from django.core.management import call_command

    from tests.collection.make import open_collection

    call_command("migrate", verbosity=0)
    open_collection()
    few = max(1, dishes // 100)
    fill(1, few)
    small = page_seconds()
    fill(few + 1, dishes)
    large, asked = page_seconds(), queries()
    print(f"leaderboard: {small * 1e3:.1f} ms at {few} dishes, {large * 1e3:.1f} ms at {dishes}: {large / small:.2f} x")
    print(f"queries: {asked}")
    kept = large / small <= MOST_RATIO and asked <= MOST_QUERIES
    measured: dict[str, tuple[Callable[[], float], int]] = {
        "told": (lambda: median(tell, 1), ROUNDS),
        "told and accepted": (lambda: median(submit, 1), ROUNDS),
        f"{AT_ONCE} told at once, one country": (lambda: at_once(tell), FEW_ROUNDS),
        f"{AT_ONCE} told and accepted at once, one country": (lambda: at_once(submit), FEW_ROUNDS),
    }
    for name, (measure, rounds) in measured.items():
        plain, counted = cost(measure, rounds)
        kept = kept and counted / plain <= MOST_COST
        print(f"{name}: {plain * 1e3:.1f} ms without counters, {counted * 1e3:.1f} ms with: {counted / plain:.2f} x")
    return kept


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dishes", type=int, default=1_000_000)
    parser.add_argument("--night", action="store_true", help="count everything from scratch too")
    asked = parser.parse_args()
    print(machine())
    with database(NAME) as url:
        os.environ["DATABASE_URL"] = url
        os.environ["DJANGO_SETTINGS_MODULE"] = "wwd.settings"
        # All that are told at once may wait: none is asked to come back.
        os.environ["WWD_WEB_THREADS"] = str(4 * AT_ONCE)
        import django

        django.setup()
        from django.conf import settings
        from django.db import connections

        settings.ALLOWED_HOSTS = ["*"]
        try:
            kept = run(asked.dishes)
            drifted, took = night() if asked.night else (0, 0.0)
        finally:
            connections.close_all()
    if asked.night:
        print(f"counted from scratch in {took:.0f} s: {drifted} counters were wrong")
    sys.exit(0 if kept and not drifted else 1)


if __name__ == "__main__":
    main()
