"""Checks everything and says at the end what failed and what was skipped. Called by script/test."""

import argparse
import os
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

BASE = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(BASE))

from tests.import_graph import reach_tests  # noqa: E402  (found from here on)
from wwd.base.packages import PACKAGES  # noqa: E402

CODE = [*PACKAGES, "tests", "bench", "script", "deploy", "manage.py"]
OUTPUT = Path(os.environ.get("WWD_TEST_OUTPUT") or BASE / "var" / "test")
REPORT = OUTPUT / "results.xml"
# What `check --deploy` is asked about: a site as docs/operations/settings.md describes it.
PRODUCTION = {
    "WWD_ALLOWED_HOSTS": "dishes.example",
    "WWD_BEHIND_TLS_PROXY": "yes",
    "SECRET_KEY": "only for this check: 0123456789 abcdefghijklmnopqrstuvwxyz ABCDEFGHIJ",
}


@dataclass(frozen=True)
class Step:
    name: str
    command: list[str]
    environment: dict[str, str]


@dataclass(frozen=True)
class Done:
    """Exit status, seconds, and what a step printed."""

    step: Step
    code: int
    seconds: float
    lines: list[str]

    @property
    def last(self) -> str:
        return next((line.strip() for line in reversed(self.lines) if line.strip()), "")


def module(*words: str) -> list[str]:
    return [sys.executable, "-m", *words]


def manage(*words: str) -> list[str]:
    return [sys.executable, "manage.py", *words]


def lint_steps() -> list[Step]:
    present = [name for name in CODE if (BASE / name).exists()]
    static = {"WWD_STATIC_ROOT": str(OUTPUT / "collected")}
    deployment = manage("check", "--deploy", "--fail-level", "WARNING")
    return [
        Step("ruff check", module("ruff", "check", "."), {}),
        Step("ruff format", module("ruff", "format", "--check", "."), {}),
        Step("mypy", module("mypy", *present), {}),
        Step("migrations", manage("makemigrations", "--check", "--dry-run"), {}),
        Step("static files", manage("collectstatic", "--no-input", "--verbosity", "0"), static),
        Step("deployment", deployment, {**static, **PRODUCTION}),
    ]


def coverage_steps(words: list[str]) -> list[Step]:
    """All tests with every branch watched, in the site's own processes too, then the check of what is left."""
    report, data = OUTPUT / "coverage.json", {"COVERAGE_FILE": str(OUTPUT / "coverage")}
    watched = ["--cov", "--cov-config=pyproject.toml", "--cov-report=", f"--cov-report=json:{report}"]
    tests = pytest_step([*watched, *words])
    return [
        Step(tests.name, tests.command, {**tests.environment, **data}),
        Step("coverage", module("tests.coverage_check", str(report), "tests/uncovered.txt"), {}),
    ]


def pytest_step(words: list[str]) -> Step:
    """All tests, one process more than there are cores unless the caller says how many, since tests also wait.

    They run away from what a running site keeps in `var/`.
    tests/scheduling.py says which of them run in one process, and in which order.
    """
    own = any(word.startswith("-n") for word in words)
    cores = [] if own else ["-n", str((os.cpu_count() or 1) + 1), "--dist", "loadfile"]
    folder = OUTPUT / "run"
    (folder / "static").mkdir(parents=True, exist_ok=True)
    # Each core runs tests of its own: a model that took them all would only make others wait.
    environment = {"WWD_VAR_DIR": str(folder), "OMP_NUM_THREADS": "1"}
    return Step("pytest", module("pytest", *cores, f"--junitxml={REPORT}", *words), environment)


