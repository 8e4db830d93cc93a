"""Starts the site on this machine: a web server and one worker, until Ctrl-C. Called by script/server."""

import argparse
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path
from types import FrameType

from prepare import Prepared, prepare

BASE = Path(__file__).resolve().parent.parent
PATIENCE = 15  # seconds that a process gets to finish what it does
RESTARTS = 5
stopping = threading.Event()


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="script/server", description="Sets up and starts the site on this machine.")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--host", default="127.0.0.1", help="0.0.0.0 lets phones in the same network in")
    return parser.parse_args()


def check_port(host: str, port: int) -> None:
    """Ends with a sentence where the port cannot be had."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OverflowError:
            sys.exit(f"There is no port {port}. Choose one from 1024 to 65535.")
        except OSError as error:
            sys.exit(
                f"Port {port} of {host} cannot be used ({error.strerror}). Perhaps the site runs already, or another "
                f"program has it. Choose another one: script/server --port {port + 1}"
            )


def own_names() -> list[str]:
    """Names and addresses under which others in the same network may reach this machine."""
    names = ["localhost", "127.0.0.1", "[::1]", socket.gethostname()]
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as outward:
        try:
            # Nothing is sent: the system only says which of its addresses it would use.
            outward.connect(("192.0.2.1", 9))
            names.append(outward.getsockname()[0])
        except OSError:
            pass
    return names


class Site:
    """The two processes, each in a group of its own so that nothing of it outlives us."""

    def __init__(self, host: str, port: int) -> None:
        python = sys.executable
        celery = [python, "-W", "ignore:You're running the worker", "-m", "celery", "--quiet", "-A", "wwd", "worker"]
        alone = ["--without-gossip", "--without-mingle", "--without-heartbeat", "--loglevel", "WARNING"]
        address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        self.commands = {
            "web server": [python, "-m", "gunicorn", "-c", "deploy/gunicorn.conf.py", "--bind", address],
            "worker": [*celery, "-Q", "cpu,gpu,api", "-c", "1", *alone],
        }
        self.running: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, name: str) -> None:
        self.running[name] = subprocess.Popen(self.commands[name], cwd=BASE, start_new_session=True)

    def ended(self) -> str:
        """The name of a process that ended, or nothing."""
        return next((name for name, process in self.running.items() if process.poll() is not None), "")

    def signal(self, number: int) -> None:
        for process in self.running.values():
            try:
                os.killpg(process.pid, number)
            except ProcessLookupError:
                continue

    def stop(self) -> None:
        """Asks both to finish, waits a little, then ends whatever is left of their groups."""
        for process in self.running.values():
            process.terminate()
        limit = time.monotonic() + PATIENCE
        for process in self.running.values():
            try:
                process.wait(max(0.1, limit - time.monotonic()))
            except subprocess.TimeoutExpired:
                continue
        self.signal(signal.SIGKILL)
        for process in self.running.values():
            process.wait()


def wait_until_ready(site: Site, url: str) -> None:
    for _ in range(300):
        if site.ended():
            return
        try:
            with urllib.request.urlopen(f"{url}/healthz", timeout=2):
                return
        except OSError:
            time.sleep(0.1)


def tell(url: str, prepared: Prepared) -> None:
    print("\nWorld Wide Dishes is running.")
    for label, path in prepared.paths.items():
        print(f"  {label:<16} {url}{path}")
    if prepared.password:
        print(f"\n  Staff account: admin, password {prepared.password}  (shown only this once)")
    print("\nCtrl-C stops it.", flush=True)


def watch(site: Site) -> int:
    """Stays until the web server ends; a worker that dies is started again, a few times."""
    restarts = 0
    while (name := site.ended()) != "web server":
        go_on()
        if name:
            restarts += 1
            print(f"The worker ended ({site.running[name].returncode}).", file=sys.stderr, flush=True)
            if restarts > RESTARTS:
                print("It ended too often. Stopping; see above for its reasons.", file=sys.stderr, flush=True)
                return 1
            time.sleep(1)
            site.start(name)
        time.sleep(0.2)
    print("The web server ended; see above for its reasons.", file=sys.stderr, flush=True)
    return 1


def stop_asked(number: int, frame: FrameType | None) -> None:
    stopping.set()
    raise KeyboardInterrupt


def go_on() -> None:
    """Stops where that was asked for at a moment in which nobody hears an exception, such as a destructor."""
    if stopping.is_set():
        raise KeyboardInterrupt


def main() -> int:
    # Set explicitly: a shell that starts this in the background lets it ignore SIGINT.
    signal.signal(signal.SIGINT, stop_asked)
    signal.signal(signal.SIGTERM, stop_asked)
    options = arguments()
    check_port(options.host, options.port)
    if options.host not in ("127.0.0.1", "localhost", "::1"):
        os.environ.setdefault("WWD_ALLOWED_HOSTS", ",".join([*own_names(), options.host]))
    shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(options.host, options.host)  # noqa: S104  (asked for)
    url = f"http://{shown}:{options.port}"
    site = Site(options.host, options.port)
    try:
        prepared = prepare()
        go_on()
        for name in site.commands:
            site.start(name)
        wait_until_ready(site, url)
        if not site.ended():
            tell(url, prepared)
        return watch(site)
    except KeyboardInterrupt:
        print("\nStopping …", flush=True)
        return 0
    finally:
        # A second Ctrl-C while stopping must not leave processes behind.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        site.stop()


if __name__ == "__main__":
    sys.exit(main())
