"""One dish over a 2G line: steps 1 to 5 in real Chromium, JavaScript off, no photo, 50 kbit/s and 500 ms.
Then a full leaderboard over the same line, in every language, by a phone that was never here.

    python -m bench.submission [--kbit 50] [--latency 500]
    DATABASE_URL=postgres://… python -m bench.submission --throughput [--baseline PATH] [--seconds 6] [--clients 16]

Starts the real web server with the product's configuration on SQLite in a folder of its own, opens the collection,
and exits with 1 where the journey or the leaderboard needs more than is allowed. With `--throughput` it measures
dishes described at once instead (`bench/dish_throughput.py`).
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from bench import dish_throughput
from bench.slow_clients import HOST, ROOT, machine, server

OPEN = "from tests.collection.make import open_collection; open_collection()"
# A million dishes: every country has some and no two as many, and regions in many scripts are heard for the first time.
FILL = """
from collection.models import Country, Tally
from tests.collection.make import make_dish
names = "አማርኛ العربية ⵜⴰⵎⴰⵣⵉⵖⵜ हिन्दी Yorùbá தமிழ் Kiswahili ქართული සිංහල Runasimi မြန်မာဘာသာ ߒߞߏ".split()
for number, country in enumerate(Country.objects.all()):
    make_dish(country=country.name, state="accepted", regions=names[number % len(names)])
for number, row in enumerate(Tally.objects.filter(kind="country", period="ever")):
    row.dishes, row.people = 160_000 // (number + 1), 23_000 // (number + 1)
    row.save()
"""
# What one submission took on the platform as published, measured over a simulated GPRS line with JavaScript on.
PUBLISHED = {"requests": "65–72", "kilobytes": "967", "pages": "–", "seconds": "about 300"}
LIMITS = {"requests": 10.0, "kilobytes": 45.0, "pages": 5.0, "seconds": 25.0}
BOARD_LIMITS = {"requests": 2.0, "kilobytes": 10.0, "pages": 1.0, "seconds": 4.0}
LABELS = {
    "requests": "requests",
    "kilobytes": "kB down, on the wire",
    "pages": "page loads",
    "seconds": "s on the line",
}


LANGUAGE = re.compile(r'\("(\w+)", ')
FEWEST_PLACES = 190


@dataclass
class Wire:
    """What the browser's own network log says. Times in seconds of its clock; bytes with heads, as they came."""

    started: dict[str, float] = field(default_factory=dict)
    spans: list[tuple[float, float]] = field(default_factory=list)
    received: float = 0.0
    pages: int = 0

    def listen(self, context: BrowserContext, page: Page, kbit: int, latency: int) -> None:
        session = context.new_cdp_session(page)
        session.on("Network.requestWillBeSent", self.begins)
        session.on("Network.requestServedFromCache", self.kept)
        session.on("Network.responseReceived", self.answers)
        session.on("Network.loadingFinished", self.ends)
        session.on("Network.loadingFailed", self.fails)
        session.send("Network.enable")
        rate = kbit * 1000 / 8
        session.send(
            "Network.emulateNetworkConditions",
            {"offline": False, "latency": latency, "downloadThroughput": rate, "uploadThroughput": rate},
        )

    def begins(self, event: dict[str, Any]) -> None:
        if event["request"]["url"].startswith("data:"):
            return
        self.started[event["requestId"]] = event["timestamp"]
        self.pages += event["type"] == "Document"

    def kept(self, event: dict[str, Any]) -> None:
        """The phone has it already: nothing goes over the line."""
        self.started.pop(event["requestId"], None)

    def answers(self, event: dict[str, Any]) -> None:
        if event["response"].get("fromDiskCache"):
            self.kept(event)

    def ends(self, event: dict[str, Any]) -> None:
        if event["requestId"] in self.started:
            self.spans.append((self.started[event["requestId"]], event["timestamp"]))
            self.received += event["encodedDataLength"]

    def fails(self, event: dict[str, Any]) -> None:
        if event["requestId"] in self.started:
            raise RuntimeError(f"A request failed: {event['errorText']}")

    @property
    def seconds(self) -> float:
        """Time in which at least one request was under way."""
        total, until = 0.0, 0.0
        for start, end in sorted(self.spans):
            total += max(0.0, end - max(start, until))
            until = max(until, end)
        return total

    @property
    def measured(self) -> dict[str, float]:
        return {
            "requests": len(self.started),
            "kilobytes": self.received / 1000,
            "pages": self.pages,
            "seconds": self.seconds,
        }


def press(page: Page, name: str) -> None:
    with page.expect_navigation():
        page.get_by_role("button", name=name, exact=True).click()


def consent(page: Page, url: str) -> None:
    page.goto(f"{url}/describe/")
    page.get_by_label("I am 18 years old").check()
    page.get_by_label("I have read this").check()


def dish(page: Page, url: str) -> None:
    press(page, "Describe a dish")
    page.get_by_label("What is the dish called?").fill("ሽሮ ወጥ")
    page.get_by_label("Which language").fill("Amharic")
    page.get_by_label("Which country").fill("Ethiopia")
    page.get_by_label("What is in it?").fill("chickpea flour, onions, berbere, garlic, oil")


