"""The runner alone: runs planned, leased, finished and stored on PostgreSQL, with a backend that does nothing.

    DATABASE_URL=postgres://… python -m bench.runner [--units 200000] [--batch 16] [--workers 1 2]
    DATABASE_URL=postgres://… python -m bench.runner --baseline DIR [--units 200000] [--worked 6000] [--rounds 3]

Makes and drops databases of its own beside the one that is named. Each number of workers gets a run of its own.

With `--baseline`, a checkout of an earlier commit does the same in turns with this one, and ratios are printed: for
batches of `--batch` units, for those that each chooses itself, and for planning. Of several rounds the median counts.
"""

import argparse
import os
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

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
# Earlier commits have other names for the same.
NAMES = """
import django; django.setup()
import resource, time
from evaluation.runner import create_run
try:
    from bench.no_op_study import register
    from evaluation.runner import process_run
except ImportError:
    from bench.nothing import register
    from evaluation.runner import work as process_run
"""
PLAN = f"""{NAMES}
register()
started = time.monotonic()
run = create_run("nothing", {{{{"units": {{units}}, "name": "{{name}}"}}}}, slug="{{name}}")
print(run.pk, time.monotonic() - started, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""
WORK = f"""{NAMES}
register({{batch}})
if not {{own}}:
    try:
        from evaluation.runner.stages import batch_size
    except ImportError:
        pass  # A commit whose batches are of one size.
    else:
        batch_size.MOST_UNITS = {{batch}}
started = time.monotonic()
print(process_run({{run}}, "bench {{number}}", seconds=1e9), time.monotonic() - started)
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
def database(name: str = DATABASE) -> Iterator[str]:
    """The address of an empty database that is dropped in the end."""
    given = os.environ.get("DATABASE_URL", "")
    if not given.startswith("postgres"):
        sys.exit("DATABASE_URL names no PostgreSQL server.")
    ask(given, f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
    ask(given, f"CREATE DATABASE {name}")
    try:
        yield f"{given.partition('?')[0].rpartition('/')[0]}/{name}"
    finally:
        ask(given, f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")


def start(url: str, code: str, folder: Path = ROOT) -> subprocess.Popen[str]:
    """A process that runs `code` with the project in `folder`."""
    environ = {**os.environ, "DJANGO_SETTINGS_MODULE": "wwd.settings", "DATABASE_URL": url}
    environ["WWD_DATABASE_KEEP_SECONDS"] = "60"
    environ["PYTHONPATH"] = str(folder)
    return subprocess.Popen([sys.executable, "-c", code], cwd=folder, env=environ, stdout=subprocess.PIPE, text=True)


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
    codes = [WORK.format(run=int(run), batch=batch, number=number, own=False) for number in range(workers)]
    found = [printed(process) for process in [start(url, code) for code in codes]]
    seconds, ended = max(each for _, each in found), sum(int(number) for number, _ in found)
    print(f"{workers} workers, batches of about {batch}: {ended:,} units in {seconds:.1f} s, {ended / seconds:,.0f}/s")
    print(f"  with the start of the processes {time.monotonic() - started:.1f} s")
    counted = "SELECT COUNT(*), COUNT(DISTINCT state), MIN(state) FROM evaluation_unit WHERE run_id = "
    [row] = ask(url, f"{counted}{run:.0f}")
    if ended != units or row != (units, 1, "done"):
        sys.exit(f"Not every unit was done once: {ended} were ended, the rows say {row}.")
    print_sizes(url, "done")


class Checkout(NamedTuple):
    """The project in a folder, and its database. `batch`: units a batch where it does not choose."""

    name: str
    folder: Path
    url: str
    batch: int

    def plan(self, units: int, name: str) -> tuple[int, float]:
        """The id of a new run and the seconds that planning it took."""
        run, seconds, _ = printed(start(self.url, PLAN.format(units=units, name=name), self.folder))
        ask(self.url, "VACUUM ANALYZE")
        print(f"  {self.name}: planned {units:,} units in {seconds:.1f} s; load {os.getloadavg()[0]:.1f}", flush=True)
        return int(run), seconds

    def work(self, units: int, name: str, own: bool) -> float:
        """Seconds per unit of one worker."""
        run, _ = self.plan(units, name)
        code = WORK.format(run=run, batch=self.batch, number=0, own=own)
        ended, seconds = printed(start(self.url, code, self.folder))
        if int(ended) != units:
            sys.exit(f"{self.name}: {ended:.0f} of {units} units were ended.")
        size = "its own batches" if own else f"batches of about {self.batch}"
        print(
            f"  {self.name}: {size}, {units / seconds:,.0f} units/s, {1000 * seconds / units:.2f} ms a unit; "
            f"load {os.getloadavg()[0]:.1f}",
            flush=True,
        )
        return seconds / units


def compare(before: Checkout, now: Checkout, options: argparse.Namespace) -> None:
    """Both in turns, and the ratio of the medians."""
    for each in (before, now):
        printed(start(each.url, SETUP, each.folder))
    seconds: dict[tuple[str, str], list[float]] = defaultdict(list)
    for number in range(options.rounds):
        for each in (before, now):
            seconds["planning", each.name].append(each.plan(options.units, f"planned-{number}")[1])
            seconds["fixed", each.name].append(each.work(options.worked, f"fixed-{number}", own=False))
            own = each.work(options.worked * (1 if each is before else 8), f"own-{number}", own=True)
            seconds["own", each.name].append(own)
    for kind, what in (
        ("planning", f"planning {options.units:,} units"),
        ("fixed", f"batches of about {options.batch}"),
        ("own", "batches of its own choice"),
    ):
        old, new = (statistics.median(seconds[kind, each.name]) for each in (before, now))
        rate = options.units / new if kind == "planning" else 1 / new
        print(f"{what}: {old / new:.2f} x the baseline, {rate:,.0f} units/s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--units", type=int, default=200_000)
    parser.add_argument("--batch", type=int, default=16, help="units per lease; affinities of 15 stay whole")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--baseline", type=Path, help="a checkout of an earlier commit to compare with")
    parser.add_argument("--worked", type=int, default=6000, help="units that are worked through in small batches")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    print(f"machine: {machine()}", flush=True)
    if options.baseline:
        with database(f"{DATABASE}_before") as old, database() as new:
            before = Checkout("baseline", options.baseline.resolve(), old, options.batch)
            compare(before, Checkout("now", Path(ROOT), new, options.batch), options)
        return
    with database() as url:
        printed(start(url, SETUP))
        print_sizes(url, "before")
        for workers in options.workers:
            measure(url, options.units, options.batch, workers)


if __name__ == "__main__":
    main()
