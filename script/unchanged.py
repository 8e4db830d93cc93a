"""Shows that a restructuring changed nothing that must not change.

    .venv/bin/python script/unchanged.py save BEFORE [--tree CHECKOUT]
    .venv/bin/python script/unchanged.py compare BEFORE AFTER [--ignore PATTERN]
    .venv/bin/python script/unchanged.py recompute ARCHIVE
    .venv/bin/python script/unchanged.py upgrade BEFORE [--tree CHECKOUT]

`save` runs a checkout in temporary folders and writes plain files: every table on the published data
(WWD_PUBLISHED_DATA) and on the demonstration, the public pages in three languages, the schema of SQLite and, where
DATABASE_URL is set, of a fresh PostgreSQL database, and the contents of a replication package. `kept/` holds the
package and a small installation with queued tasks; `compare` leaves it out, `recompute` and `upgrade` use it.

What depends on chance or on the clock is fixed: random bytes follow from a seed for each process, WWD_COMMIT is set,
times that the databases got while they were filled become consecutive milliseconds of one day. Tokens, codes, hashed
names and today's date in pages are replaced by words in guillemets.
"""

import argparse
import fnmatch
import hashlib
import json
import os
import re
import secrets
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
INSIDE = HERE / "unchanged_inside.py"
KEPT = "kept"
LANGUAGES = ("en", "ar", "hi")
DATABASE = "wwd.sqlite3"
FIRST_MOMENT = datetime(2025, 1, 15, 12, tzinfo=UTC)
DERIVED = ("compare.", "disparity.", "variance.")
MOST_LINES, LONGEST_LINE = 20, 240
WORKER_SECONDS = 300
# Read by Python at its start: all random bytes of a process follow from its seed.
FIXED_CHANCE = """
import os, random
_chance = random.Random(os.environ["UNCHANGED_SEED"])
os.urandom = random._urandom = lambda count: _chance.randbytes(count)
"""
QUEUED_RUN = {"model": "sketch", "subjects": {"kind": "dish", "demonstration": True}, "images_per_subject": 3}
# Files of a package that hold code, or sums over it.
NO_DATA = ("source/", "recompute.py", "requirements", "SHA256SUMS", "LICENSE")
# May differ after an upgrade: the list of migrations, and what SQLite itself counts.
DIFFERING = ("django_migrations", "sqlite_sequence")
# Get rows for new models and permissions; those that were there stay.
GROWING = ("auth_group_permissions", "auth_permission", "django_content_type")


Rows = dict[str, dict[str, Any]]


class Failed(RuntimeError):
    """A command of the checkout failed; the text says which, and what it said."""


class Site:
    """One installation of a checkout: a folder of its own, SQLite unless `database` names another."""

    def __init__(self, tree: Path, folder: Path, database: str = "", chance: Path | None = None) -> None:
        self.tree, self.folder, self.chance = tree, folder, chance
        folder.mkdir(parents=True, exist_ok=True)
        dropped = ("WWD_", "SECRET_KEY", "GS_", "GOOGLE_", "DJANGO_")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(dropped)}
        self.environ = {
            **kept,
            "WWD_VAR_DIR": str(folder),
            "WWD_COMMIT": "0" * 40,
            "DATABASE_URL": database,
            "REDIS_URL": "",
            "OMP_NUM_THREADS": "1",
            "PYTHONWARNINGS": "ignore",
            "PYTHONPATH": "",
        }

    @property
    def file(self) -> Path:
        return self.folder / DATABASE

    def manage(self, *words: str, seed: str = "") -> str:
        """Runs a management command; what it printed. Raises Failed."""
        environ = dict(self.environ)
        if self.chance:
            environ |= {"PYTHONPATH": str(self.chance), "UNCHANGED_SEED": seed or words[0]}
        command = [sys.executable, "manage.py", *words]
        done = subprocess.run(command, cwd=self.tree, env=environ, capture_output=True, text=True, check=False)
        if done.returncode:
            raise Failed(f"manage.py {' '.join(words)[:200]} ended with {done.returncode}:\n{done.stderr[-3000:]}")
        return done.stdout

    def inside(self, *words: str) -> None:
        """Runs a function of `unchanged_inside.py` with Django set up, and shows what it prints."""
        code = f"import runpy, sys; sys.argv = {['', *words]!r}; runpy.run_path({str(INSIDE)!r}, run_name='__main__')"
        for line in self.manage("shell", "--no-imports", "-c", code, seed=f"{words[0]} {words[-1]}").splitlines():
            say(line)

    def copy_of(self, other: "Site") -> None:
        shutil.copytree(other.folder, self.folder, dirs_exist_ok=True)


