"""Fetching an image from an address that a provider gave: never from inside our own network, never without end."""

import http.client
import ipaddress
import socket
import ssl
import threading
from contextlib import suppress
from urllib.parse import SplitResult, urljoin, urlsplit

MOST_BYTES = 50 * 1024 * 1024
SECONDS = 60.0
HOPS = 3
MOVED = (301, 302, 303, 307, 308)
GLOBAL_UNICAST = ipaddress.ip_network("2000::/3")
# Protocol assignments, relays of 6to4 (RFC 7526), documentation (RFC 9637): Python 3.11 takes parts for global ones.
SPECIAL = tuple(ipaddress.ip_network(network) for network in ("192.0.0.0/24", "192.88.99.0/24", "3fff::/20"))
CHUNK = 65536
# How files of images begin: (place, bytes). PNG, JPEG, GIF, WebP, BMP, TIFF, AVIF and HEIC.
BEGINNINGS = (
    (0, b"\x89PNG\r\n\x1a\n"),
    (0, b"\xff\xd8\xff"),
    (0, b"GIF8"),
    (8, b"WEBP"),
    (0, b"BM"),
    (0, b"II*\x00"),
    (0, b"MM\x00*"),
    (4, b"ftyp"),
)


class FetchError(Exception):
    """The address cannot or must not be fetched; `again` where another try may help."""

    def __init__(self, sentence: str, again: bool = False) -> None:
        super().__init__(sentence)
        self.again = again


def fetch_url(url: str, *, local: bool = False, most: int = MOST_BYTES, seconds: float = SECONDS) -> bytes:
    """The content at `url`, `most` bytes at most, within `seconds` for each hop. Raises FetchError.

    `local` permits http and addresses inside the own network: for a provider that runs there by explicit setting.
    """
    for _ in range(HOPS + 1):
        found = request_url_once(url, local, most, seconds)
        if isinstance(found, bytes):
            return found
        url = urljoin(url, found)
    raise FetchError("The address of the image leads on and on to others.")


def request_url_once(url: str, local: bool, most: int, seconds: float) -> bytes | str:
    """The content, or where it moved to."""
    parts = check_url(url, local)
    connection = open_connection(parts, address_of(parts, local), seconds)
    # Closes the connection from outside: bytes that drip in one by one reset every timeout but this.
    watch = threading.Timer(seconds, shut_down_connection, [connection])
    watch.daemon = True
    watch.start()
    try:
        path = parts.path or "/"
        connection.request("GET", f"{path}?{parts.query}" if parts.query else path, headers={"Accept": "image/*"})
        return read_response(connection.getresponse(), most)
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise FetchError(f"The image could not be fetched: {type(error).__name__}.", again=True) from error
    finally:
        watch.cancel()
        connection.close()


def check_url(url: str, local: bool) -> SplitResult:
    """The parts of an address that may be fetched: https without a user, on its usual port unless local."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise FetchError("The address of the image cannot be read.") from None
    schemes = ("https", "http") if local else ("https",)
    if parts.scheme not in schemes or not parts.hostname or parts.username is not None:
        raise FetchError("The address of the image is none that may be fetched.")
    if not local and port not in (None, 443):
        raise FetchError("The address of the image names an unusual port.")
    return parts


def address_of(parts: SplitResult, local: bool) -> tuple[str, int]:
    """Address and port to connect to, looked up once: what was checked is what is connected to."""
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        found = socket.getaddrinfo(parts.hostname, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise FetchError("The host of the image was not found.", again=True) from None
    addresses = [str(row[4][0]) for row in found]
    if not local and not all(is_public(address) for address in addresses):
        raise FetchError("The address of the image lies inside a network of its own.")
    return addresses[0], port


def is_public(address: str) -> bool:
    """False for every address that is not reached over the open internet, also where it is wrapped in another.

    The standard library knows what is global (IANA's registries of special addresses); younger entries are named here.
    """
    found = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(found, ipaddress.IPv6Address):
        if found.ipv4_mapped:
            return is_public(str(found.ipv4_mapped))
        # Everything outside is local, translated (64:ff9b::/96), compatible (::/96), site-local or not given out.
        if found not in GLOBAL_UNICAST or found.sixtofour or found.teredo:
            return False
    special = any(found in network for network in SPECIAL if network.version == found.version)
    return found.is_global and not found.is_multicast and not found.is_reserved and not special


def open_connection(parts: SplitResult, address: tuple[str, int], seconds: float) -> http.client.HTTPConnection:
    """A connection to the address that was checked; names and certificates stay those of the host."""
    host, port = str(parts.hostname), address[1]
    try:
        opened = socket.create_connection(address, timeout=seconds)
        if parts.scheme == "https":
            opened = ssl.create_default_context().wrap_socket(opened, server_hostname=host)
    except OSError as error:
        raise FetchError(f"The image could not be fetched: {type(error).__name__}.", again=True) from error
    connection = http.client.HTTPConnection(host, port, timeout=seconds)
    connection.sock = opened
    return connection


def shut_down_connection(connection: http.client.HTTPConnection) -> None:
    with suppress(OSError, AttributeError):
        connection.sock.shutdown(socket.SHUT_RDWR)


def check_image_bytes(content: bytes | bytearray, said: str = "") -> bytes:
    """The content, where it begins like an image, whatever a header says of it. Raises FetchError with what it said.

    Whether it can be decoded is found out by anyone who looks at it.
    """
    if any(content[place : place + len(mark)] == mark for place, mark in BEGINNINGS):
        return bytes(content)
    shown = "".join(letter for letter in said if letter.isprintable())[:60]
    raise FetchError(f"What came is no image{f' but {shown}' if shown else ''}.")


def read_response(response: http.client.HTTPResponse, most: int) -> bytes | str:
    """The whole content of an answer, or where it says that the content is."""
    if response.status in MOVED:
        return response.getheader("Location") or ""
    if response.status != 200:
        again = response.status >= 500 or response.status == 429
        raise FetchError(f"The address of the image answered {response.status}.", again)
    said = (response.getheader("Content-Type") or "").partition(";")[0].strip().lower()
    content = bytearray()
    while chunk := response.read(CHUNK):
        content += chunk
        if len(content) > most:
            raise FetchError("The image is larger than 50 MB.")
    if response.length:
        raise FetchError("The image came only in part.", again=True)
    return check_image_bytes(content, said) if content else b""
