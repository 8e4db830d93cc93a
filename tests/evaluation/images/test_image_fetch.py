"""Addresses that a provider gives: what is fetched, and what never."""

import socket
import threading
import time
from collections.abc import Iterator

import pytest

from tests.evaluation.provider import Provider, png, serving
from wwd.base import fetching
from wwd.base.fetching import FetchError, fetch_url


@pytest.fixture
def provider() -> Iterator[Provider]:
    with serving() as found:
        yield found


def resolve_to(monkeypatch: pytest.MonkeyPatch, *addresses: str) -> None:
    """Every name has these addresses, as a name server of somebody else could say."""
    rows = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 443)) for address in addresses]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: rows)


@pytest.mark.parametrize("what", ["good", "moved"])
def test_an_image_is_fetched_also_where_it_moved(provider: Provider, what: str) -> None:
    assert fetch_url(f"{provider.url}/pictures/{what}?sig=a%2Bb", local=True) == png()


@pytest.mark.parametrize(
    ("what", "sentence", "again"),
    [
        ("expired", "answered 403", False),
        ("page", "no image but text/html", False),
        ("circle", "leads on and on", False),
        ("cut", "could not be fetched|only in part", True),
        ("busy", "answered 503", True),
    ],
)
def test_what_cannot_be_fetched_says_why(provider: Provider, what: str, sentence: str, again: bool) -> None:
    with pytest.raises(FetchError, match=sentence) as caught:
        fetch_url(f"{provider.url}/pictures/{what}", local=True)
    assert caught.value.again == again


def test_an_image_that_drips_in_ends_after_the_time_in_all(provider: Provider) -> None:
    started = time.monotonic()
    with pytest.raises(FetchError):
        fetch_url(f"{provider.url}/pictures/drip", local=True, seconds=0.5)
    assert time.monotonic() - started < 10


def test_an_image_that_is_too_large_is_left(provider: Provider) -> None:
    with pytest.raises(FetchError, match="larger than"):
        fetch_url(f"{provider.url}/pictures/good", local=True, most=100)


@pytest.mark.parametrize(
    "url",
    [
        "http://pictures.example/a.png",
        "ftp://pictures.example/a.png",
        "file:///etc/passwd",
        "https://user:word@pictures.example/a.png",
        "https://pictures.example:8443/a.png",
        "https:///a.png",
        "https://[::1",
        "https://pictures.example:port/",
        "",
    ],
)
def test_only_plain_https_addresses_are_fetched(url: str) -> None:
    with pytest.raises(FetchError):
        fetch_url(url)


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "10.0.0.8",
        "172.16.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "0.0.0.0",
        "224.0.0.1",
        "::1",
        "fe80::1%eth0",
        "fd00::1",
        "::ffff:127.0.0.1",
        "2002:7f00:1::",
        "64:ff9b::7f00:1",
    ],
)
def test_names_of_addresses_inside_are_not_connected_to(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    resolve_to(monkeypatch, address)
    with pytest.raises(FetchError, match="inside a network of its own"):
        fetch_url("https://pictures.example/a.png")


def test_one_address_inside_among_others_is_enough_to_refuse(monkeypatch: pytest.MonkeyPatch) -> None:
    resolve_to(monkeypatch, "93.184.216.34", "127.0.0.1")
    with pytest.raises(FetchError, match="inside a network"):
        fetch_url("https://pictures.example/a.png")


@pytest.mark.parametrize(
    "address",
    [
        "fec0::1",
        "::127.0.0.1",
        "::93.184.216.34",
        "64:ff9b::7f00:1",
        "64:ff9b:1::7f00:1",
        "3fff::1",
        "5f00::1",
        "192.88.99.1",
        "100::1",
        "2001:db8::1",
        "2001::1",
        "2002:7f00:1::",
        "2002:5db8:d822::1",
        "4000::1",
        "255.255.255.255",
        "240.0.0.1",
        "198.18.0.1",
        "192.0.0.8",
        "::ffff:192.88.99.1",
        "ff0e::1",
    ],
)
def test_an_address_that_is_special_or_wrapped_in_another_is_never_public(address: str) -> None:
    """From IANA's registries of special-purpose addresses."""
    assert not fetching.is_public(address)


@pytest.mark.parametrize("address", ["93.184.216.34", "2606:2800:220:1::1", "::ffff:93.184.216.34"])
def test_addresses_of_the_open_internet_are_public(address: str) -> None:
    assert fetching.is_public(address)


def test_a_redirection_is_checked_like_the_address_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetching, "request_url_once", lambda url, *_: get_once(url))
    with pytest.raises(FetchError, match="none that may be fetched"):
        fetch_url("https://pictures.example/a.png")


def get_once(url: str) -> bytes | str:
    fetching.check_url(url, local=False)
    return "http://169.254.169.254/latest/meta-data/"


def test_an_unknown_host_may_be_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: object, **__: object) -> None:
        raise socket.gaierror

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    with pytest.raises(FetchError, match="was not found") as caught:
        fetch_url("https://pictures.example/a.png")
    assert caught.value.again


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_server_that_says_nothing_is_worth_another_try(scheme: str) -> None:
    """A plain connection is closed before an answer; an encrypted one before both have agreed on keys."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def close_each() -> None:
            server.accept()[0].close()

        thread = threading.Thread(target=close_each)
        thread.start()
        with pytest.raises(FetchError, match="could not be fetched") as caught:
            fetch_url(f"{scheme}://127.0.0.1:{server.getsockname()[1]}/picture", local=True)
        thread.join(20)
    assert caught.value.again