def run(step: Step, *, quietly: bool = False) -> Done:
    """What it prints is shown as it comes; `quietly`, it is kept."""
    started, lines = time.monotonic(), list[str]()
    if not quietly:
        print(f"\n--- {step.name}", flush=True)
    environment = {**os.environ, **step.environment}
    with subprocess.Popen(
        step.command, cwd=BASE, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        assert process.stdout
        for line in process.stdout:
            lines.append(line)
            if not quietly:
                print(line, end="", flush=True)
    return Done(step, process.returncode, time.monotonic() - started, lines)


def run_all(beside: list[Step], steps: list[Step]) -> list[Done]:
    """Runs `steps` one after another, and beside them those of `beside`, whose output is shown after the tests'.

    Tests wait for processes, disks and browsers a good part of their time, which lint and types use.
    """
    with ThreadPoolExecutor(1) as pool:
        waiting = [pool.submit(run, step, quietly=True) for step in beside]
        done = [run(step) for step in steps]
        checked = [each.result() for each in waiting]
    for each in checked:
        print(f"\n--- {each.step.name}\n{''.join(each.lines)}", end="", flush=True)
    return [*checked, *done]


def skipped() -> Counter[str]:
    """Reasons of skipped tests and how many each kept from running."""
    if not REPORT.exists():
        return Counter()
    root = ElementTree.parse(REPORT).getroot()  # noqa: S314  (written a moment ago by our own pytest)
    return Counter(item.get("message", "no reason given") for item in root.iter("skipped"))


def arguments() -> tuple[argparse.Namespace, list[str]]:
    parser = argparse.ArgumentParser(
        prog="script/test", description="Checks everything. Other arguments go to pytest, --long among them."
    )
    parser.add_argument("--tests-only", action="store_true", help="leave lint, types and configuration out")
    parser.add_argument(
        "--changed",
        nargs="?",
        const="HEAD",
        metavar="REVISION",
        help="only the tests whose imports reach a file that differs from this revision (HEAD: not committed yet)",
    )
    parser.add_argument(
        "--full", action="store_true", help="also everything on the embedded default once more: before a release"
    )
    parser.add_argument(
        "--coverage", action="store_true", help="watch every branch, and check it against tests/uncovered.txt"
    )
    return parser.parse_known_args()


def changed_files(revision: str) -> list[Path]:
    """Files that differ from a revision, new ones too, relative to the project. Raises SystemExit without git."""
    names: set[str] = set()
    for words in (["diff", "--name-only", revision], ["ls-files", "--others", "--exclude-standard"]):
        done = subprocess.run(["git", *words], cwd=BASE, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"--changed asks git what changed: {done.stderr.strip() or 'git failed'}")
        names.update(done.stdout.split("\n"))
    return [Path(name) for name in sorted(names) if name]


def changed_tests(revision: str) -> list[str]:
    """The test files that a change since `revision` reaches."""
    return [str(path) for path in reach_tests(changed_files(revision))]


def embedded_steps(words: list[str]) -> list[Step]:
    """All tests on SQLite, with files as broker, whatever the environment names."""
    tests = pytest_step(words)
    return [Step("pytest, SQLite", tests.command, {**tests.environment, "DATABASE_URL": "", "REDIS_URL": ""})]


def main() -> int:
    options, words = arguments()
    if options.changed:
        reached = changed_tests(options.changed)
        print(f"{len(reached)} test files reach what changed since {options.changed}.", flush=True)
        if not reached:
            return 0
        words = [*words, *reached]
    REPORT.unlink(missing_ok=True)
    tests = coverage_steps(words) if options.coverage else [pytest_step(words)]
    if options.full:
        tests += embedded_steps(words)
    done = run_all([] if options.tests_only else lint_steps(), tests)
    print("\n--- Summary")
    for each in done:
        print(f"{'passed' if each.code == 0 else 'FAILED':<8}{each.step.name:<14}{each.seconds:7.1f} s")
    for reason, count in sorted(skipped().items()):
        print(f"skipped {count:>4}  {reason}")
    print(next(each.last for each in done if each.step.name == "pytest"), flush=True)
    return 1 if any(each.code for each in done) else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
