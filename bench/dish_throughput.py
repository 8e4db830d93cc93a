"""Dishes described at once, here and at 6cce026: `python -m bench.submission --throughput`, on the PostgreSQL of
`DATABASE_URL`.

Both sites run as shipped (gunicorn with deploy/gunicorn.conf.py) on databases of their own. They are measured in turn,
several times, so that both meet the same machine: 16 phones agree and send dishes, two open the start page. The bound
is about the one without cookies; for the other the page is made each time.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from bench.dashboards import database
from bench.runner import ask
from bench.slow_clients import HOST, ROOT, machine, wait_for

BASELINE = "6cce026"
PORTS = {"then": 8471, "now": 8472}
ROUNDS, SECONDS, WARM = 4, 6.0, 2.0
LEAST_RATE, MOST_COST, MOST_WAIT = 3.0, 1 / 3, 1 / 4
READY = "from tests.collection.make import make_dish, open_collection; open_collection(); "
READY += "[make_dish(country=name, state='accepted') for name in ('Ghana', 'Ghana', 'Kenya', 'Peru', 'India')]"
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass
class Site:
    """One running site. `heard`: what its phones were told; `spent` and `stored`: seconds of processor time of the
    site's own processes and of PostgreSQL while they were there."""

    root: Path
    url: str
    port: int
    gunicorn: int = 0
    seconds: float = 0.0
    spent: float = 0.0
    stored: float = 0.0
    later: int = 0
    receipts: list[str] = field(default_factory=list)
    pages: list[float] = field(default_factory=list)
    known: list[float] = field(default_factory=list)
    dishes: list[float] = field(default_factory=list)

    @property
    def rate(self) -> float:
        return len(self.receipts) / self.seconds

    @property
    def cost(self) -> float:
        """Milliseconds of the site's processor time for one dish."""
        return self.spent / len(self.receipts) * 1e3

    @property
    def storing(self) -> float:
        """Milliseconds of PostgreSQL's processor time for one dish."""
        return self.stored / len(self.receipts) * 1e3


@contextmanager
def worktree(given: Path | None) -> Iterator[Path]:
    """A checkout of the baseline: the one that was given, or one that git makes and removes again."""
    if given is not None:
        yield given.resolve()
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / BASELINE
        git = ["git", "-C", str(ROOT), "worktree"]
        subprocess.run([*git, "add", "--quiet", "--detach", str(path), BASELINE], check=True)
        try:
            yield path
        finally:
            subprocess.run([*git, "remove", "--force", str(path)], check=True)


@contextmanager
def running(root: Path, port: int, url: str) -> Iterator[Site]:
    """The site of this checkout with the configuration that it ships, on a database that is empty and opened."""
    with tempfile.TemporaryDirectory() as folder:
        kept = {
            name: value for name, value in os.environ.items() if not name.startswith(("WWD_VAR", "REDIS_URL", "GS_"))
        }
        environ = {**kept, "WWD_VAR_DIR": folder, "DATABASE_URL": url, "PYTHONPATH": str(root)}
        for words in (
            ["migrate", "--verbosity", "0"],
            ["collectstatic", "--no-input", "--verbosity", "0"],
            ["shell", "--no-imports", "-c", READY],
        ):
            subprocess.run([sys.executable, "manage.py", *words], cwd=root, env=environ, check=True)
        command = [sys.executable, "-m", "gunicorn", "-c", "deploy/gunicorn.conf.py", "--bind", f"{HOST}:{port}"]
        with (Path(folder) / "log").open("w") as log:
            process = subprocess.Popen(command, cwd=root, env=environ, stdout=log, stderr=log)
            try:
                wait_for(port, process)
                yield Site(root, url, port, process.pid)
            finally:
                process.terminate()
                process.wait(60)


def family(pid: int) -> float:
    """Seconds of processor time, user and system, of a process, its children, and those children that have ended."""
    ticks = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(stat.parent.name) == pid:
            ticks += sum(map(int, fields[11:15]))
        elif int(fields[1]) == pid:
            ticks += sum(map(int, fields[11:13]))
    return ticks / TICKS


def postmaster(url: str) -> int:
    """The process id of the database server, where it runs on this machine; 0 elsewhere."""
    [[folder]] = ask(url, "SELECT current_setting('data_directory')")
    file = Path(str(folder)) / "postmaster.pid"
    try:
        return int(file.read_text().split()[0])
    except (OSError, ValueError, IndexError):
        return 0


