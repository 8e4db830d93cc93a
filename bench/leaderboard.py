"""The leaderboard with many dishes, and what its counters cost: `python -m bench.leaderboard [--dishes 1000000]`.

Makes a database of its own on the PostgreSQL of `DATABASE_URL` and drops it again. Prints the ratio of the page's time
at all dishes to that at a hundredth of them, and of a decision with counters to one without.
"""

import argparse
import os
import statistics
import threading
import time
from collections.abc import Callable

from bench.dashboards import database
from bench.slow_clients import machine

NAME = "wwd_bench_leaderboard"
ROUNDS = 30
AT_ONCE = 50


def fill(first: int, last: int) -> None:
    """Accepted dishes of these numbers over all countries and two years, then the counters from scratch."""
    from django.db import connection

    from collection.counters import rebuild

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
    rebuild()
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")


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


def told(number: int) -> list[int]:
    """So many new dishes of one country, waiting."""
    from collection.dishes import save_dish

    words = {"local_name": "Dish", "ingredients": "rice"}
    return [save_dish(words, ["Ghana"], [("Twi", "twi")]).pk for _ in range(number)]


def submission_seconds() -> float:
    """One dish told and accepted: what a counter may slow down."""
    from collection.curation import decide_dishes
    from collection.models import Dish

    def submit() -> None:
        decide_dishes(Dish.objects.filter(pk__in=told(1)), "accepted", None)

    return median(submit, ROUNDS)


def at_once() -> float:
    """So many decisions about dishes of one country at the same moment, each in a thread of its own."""
    from django.db import connections

    from collection.curation import decide_dishes
    from collection.models import Dish

    pks = told(AT_ONCE)

    def decide(pk: int) -> None:
        try:
            decide_dishes(Dish.objects.filter(pk=pk), "accepted", None)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=decide, args=(pk,)) for pk in pks]
    start = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return time.perf_counter() - start


def without_counters(measure: Callable[[], float]) -> float:
    from unittest.mock import patch

    with patch("collection.following.recount", lambda pks: None):
        return measure()


def run(dishes: int) -> None:
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    few = max(1, dishes // 100)
    fill(1, few)
    small = page_seconds()
    fill(few + 1, dishes)
    large = page_seconds()
    print(f"leaderboard: {small * 1e3:.1f} ms at {few} dishes, {large * 1e3:.1f} ms at {dishes}: {large / small:.2f} x")
    submitted = median(lambda: told(1), ROUNDS)
    print(f"a dish told (the counters have no part in it): {submitted * 1e3:.1f} ms")
    plain, counted = without_counters(submission_seconds), submission_seconds()
    print(f"told and accepted: {plain * 1e3:.1f} ms without, {counted * 1e3:.1f} ms with: {counted / plain:.2f} x")
    plain, counted = without_counters(at_once), at_once()
    print(f"{AT_ONCE} at once, one country: {plain:.2f} s without, {counted:.2f} s with: {counted / plain:.2f} x")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dishes", type=int, default=1_000_000)
    asked = parser.parse_args()
    print(machine())
    with database(NAME) as url:
        os.environ["DATABASE_URL"] = url
        os.environ["DJANGO_SETTINGS_MODULE"] = "wwd.settings"
        import django

        django.setup()
        from django.conf import settings
        from django.db import connections

        settings.ALLOWED_HOSTS = ["*"]
        try:
            run(asked.dishes)
        finally:
            connections.close_all()


if __name__ == "__main__":
    main()
