"""script/server: starts, says where to go, survives a killed worker, stops without leaving anything behind."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.wwd.processes import ROOT, environment, free_port, status

SECONDS = 90


class Server:
    """A running script/serve.py; `output` is what it has printed so far."""

    def __init__(self, folder: Path, port: int) -> None:
        self.port = port
        self.folder = folder
        self.log = folder / f"server-{port}.log"
        command = [sys.executable, "script/serve.py", "--port", str(port)]
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                command, cwd=ROOT, env=environment(folder), stdout=log, stderr=log, start_new_session=True
            )

    @property
    def output(self) -> str:
        return self.log.read_text()

    def until(self, happened: Callable[[], object]) -> None:
        limit = time.monotonic() + SECONDS
        while not happened():
            assert time.monotonic() < limit, self.output
            time.sleep(0.1)

    def ready(self) -> "Server":
        self.until(lambda: "Ctrl-C stops it" in self.output or self.process.poll() is not None)
        assert self.process.poll() is None, self.output
        return self

    def stop(self, number: int) -> int:
        self.process.send_signal(number)
        return self.process.wait(SECONDS)


def living(folder: Path) -> dict[int, str]:
    """Processes whose environment names `folder`: id → command line."""
    found = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if f"WWD_VAR_DIR={folder}\0".encode() in (entry / "environ").read_bytes():
                found[int(entry.name)] = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            continue
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """One folder for all tests here: the first start sets it up, the later ones find it so."""
    found = tmp_path_factory.mktemp("site")
    yield found
    for each in living(found):
        os.kill(each, signal.SIGKILL)


pytestmark = [
    pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs /proc to find processes"),
    pytest.mark.own_processes,
]


def test_the_first_start_sets_everything_up_and_says_where_to_go(folder: Path) -> None:
    server = Server(folder, free_port()).ready()
    shown = dict(re.findall(r"^  (\S[\w ]*?)\s{2,}http://127\.0\.0\.1:\d+(/\S*)$", server.output, re.MULTILINE))
    assert set(shown) == {"Start page", "Describe a dish", "Leaderboard", "Judge pictures", "For staff"}
    for path in shown.values():
        assert status(f"http://127.0.0.1:{server.port}{path}") == 200, path
    assert len(re.findall(r"Staff account: admin, password \S{16}", server.output)) == 1
    assert server.stop(signal.SIGINT) == 0
    assert living(folder) == {}


def test_the_second_start_changes_nothing_and_shows_no_password(folder: Path) -> None:
    server = Server(folder, free_port()).ready()
    assert "password" not in server.output
    assert "Loading demonstration data" not in server.output
    assert server.stop(signal.SIGTERM) == 0
    assert living(folder) == {}
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.1", server.port), timeout=5)


def test_a_killed_worker_is_started_again(folder: Path) -> None:
    server = Server(folder, free_port()).ready()

    def workers() -> set[int]:
        return {each for each, command in living(folder).items() if "celery" in command}

    server.until(workers)
    before = workers()
    for each in before:
        os.kill(each, signal.SIGKILL)
    server.until(lambda: workers() - before)
    assert "The worker ended" in server.output
    assert server.stop(signal.SIGINT) == 0
    assert living(folder) == {}


def test_stopping_in_the_middle_of_setting_up_leaves_nothing_behind(tmp_path: Path) -> None:
    server = Server(tmp_path, free_port())
    server.until((tmp_path / "wwd.sqlite3").exists)
    server.stop(signal.SIGTERM)
    assert living(tmp_path) == {}


def test_a_taken_port_is_explained_before_anything_is_touched(tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        server = Server(tmp_path, other.getsockname()[1])
        assert server.process.wait(SECONDS) == 1
        assert f"Port {server.port} of 127.0.0.1 cannot be used" in server.output
        assert f"script/server --port {server.port + 1}" in server.output
    assert "Traceback" not in server.output
    assert not (tmp_path / "wwd.sqlite3").exists()


def test_a_port_that_cannot_exist_is_explained(tmp_path: Path) -> None:
    server = Server(tmp_path, 99999)
    assert server.process.wait(SECONDS) == 1
    assert "There is no port 99999" in server.output