def more(page: Page, url: str) -> None:
    press(page, "Save the dish")


def photo(page: Page, url: str) -> None:
    press(page, "Skip this")


def thanks(page: Page, url: str) -> None:
    press(page, "Go on without a photo")
    page.get_by_role("heading", name="Thank you").wait_for()


STEPS: tuple[Callable[[Page, str], None], ...] = (consent, dish, more, photo, thanks)


def walk(browser: Browser, url: str, kbit: int, latency: int) -> tuple[Wire, list[tuple[str, dict[str, float]]]]:
    """The whole journey; what was measured, and how much of it after each step."""
    wire, after = Wire(), []
    context = browser.new_context(java_script_enabled=False, viewport={"width": 360, "height": 640})
    context.set_default_timeout(120_000)
    page = context.new_page()
    wire.listen(context, page, kbit, latency)
    for step in STEPS:
        step(page, url)
        after.append((step.__name__, wire.measured))
    context.close()
    return wire, after


def leaderboard(browser: Browser, url: str, code: str, kbit: int, latency: int) -> dict[str, float]:
    """The leaderboard in a language, opened by a phone that has nothing of it yet."""
    wire = Wire()
    context = browser.new_context(java_script_enabled=False, viewport={"width": 360, "height": 640})
    context.set_default_timeout(120_000)
    page = context.new_page()
    wire.listen(context, page, kbit, latency)
    page.goto(f"{url}/{code}/leaderboard/")
    places = page.locator("ol.board li").count()
    context.close()
    if places < FEWEST_PLACES:
        raise RuntimeError(f"The leaderboard shows {places} places.")
    return wire.measured


@contextmanager
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        yield playwright.chromium.launch(
            executable_path=shutil.which("chromium") or shutil.which("google-chrome"),
            args=["--no-sandbox", "--disable-quic", "--disable-background-networking", "--disable-sync"],
        )


def tell(folder: Path, code: str) -> None:
    """Runs this code beside the server, on its database."""
    environ = {**os.environ, "WWD_VAR_DIR": str(folder), "DATABASE_URL": "", "REDIS_URL": "", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "manage.py", "shell", "--no-imports", "-c", code]
    subprocess.run(command, cwd=ROOT, env=environ, check=True)


def report(measured: dict[str, float], after: list[tuple[str, dict[str, float]]]) -> bool:
    """Prints what was measured beside what is allowed; True where all of it is."""
    for name, values in after:
        print(f"after {name:<8} " + ", ".join(f"{values[key]:.1f} {LABELS[key]}" for key in LABELS))
    print(f"{'':<22}{'here':>8}{'allowed':>9}   published platform")
    for key, label in LABELS.items():
        print(f"{label:<22}{measured[key]:>8.1f}{LIMITS[key]:>9.0f}   {PUBLISHED[key]}")
    return all(measured[key] <= LIMITS[key] for key in LIMITS)


def report_boards(boards: dict[str, dict[str, float]]) -> bool:
    """Prints each language's leaderboard; True where all of them are within what is allowed."""
    allowed = ", ".join(f"{label} ≤ {BOARD_LIMITS[key]:.0f}" for key, label in LABELS.items())
    print(f"leaderboard, full, first visit: {allowed}")
    for code, measured in boards.items():
        print(f"{code:<22}" + ", ".join(f"{measured[key]:.1f} {label}" for key, label in LABELS.items()))
    return all(measured[key] <= BOARD_LIMITS[key] for measured in boards.values() for key in LABELS)


def languages() -> list[str]:
    """Their codes, as the pages' own list has them."""
    text = (ROOT / "wwd" / "settings.py").read_text()
    return LANGUAGE.findall(text.partition("LANGUAGES = [")[2].partition("]")[0])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kbit", type=int, default=50, help="kilobits a second, both ways")
    parser.add_argument("--latency", type=int, default=500, help="milliseconds added to each request")
    parser.add_argument("--port", type=int, default=8461)
    parser.add_argument("--throughput", action="store_true", help="dishes told at once, here and at the baseline")
    parser.add_argument("--baseline", type=Path, help="a checkout of the baseline; made by git where none is given")
    parser.add_argument("--seconds", type=float, default=dish_throughput.SECONDS, help="of each round of --throughput")
    parser.add_argument("--clients", type=int, default=16, help="phones of --throughput")
    options = parser.parse_args()
    if options.throughput:
        sys.exit(0 if dish_throughput.run(options) else "A bound is missed.")
    with tempfile.TemporaryDirectory() as folder, server(Path(folder), options.port):
        url, line = f"http://{HOST}:{options.port}", (options.kbit, options.latency)
        tell(Path(folder), OPEN)
        with chromium() as browser:
            wire, after = walk(browser, url, *line)
            tell(Path(folder), FILL)
            boards = {code: leaderboard(browser, url, code, *line) for code in languages()}
    print(f"machine: {machine()}")
    print(f"line: {options.kbit} kbit/s, {options.latency} ms; JavaScript off, no photo, steps 1 to 5")
    within = [report(wire.measured, after), report_boards(boards)]
    if not all(within):
        sys.exit("More than is allowed.")


if __name__ == "__main__":
    main()
