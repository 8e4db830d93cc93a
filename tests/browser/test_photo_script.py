"""What the phone does with a photo where scripts run: small, turned upright, sent again, gone on with."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from playwright.sync_api import Browser, Page, Request, Route, expect

from tests.browser.dish_steps import press, to_photo
from tests.browser.server import Server

pytestmark = [pytest.mark.browser]

MARK = "shrinking"


def noisy(folder: Path, size: tuple[int, int], kind: str = "JPEG", orientation: int = 1) -> Path:
    """A large photo, its left half reddish, with an orientation flag."""
    noise = Image.effect_noise(size, 120).convert("RGB")
    noise.paste((200, 30, 30), (0, 0, size[0] // 2, size[1]))
    exif = Image.Exif()
    exif[0x0112] = orientation
    path = folder / f"{size[0]}.{kind.lower()}"
    noise.save(path, kind, quality=95, exif=exif.tobytes())
    return path


class Watched:
    """A page on which the requests that bring the photo are counted."""

    def __init__(self, browser: Browser, server: Server, name: str) -> None:
        self.context = browser.new_context()
        self.page: Page = self.context.new_page()
        self.server, self.name = server, name
        self.parts: list[int] = []
        self.plain = 0
        to_photo(self.page, server, name)
        self.page.on("request", self.note)

    def note(self, request: Request) -> None:
        size = len(request.post_data_buffer or b"")
        if request.url.endswith("/photo/part/"):
            self.parts.append(size)
        elif request.url.endswith("/photo/") and size > 5_000:
            self.plain += 1

    def send(self, photo: Path) -> None:
        self.page.get_by_label("The photo").set_input_files(photo)
        press(self.page, "Send the photo")
        expect(self.page.get_by_role("heading", name="Your photo arrived")).to_be_visible()

    def stored(self) -> dict[str, Any]:
        code = (
            "from django.core.files.storage import default_storage; import json\n"
            f"photo = Photo.objects.get(dish__local_name='{self.name}')\n"
            "print(json.dumps([photo.width, photo.height, default_storage.open(photo.file).read().hex()]))"
        )
        width, height, data = json.loads(self.server.ask(code))
        image = Image.open(io.BytesIO(bytes.fromhex(data)))
        return {"size": (width, height), "image": image}

    def mark(self) -> str | None:
        found: str | None = self.page.evaluate(f"localStorage.getItem('{MARK}')")
        return found


def test_photo_is_made_small_and_upright_on_the_phone(browser: Browser, server: Server, tmp_path: Path) -> None:
    phone = Watched(browser, server, "Small one")
    phone.send(noisy(tmp_path, (2400, 1800), orientation=6))
    assert len(phone.parts) == 1 and phone.parts[0] <= 152_000 and phone.plain == 0
    stored = phone.stored()
    width, height = stored["size"]
    assert width * 4 == height * 3
    red, _green, blue = stored["image"].getpixel((width // 2, height // 10))
    assert red > blue + 60 and phone.mark() is None
    phone.context.close()


@pytest.mark.parametrize("reason", ["over twelve megapixels", "did not come back", "storage is blocked"])
def test_photo_goes_whole_where_shrinking_could_fail(
    browser: Browser, server: Server, tmp_path: Path, reason: str
) -> None:
    phone = Watched(browser, server, reason)
    if reason == "did not come back":
        phone.page.evaluate(f"localStorage.setItem('{MARK}', '1')")
    if reason == "storage is blocked":
        phone.page.evaluate(
            "() => { Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError') } }"
        )
    size = (4200, 3000) if reason == "over twelve megapixels" else (800, 600)
    photo = noisy(tmp_path, size)
    phone.send(photo)
    assert len(phone.parts) == 1 + -(-photo.stat().st_size // 65_536) and phone.plain == 0
    assert phone.stored()["size"] == ((1600, 1143) if size[0] > 1600 else size)
    phone.context.close()


def test_photo_that_cannot_be_decoded_goes_whole_and_clears_its_mark(
    browser: Browser, server: Server, tmp_path: Path
) -> None:
    phone = Watched(browser, server, "Undecoded")
    phone.page.evaluate("() => { window.createImageBitmap = () => Promise.reject(new Error('no memory')) }")
    phone.send(noisy(tmp_path, (800, 600)))
    assert len(phone.parts) > 2 and phone.mark() is None
    phone.context.close()


def test_lost_parts_are_sent_again_and_only_those(browser: Browser, server: Server, tmp_path: Path) -> None:
    phone = Watched(browser, server, "Bad line")
    phone.page.evaluate(f"localStorage.setItem('{MARK}', '1')")
    turns: list[int] = []

    def lose_some(route: Route) -> None:
        turns.append(1)
        if len(turns) in (2, 4):
            route.abort("connectionreset")
        else:
            route.continue_()

    phone.context.route("**/photo/part/", lose_some)
    photo = noisy(tmp_path, (800, 600))
    phone.send(photo)
    assert len(phone.parts) == 1 + -(-photo.stat().st_size // 65_536) + 2
    phone.context.close()


def test_photo_goes_on_where_it_stopped_after_a_reload(browser: Browser, server: Server, tmp_path: Path) -> None:
    phone = Watched(browser, server, "Goes on")
    photo = noisy(tmp_path, (800, 600))
    needed = -(-photo.stat().st_size // 65_536)
    phone.page.evaluate(f"localStorage.setItem('{MARK}', '1')")
    phone.context.route("**/photo/part/", lambda route: route.abort() if len(phone.parts) > 3 else route.continue_())
    phone.page.get_by_label("The photo").set_input_files(photo)
    with phone.page.expect_event("requestfailed"):
        phone.page.get_by_role("button", name="Send the photo").click()
    phone.context.unroute("**/photo/part/")
    phone.page.reload()
    phone.parts.clear()
    phone.send(photo)
    assert len(phone.parts) == 1 + needed - 2
    phone.context.close()


def test_refusal_is_said_and_the_plain_form_still_there(browser: Browser, server: Server, tmp_path: Path) -> None:
    phone = Watched(browser, server, "Refused")
    phone.context.route(
        "**/photo/part/",
        lambda route: route.fulfill(
            status=400, body='{"error": "Try again tomorrow."}', content_type="application/json"
        ),
    )
    phone.page.get_by_label("The photo").set_input_files(noisy(tmp_path, (800, 600)))
    phone.page.get_by_role("button", name="Send the photo").click()
    expect(phone.page.get_by_role("status")).to_have_text("Try again tomorrow.")
    expect(phone.page.get_by_role("button", name="Send the photo")).to_be_enabled()
    press(phone.page, "Go on without a photo")
    expect(phone.page.get_by_role("heading", name="Thank you")).to_be_visible()
    phone.context.close()


def test_camera_and_gallery_are_both_offered(browser: Browser, server: Server) -> None:
    phone = Watched(browser, server, "Both")
    inputs = phone.page.locator("input[type=file]")
    expect(inputs).to_have_count(1)
    assert inputs.get_attribute("capture") is None and inputs.get_attribute("accept") == "image/*"
    phone.context.close()
