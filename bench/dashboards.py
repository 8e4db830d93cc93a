"""Pages of staff and researchers with millions of rows: 1,000,000 reviews, 200,000 images, 3,000,000 units.

    DATABASE_URL=postgres://… python -m bench.dashboards [--share 1] [--beside 0.01] [--tables review.quality …]

Makes and drops databases of its own, one at full size (times `--share`) and one at `--beside` of it. Asks for every
page, list, search and form that the site has, and for a filter of every table that nobody asked for before; then lets
the worker's task compute it in the same process. Exits with 1 where something takes longer than is allowed. The ratio
is of the median times of stored pages with all the data and with little of it.

Making the rows and computing the tables takes long and has no limit; with `--keep` the databases stay, and the parts
may be run one after another, the last two on a machine that does nothing else:

    python -m bench.dashboards --keep --parts rows tables
    python -m bench.dashboards --keep --parts pages
    python -m bench.dashboards --keep --parts unseen --beside 0
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from multiprocessing import get_context
from typing import Any

from bench.runner import ask
from bench.slow_clients import ROOT, machine

DATABASE = "wwd_bench_dashboards"
MOST_MILLISECONDS = 500
MOST_QUERIES = 15
MOST_SECONDS = 60
MOST_RATIO = 2
ROUNDS = 3
PARTS = ("rows", "tables", "pages", "unseen")
MEASURE = (
    "import django; django.setup(); from bench.dashboards import child; child({share}, {tables}, {workers}, {parts})"
)


@contextmanager
def database(name: str, *, fresh: bool = True, keep: bool = False) -> Iterator[str]:
    """The address of a database: a `fresh` one is made empty, and without `keep` it is dropped in the end."""
    given = os.environ.get("DATABASE_URL", "")
    if not given.startswith("postgres"):
        sys.exit("DATABASE_URL names no PostgreSQL server.")
    if fresh:
        ask(given, f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
        ask(given, f"CREATE DATABASE {name}")
    try:
        yield f"{given.partition('?')[0].rpartition('/')[0]}/{name}"
    finally:
        if not keep:
            ask(given, f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")


def child(share: float, chosen: list[str], workers: int, parts: Sequence[str]) -> None:
    """Does these parts: fills the database, computes, measures; prints one line of JSON at the end."""
    from django.core.management import call_command

    from bench.dashboards_few import fill_few
    from bench.dashboards_rows import fill

    call_command("migrate", verbosity=0)
    if "rows" in parts:
        started = time.monotonic()
        print(f"rows: {fill(share)}, made in {time.monotonic() - started:.0f} s", file=sys.stderr)
    user = staff()
    if "rows" in parts:
        fill_few(user)
    client = signed_in(user)
    found: dict[str, Any] = {}
    if "tables" in parts:
        found["tables"] = computed(chosen, workers)
        keep_counts()
    found["pages"] = pages(client) if "pages" in parts else []
    found["unseen"] = list(unseen(client, chosen, workers)) if "unseen" in parts else []
    print(json.dumps(found))


def keep_counts() -> None:
    """Large runs and campaigns were looked at before: what a worker keeps of them is there."""
    from evaluation import cached_counts

    names = [f"run:{pk}" for pk in range(1, 7)] + [f"campaign:{pk}" for pk in range(1, 5)]
    cached_counts.create_missing_rows(names)
    cached_counts.request_recount(names)
    cached_counts.recount_wanted()


def staff() -> Any:
    from django.contrib.auth.models import User

    return User.objects.filter(username="bench").first() or User.objects.create_superuser("bench")


def signed_in(user: Any) -> Any:
    from django.conf import settings
    from django.test import Client

    settings.ALLOWED_HOSTS = ["*"]
    client = Client(raise_request_exception=False)
    client.force_login(user)
    return client


def computed(chosen: list[str], workers: int) -> dict[str, float]:
    """Seconds that each named table takes, without any filter; so many at a time."""
    from bench.dashboards_pages import names

    wanted: list[tuple[str, dict[str, str]]] = [(name, {}) for name in names() if not chosen or name in chosen]
    return dict(zip((name for name, _filters in wanted), over_workers(wanted, workers), strict=True))


def over_workers(wanted: list[tuple[str, dict[str, str]]], workers: int) -> list[float]:
    """Seconds of each table with its filters, so many at a time, each in a process as that of a worker."""
    from django.db import connections

    connections.close_all()
    with get_context("spawn").Pool(workers, initializer=begin, maxtasksperchild=4) as pool:
        return pool.starmap(seconds, wanted, chunksize=1)


def begin() -> None:
    import django

    django.setup()


def seconds(name: str, filters: dict[str, str]) -> float:
    """How long a worker takes for a table."""
    from evaluation.tables import compute

    started = time.monotonic()
    try:
        compute.compute_and_store(name, filters)
    except Exception as error:  # A table that fails is a finding too.
        print(f"table {name} could not be computed: {error!r}", file=sys.stderr)
    took = time.monotonic() - started
    print(f"table {name} {filters}: {took:.1f} s", file=sys.stderr, flush=True)
    return took


def pages(client: Any) -> list[dict[str, Any]]:
    from bench.dashboards_pages import lists, of_staff, researchers

    return [measured(client, page) for page in (*researchers(), *of_staff(), *lists())]


def measured(client: Any, page: Any) -> dict[str, Any]:
    """Median and first time of a page in milliseconds, its queries and status."""
    from django.db import connection, reset_queries
    from django.test.utils import CaptureQueriesContext

    times = []
    for _ in range(ROUNDS + 1):
        # The log of queries ends at some length, and nothing could be counted after it.
        reset_queries()
        with CaptureQueriesContext(connection) as queries:
            started = time.perf_counter()
            response = client.get(page.address)
            times.append((time.perf_counter() - started) * 1000)
    median = statistics.median(times[1:])
    row = {"name": page.name, "stored": page.stored, "status": response.status_code, "queries": len(queries)}
    if median > MOST_MILLISECONDS or len(queries) > MOST_QUERIES:
        slow = sorted(queries.captured_queries, key=lambda query: -float(query["time"]))[:2]
        row["slowest"] = [f"{query['time']} s {query['sql'][:400]}" for query in slow]
    return {**row, "first": times[0], "median": median}


def unseen(client: Any, chosen: list[str], workers: int) -> Iterator[dict[str, Any]]:
    """A filter that nobody asked for: milliseconds of the answer, whether it says so, seconds of the worker."""
    from django.urls import reverse
    from django.utils.http import urlencode

    from bench.dashboards_pages import names, unseen
    from evaluation.models import StoredTable
    from evaluation.tables import read

    asked = [(name, filters) for name in names() if not chosen or name in chosen for filters in unseen(name)]
    rows: list[dict[str, Any]] = []
    for name, filters in asked:
        # A kept database has seen it before.
        StoredTable.objects.filter(name=name, filters=filters).delete()
        started = time.perf_counter()
        text = client.get(f"{reverse('evaluation:table', args=[name])}?{urlencode(filters)}").content.decode()
        answered = (time.perf_counter() - started) * 1000
        rows.append({"name": name, "filters": filters, "said": "being computed" in text, "ms": answered})
    for row, took in zip(rows, over_workers(asked, workers), strict=True):
        yield {**row, "seconds": took, "state": read.read_stored_table(row["name"], row["filters"]).state}


def run(share: float, name: str, options: argparse.Namespace) -> dict[str, Any]:
    """What a process of its own found with this share of the data."""
    with database(name, fresh="rows" in options.parts, keep=options.keep) as url:
        environ = {**os.environ, "DJANGO_SETTINGS_MODULE": "wwd.settings", "DATABASE_URL": url}
        environ |= {"WWD_DATABASE_KEEP_SECONDS": "600", "WWD_LOG_LEVEL": "error"}
        code = MEASURE.format(share=share, tables=options.tables, workers=options.workers, parts=options.parts)
        done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environ, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit("The benchmark failed: see above.")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def wrong(found: dict[str, Any], beside: dict[str, Any] | None) -> Iterator[str]:
    """A line for everything that is not as it is wanted."""
    for row in found["pages"]:
        if row["status"] >= 400 and row["status"] not in (404, 405):
            yield f"{row['name']}: status {row['status']}"
        if row["median"] > MOST_MILLISECONDS or row["queries"] > MOST_QUERIES:
            yield f"{row['name']}: {row['median']:.0f} ms (first {row['first']:.0f}), {row['queries']} queries"
            yield from (f"    {line}" for line in row["slowest"])
    for row in found["unseen"]:
        if row["ms"] > MOST_MILLISECONDS or row["seconds"] > MOST_SECONDS or row["state"] != "fresh" or not row["said"]:
            yield f"unseen {row['name']} {row['filters']}: {row['ms']:.0f} ms, {row['seconds']:.1f} s, {row['state']}"
    for name, ratio in ratios(found, beside or {"pages": []}).items():
        if ratio > MOST_RATIO:
            yield f"{name}: {ratio:.1f} times as long as with little data"


def ratios(found: dict[str, Any], beside: dict[str, Any]) -> dict[str, float]:
    """Stored page → its median time with all the data by that with little."""
    small = {row["name"]: row["median"] for row in beside["pages"]}
    stored = [row for row in found["pages"] if row["stored"] and row["name"] in small]
    return {row["name"]: row["median"] / small[row["name"]] for row in stored}


def report(found: dict[str, Any], beside: dict[str, Any] | None) -> None:
    rows = found["pages"]
    print(f"machine: {machine()}, load {os.getloadavg()[0]:.1f}")
    for kind in ("page", "list", "search", "form"):
        times = [row["median"] for row in rows if row["name"].startswith(kind)]
        queries = [row["queries"] for row in rows if row["name"].startswith(kind)]
        if times:
            print(
                f"{kind:<7} {len(times):4d}: median {statistics.median(times):.0f} ms, slowest {max(times):.0f} ms, ",
                end="",
            )
            print(f"at most {max(queries)} queries")
    absent = [row["name"] for row in rows if row["status"] == 404]
    if absent:
        print(f"of which {len(absent)} say that there is no such row, table or cell here")
    waits = [(row["seconds"], row["name"], row["ms"]) for row in found["unseen"]]
    if waits:
        print(f"unseen filters {len(waits)}: answered in {max(ms for *_, ms in waits):.0f} ms at most, ", end="")
        print(f"computed in {max(waits)[0]:.1f} s at most ({max(waits)[1]})")
    if beside and (held := ratios(found, beside)):
        name = max(held, key=lambda key: held[key])
        print(f"ratio to little data: median {statistics.median(held.values()):.2f}, largest {held[name]:.2f} ({name})")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--share", type=float, default=1.0, help="of the full size")
    parser.add_argument("--beside", type=float, default=0.01, help="of that, for the ratio; 0 for none")
    parser.add_argument("--tables", nargs="*", default=[], help="compute these tables only")
    parser.add_argument("--workers", type=int, default=1, help="so many tables are computed at a time")
    parser.add_argument("--database", default=DATABASE, help="name of the database that is made and dropped")
    parser.add_argument("--keep", action="store_true", help="the databases stay")
    parser.add_argument("--parts", nargs="*", choices=PARTS, default=list(PARTS), help="do these only")
    options = parser.parse_args()
    beside = None
    if options.beside:
        beside = run(options.share * options.beside, f"{options.database}_beside", options)
    found = run(options.share, options.database, options)
    report(found, beside)
    if lines := list(wrong(found, beside)):
        sys.exit("\n".join(["More than is allowed:", *lines]))


if __name__ == "__main__":
    main()
