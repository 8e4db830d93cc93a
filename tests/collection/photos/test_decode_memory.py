"""Decoding images takes memory from one budget of the whole host; who finds none is told to try again."""

import io
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from pytest_django import Settings

from collection.access.form_tokens import Proof
from collection.models import Dish, Photo
from collection.photos import chunked_upload, process
from evaluation.images import files
from tests.collection.make import make_contributor, make_dish, make_photo_bytes, open_collection, page, stranger, upload
from tests.collection.photos.test_photos import png_of
from tests.wwd.processes import ROOT, environment
from wwd.base.decode_memory import PART, DecodeMemoryFullError, get_decode_budget, room_for

HOLD = """
import sys
import django
django.setup()
from wwd.base.decode_memory import get_decode_budget, room_for
with room_for(get_decode_budget()):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def own_room(settings: Settings, tmp_path: Path) -> Iterator[None]:
    settings.VAR_DIR = tmp_path / "var"
    yield


def test_no_more_is_held_at_once_than_the_budget(settings: Settings) -> None:
    settings.DECODE_MEGABYTES = 80
    assert get_decode_budget() == 5 * PART
    with room_for(2 * PART), room_for(3 * PART - 5), pytest.raises(DecodeMemoryFullError), room_for(1, seconds=0):
        pass
    with room_for(100 * PART, seconds=0):
        pass


def test_threads_share_it(settings: Settings) -> None:
    settings.DECODE_MEGABYTES = 64
    now, most, lock = 0, 0, threading.Lock()

    def decode() -> None:
        nonlocal now, most
        with room_for(2 * PART, seconds=60):
            with lock:
                now += 1
                most = max(most, now)
            threading.Event().wait(0.02)
            with lock:
                now -= 1

    threads = [threading.Thread(target=decode) for _ in range(12)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert most == 2


def test_processes_share_it_and_a_killed_one_gives_it_back(settings: Settings) -> None:
    environ = environment(settings.VAR_DIR)
    held = subprocess.Popen(
        [sys.executable, "-c", HOLD], cwd=ROOT, env=environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        assert held.stdout is not None
        assert held.stdout.readline() == b"held\n"
        with pytest.raises(DecodeMemoryFullError), room_for(1, seconds=0):
            pass
    finally:
        held.kill()
        held.wait()
    with room_for(get_decode_budget(), seconds=10):
        pass


@pytest.mark.django_db
def test_a_photo_for_which_there_is_no_memory_is_asked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "room_for", lambda size: room_for(size, seconds=0))
    open_collection()
    person = make_contributor()
    dish = make_dish(contributor=person)
    data = make_photo_bytes()
    part = chunked_upload.read_part(process.hashlib.sha256(data).hexdigest(), "0", data)
    chunked_upload.store_photo_part(dish, part)
    token = Proof.new("photo", person.pk, dish.pk).token
    with room_for(get_decode_budget()):
        for sent in ({"photo": upload(data)}, {"whole": part.sha256}):
            text = page(stranger(), "/photo/", {"proof": token, **sent})
            assert "Many photos are arriving" in text
            assert 'type="file"' in text
    assert (Dish.objects.count(), Photo.objects.count()) == (1, 0)
    assert chunked_upload.arrived_bytes(dish, part.sha256) == len(data)
    assert "Your photo arrived" in page(stranger(), "/photo/", {"proof": token, "whole": part.sha256})


def test_what_a_decoder_would_need_is_known_before_a_pixel_is_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(image: Image.Image) -> None:
        raise AssertionError("a pixel was decoded")

    monkeypatch.setattr(process, "convert_to_upright_rgb", never)
    for data in (png_of(8_001, 8_001), make_photo_bytes((5100, 5100), "WEBP")):
        with pytest.raises(process.PhotoError, match="more pixels"):
            process.prepare_photo(data)


def test_a_large_image_is_made_small_in_bands_and_looks_the_same() -> None:
    for mode in ("RGB", "RGBA", "L", "P", "I;16", "CMYK"):
        whole = Image.linear_gradient("L").resize((4001, 3333)).convert("I" if mode == "I;16" else mode)
        if mode == "I;16":
            whole = whole.point(lambda value: value * 256).convert("I;16")
        rough = process.shrink_photo(whole.copy())
        assert rough.size == (2001, 1667)
        light = process.in_srgb(rough)
        expected = process.in_srgb(whole.copy())
        for x, y in ((0.1, 0.1), (0.5, 0.5), (0.9, 0.9)):
            found = light.getpixel((int(x * light.width), int(y * light.height)))
            wanted = expected.getpixel((int(x * whole.width), int(y * whole.height)))
            assert np.abs(np.asarray(found, dtype=int) - np.asarray(wanted, dtype=int)).max() <= 4, mode


def test_a_large_photo_on_its_side_is_turned_and_keeps_its_colours() -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    prepared = process.prepare_photo(make_photo_bytes((6600, 3300), "PNG", exif=exif))
    assert (prepared.width, prepared.height) == (800, 1600)


def test_images_of_staff_take_from_the_same_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "room_for", lambda size: room_for(size, seconds=0))
    with room_for(get_decode_budget()), pytest.raises(DecodeMemoryFullError):
        files.reduce_image(make_photo_bytes(kind="PNG"), 320)


def test_no_decoder_of_this_process_takes_more_than_128_million_pixels() -> None:
    with pytest.raises(Image.DecompressionBombError):
        Image.open(io.BytesIO(png_of(12_000, 11_000)))
