"""What others feel while somebody means harm: how long pages take then, as a ratio to quiet, and how much memory goes.

    python -m bench.abuse [--only NAME …] [--port 8461]

Starts the real web server with the product's configuration on SQLite in a folder of its own. Each attack comes from
one host: photos that decode to far more than they weigh, very many photos, senders that never end, reports on every
public dish, made-up return codes. Exits with 1 where a page takes more than five times as long as in quiet, or a
process holds more than 600 MB. Alone on two cores: what else runs on the machine is measured too.
"""

import argparse
import asyncio
import http.client
import io
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlencode

from PIL import Image

from bench.slow_clients import HOST, ROOT, machine, server

MOST_RATIO = 5.0
MOST_MEGABYTES = 600
PAGES = ("/", "/leaderboard/", "/dishes/", "/describe/")
MAKE = """
import json, secrets, sys
import django
django.setup()
from collection.models import Dish
from collection.check_digits import check_digit
from collection.access.form_tokens import Proof
from collection.dishes.reports import Target
from tests.collection.make import make_contributor, make_dish, open_collection
open_collection()
person = make_contributor()
dishes = [make_dish(f"Dish {n}", contributor=person, state=Dish.State.ACCEPTED) for n in range(int(sys.argv[1]))]
made_up = [str(secrets.randbelow(10**15)).zfill(15) for _ in range(400)]
print(json.dumps({
    "codes": [digits + check_digit(digits) for digits in made_up],
    "photos": [Proof.new("photo", person.pk, dish.pk).token for dish in dishes],
    "reports": [[dish.number, Proof.new("report", target=Target(dish).mark).token] for dish in dishes],
}))
"""
PUBLIC = """
import django
django.setup()
from collection.models import Dish
print(Dish.objects.accepted().count())
"""


@dataclass(frozen=True)
class Site:
    """A running web server: its port, its processes below `pid`, what its database is asked with."""

    port: int
    pid: int
    environ: Mapping[str, str]
    photos: Sequence[str] = ()
    reports: Sequence[tuple[int, str]] = ()
    codes: Sequence[str] = ()

    def run(self, code: str, *words: str) -> str:
        command = [sys.executable, "-c", code, *words]
        done = subprocess.run(command, cwd=ROOT, env=self.environ, capture_output=True, text=True, check=True)
        return done.stdout.splitlines()[-1]

    def ask(self, method: str, path: str, body: bytes = b"", kind: str = "", seconds: float = 120) -> tuple[int, str]:
        """Status and page; 0 where the line was dropped."""
        with closing(http.client.HTTPConnection(HOST, self.port, timeout=seconds)) as connection:
            try:
                connection.request(method, path, body, {"Content-Type": kind} if kind else {})
                answer = connection.getresponse()
                return answer.status, answer.read().decode(errors="replace")
            except (OSError, http.client.HTTPException):
                return 0, ""

    def post(self, path: str, **fields: str) -> tuple[int, str]:
        return self.ask("POST", path, urlencode(fields).encode(), "application/x-www-form-urlencoded")

    def megabytes(self) -> int:
        """The most memory that any process of the web server held so far (VmHWM)."""
        below = Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split()
        return max(peak(int(each)) for each in [*below, str(self.pid)])

    def public(self) -> int:
        return int(self.run(PUBLIC))


def peak(process: int) -> int:
    found = [line for line in Path(f"/proc/{process}/status").read_text().splitlines() if line.startswith("VmHWM")]
    return int(found[0].split()[1]) // 1024 if found else 0


@contextmanager
def attacked(folder: Path, port: int, dishes: int, **changes: str) -> Iterator[Site]:
    """The product's web server with so many public dishes of one person."""
    with server(folder, port, **changes) as process:
        environ = {**os.environ, "DJANGO_SETTINGS_MODULE": "wwd.settings", "DATABASE_URL": "", "REDIS_URL": ""}
        site = Site(port, process.pid, {**environ, "WWD_VAR_DIR": str(folder), **changes})
        made = json.loads(site.run(MAKE, str(dishes)))
        forms = [(number, token) for number, token in made["reports"]]
        yield Site(port, process.pid, site.environ, made["photos"], forms, made["codes"])


def bomb() -> bytes:
    """A PNG of 8000 × 8000 with transparency: 250 kB that become 256 MB."""
    buffer = io.BytesIO()
    Image.new("RGBA", (8000, 8000), (200, 80, 30, 255)).save(buffer, "PNG", compress_level=9)
    return buffer.getvalue()


