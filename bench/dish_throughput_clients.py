"""The phones of `bench.submission --throughput`, in processes of their own: many that send dishes, two that open `/`.

    python -m bench.dish_throughput_clients PORT SECONDS CLIENTS

Without any clients it opens `/`, so that nobody's dish delays its clock: as a stranger, and with a cookie. Prints one
line of JSON: what was answered, how long each page took, and every receipt that a phone was shown.
"""

import asyncio
import gzip
import json
import re
import sys
import time
from dataclasses import asdict, dataclass, field
from urllib.parse import urlencode

HOST = "127.0.0.1"
TOKEN = re.compile(rb'name="proof" value="([^"]+)"')
RECEIPT = re.compile(rb'<span class="code">([\d ]+)</span>')
LENGTH = re.compile(rb"content-length: (\d+)", re.I)
LATER = re.compile(rb"retry-after: (\d+)", re.I)
ANSWERS = {"local_name": "Jollof", "languages": "Wolof", "places_more": "", "website": ""}
PLACES = ("Senegal", "Ghana", "Perú", "भारत", "Kenya", "Indonesia", "Maroc", "Atlantis")
PHONE = "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0 Mobile Safari/537.36"
PAUSE = 0.05


@dataclass
class Heard:
    """`receipts` of dishes that were said to be saved, in order; `pages`: seconds that `/` took each time; `known`: the
    same for a browser with a cookie, whose page is made for it; `dishes`: seconds from sending a dish to its receipt;
    `later`: how often the site asked to come back."""

    receipts: list[str] = field(default_factory=list)
    pages: list[float] = field(default_factory=list)
    known: list[float] = field(default_factory=list)
    dishes: list[float] = field(default_factory=list)
    later: int = 0
    seconds: float = 0.0


class Phone:
    """One connection that is stored open, as browsers do, and opened anew where the server closed it."""

    def __init__(self, port: int, cookie: str = "") -> None:
        self.port = port
        self.cookie = f"Cookie: {cookie}\r\n" if cookie else ""
        self.reader: asyncio.StreamReader | None = None
        self.writer: asyncio.StreamWriter | None = None

    async def ask(self, path: str, form: dict[str, str] | None = None) -> tuple[int, int, bytes]:
        """Status, seconds to wait where the answer names them, and the page."""
        body = urlencode(form).encode() if form is not None else b""
        kind = "Content-Type: application/x-www-form-urlencoded\r\n" if form is not None else ""
        head = (
            f"{'GET' if form is None else 'POST'} {path} HTTP/1.1\r\nHost: {HOST}:{self.port}\r\n"
            f"User-Agent: {PHONE}\r\nAccept-Encoding: gzip\r\n{self.cookie}{kind}Content-Length: {len(body)}\r\n\r\n"
        )
        if self.writer is None:
            self.reader, self.writer = await asyncio.open_connection(HOST, self.port)
        assert self.reader is not None
        self.writer.write(head.encode() + body)
        answer = await self.reader.readuntil(b"\r\n\r\n")
        length = LENGTH.search(answer)
        page = await self.reader.readexactly(int(length[1])) if length else b""
        lower = answer.lower()
        if b"connection: close" in lower:
            self.writer.close()
            self.writer = None
        later = LATER.search(answer)
        page = gzip.decompress(page) if b"content-encoding: gzip" in lower else page
        return int(answer.split(b" ", 2)[1]), int(later[1]) if later else 0, page


async def send(phone: Phone, heard: Heard, path: str, form: dict[str, str]) -> bytes:
    """Sends a form until it is taken: again after the time that a 503 names."""
    while True:
        status, later, page = await phone.ask(path, form)
        if status == 200:
            return page
        if status != 503 or not later:
            raise ConnectionError(f"{path} answered {status}")
        heard.later += 1
        await asyncio.sleep(later)


async def tell(port: int, number: int, until: float, heard: Heard) -> None:
    """Dishes until the time is over, each by somebody who agrees first."""
    phone = Phone(port)
    _status, _later, page = await phone.ask("/en/describe/")
    agreed = {"proof": token(page), "adult": "on", "agree": "on"}
    told = 0
    while time.monotonic() < until:
        page = await send(phone, heard, "/en/describe/", agreed)
        words = {**ANSWERS, "places": PLACES[told % len(PLACES)], "ingredients": f"rice, salt {number}.{told}"}
        started = time.monotonic()
        page = await send(phone, heard, "/en/dish/", {**words, "proof": token(page)})
        receipt = RECEIPT.search(page)
        if receipt is None:
            raise ConnectionError("A dish was taken without a receipt.")
        heard.dishes.append(time.monotonic() - started)
        heard.receipts.append(receipt[1].decode().replace(" ", ""))
        told += 1


def token(page: bytes) -> str:
    found = TOKEN.search(page)
    if found is None:
        raise ConnectionError("A page without a token.")
    return found[1].decode()


async def look(phone: Phone, until: float, pages: list[float], pause: float = PAUSE) -> None:
    """Opens the start page again and again."""
    while time.monotonic() < until:
        started = time.monotonic()
        status, _later, _page = await phone.ask("/en/")
        if status != 200:
            raise ConnectionError(f"/ answered {status}")
        pages.append(time.monotonic() - started)
        await asyncio.sleep(pause)


async def measure(port: int, seconds: float, clients: int) -> Heard:
    """Everybody at once for so long; dishes on their way then are still waited for."""
    heard, started = Heard(), time.monotonic()
    until = started + seconds
    phones = [tell(port, number, until, heard) for number in range(clients)]
    lookers = [look(Phone(port), until, heard.pages), look(Phone(port, "known=1"), until, heard.known, 4 * PAUSE)]
    await asyncio.gather(*(phones or lookers))
    heard.seconds = time.monotonic() - started
    return heard


if __name__ == "__main__":
    print(json.dumps(asdict(asyncio.run(measure(int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3]))))))
