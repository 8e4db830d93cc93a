"""People who review over real HTTP, on lines that break: forms are read from the pages, as a browser would."""

import asyncio
import random
import uuid
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from html.parser import HTMLParser
from urllib.parse import urlencode, urlsplit

ATTEMPTS = 6
ONWARD = ("on", "next")


@dataclass
class Form:
    """A form of a page: what is sent whatever one chooses, and what can be chosen. `buttons` are values of `do`."""

    action: str
    fields: list[tuple[str, str]] = field(default_factory=list)
    radios: dict[str, list[str]] = field(default_factory=dict)
    boxes: list[tuple[str, str]] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    buttons: list[str] = field(default_factory=list)


class Page(HTMLParser):
    """The forms of a page; what is in a template element is not part of the page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.forms: list[Form] = []
        self._hidden = 0
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        if tag == "template":
            self._hidden += 1
        elif tag == "form" and not self._hidden:
            self.forms.append(Form(found.get("action", "")))
        elif tag in ("input", "textarea", "button") and self.forms and not self._hidden:
            self._control(tag, found)

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag == "template"

    def _control(self, tag: str, found: dict[str, str]) -> None:
        form, name, value = self.forms[-1], found.get("name", ""), found.get("value", "")
        kind = found.get("type", "text") if tag == "input" else tag
        if kind == "hidden":
            form.fields.append((name, value))
        elif kind == "radio":
            form.radios.setdefault(name, []).append(value)
        elif kind == "checkbox":
            form.boxes.append((name, value or "on"))
        elif kind == "textarea":
            form.texts.append(name)
        elif kind == "button" and name == "do":
            form.buttons.append(value)

    def form_with(self, *buttons: str) -> tuple[Form, str] | None:
        """The first form that has one of the buttons, in the order of `buttons`."""
        for button in buttons:
            for form in self.forms:
                if button in form.buttons:
                    return form, button
        return None


@dataclass
class Line:
    """A phone's line to the server: some answers never arrive. `statuses` counts those that did."""

    host: str
    port: int
    chance: random.Random
    cut: float
    at_once: asyncio.Semaphore
    statuses: Counter[int] = field(default_factory=Counter)
    cuts: int = 0

    async def get(self, path: str) -> str:
        return await self._until_answered("GET", path, b"")

    async def post(self, path: str, fields: list[tuple[str, str]]) -> str:
        return await self._until_answered("POST", path, urlencode(fields).encode())

    async def _until_answered(self, method: str, path: str, body: bytes) -> str:
        """Sends the same request again until an answer arrives, as people do."""
        for _attempt in range(ATTEMPTS):
            broken = self.chance.random() < self.cut
            async with self.at_once:
                answer = await self._send(method, path, body, broken)
            if answer:
                head, _blank, content = answer.partition(b"\r\n\r\n")
                self.statuses[int(head.split(b" ", 2)[1])] += 1
                return content.decode()
            self.cuts += 1
        return await self._until_answered(method, path, body)

    async def _send(self, method: str, path: str, body: bytes, broken: bool) -> bytes:
        """The whole answer; nothing where the line breaks after the request was sent."""
        reader, writer = await asyncio.open_connection(self.host, self.port)
        head = [f"{method} {path} HTTP/1.1", f"Host: {self.host}:{self.port}", "Connection: close"]
        if body:
            head += ["Content-Type: application/x-www-form-urlencoded", f"Content-Length: {len(body)}"]
        writer.write("\r\n".join([*head, "", ""]).encode() + body)
        await writer.drain()
        answer = b"" if broken else await reader.read()
        writer.close()
        return answer


@dataclass
class Person:
    """Somebody who judges images of one country. `said` are the marks in the own words of answers that arrived.

    `expire` lets the reservation of anyone who came with an invitation run out.
    """

    line: Line
    invitation: str
    country: str
    skips: float
    dawdles: float
    expire: Callable[[str], None]
    said: set[str] = field(default_factory=set)
    skipped: int = 0
    expired: int = 0
    page: str = ""
    way_back: Form | None = None
    odd: list[str] = field(default_factory=list)

    @property
    def chance(self) -> random.Random:
        return self.line.chance

    async def join(self) -> None:
        self.page = await self.line.get(f"/review/{self.invitation}/")
        # Anyone who joins meanwhile makes the project ask whether this one has begun already.
        for _asked in range(3):
            form = next((form for form in Page(self.page).forms if "role" in form.radios), None)
            if form is None:
                return
            await self._press(form, "", country=self.country, begun="no")

    async def review_everything(self) -> int:
        """Takes images until there are no more; returns how many pages that were."""
        taken = 0
        if self.way_back:
            await self._press(self.way_back, "next")
        while await self.one_image():
            taken += 1
        return taken

    async def one_image(self) -> bool:
        """Judges or skips the image on the page; false where there is none."""
        onward = Page(self.page)
        covered = onward.form_with("show")
        if covered is None:
            resting = onward.form_with(*ONWARD)
            if resting is None:
                return False
            await self._press(*resting)
            return True
        form = self.way_back = covered[0]
        if self.chance.random() < self.skips:
            self.skipped += 1
            await self._press(form, "skip")
            return True
        await self._press(form, "show")
        await self._answer()
        return True

    async def _answer(self) -> None:
        """Both pages of questions; some people take so long that their reservation is over."""
        mark = uuid.UUID(int=self.chance.getrandbits(128)).hex
        if self.chance.random() < self.dawdles:
            self.expired += 1
            self.expire(self.invitation)
        for _page in range(2):
            found = Page(self.page).form_with("answer")
            if found is None:
                self.odd.append(self.page)
                return
            await self._press(found[0], "answer", mark=mark)
        self.said.add(mark)

    async def _press(self, form: Form, button: str, mark: str = "", **chosen: str) -> None:
        """Sends a form with something chosen everywhere."""
        fields = [*form.fields, *((name, "on") for name, value in form.boxes if value == "on")]
        fields += [(name, chosen.get(name) or self.chance.choice(values)) for name, values in form.radios.items()]
        fields += [(name, mark) for name in form.texts[:1] if mark]
        if button:
            fields.append(("do", button))
        self.page = await self.line.post(urlsplit(form.action).path, fields)
