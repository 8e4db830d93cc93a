"""What `unchanged.py` does inside a checkout, with its Django set up: `manage.py shell` runs one function of this file.

It uses management commands, addresses, and models by their labels only, so that it runs with older and newer code.
"""

import io
import re
import sys
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from django.apps import apps
from django.contrib.auth import get_user_model
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils.formats import date_format
from django.utils.translation import override
from PIL import Image

FAR = date(2099, 12, 31)
NOBODY = 10**9
# Days from today that pages may name: today itself, and until when something can be undone.
DEADLINES = (0, 7, 14, 30)
HEADERS = ("Content-Type", "Content-Language", "Cache-Control", "Content-Security-Policy", "Referrer-Policy", "Vary")
REVIEWED = ("en", "ar")
LINK = re.compile(r'(?:href|src)="(/[^"#]*)"')
TOKEN = re.compile(r'name="proof" value="([^"]+)"')
LEFT = re.compile(r'name="left" value="([^"]+)"')
CODE = re.compile(r'class="code[^"]*">([\d ]{16,})<')
# In this order: the first ones are the longest.
REPLACED = (
    (re.compile(r'(name="(?:proof|csrfmiddlewaretoken|left|next_person)" value=")[^"]+'), r"\1«token»"),
    (re.compile(r'(/review/picture/)[^"]+'), r"\1«picture»"),
    (re.compile(r'(/review/picture/)[^"]+'), r"\1«picture»"),
    (re.compile(r"[\w-]{16,}:[\w-]{6}:[\w-]{20,}"), "«signed»"),
    (re.compile(r"(/static/[\w/-]+)\.[0-9a-f]{12}(\.\w+)"), r"\1\2"),
    (re.compile(r'(data-edition=")[^"]*'), r"\1«edition»"),
    (re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"), "«uuid»"),
    (re.compile(r"\b[0-9a-f]{12,64}\b"), "«hash»"),
    (re.compile(r"(/(?:review|ambassador)/(?:back/|picture/)?)(?!pictures/)[\w-]{12,}"), r"\1«code»"),
    (re.compile(r"(?<![\w-])(?=[\w-]*\d)(?=[\w-]*[A-Z])[\w-]{43}(?![\w-])"), "«token»"),
    (re.compile(r"(/photos/)[\w-]+(\.jpg)"), r"\1«name»\2"),
    (re.compile(r'(class="code[^"]*">)[\d  ]+<'), r"\1«number»<"),
    (re.compile(r"\b17\d{11}\b|\b18\d{11}\b"), "«milliseconds»"),
    (re.compile(r"\b\d\d:\d\d(?= \(UTC\))"), "«clock»"),
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d[\d:.+Z]*"), "«time»"),
)
TYPED = {
    "local_name": "ثريد (اللحم) 2",
    "languages": "العربية",
    "places": "Naija",
    "places_more": "",
    "ingredients": "rice, tomatoes, onions",
}
CONSENT = {"adult": "on", "agree": "on"}
TICKS = {"taken_by_me": "on", "may_be_shared": "on", "no_people": "on", "is_photograph": "on"}
FOOD = {"q-associates": "yes", "q-familiarity": "very", "q-quality": "4", "q-food": "yes"}
GOOD = {**FOOD, "q-correct_dish": "yes", "q-match": "exact", "q-checks": ["indoors"]}


def model(label: str) -> Any:
    """The manager of a model."""
    return apps.get_model(label)._default_manager


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def printed(*words: str) -> str:
    """What a management command writes to its output; its refusal where it refuses."""
    out = io.StringIO()
    try:
        call_command(*words, stdout=out, stderr=io.StringIO())
    except CommandError as error:
        return f"REFUSED {error}\n"
    return out.getvalue()


def tables(folder: str) -> None:
    """Every table with its default filters as CSV and JSON, and the list of tables."""
    listed = printed("tables")
    write(Path(folder) / "tables.txt", listed)
    for line in listed.splitlines():
        name = line.partition("\t")[0]
        for kind in ("json", "csv"):
            write(Path(folder) / f"{name}.{kind}", printed("tables", name, "--format", kind))


@cache
def days(language: str) -> list[str]:
    """How pages of a language write the days around today and around deadlines, the longest first."""
    today = datetime.now(tz=UTC).date()
    near = [today + timedelta(days=away + more) for away in DEADLINES for more in (0, -1, 1)]
    forms = ("DATE_FORMAT", "SHORT_DATE_FORMAT", "j F Y", "Y-m-d", "F Y")
    with override(language):
        return sorted({date_format(day, form) for day in near for form in forms}, key=len, reverse=True)


def normal(text: str, language: str) -> str:
    """A page without what differs each time."""
    for pattern, word in REPLACED:
        text = pattern.sub(word, text)
    for day in days(language):
        text = text.replace(day, "«day»")
    return text


class Pages:
    """Asks for pages without cookies and writes each to a numbered file, normalised, under its status and headers."""

    def __init__(self, folder: Path, language: str) -> None:
        self.folder, self.language = folder, language
        self.number = 0

    def ask(self, name: str, path: str, data: dict[str, Any] | None = None) -> str:
        """The body of the answer. `data`: what is sent by POST."""
        client = Client(raise_request_exception=False, headers={"host": "localhost", "accept-language": self.language})
        response = client.get(path) if data is None else client.post(path, data)
        self.write(name, path, "GET" if data is None else "POST", response)
        if response.streaming or not response["Content-Type"].startswith(("text/", "application/json")):
            return ""
        return str(response.content.decode())

    def write(self, name: str, path: str, method: str, response: Any) -> None:
        self.number += 1
        head = [f"{method} {path}", str(response.status_code)]
        head += [f"{header}: {response[header]}" for header in (*HEADERS, "Location") if header in response]
        kind = response.get("Content-Type", "")
        if response.streaming or not kind.startswith(("text/", "application/json")):
            body = "(no text)\n"
        else:
            body = response.content.decode()
        if response.status_code >= 500:
            print(f"{path} answers {response.status_code}")
        file = re.sub(r"[^\w=,-]+", "-", name).strip("-")[:90]
        text = normal("\n".join(head) + "\n\n" + body, self.language)
        write(self.folder / f"{self.number:03d}-{file or 'start'}.html", text)


def crawl(folder: str, language: str, most: str) -> None:
    """The pages of a language that links lead to from the start page, at most so many, the nearest first."""
    pages = Pages(Path(folder), language)
    begin = f"/{language}/"
    waiting, known = [begin], {begin}
    while waiting and pages.number < int(most):
        path = waiting.pop(0)
        html = pages.ask(unquote(path.removeprefix(begin)), path)
        for link in LINK.findall(html):
            found = link.replace("&amp;", "&")
            if found.startswith(begin) and found not in known and "." not in found:
                known.add(found)
                waiting.append(found)


class Way(Pages):
    """Goes through forms as a browser without cookies and scripts does."""

    def address(self, path: str) -> str:
        return f"/{self.language}{path}"

    def get(self, name: str, path: str, /) -> str:
        return self.ask(name, self.address(path))

    def post(self, name: str, path: str, /, **data: Any) -> str:
        return self.ask(name, self.address(path), data)

    def send(self, name: str, page: str, path: str, /, **data: Any) -> str:
        """Sends the form of `page` with this address."""
        proof = token_of(page, f'action="{self.address(path)}"')
        return self.post(name, path, **{"proof": proof, **data})

    def press(self, name: str, page: str, path: str, near: str, /, **data: Any) -> str:
        """Sends the first form of `page` that holds `near`."""
        return self.post(name, path, **{"proof": token_of(page, near), **data})


def token_of(page: str, near: str) -> str:
    """The token of the first form that holds `near`. Without one, a text that no page takes: the answer shows it."""
    forms = [form for form in page.split("<form")[1:] if near in form]
    found = [token for form in forms for token in TOKEN.findall(form)[:1]]
    if not found:
        print(f"No form with {near}")
    return found[0] if found else "x"


def walk(folder: str, language: str) -> None:
    """The ways of a contributor, a helper, an ambassador and a reviewer, before and after the collection is open."""
    for state in ("demonstration", "open"):
        if state == "open":
            open_collection()
        way = Way(Path(folder) / state, language)
        simple(way)
        contributor(way)
        beside(way)
        own(way)
        wrong(way)
        if state == "open":
            ambassador(way)
        elif language in REVIEWED:
            reviewer(way)


def open_collection() -> None:
    """What staff fill in before dishes are collected."""
    model("collection.ConsentText").filter(language="en").update(confirmed_by="Ama Mensah", confirmed_on="2025-01-15")
    filled = {"controller": "Kitchen Table Trust", "contact": "+233 20 000 0000", "ethics_reference": "EC 7/26"}
    model("collection.Opening").create(**filled, ethics_until=FAR, aliases=True, thanks="a book")


def simple(way: Way) -> None:
    """Addresses that need nothing."""
    for path in (
        *("/", "/describe/", "/beside/", "/ambassador/", "/phone/", "/mine/", "/return/", "/return/lost/", "/slip/"),
        *("/withdrawn/", "/withdrawn.json", "/leaderboard/", "/leaderboard/?when=today", "/leaderboard/?when=month"),
        *("/leaderboard/?by=name", "/translation/", "/dishes/", "/dishes/?page=2", "/dishes/?place=India"),
        *("/dishes/1000000001/", "/dishes/1000000001/report/", "/ingredients/?q=s", "/describe/?language=fr"),
        *(
            "/dish/",
            "/more/",
            "/photo/",
            "/caption/",
            "/about/",
            "/another/",
            "/finish/",
            "/phone/send/",
            "/photo/part/",
        ),
        *("/return/dishes/", "/nowhere/", "/dishes/7/", "/ambassador/nothing/", "/DESCRIBE", "/worker.js"),
        *("/recordings/none.mp3", "/photos/none.jpg", "/pictures/00000000-0000-4000-8000-000000000000/report/"),
    ):
        way.get(path, path)
    for path in ("/", "/healthz", "/readyz", "/worker.js", "/review/", "/admin/", "/admin/login/", "/robots.txt"):
        way.ask(f"without language {path}", path)


def contributor(way: Way) -> None:
    """One dish with what can go wrong, to the end of the turn."""
    consent = way.get("consent", "/describe/")
    way.send("consent, errors", consent, "/describe/")
    again = {"question_0": "False", "question_1": "True", "question_2": "False"}
    way.send("consent, once more", consent, "/describe/", **CONSENT, **again)
    form = way.send("dish", consent, "/describe/", **CONSENT)
    way.send("dish, errors", form, "/dish/", local_name="---", languages="", places="", ingredients="a" * 4001)
    way.send("dish, ingredients", form, "/dish/", **{**TYPED, "ingredients": "s"}, suggest="new")
    way.post("dish, not known", "/dish/", **TYPED, proof="x")
    more = way.send("more", form, "/dish/", **TYPED)
    way.send("another or a correction", form, "/dish/", **{**TYPED, "local_name": "Thieb bu jën (3)"})
    way.send("more, errors", more, "/more/", english_name="a" * 201, kinds=["nothing"], time_of_day=["x"])
    way.post("kept", "/more/", drink="شاي, Brot", proof="x")
    photo = way.send("photo", more, "/more/", skip="1")
    way.send("photo, none", photo, "/photo/")
    way.send("photo, unreadable", photo, "/photo/", photo=SimpleUploadedFile("photo.jpg", b"no picture"))
    caption = way.send("caption", photo, "/photo/", photo=SimpleUploadedFile("photo.jpg", make_photo_bytes()))
    way.send("caption, errors", caption, "/caption/", caption="")
    thanks = way.send("thanks", caption, "/caption/", caption="شاي, Brot", **TICKS)
    way.send("thanks, errors", thanks, "/about/", year_of_birth="xx", email="a@", alias="0123456789")
    way.send("thanks, told", thanks, "/about/", name="Awa", year_of_birth="١٩٩٠", agree="on")
    way.send("another dish", thanks, "/another/", place="1")
    mine = way.send("mine", thanks, "/mine/")
    number = re.findall(r'name="dish" value="(\d+)"', mine)
    way.send("mine, correct", mine, "/mine/", dish=number[0] if number else "0")
    way.send("finished", thanks, "/finish/")
    way.send("dish, after the turn", form, "/dish/", **{**TYPED, "local_name": "Fufu"})


def make_photo_bytes() -> bytes:
    out = io.BytesIO()
    Image.linear_gradient("L").resize((400, 300)).save(out, "JPEG")
    return out.getvalue()


def beside(way: Way) -> None:
    """Somebody writes for a person beside them."""
    aloud = way.get("aloud", "/beside/")
    way.send("aloud, errors", aloud, "/beside/")
    form = way.send("dish of somebody beside", aloud, "/beside/", heard="on", public="on")
    more = way.send("more, beside", form, "/dish/", **TYPED)
    photo = way.send("photo, beside", more, "/more/", skip="1")
    thanks = way.send("thanks, beside", photo, "/photo/", skip="1")
    way.send("slip", thanks, "/slip/")


def own(way: Way) -> None:
    """Coming back with the code of a new dish, and every right."""
    way.post("return, no code", "/return/", code="")
    way.post("return, wrong code", "/return/", code="1234")
    way.post("lost code, errors", "/return/lost/")
    way.post("lost code, done", "/return/lost/", receipt="123456782", name="Awa")
    consent = way.get("consent again", "/describe/")
    form = way.send("dish again", consent, "/describe/", **CONSENT)
    more = way.send("more again", form, "/dish/", **TYPED)
    photo = way.send("photo again", more, "/more/", skip="1")
    thanks = way.send("thanks again", photo, "/photo/", skip="1")
    codes = CODE.findall(thanks) + CODE.findall(more)
    page = way.post("own", "/return/", code=codes[0] if codes else "none")
    dishes = re.findall(r'name="(?:correct|withdraw)" value="(\d+)"', page)
    dish = dishes[0] if dishes else "0"
    for name, button in (
        ("correct", {"correct": dish}),
        ("withdraw?", {"withdraw": dish}),
        ("withdrawn", {"withdraw": dish, "sure": "1"}),
        ("undone", {"undo": dish}),
        ("details?", {"details": "1"}),
        ("details removed", {"details": "1", "sure": "1"}),
        ("new code", {"new_code": "1"}),
        ("everything?", {"everything": "1"}),
        ("everything withdrawn", {"everything": "1", "sure": "1"}),
        ("everything undone", {"undo_everything": "1"}),
    ):
        way.send(f"own, {name}", page, "/return/dishes/", **button)


def wrong(way: Way) -> None:
    """A report on a dish, and forms that cannot be read."""
    path = "/dishes/1000000001/report/"
    report = way.get("report", path)
    way.press("report, errors", report, path, "reason", words="شاي, Brot")
    way.press("report, arrived", report, path, "reason", reason="wrong")
    way.post("unreadable", "/dish/", **{f"field{number}": "x" for number in range(1001)})


def ambassador(way: Way) -> None:
    """An invitation, taken up once."""
    made = model("collection.Ambassador").create(label="Ama", country_id="GHA", until=FAR)
    path = f"/ambassador/{made.invitation}/"
    page = way.get("invitation", path)
    proof = token_of(page, 'name="proof"')
    way.post("invitation, errors", path, proof=proof)
    way.post("ambassador", path, proof=proof, **CONSENT)
    way.get("invitation, used", path)
    way.post("ambassador, wrong code", "/ambassador/", code="1234")


def reviewer(way: Way) -> None:
    """A review of some images of the demonstration."""
    way.get("review, start", "/review/")
    way.post("review, wrong code", "/review/", code="1234")
    way.get("review, no such invitation", "/review/nothing/")
    path = f"/review/{model('review.Invitation').order_by('created_at').first().code}/"
    welcome = way.get("review, welcome", path)
    way.press("review, welcome, errors", welcome, path, "adult")
    joined = {"country": "India", "role": "volunteer", **CONSENT}
    covered = way.press("review, covered", welcome, path, "adult", **joined)
    path += "pictures/"

    def press(name: str, page: str, do: str, near: str = 'class="judge"', /, **data: Any) -> str:
        return way.press(f"review, {name}", page, path, near, do=do, **data)

    press("shown", covered, "show")
    press("larger", covered, "larger")
    press("errors", covered, "answer", page="1")
    press("second questions", covered, "answer", page="1", shown="1", **FOOD)
    first = press("answered", covered, "answer", page="2", shown="1", **GOOD)
    press("answered otherwise", covered, "answer", page="2", shown="1", **{**GOOD, "q-match": "none"})
    press("back to the last one", first, "undo")
    skipped = press("skipped", first, "skip")
    left = LEFT.findall(skipped)
    press("why", skipped, "", "why", left=left[0] if left else "", why="upsetting")
    rest = press("rest", skipped, "report")
    pause = press("pause", rest, "stop", 'value="stop"')
    mine = press("mine", pause, "me", 'value="me"')
    press("mine, note", mine, "note", "note", text="شاي, Brot")
    press("refused", mine, "withdraw", "note")
    page = press("after the rest", rest, "on", 'value="on"')
    for number in range(5):
        if "judge" in page:
            page = press(f"skipped {number}", page, "skip")
    codes = CODE.findall(covered)
    mine = way.post("review, mine by code", "/review/", code=codes[0] if codes else "none")
    press("new code", mine, "new-code", "new-code")
    press("gone", mine, "withdraw", "new-code", answers="keep")
    press("back again", mine, "undo-withdrawal", "new-code")


def queue() -> None:
    """Queues a message for every task of the project: as pages and commands do, or for a row that does not exist."""
    from celery import current_app

    user = get_user_model().objects.create_superuser("unchanged", password=None)
    staff = Client(headers={"host": "localhost"})
    staff.force_login(user)
    staff.get("/admin/evaluation/tables/review.quality/")
    staff.post("/admin/evaluation/bundle/", {"name": "queued", "table": ["review.quality"]})
    for task in ("review.tasks.prepare_pictures", "evaluation.tasks.purge_run"):
        current_app.send_task(task, (NOBODY,), queue="cpu")


def done() -> None:
    """Says what became of the queued work. Raises where a row tells otherwise than the log of the worker."""
    run = model("evaluation.Run").exclude(slug__startswith="demonstration").get()
    export = model("evaluation.ExportJob").get()
    table = model("evaluation.StoredTable").get(name="review.quality", filters={})
    print(f"Run: {run.state}. Export: {export.state}, equal: {export.equal}. Table: {len(table.content['rows'])} rows.")
    if (run.state, export.state, export.equal) != ("done", "done", True):
        raise RuntimeError("The rows of the queued work are not done.")


ACTS: dict[str, Callable[..., None]] = {act.__name__: act for act in (tables, crawl, walk, queue, done)}

if __name__ == "__main__":
    ACTS[sys.argv[1]](*sys.argv[2:])
