"""Slow phones: many clients each sending a photo over a 2G line, while somebody else opens the start page.

    python -m bench.slow_clients [--clients 50] [--kilobytes 300] [--rate 6]

Starts the real web server with the product's configuration on SQLite in a folder of its own.
"""

import argparse
import asyncio
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HOST = "127.0.0.1"
PHOTO_PATH = "/photo/"


@dataclass
class Outcome:
    """`statuses` of the uploads (0: dropped), `probes`: seconds that the start page took meanwhile."""

    statuses: list[int] = field(default_factory=list)
    probes: list[float] = field(default_factory=list)
    seconds: float = 0.0


@dataclass
class Halfway:
    """Where uploads wait in their middle until `go` is set; `arrived` counts them."""

    arrived: int = 0
    go: asyncio.Event = field(default_factory=asyncio.Event)

    async def wait(self) -> None:
        self.arrived += 1
        await self.go.wait()


def form(size: int) -> tuple[bytes, str]:
    """A multipart body of `size` bytes with an image-like file, and its media type."""
    boundary = uuid.uuid4().hex
    head = (
        f'--{boundary}\r\nContent-Disposition: form-data; name="proof"\r\n\r\nnone\r\n'
        f'--{boundary}\r\nContent-Disposition: form-data; name="photo"; filename="a.jpg"\r\n'
        "Content-Type: image/jpeg\r\n\r\n"
    ).encode()
    tail = f"\r\n--{boundary}--\r\n".encode()
    return head + os.urandom(size - len(head) - len(tail)) + tail, f"multipart/form-data; boundary={boundary}"


async def send_slowly(port: int, path: str, size: int, rate: int, halfway: Halfway | None = None) -> int:
    """The status that a POST of `size` bytes at `rate` bytes a second gets; 0 where the line was dropped."""
    body, media_type = form(size)
    head = (
        f"POST {path} HTTP/1.1\r\nHost: {HOST}:{port}\r\nConnection: close\r\n"
        f"Content-Type: {media_type}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    step = max(1, rate // 4)
    try:
        reader, writer = await asyncio.open_connection(HOST, port)
        writer.write(head.encode())
        for start in range(0, len(body), step):
            if halfway and start <= len(body) // 2 < start + step:
                await halfway.wait()
            writer.write(body[start : start + step])
            await writer.drain()
            await asyncio.sleep(step / rate)
        line = await reader.readline()
        writer.close()
        return int(line.split()[1])
    except (OSError, IndexError):
        return 0


async def open_page(port: int, path: str, limit: float) -> float:
    """Seconds until the whole answer of `path` was there. Raises TimeoutError past `limit`."""
    started = time.perf_counter()
    async with asyncio.timeout(limit):
        reader, writer = await asyncio.open_connection(HOST, port)
        writer.write(f"GET {path} HTTP/1.1\r\nHost: {HOST}:{port}\r\nConnection: close\r\n\r\n".encode())
        answer = await reader.read()
        writer.close()
    if b" 200 " not in answer.split(b"\r\n", 1)[0]:
        raise ConnectionError(answer[:200].decode(errors="replace"))
    return time.perf_counter() - started


async def measure(port: int, clients: int, size: int, rate: int, limit: float = 30, path: str = PHOTO_PATH) -> Outcome:
    """Lets `clients` send at once and opens the start page twice a second until all have their answer."""
    outcome = Outcome()
    started = time.perf_counter()
    sending = [asyncio.create_task(send_slowly(port, path, size, rate)) for _ in range(clients)]
    await asyncio.sleep(1)
    while not all(task.done() for task in sending):
        outcome.probes.append(await open_page(port, "/", limit))
        await asyncio.sleep(0.5)
    outcome.statuses = [await task for task in sending]
    outcome.seconds = time.perf_counter() - started
    return outcome


@contextmanager
def server(folder: Path, port: int, **changes: str) -> Iterator["subprocess.Popen[bytes]"]:
    """gunicorn with deploy/gunicorn.conf.py over a fresh SQLite database in `folder`; `changes` of variables."""
    dropped = ("DATABASE_URL", "REDIS_URL", "GS_BUCKET_NAME")
    kept = {name: value for name, value in os.environ.items() if name not in dropped and not name.startswith("WWD_")}
    environ = {**kept, "WWD_VAR_DIR": str(folder), **changes}
    for words in (["migrate", "--verbosity", "0"], ["collectstatic", "--no-input", "--verbosity", "0"]):
        subprocess.run([sys.executable, "manage.py", *words], cwd=ROOT, env=environ, check=True)
    command = [sys.executable, "-m", "gunicorn", "-c", "deploy/gunicorn.conf.py", "--bind", f"{HOST}:{port}"]
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(command, cwd=ROOT, env=environ, stdout=log, stderr=log)
        try:
            wait_for(port, process)
            yield process
        finally:
            process.terminate()
            process.wait(30)


def wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    for _ in range(300):
        try:
            with urllib.request.urlopen(f"http://{HOST}:{port}/healthz", timeout=10):
                return
        except OSError:
            if process.poll() is not None:
                break
            time.sleep(0.1)
    raise RuntimeError("The web server did not start; see its log.")


def machine() -> str:
    return f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--kilobytes", type=int, default=300)
    parser.add_argument("--rate", type=int, default=6, help="kilobytes a second")
    parser.add_argument("--port", type=int, default=8459)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, server(Path(folder), options.port):
        idle = [asyncio.run(open_page(options.port, "/", 30)) for _ in range(20)]
        found = asyncio.run(measure(options.port, options.clients, options.kilobytes * 1000, options.rate * 1000))
    print(f"machine: {machine()}")
    print(f"uploads: {options.clients} clients, {options.kilobytes} kB at {options.rate} kB/s")
    print(f"answered: {sum(status > 0 for status in found.statuses)} of {options.clients} in {found.seconds:.1f} s")
    print(f"statuses: {sorted(set(found.statuses))}")
    print(f"start page, nobody sending: median {statistics.median(idle) * 1000:.0f} ms, n {len(idle)}")
    print(f"start page, all sending: median {statistics.median(found.probes) * 1000:.0f} ms, n {len(found.probes)}")
    print(f"start page, slowest: {max(found.probes) * 1000:.0f} ms")


if __name__ == "__main__":
    main()