def fix_times(file: Path, since: datetime) -> None:
    """Replaces every time from `since` on by one that follows from its place among those of its column."""
    with closing(sqlite3.connect(file)) as base, base:
        for table in table_names(base):
            for _number, column, kind, *_more in base.execute(f'PRAGMA table_info("{table}")').fetchall():
                if kind.lower() != "datetime":
                    continue
                found = base.execute(
                    f'SELECT rowid FROM "{table}" WHERE "{column}" >= ? ORDER BY "{column}", rowid',  # noqa: S608
                    (f"{since:%Y-%m-%d %H:%M:%S}",),
                ).fetchall()
                moments = [FIRST_MOMENT + timedelta(milliseconds=place) for place in range(len(found))]
                base.executemany(
                    f'UPDATE "{table}" SET "{column}" = ? WHERE rowid = ?',  # noqa: S608
                    [(f"{at:%Y-%m-%d %H:%M:%S.%f}", row) for at, (row,) in zip(moments, found, strict=True)],
                )


def table_names(base: sqlite3.Connection) -> list[str]:
    return [name for (name,) in base.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def say(text: str) -> None:
    print(f"{datetime.now(tz=UTC):%H:%M:%S} {text}", flush=True)


def save(folder: Path, tree: Path) -> None:
    """Writes the state of a checkout to an empty or new folder."""
    if folder.exists() and any(folder.iterdir()):
        sys.exit(f"{folder} is not empty.")
    began = datetime.now(tz=UTC) - timedelta(minutes=1)
    with tempfile.TemporaryDirectory(prefix="unchanged-") as name:
        work = Path(name)
        chance = work / "chance"
        write(chance / "sitecustomize.py", FIXED_CHANCE)
        fresh = Site(tree, work / "fresh", chance=chance)
        fresh.manage("migrate", "-v0")
        write(folder / "schema" / "sqlite.sql", sqlite_schema(fresh.file))
        say("The schema of SQLite is saved.")
        with ThreadPoolExecutor(2) as pool:
            jobs = [
                pool.submit(save_published, folder, fresh, work, began),
                pool.submit(save_demonstration, folder, fresh, work, began),
                pool.submit(save_postgres, folder, tree, work),
            ]
            for job in jobs:
                job.result()
    say(f"{sum(path.is_file() for path in folder.rglob('*'))} files are in {folder}.")


def save_published(folder: Path, fresh: Site, work: Path, began: datetime) -> None:
    """The tables and some public pages of the published data."""
    source = os.environ.get("WWD_PUBLISHED_DATA")
    if not source:
        say("WWD_PUBLISHED_DATA is not set: nothing of the published data is saved.")
        return
    site = Site(fresh.tree, work / "published", chance=fresh.chance)
    site.copy_of(fresh)
    write(folder / "published" / "import.txt", site.manage("import_published", source))
    fix_times(site.file, began)
    site.inside("tables", str(folder / "published" / "tables"))
    say("The tables of the published data are saved.")
    site.inside("crawl", str(folder / "published" / "pages"), "en", "60")
    say("Pages of the published data are saved.")


def save_demonstration(folder: Path, fresh: Site, work: Path, began: datetime) -> None:
    """The tables, pages, package and upgrade installation of the demonstration."""
    site = Site(fresh.tree, work / "demonstration", chance=fresh.chance)
    site.copy_of(fresh)
    site.manage("demo", "load")
    fix_times(site.file, began)
    plain = Site(fresh.tree, work / "upgrade", chance=fresh.chance)
    plain.copy_of(site)
    site.inside("tables", str(folder / "demonstration" / "tables"))
    say("The tables of the demonstration are saved.")
    save_package(folder, site)
    say("The package is saved.")
    for language in LANGUAGES:
        site.inside("crawl", str(folder / "demonstration" / "pages" / language / "found"), language, "200")
    for language in LANGUAGES:
        # Each language begins with the same rows.
        walked = Site(fresh.tree, work / f"walk-{language}", chance=fresh.chance)
        walked.copy_of(site)
        walked.inside("walk", str(folder / "demonstration" / "pages" / language), language)
    say("The public pages are saved.")
    save_upgrade(folder / KEPT / "upgrade", plain)
    say("The installation for upgrades is saved.")


def save_package(folder: Path, site: Site) -> None:
    """A package of all plain tables and some derived ones: the archive, its list of data files, and its own text."""
    names = [line.partition("\t")[0] for line in site.manage("tables").splitlines()]
    chosen = [name for name in names if not name.startswith(DERIVED)]
    chosen += [next(name for name in names if name.startswith(kind)) for kind in DERIVED]
    archive = folder / KEPT / "unchanged.zip"
    archive.parent.mkdir(parents=True, exist_ok=True)
    site.manage("bundle", "unchanged", *chosen, "--output", str(archive), "--no-check")
    with zipfile.ZipFile(archive) as packed:
        files = {name.partition("/")[2]: packed.read(name) for name in sorted(packed.namelist())}
    data = {name: content for name, content in files.items() if not name.startswith(NO_DATA)}
    listed = "".join(f"{hashlib.sha256(content).hexdigest()}  {name}\n" for name, content in data.items())
    write(folder / "package" / "files.txt", listed)
    write(folder / "package" / "recomputed.txt", recomputed(archive).stdout)
    for name, content in data.items():
        if not name.startswith("tables/"):
            write(folder / "package" / "content" / name, content.decode())


def save_upgrade(folder: Path, site: Site) -> None:
    """The demonstration with queued tasks and a count of every table; what is queued is not fixed."""
    site.chance = None
    site.manage("run_study", "generation", "--config", json.dumps(QUEUED_RUN))
    site.inside("queue")
    with closing(sqlite3.connect(site.file)) as base:
        # One file, without a log beside it.
        base.execute("PRAGMA journal_mode=DELETE")
        write(folder / "rows.json", json.dumps(rows_of(base), indent=1) + "\n")
    queued = queued_tasks(site.folder)
    write(folder / "tasks.json", json.dumps(queued, indent=1) + "\n")
    shutil.copytree(site.folder, folder / "var")
    say(f"Queued: {', '.join(sorted(queued.values()))}.")


def queued_tasks(folder: Path) -> dict[str, str]:
    """Id and name of every message in the folders of the broker."""
    headers = [json.loads(path.read_text())["headers"] for path in sorted((folder / "broker" / "queue").glob("*.msg"))]
    return {header["id"]: header["task"] for header in headers}


def rows_of(base: sqlite3.Connection, before: Rows | None = None) -> Rows:
    """For every table its columns, the number of its rows, and a hash of their values whatever their order.

    Where rows from before are given, only columns that were there then count.
    """
    found: Rows = {}
    for table in table_names(base):
        columns = sorted(row[1] for row in base.execute(f'PRAGMA table_info("{table}")'))
        if before and table in before:
            columns = [column for column in columns if column in before[table]["columns"]]
        quoted = ", ".join(f'"{column}"' for column in columns)
        rows = sorted(repr(row) for row in base.execute(f'SELECT {quoted} FROM "{table}"'))  # noqa: S608
        found[table] = {"columns": columns, "rows": len(rows), "sha256": hash_text("\n".join(rows))}
        if table in GROWING:
            found[table]["each"] = [hash_text(row) for row in rows]
    return found


def hash_text(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def sqlite_schema(file: Path) -> str:
    """The statements that make all tables and indexes, one column a line, in the order of their names."""
    with closing(sqlite3.connect(file)) as base:
        found = base.execute("SELECT type, name, sql FROM sqlite_master WHERE sql <> '' ORDER BY type, name").fetchall()
    text = "\n".join(f"-- {kind} {name}\n" + sql.replace(', "', ',\n  "') + ";\n" for kind, name, sql in found)
    # Django writes these from a set, in another order each time.
    return re.sub(r"(?<= IN \()'\w+'(?:,'\w+')+", lambda words: ",".join(sorted(words[0].split(","))), text)


def save_postgres(folder: Path, tree: Path, work: Path) -> None:
    """The schema of a PostgreSQL database that is made for this and dropped."""
    address = os.environ.get("DATABASE_URL", "")
    if not address.startswith("postgres"):
        say("DATABASE_URL names no PostgreSQL database: its schema is not saved.")
        return
    with own_database(address) as own:
        Site(tree, work / "postgres", own).manage("migrate", "-v0")
        dump = ["pg_dump", "--schema-only", "--no-owner", own]
        text = subprocess.run(dump, capture_output=True, text=True, check=True).stdout
    # Each dump has a key of its own, and names the version of the programs.
    lines = [line for line in text.splitlines() if not re.match(r"\\(un)?restrict|-- Dumped ", line)]
    write(folder / "schema" / "postgres.sql", "\n".join(lines) + "\n")
    say("The schema of PostgreSQL is saved.")


@contextmanager
def own_database(address: str) -> Iterator[str]:
    """The address of an empty database beside that of `address`, which is dropped in the end."""
    server, _slash, _name = address.rpartition("/")
    name = f"wwd_unchanged_{secrets.token_hex(4)}"
    psql = ["psql", "-q", address, "-c"]
    subprocess.run([*psql, f"CREATE DATABASE {name}"], check=True)
    try:
        yield f"{server}/{name}"
    finally:
        subprocess.run([*psql, f"DROP DATABASE {name} WITH (FORCE)"], check=True)


def compare(before: Path, after: Path, ignored: Sequence[str] = ()) -> int:
    """Prints how the files of two folders differ, without `kept/`; returns how many do."""
    found = {
        folder: {path.relative_to(folder).as_posix(): path for path in files_in(folder)} for folder in (before, after)
    }
    for folder, files in found.items():
        if not files:
            sys.exit(f"Nothing is saved in {folder}.")
    names = sorted(set(found[before]) | set(found[after]))
    left_out = [name for name in names if any(fnmatch.fnmatch(name, pattern) for pattern in ignored)]
    differing = 0
    for name in (name for name in names if name not in set(left_out)):
        old, new = found[before].get(name), found[after].get(name)
        if old and new and old.read_bytes() == new.read_bytes():
            continue
        differing += 1
        if old and new:
            print(f"DIFFERENT {name}")
            show_difference(old, new)
        else:
            print(f"{'GONE' if old else 'NEW'} {name}")
    print(f"{differing} of {len(names) - len(left_out)} files differ; {len(left_out)} are ignored.")
    return differing


def files_in(folder: Path) -> Iterator[Path]:
    yield from (path for path in folder.rglob("*") if path.is_file() and path.relative_to(folder).parts[0] != KEPT)


def show_difference(old: Path, new: Path) -> None:
    """The first lines of a unified diff, long ones cut."""
    with subprocess.Popen(["diff", "-U1", str(old), str(new)], stdout=subprocess.PIPE) as running:
        assert running.stdout
        for number, line in enumerate(running.stdout):
            if number >= MOST_LINES:
                print("    …")
                running.kill()
                break
            text = line.decode(errors="replace").rstrip("\n")
            print(f"    {text[:LONGEST_LINE]}{'…' if len(text) > LONGEST_LINE else ''}")


def recompute(archive: Path) -> int:
    """Says how the tables of a package come out when its own script computes them again; 0 where all are equal."""
    done = recomputed(archive)
    print(done.stdout, end="")
    print(done.stderr[-3000:], end="", file=sys.stderr)
    return done.returncode


def recomputed(archive: Path) -> subprocess.CompletedProcess[str]:
    """Unpacks a package and lets its own script compute its tables again, as its README says."""
    with tempfile.TemporaryDirectory(prefix="unchanged-") as folder:
        with zipfile.ZipFile(archive) as packed:
            packed.extractall(folder)
        script = next(Path(folder).glob("*/recompute.py"))
        environ = {"PATH": os.environ["PATH"], "HOME": folder, "PYTHONDONTWRITEBYTECODE": "1"}
        command = [sys.executable, script.name]
        return subprocess.run(command, cwd=script.parent, env=environ, capture_output=True, text=True, check=False)


def upgrade(saved: Path, tree: Path) -> int:
    """Migrates a copy of the saved installation and runs its queued tasks with the code of `tree`; 0 where all is well.

    Rows may only be where they were; every queued task must have succeeded under its name.
    """
    kept = saved / KEPT / "upgrade"
    with tempfile.TemporaryDirectory(prefix="unchanged-") as name:
        site = Site(tree, Path(name) / "var")
        shutil.copytree(kept / "var", site.folder, dirs_exist_ok=True)
        print(site.manage("migrate", "--no-input", "-v1").strip().splitlines()[-1])
        with closing(sqlite3.connect(site.file)) as base:
            before = json.loads((kept / "rows.json").read_text())
            troubles = row_troubles(before, rows_of(base, before))
        queued = json.loads((kept / "tasks.json").read_text())
        troubles += task_troubles(site, queued)
        if not troubles:
            site.inside("done")
    for trouble in troubles:
        print(f"WRONG {trouble}")
    print("The upgrade went well." if not troubles else f"{len(troubles)} things are wrong.")
    return 1 if troubles else 0


def row_troubles(before: Rows, after: Rows) -> list[str]:
    """What a migration did to rows: tables and columns that are gone, other numbers of rows, other values."""
    troubles = []
    for table, old in before.items():
        new = after.get(table)
        if table in DIFFERING:
            continue
        if new is None:
            troubles.append(f"The table {table} with {old['rows']} rows is gone.")
        elif new["columns"] != old["columns"]:
            gone = sorted(set(old["columns"]) - set(new["columns"]))
            troubles.append(f"{table} has no {', '.join(gone)} any more ({old['rows']} rows).")
        elif table in GROWING:
            lost = set(old["each"]) - set(new["each"])
            troubles += [f"{table} has lost {len(lost)} of its {old['rows']} rows."] if lost else []
        elif new["rows"] != old["rows"]:
            troubles.append(f"{table} had {old['rows']} rows and has {new['rows']}.")
        elif new["sha256"] != old["sha256"]:
            troubles.append(f"{table} holds other values.")
    print(f"{len(before)} tables compared, {sum(int(row['rows']) for row in before.values())} rows.")
    return troubles


def task_troubles(site: Site, queued: Mapping[str, str]) -> list[str]:
    """Runs a worker until every queued task ended; what did not succeed."""
    log = site.folder / "worker.log"
    command = [sys.executable, "-m", "celery", "-A", "wwd", "worker", "-Q", "cpu,gpu,api", "-c", "1"]
    command += ["--without-gossip", "--without-mingle", "--without-heartbeat", "--loglevel", "INFO"]
    with log.open("wb") as out:
        worker = subprocess.Popen(
            command, cwd=site.tree, env=site.environ, stdout=out, stderr=out, start_new_session=True
        )
        try:
            end = time.monotonic() + WORKER_SECONDS
            while time.monotonic() < end and worker.poll() is None and not all(ended(log, queued)):
                time.sleep(0.5)
        finally:
            worker.terminate()
            try:
                worker.wait(60)
            except subprocess.TimeoutExpired:
                os.killpg(worker.pid, signal.SIGKILL)
                worker.wait()
    text = log.read_text(errors="replace")
    done = [f"{name}[{key}] succeeded" in text for key, name in queued.items()]
    print(f"{sum(done)} of {len(done)} queued tasks succeeded: {', '.join(sorted(queued.values()))}.")
    lost = [name for name, good in zip(queued.values(), done, strict=True) if not good]
    if lost:
        print(text[-3000:])
    return [f"The queued task {name} did not succeed." for name in lost]


def ended(log: Path, queued: Mapping[str, str]) -> Iterator[bool]:
    """For each queued task whether the log tells its end. A name that no code has ends with the worker's complaint."""
    text = log.read_text(errors="replace")
    for key, name in queued.items():
        yield bool(re.search(rf"\[{key}\] (succeeded|raised)", text)) or f"unregistered task of type '{name}'" in text


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parts = parser.add_subparsers(dest="act", required=True)
    saving = parts.add_parser("save", help="write the state of a checkout to a folder")
    saving.add_argument("folder", type=Path)
    comparing = parts.add_parser("compare", help="show what differs between two saved folders")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    comparing.add_argument("--ignore", action="append", default=[], metavar="PATTERN", help="files that may differ")
    comparing.add_argument("--ignore-list", type=Path, metavar="FILE", help="such patterns, one a line, # for comments")
    again = parts.add_parser("recompute", help="compute the tables of a saved package again, with its own code")
    again.add_argument("archive", type=Path, help="kept/unchanged.zip of a saved folder")
    upgrading = parts.add_parser("upgrade", help="migrate the saved installation and work off its queue")
    upgrading.add_argument("folder", type=Path)
    for part in (saving, upgrading):
        part.add_argument("--tree", type=Path, default=HERE.parent, help="the checkout to run; this one by default")
    return parser.parse_args()


def patterns(options: argparse.Namespace) -> list[str]:
    lines = options.ignore_list.read_text(encoding="utf-8").splitlines() if options.ignore_list else []
    return [*options.ignore, *(line.strip() for line in lines if line.strip() and not line.startswith("#"))]


def main() -> int:
    options = arguments()
    try:
        if options.act == "save":
            save(options.folder.resolve(), options.tree.resolve())
            return 0
        if options.act == "compare":
            return 1 if compare(options.before, options.after, patterns(options)) else 0
        if options.act == "recompute":
            return recompute(options.archive)
        return upgrade(options.folder.resolve(), options.tree.resolve())
    except Failed as error:
        print(error, file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