def measure(site: Site, seconds: float, clients: int) -> None:
    """Lets the phones at it for so long and adds up what they heard and what it cost."""
    server = postmaster(site.url)
    before = family(site.gunicorn), family(server) if server else 0.0
    command = [sys.executable, "-m", "bench.dish_throughput_clients", str(site.port), str(seconds)]
    looking = subprocess.Popen([*command, "0"], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    found = json.loads(subprocess.run([*command, str(clients)], cwd=ROOT, check=True, capture_output=True).stdout)
    looked = json.loads(looking.communicate()[0])
    site.spent += family(site.gunicorn) - before[0]
    site.stored += (family(server) if server else 0.0) - before[1]
    site.seconds += found["seconds"]
    site.later += found["later"]
    site.receipts += found["receipts"]
    site.pages += looked["pages"]
    site.known += looked["known"]
    site.dishes += found["dishes"]


def slowest(seconds: list[float]) -> float:
    """The 95th of a hundred."""
    return statistics.quantiles(seconds, n=20, method="inclusive")[-1]


def lost_or_doubled(site: Site) -> list[str]:
    """What the database holds otherwise than the phones were told. All of this site's phones count, warm-up too."""
    [[dishes, forms, numbers]] = ask(
        site.url,
        """SELECT count(*), count(DISTINCT s.form), count(DISTINCT d.number)
           FROM collection_dish d JOIN collection_submission s ON s.dish_id = d.id""",
    )
    known = {str(row[0]) for row in ask(site.url, "SELECT receipt FROM collection_submission")}
    faults = [f"receipt {receipt} names no dish" for receipt in site.receipts if receipt not in known]
    if len(set(site.receipts)) != len(site.receipts):
        faults.append("two dishes have one receipt")
    if not dishes == forms == numbers:
        faults.append(f"{dishes} dishes, {forms} forms, {numbers} numbers")
    return faults


def report(name: str, site: Site) -> None:
    pages, dishes = sorted(site.pages), sorted(site.dishes)
    print(
        f"{name:<8}{site.rate:7.1f} dishes/s  {site.cost:6.1f} ms of the site"
        f" and {site.storing:5.1f} ms of PostgreSQL a dish"
        f"  / p50 {statistics.median(pages) * 1e3:5.0f} p95 {slowest(pages) * 1e3:5.0f} ms (n {len(pages)})"
        f"  with a cookie p95 {slowest(site.known) * 1e3:5.0f} ms"
        f"  dish p50 {statistics.median(dishes) * 1e3:5.0f} p95 {slowest(dishes) * 1e3:5.0f} ms"
        f"  {len(site.receipts)} dishes, {site.later} asked to come back"
    )


def compare(then: Site, now: Site) -> bool:
    """Prints both and their ratios; whether every bound holds."""
    report(BASELINE, then)
    report("here", now)
    rate, cost = now.rate / then.rate, (now.spent + now.stored) / len(now.receipts)
    cost /= (then.spent + then.stored) / len(then.receipts)
    wait = slowest(now.pages) / slowest(then.pages)
    print(f"dishes a second: {rate:.2f} x (at least {LEAST_RATE:.0f})")
    print(f"processor time a dish, with PostgreSQL: {cost:.2f} x (at most {MOST_COST:.2f});", end=" ")
    print(f"the site alone: {now.cost / then.cost:.2f} x")
    known = slowest(now.known) / slowest(then.known)
    print(f"p95 of /: {wait:.2f} x (at most {MOST_WAIT:.2f}); with a cookie: {known:.2f} x")
    faults = lost_or_doubled(now)
    for fault in faults[:10]:
        print(f"lost or doubled: {fault}")
    return rate >= LEAST_RATE and cost <= MOST_COST and wait <= MOST_WAIT and not faults


def run(options: argparse.Namespace) -> bool:
    """Measures both sites in turn; whether every bound holds."""
    print(f"machine: {machine()}; {options.clients} phones, {ROUNDS} × {options.seconds:.0f} s each")
    started = time.monotonic()
    with ExitStack() as stack:
        then = stack.enter_context(worktree(options.baseline))
        sites = [
            stack.enter_context(running(root, PORTS[name], stack.enter_context(database(f"wwd_bench_telling_{name}"))))
            for name, root in (("then", then), ("now", ROOT))
        ]
        for site in sites:
            measure(site, WARM, options.clients)
            site.seconds = site.spent = site.stored = 0.0
            site.receipts, site.pages, site.known, site.dishes, site.later = [], [], [], [], 0
        for _ in range(ROUNDS):
            for site in sites:
                measure(site, options.seconds, options.clients)
        kept = compare(*sites)
    print(f"took {time.monotonic() - started:.0f} s")
    return kept
