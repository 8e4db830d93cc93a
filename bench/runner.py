"""The runner alone: runs planned, leased, finished and stored on PostgreSQL, with a backend that does nothing.

    DATABASE_URL=postgres://… python -m bench.runner [--units 200000] [--batch 16] [--workers 1 2]

Makes and drops a database of its own beside the one that is named. Each number of workers gets a run of its own.
"""

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager

import psycopg2

from bench.slow_clients import ROOT, machine

DATABASE = "wwd_bench_runner"
DISHES = 500
SETUP = f"""
import django; django.setup()
from django.core.management import call_command
call_command("migrate", verbosity=0)
from tests.evaluation.make import make_demonstration_dishes, make_model
make_demonstration_dishes({DISHES})
make_model("nothing", role="vqa", backend="nothing", demonstration=True)
"""
PLAN = """
import django; django.setup()
import resource, time
from bench.no_op_study import register
from evaluation.runner import create_run
register()
started = time.monotonic()
run = create_run("nothing", {{"units": {units}, "name": "{name}"}}, slug="{name}")
print(run.pk, time.monotonic() - started, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""
WORK = """
import django; django.setup()
import time
from bench.no_op_study import register
from evaluation.runner import process_run
register({batch})
started = time.monotonic()
print(process_run({run}, "bench {number}", seconds=1e9), time.monotonic() - started)
"""
SIZES = """
SELECT relname, pg_total_relation_size(oid), pg_table_size(oid), pg_indexes_size(oid), GREATEST(reltuples, 0)
FROM pg_class WHERE relkind = 'r' AND relname LIKE 'evaluation\\_%' AND pg_total_relation_size(oid) > 200000
ORDER BY 2 DESC
"""


def ask(url: str, statement: str) -> list[tuple[object, ...]]:
    with closing(psycopg2.connect(url)) as connection:
        connection.autocommit = True
        with connection.cursor() as cursor:
            cursor.execute(statement)
            return cursor.fetchall() if cursor.description else []


@contextmanager
def database() -> Iterator[str]:
    """The address of an empty database that is dropped in the end."""
    given = os.environ.get("DATABASE_URL", "")
    if not given.startswith("postgres"):
        sys.exit("DATABASE_URL names no PostgreSQL server.")
    ask(given, f"DROP DATABASE IF EXISTS {DATABASE} WITH (FORCE)")
    ask(given, f"CREATE DATABASE {DATABASE}")
    try:
        yield f"{given.partition('?')[0].rpartition('/')[0]}/{DATABASE}"
    finally:
        ask(given, f"DROP DATABASE IF EXISTS {DATABASE} WITH (FORCE)")


def start(url: str, code: str) -> subprocess.Popen[str]:
    environ = {**os.environ, "DJANGO_SETTINGS_MODULE": "wwd.settings", "DATABASE_URL": url}
    environ["WWD_DATABASE_KEEP_SECONDS"] = "60"
    return subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, env=environ, stdout=subprocess.PIPE, text=True)


def printed(process: subprocess.Popen[str]) -> list[float]:
    """The numbers in the last line that a process printed."""
    output, _ = process.communicate()
    if process.returncode:
        sys.exit("A process of the benchmark failed: see above.")
    return [float(word) for word in output.split()]


def print_sizes(url: str, when: str) -> None:
    ask(url, "VACUUM ANALYZE")
    print(f"tables {when}, MB (rows, indexes):")
    for name, whole, rows, indexes, number in ask(url, SIZES):
        megabytes = [int(str(size)) / 1e6 for size in (whole, rows, indexes)]
        print(f"  {name!s:<28}{megabytes[0]:8.1f} ({megabytes[1]:.1f}, {megabytes[2]:.1f})  {number:,.0f} rows")


def measure(url: str, units: int, batch: int, workers: int) -> None:
    name = f"workers-{workers}"
    run, seconds, megabytes = printed(start(url, PLAN.format(units=units, name=name)))
    print(f"planned {units:,} units in {seconds:.1f} s ({units / seconds:,.0f}/s), {megabytes:.0f} MB of memory")
    print_sizes(url, "planned")
    started = time.monotonic()
    codes = [WORK.format(run=int(run), batch=batch, number=number) for number in range(workers)]
    found = [printed(process) for process in [start(url, code) for code in codes]]
    seconds, ended = max(each for _, each in found), sum(int(number) for number, _ in found)
    print(f"{workers} workers, batches of about {batch}: {ended:,} units in {seconds:.1f} s, {ended / seconds:,.0f}/s")
    print(f"  with the start of the processes {time.monotonic() - started:.1f} s")
    counted = "SELECT COUNT(*), COUNT(DISTINCT state), MIN(state) FROM evaluation_unit WHERE run_id = "
    [row] = ask(url, f"{counted}{run:.0f}")
    if ended != units or row != (units, 1, "done"):
        sys.exit(f"Not every unit was done once: {ended} were ended, the rows say {row}.")
    print_sizes(url, "done")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--units", type=int, default=200_000)
    parser.add_argument("--batch", type=int, default=16, help="units per lease; affinities of 15 stay whole")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    options = parser.parse_args()
    print(f"machine: {machine()}")
    with database() as url:
        printed(start(url, SETUP))
        print_sizes(url, "before")
        for workers in options.workers:
            measure(url, options.units, options.batch, workers)


if __name__ == "__main__":
    main()