def snapshot(side: int = 2400) -> bytes:
    """A JPEG as a phone makes it, with enough in it to be work."""
    buffer = io.BytesIO()
    small = Image.frombytes("RGB", (60, 45), os.urandom(60 * 45 * 3))
    small.resize((side, side * 3 // 4), Image.Resampling.BICUBIC).save(buffer, "JPEG", quality=85)
    return buffer.getvalue()


def send_photo(site: Site, token: str, data: bytes) -> tuple[int, str]:
    mark = uuid.uuid4().hex
    head = f'--{mark}\r\nContent-Disposition: form-data; name="proof"\r\n\r\n{token}\r\n--{mark}\r\n'
    head += 'Content-Disposition: form-data; name="photo"; filename="a"\r\nContent-Type: image/png\r\n\r\n'
    body = head.encode() + data + f"\r\n--{mark}--\r\n".encode()
    return site.ask("POST", "/photo/", body, f"multipart/form-data; boundary={mark}")


def send_photos(site: Site, tokens: Sequence[str], data: bytes) -> Counter[str]:
    """All at once, each with its own token; what became of them."""
    with ThreadPoolExecutor(len(tokens)) as threads:
        return Counter(fate(*found) for found in threads.map(lambda token: send_photo(site, token, data), tokens))


def fate(status: int, page: str) -> str:
    if "Your photo arrived" in page:
        return "taken"
    if "Many photos are arriving" in page:
        return "asked again"
    return f"answered {status}" if status else "dropped"


def bombs(site: Site) -> str:
    return told(send_photos(site, site.photos[:8], bomb()))


def photos(site: Site) -> str:
    return told(send_photos(site, (list(site.photos) * 60)[:60], snapshot()))


def reports(site: Site) -> str:
    """Every public dish is reported for the reason that hides."""
    before = site.public()
    found = Counter(
        str(site.post(f"/dishes/{number}/report/", proof=token, reason="person")[0]) for number, token in site.reports
    )
    return f"{told(found)}; {before - site.public()} of {before} hidden"


def codes(site: Site, number: int = 400) -> str:
    """Made-up return codes with a right check digit, as fast as they are answered."""
    return told(Counter(str(site.post("/return/", code=code)[0]) for code in site.codes[:number]))


def told(found: Counter[str]) -> str:
    return ", ".join(f"{number} {what}" for what, number in sorted(found.items()))


def slow(site: Site, clients: int = 500, seconds: float = 20) -> str:
    """Half of them drip heads, half bodies, 200 bytes a second each."""
    kept = asyncio.run(drip(site.port, clients, seconds))
    return f"{clients} senders, {kept} still sending after {seconds:.0f} s"


async def drip(port: int, clients: int, seconds: float, until: threading.Event | None = None) -> int:
    """Sends slowly from so many lines; how many of them the server kept."""
    lines = [await asyncio.open_connection(HOST, port) for _ in range(clients)]
    head = b"POST /dish/ HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\n"
    for number, (_reader, writer) in enumerate(lines):
        writer.write(head + (b"Content-Length: 900000\r\n\r\nproof=" if number % 2 else b"X-Slow: "))
    end = time.monotonic() + seconds
    while time.monotonic() < end and not (until and until.is_set()):
        for _reader, writer in lines:
            if not writer.is_closing():
                writer.write(b"x" * 200)
        await asyncio.sleep(1)
    kept = sum(not (writer.is_closing() or reader.at_eof()) for reader, writer in lines)
    for _reader, writer in lines:
        writer.transport.abort()
    return kept


ATTACKS: Mapping[str, Callable[[Site], str]] = {
    "slow senders": slow,
    "reports": reports,
    "made-up codes": codes,
    "photos": photos,
    "pixel bombs": bombs,
}


@dataclass
class Others:
    """Somebody who goes on opening pages; `seconds` that each took."""

    site: Site
    stop: threading.Event = field(default_factory=threading.Event)
    seconds: list[float] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)

    def look(self, least: int = 0) -> None:
        while not self.stop.is_set() or len(self.seconds) < least:
            started = time.perf_counter()
            status, _page = self.site.ask("GET", PAGES[len(self.seconds) % len(PAGES)])
            self.seconds.append(time.perf_counter() - started)
            self.statuses[status] += 1
            time.sleep(0.05)


def meanwhile(site: Site, attack: Callable[[Site], str], least: int = 0) -> tuple[str, Others]:
    """What came of the attack, and how others fared during it."""
    others = Others(site)
    looking = threading.Thread(target=others.look, args=(least,))
    looking.start()
    try:
        return attack(site), others
    finally:
        others.stop.set()
        looking.join()


def quiet(site: Site) -> str:
    time.sleep(8)
    return "nobody else"


def line(name: str, outcome: str, others: Others, usual: float, megabytes: int) -> tuple[str, bool]:
    """A line of the report, and whether it is within the bounds."""
    median, worst = statistics.median(others.seconds), max(others.seconds)
    ratio = median / usual
    good = ratio <= MOST_RATIO and megabytes <= MOST_MEGABYTES and set(others.statuses) == {200}
    text = f"{name:<14} {median * 1000:6.0f} ms  × {ratio:4.1f}  slowest {worst * 1000:6.0f} ms"
    return f"{text}  n {len(others.seconds):4}  {megabytes:4} MB  {outcome}", good


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", choices=list(ATTACKS), default=list(ATTACKS))
    parser.add_argument("--port", type=int, default=8461)
    options = parser.parse_args()
    print(f"machine: {machine()}")
    print(f"others' pages: {', '.join(PAGES)}; median, ratio to quiet (at most {MOST_RATIO:.0f})")
    good = True
    for name in options.only:
        # Each on a server of its own: the peak of memory is that of this attack.
        with tempfile.TemporaryDirectory() as folder, attacked(Path(folder), options.port, 47) as site:
            _, before = meanwhile(site, quiet)
            usual = statistics.median(before.seconds)
            outcome, others = meanwhile(site, ATTACKS[name], least=20)
            text, within = line(name, f"quiet {usual * 1000:.0f} ms; {outcome}", others, usual, site.megabytes())
        print(text + ("" if within else "   BEYOND"), flush=True)
        good = good and within
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
