"""The proxy of compose says who asks, whatever is claimed, logs no address of a page, and bounds what one may hold."""

import os
import re
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.request import Request, urlopen

import pytest
import yaml
from django.test import RequestFactory
from pytest_django import Settings

from collection.access.request_info import network_of
from tests.wwd.processes import ROOT, free_port, status
from wwd.base.client_address import client_address

CONFIGURATION = (ROOT / "deploy" / "nginx.conf").read_text()
COMPOSE = yaml.safe_load((ROOT / "compose.yml").read_text())
FOLDERS = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
KEY = "genuine-key-of-somebody"
NGINX = shutil.which("nginx", path=os.environ.get("PATH", "") + ":/usr/sbin")


class Echo(BaseHTTPRequestHandler):
    """A web server that says which address it was told."""

    def do_GET(self) -> None:
        body = "|".join(self.headers.get_all("X-Forwarded-For") or []).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        return


@contextmanager
def proxied(folder: Path) -> Iterator[str]:
    """The product's configuration, with the ports and folders of this test."""
    if NGINX is None:
        pytest.skip("needs nginx on the path")
    web, port = ThreadingHTTPServer(("127.0.0.1", 0), Echo), free_port()
    threading.Thread(target=web.serve_forever, daemon=True).start()
    ours = CONFIGURATION.replace("listen 80;", f"listen 127.0.0.1:{port};")
    ours = ours.replace("resolver 127.0.0.11 valid=10s;", "").replace("web:8000", f"127.0.0.1:{web.server_port}")
    ours = ours.replace("/dev/stdout", f"{folder}/log").replace("/dev/stderr", f"{folder}/log")
    temporary = "".join(f"{kind}_temp_path {folder}/{kind};" for kind in FOLDERS)
    whole = f"daemon off; pid {folder}/pid; events {{}} http {{ {temporary} {ours} }}"
    (folder / "nginx.conf").write_text(whole)
    command = [NGINX, "-p", str(folder), "-c", str(folder / "nginx.conf"), "-e", f"{folder}/log"]
    process = subprocess.Popen(command)
    try:
        until = time.monotonic() + 20
        while not status(f"http://127.0.0.1:{port}/proxy-health"):
            assert process.poll() is None
            assert time.monotonic() < until
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(20)
        web.shutdown()
        web.server_close()


def told(address: str, forwarded: str) -> str:
    headers = {"X-Forwarded-For": forwarded} if forwarded else {}
    with urlopen(Request(address, headers=headers), timeout=20) as response:
        return str(response.read().decode())


@pytest.mark.parametrize(
    ("forwarded", "expected"),
    [
        ("", "127.0.0.1"),
        ("203.0.113.9", "203.0.113.9"),
        ("6.6.6.6, 203.0.113.9", "203.0.113.9"),
        ("6.6.6.6, 203.0.113.9, 10.0.0.7", "203.0.113.9"),
        ("nonsense, 203.0.113.9", "203.0.113.9"),
        ("2001:db8::5, 2a00:1450::8", "2a00:1450::8"),
    ],
)
def test_the_web_server_is_told_whom_the_tls_end_saw_and_nothing_else(
    tmp_path: Path, forwarded: str, expected: str
) -> None:
    with proxied(tmp_path) as site:
        assert told(f"{site}/", forwarded) == expected


def test_the_log_of_the_proxy_holds_no_key(tmp_path: Path) -> None:
    with proxied(tmp_path) as site:
        for path in (f"/review/back/{KEY}/", f"/ambassador/{KEY}/?q={KEY}", f"/review/{KEY}", f"/%00{KEY}", f"//{KEY}"):
            headers = {"Referer": site + path, "Cookie": f"turn={KEY}", "User-Agent": KEY}
            try:
                urlopen(Request(site + path, headers=headers), timeout=20).close()
            except OSError:
                continue
    text = (tmp_path / "log").read_text()
    assert text.count("GET 200") >= 4
    assert "genuine" not in text
    assert "127.0.0.1" not in text


def test_what_one_address_may_hold_is_bounded_and_the_rate_waits_before_it_fails() -> None:
    assert re.search(r"limit_conn held \d+;", CONFIGURATION)
    rate = re.search(r"rate=(\d+)r/s", CONFIGURATION)
    burst = re.search(r"limit_req zone=asked burst=(\d+);", CONFIGURATION)
    assert rate and burst
    # 400 people who each send a form of four questions a minute, with the page and its files before.
    assert int(rate[1]) >= 400 * 4 / 60
    assert int(burst[1]) >= 2 * 400
    assert "nodelay" not in CONFIGURATION


def test_the_proxy_is_reached_from_this_host_only_and_is_of_a_maintained_branch() -> None:
    proxy = COMPOSE["services"]["proxy"]
    assert all(str(port).startswith("${WWD_BIND_ADDRESS:-127.0.0.1}:") for port in proxy["ports"])
    assert proxy["image"] == "nginx:stable-alpine"
    assert COMPOSE["services"]["web"]["environment"]["WWD_TRUSTED_PROXIES"] == "1"


@pytest.mark.parametrize(
    ("proxies", "forwarded", "expected"),
    [
        (0, "1.2.3.4", "10.0.0.1"),
        (1, "1.2.3.4, 41.202.10.7", "41.202.10.7"),
        (2, "1.2.3.4, 41.202.10.7, 10.0.0.9", "41.202.10.7"),
        (2, "41.202.10.7", "10.0.0.1"),
        (1, "", "10.0.0.1"),
        (1, "41.202.10.7:4711", "41.202.10.7"),
        (1, "[2a00:1450::8]:4711", "2a00:1450::8"),
        (1, "2a00:1450::8", "2a00:1450::8"),
    ],
)
def test_a_client_cannot_choose_its_address(settings: Settings, proxies: int, forwarded: str, expected: str) -> None:
    settings.TRUSTED_PROXIES = proxies
    request = RequestFactory().get("/", REMOTE_ADDR="10.0.0.1", headers={"X-Forwarded-For": forwarded})
    assert client_address(request) == expected


@pytest.mark.django_db
def test_people_behind_the_proxy_are_of_different_networks(settings: Settings) -> None:
    settings.TRUSTED_PROXIES = 1

    def network(forwarded: str) -> str:
        return network_of(RequestFactory().get("/", REMOTE_ADDR="172.18.0.2", headers={"X-Forwarded-For": forwarded}))

    assert network("41.202.10.7") == network("6.6.6.6, 41.202.10.8") != network("102.89.1.1")
