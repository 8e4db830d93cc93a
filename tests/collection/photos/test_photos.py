"""Photos: every kind ends upright, sRGB, small and bare; what cannot be read gets a sentence."""

import io
import struct
import zlib
from collections.abc import Iterator
from typing import Any

import exifread
import pytest
from django.core.files.storage import default_storage
from django.test import Client
from PIL import Image, ImageCms
from pytest_django import Settings

from collection.access.form_tokens import Proof
from collection.dishes.submit import submit_photo
from collection.models import Dish, Photo
from collection.photos import process
from collection.photos.process import PhotoError, prepare_photo
from tests.collection.make import (
    TICKS,
    make_contributor,
    make_dish,
    make_photo,
    make_photo_bytes,
    make_steward,
    page,
    stranger,
    upload,
)

pytestmark = pytest.mark.embedded

SECRET = b"GPS-4711"


def opened(data: bytes) -> Image.Image:
    return Image.open(io.BytesIO(data))


def reddish(image: Image.Image, x: int, y: int) -> bool:
    red, _green, blue = image.convert("RGB").getpixel((x, y))  # type: ignore[misc]
    return red > 150 and blue < 100


KINDS = {
    "jpeg": lambda: make_photo_bytes(),
    "progressive": lambda: make_photo_bytes(progressive=True),
    "cmyk": lambda: make_photo_bytes(mode="CMYK"),
    "grey jpeg": lambda: make_photo_bytes(mode="L"),
    "mpo": lambda: make_photo_bytes(kind="MPO", save_all=True, append_images=[Image.new("RGB", (400, 300))]),
    "png": lambda: make_photo_bytes(kind="PNG"),
    "png with alpha": lambda: make_photo_bytes(kind="PNG", mode="RGBA"),
    "png with palette": lambda: make_photo_bytes(kind="PNG", mode="P", transparency=0),
    "png with 16 bits": lambda: make_photo_bytes(kind="PNG", mode="I;16"),
    "png of one bit": lambda: make_photo_bytes(kind="PNG", mode="1"),
    "webp": lambda: make_photo_bytes(kind="WEBP"),
    "gif that moves": lambda: make_photo_bytes(kind="GIF", save_all=True, append_images=[Image.new("RGB", (400, 300))]),
    "heic": lambda: make_photo_bytes(kind="HEIF"),
    "avif": lambda: make_photo_bytes(kind="AVIF"),
    "large": lambda: make_photo_bytes((4000, 3000)),
}


# JPEG markers that carry an image: start, tables, frame, scans, end, and the head of JFIF without a preview.
IMAGE_ONLY = {0xD8, 0xDB, 0xC0, 0xC2, 0xC4, 0xDA, 0xD9, 0xE0}
TRACES = (
    b"Exif",
    b"http://ns.adobe.com",
    b"xpacket",
    b"ICC_PROFILE",
    b"Photoshop",
    b"MakerNote",
    b"MPF",
    b"GPS",
    SECRET,
)


def markers(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Marker and content of every segment of a JPEG, read without any library of images."""
    at = 2
    yield data[1], b""
    while at < len(data):
        assert data[at] == 0xFF
        marker = data[at + 1]
        if marker == 0xD9:
            yield marker, data[at + 2 :]
            return
        size = int.from_bytes(data[at + 2 : at + 4], "big")
        yield marker, data[at + 4 : at + 2 + size]
        at += 2 + size
        while marker == 0xDA and (data[at] != 0xFF or data[at + 1] == 0 or 0xD0 <= data[at + 1] <= 0xD7):
            at += 1


def traces(data: bytes) -> list[str]:
    """What a JPEG holds besides its pixels: unexpected segments, a preview, bytes after its end, tags, known words."""
    found = [f"segment {marker:02x}" for marker, _content in markers(data) if marker not in IMAGE_ONLY]
    found += ["preview" for marker, content in markers(data) if marker == 0xE0 and content[12:14] != b"\0\0"]
    found += ["bytes after the end" for marker, rest in markers(data) if marker == 0xD9 and rest]
    found += ["picture inside the picture"] * (data.count(b"\xff\xd8\xff") - 1)
    found += list(exifread.process_file(io.BytesIO(data), details=True))
    return found + [word.decode() for word in TRACES if word in data]


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_ends_as_a_small_rgb_jpeg_without_a_trace(kind: str) -> None:
    prepared = prepare_photo(KINDS[kind]())
    for data in (prepared.image, prepared.thumbnail):
        image = opened(data)
        assert (image.format, image.mode) == ("JPEG", "RGB")
        assert traces(data) == []
    assert max(prepared.width, prepared.height) <= 1600 and prepared.width * 3 == prepared.height * 4
    assert len(prepared.thumbnail) <= 12 * 1024


def rich(kind: str, orientation: int) -> bytes:
    """A photo as cameras make it: orientation, maker's note, place, preview, XMP, profile."""
    exif = Image.Exif()
    exif[0x0112], exif[0x010F] = orientation, SECRET.decode()
    exif.get_ifd(0x8769)[0x927C] = b"MakerNote " + SECRET
    exif.get_ifd(0x8825).update({1: "N", 2: (14.0, 41.0, 1.0)})
    packet = b"<x:xmpmeta xmlns:x='adobe:ns:meta/'>" + SECRET + b"</x:xmpmeta>"
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    options: dict[str, Any] = {"exif": exif.tobytes(), "icc_profile": profile, "xmp": packet}
    if kind == "MPO":
        options |= {"save_all": True, "append_images": [Image.new("RGB", (160, 120))]}
    buffer = io.BytesIO()
    coloured_halves().save(buffer, kind, **options)
    return buffer.getvalue()


def coloured_halves() -> Image.Image:
    """Left half red, right half blue, 400 × 200."""
    image = Image.new("RGB", (400, 200), "red")
    image.paste("blue", (200, 0, 400, 200))
    return image


# Where the red half lies once the flag is applied, as the side of the upright image.
UPRIGHT = {1: "left", 2: "right", 3: "right", 4: "left", 5: "top", 6: "top", 7: "bottom", 8: "bottom"}
SIDES = {"left": (0.1, 0.5), "right": (0.9, 0.5), "top": (0.5, 0.1), "bottom": (0.5, 0.9)}
OPPOSITE = {"left": "right", "right": "left", "top": "bottom", "bottom": "top"}


@pytest.mark.parametrize("orientation", UPRIGHT)
@pytest.mark.parametrize("kind", ["JPEG", "MPO", "PNG", "WEBP", "HEIF", "AVIF"])
def test_photo_as_cameras_make_it_ends_upright_and_bare(kind: str, orientation: int) -> None:
    data = rich(kind, orientation)
    assert SECRET in data
    prepared = prepare_photo(data)
    side = UPRIGHT[orientation]
    assert (prepared.width < prepared.height) is (side in ("top", "bottom"))
    for stored in (prepared.image, prepared.thumbnail):
        image = opened(stored)
        assert reddish(image, *at(image, side)) and not reddish(image, *at(image, OPPOSITE[side]))
        assert traces(stored) == []


def at(image: Image.Image, side: str) -> tuple[int, int]:
    across, down = SIDES[side]
    return int(image.width * across), int(image.height * down)


def test_traces_are_noticed_where_there_are_some() -> None:
    found = traces(rich("JPEG", 6))
    assert {"segment e1", "segment e2", "Exif", "ICC_PROFILE", "Image Make", "GPS GPSLatitude"} <= set(found)
    assert {"segment e2", "picture inside the picture"} <= set(traces(rich("MPO", 1)))
    assert "bytes after the end" in traces(make_photo_bytes() + b"more")


def swapped_profile() -> bytes:
    """The profile of a camera that calls blue what sRGB calls red."""
    data = bytearray(ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes())
    tags = {bytes(data[at : at + 4]): at for at in range(132, 132 + 12 * int.from_bytes(data[128:132], "big"), 12)}
    red, blue = tags[b"rXYZ"], tags[b"bXYZ"]
    data[red + 4 : red + 12], data[blue + 4 : blue + 12] = data[blue + 4 : blue + 12], data[red + 4 : red + 12]
    return bytes(data)


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP", "HEIF", "AVIF"])
def test_colours_are_those_that_the_profile_means(kind: str) -> None:
    buffer = io.BytesIO()
    coloured_halves().save(buffer, kind, icc_profile=swapped_profile())
    image = opened(prepare_photo(buffer.getvalue()).image)
    assert reddish(image, *at(image, "right")) and not reddish(image, *at(image, "left"))


@pytest.mark.parametrize(
    ("kind", "mode"),
    [("JPEG", "CMYK"), ("PNG", "P"), ("PNG", "RGBA"), ("WEBP", "RGBA"), ("GIF", "P"), ("HEIF", "RGBA")],
)
def test_colours_survive_every_way_to_store_them(kind: str, mode: str) -> None:
    buffer = io.BytesIO()
    coloured_halves().convert(mode).save(buffer, kind)
    image = opened(prepare_photo(buffer.getvalue()).image)
    assert reddish(image, *at(image, "left")) and not reddish(image, *at(image, "right"))


def test_sixteen_bits_keep_their_brightness() -> None:
    grey = Image.new("I;16", (100, 100), 128 * 256)
    buffer = io.BytesIO()
    grey.save(buffer, "PNG")
    red, green, blue = opened(prepare_photo(buffer.getvalue()).image).getpixel((50, 50))  # type: ignore[misc]
    assert all(abs(value - 128) <= 3 for value in (red, green, blue))


def test_only_the_first_image_of_several_is_kept() -> None:
    buffer = io.BytesIO()
    Image.new("RGB", (100, 100), "red").save(
        buffer, "GIF", save_all=True, append_images=[Image.new("RGB", (100, 100), "blue")]
    )
    assert reddish(opened(prepare_photo(buffer.getvalue()).image), 50, 50)


def test_comment_does_not_travel_with_the_photo() -> None:
    data = make_photo_bytes(comment=SECRET)
    assert SECRET in data and SECRET not in prepare_photo(data).image


def test_profile_does_not_travel_with_the_photo() -> None:
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    data = make_photo_bytes(icc_profile=profile)
    assert b"ICC_PROFILE" in data and b"ICC_PROFILE" not in prepare_photo(data).image


def test_broken_profile_does_not_lose_the_photo() -> None:
    assert prepare_photo(make_photo_bytes(icc_profile=b"no profile")).width == 400


def test_noise_still_gets_a_small_thumbnail() -> None:
    noise = Image.effect_noise((1600, 1600), 200).convert("RGB")
    buffer = io.BytesIO()
    noise.save(buffer, "PNG")
    assert len(prepare_photo(buffer.getvalue()).thumbnail) <= 12 * 1024


def test_transparent_becomes_white() -> None:
    clear = Image.new("RGBA", (100, 100), (0, 0, 0, 0))
    buffer = io.BytesIO()
    clear.save(buffer, "PNG")
    assert min(opened(prepare_photo(buffer.getvalue()).image).getpixel((50, 50))) > 250  # type: ignore[arg-type]


def png_of(width: int, height: int) -> bytes:
    """A PNG that claims a size and holds almost nothing."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = zlib.compress(b"\0" * 1000)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", body) + chunk(b"IEND", b"")


HOSTILE = {
    "empty": (b"", "could not be read"),
    "text": (b"hello" * 100, "could not be read"),
    "page": (b"<html><script>alert(1)</script></html>", "could not be read"),
    "drawing": (b'<svg xmlns="http://www.w3.org/2000/svg"/>', "could not be read"),
    "pdf": (b"%PDF-1.7 ...", "could not be read"),
    "bitmap": (make_photo_bytes(kind="BMP"), "could not be read"),
    "cut off": (make_photo_bytes((1000, 1000))[:-2000], "could not be read"),
    "only a head": (make_photo_bytes()[:30], "could not be read"),
    "cut off heic": (make_photo_bytes(kind="HEIF")[:-400], "could not be read"),
    "cut off png": (make_photo_bytes(kind="PNG")[:-200], "could not be read"),
    "pixel bomb": (png_of(60_000, 60_000), "more pixels"),
    "large bomb": (png_of(9_000, 9_000), "more pixels"),
    "speck": (make_photo_bytes((8, 8)), "too small"),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_what_is_no_photo_gets_a_sentence(kind: str) -> None:
    data, sentence = HOSTILE[kind]
    with pytest.raises(PhotoError, match=sentence):
        prepare_photo(data)


def send(data: bytes) -> str:
    contributor = make_contributor()
    dish = make_dish(contributor=contributor)
    token = Proof.new("photo", contributor.pk, dish.pk).token
    return page(stranger(), "/photo/", {"proof": token, "photo": upload(data)})


@pytest.mark.django_db
@pytest.mark.parametrize("kind", HOSTILE)
def test_refused_photo_leaves_the_dish_and_nothing_else(kind: str) -> None:
    text = send(HOSTILE[kind][0])
    assert HOSTILE[kind][1] in text or "Choose a photo" in text
    assert (Dish.objects.count(), Photo.objects.count()) == (1, 0)


@pytest.mark.django_db
def test_too_large_photo_is_refused_with_its_limit(settings: Settings) -> None:
    settings.MAX_PHOTO_BYTES = 100_000
    assert "larger than 15 MB" in send(make_photo_bytes() + b"\0" * 300_000)
    assert Photo.objects.count() == 0


@pytest.mark.django_db
def test_photo_goes_through_while_the_broker_is_down(settings: Settings) -> None:
    settings.CELERY_BROKER_URL = settings.REDIS_URL = "redis://127.0.0.1:1/0"
    assert "Your photo arrived" in send(make_photo_bytes())


@pytest.mark.django_db
def test_files_of_a_replaced_draft_are_gone() -> None:
    contributor = make_contributor()
    dish = make_dish(contributor=contributor)
    token = Proof.new("photo", contributor.pk, dish.pk).token
    for size in ((400, 300), (300, 300)):
        page(stranger(), "/photo/", {"proof": token, "photo": upload(make_photo_bytes(size))})
    photo = Photo.objects.get()
    assert sorted(default_storage.listdir("photos")[1]) == sorted(
        path.removeprefix("photos/") for path in (photo.file, photo.thumbnail)
    )


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("photo_state", "dish_state", "status"),
    [
        (Photo.State.ACCEPTED, Dish.State.ACCEPTED, 200),
        (Photo.State.WAITING, Dish.State.ACCEPTED, 404),
        (Photo.State.DRAFT, Dish.State.ACCEPTED, 404),
        (Photo.State.HIDDEN, Dish.State.ACCEPTED, 404),
        (Photo.State.ACCEPTED, Dish.State.WAITING, 404),
        (Photo.State.ACCEPTED, Dish.State.WITHDRAWN, 404),
    ],
)
def test_only_accepted_photos_of_accepted_dishes_are_public(
    client: Client, photo_state: str, dish_state: str, status: int
) -> None:
    photo = make_photo(make_dish(state=dish_state), photo_state)
    assert [client.get(f"/{path}").status_code for path in (photo.file, photo.thumbnail)] == [status, status]


@pytest.mark.django_db
def test_staff_with_the_permission_see_waiting_photos(client: Client) -> None:
    photo = make_photo(make_dish())
    client.force_login(make_steward())
    assert client.get(f"/{photo.file}").status_code == 404
    client.force_login(make_steward("view_photo"))
    assert client.get(f"/{photo.file}").status_code == 200


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["none.jpg", "..%2f..%2fsecret_key", "%00", "", "a" * 5000])
def test_other_names_find_nothing(client: Client, name: str) -> None:
    assert client.get(f"/photos/{name}").status_code == 404


@pytest.mark.django_db
def test_photo_whose_file_is_lost_is_not_there(client: Client) -> None:
    photo = make_photo(make_dish(state=Dish.State.ACCEPTED), Photo.State.ACCEPTED)
    default_storage.delete(photo.file)
    assert client.get(f"/{photo.file}").status_code == 404
    assert client.get(f"/{photo.thumbnail}").status_code == 200


def test_large_photo_is_made_small_in_the_colours_that_its_profile_means() -> None:
    buffer = io.BytesIO()
    coloured_halves().resize((4000, 2000)).save(buffer, "PNG", icc_profile=swapped_profile())
    prepared = prepare_photo(buffer.getvalue())
    image = opened(prepared.image)
    assert image.size == (1600, 800)
    assert reddish(image, *at(image, "right")) and not reddish(image, *at(image, "left"))


@pytest.mark.django_db
def test_same_photo_sent_over_two_lines_at_once_is_stored_once(monkeypatch: pytest.MonkeyPatch) -> None:
    contributor = make_contributor()
    dish = make_dish(contributor=contributor)
    proof, prepared = Proof.new("photo", contributor.pk, dish.pk), prepare_photo(make_photo_bytes())
    store = process.store_photo_files

    def meanwhile(given: process.Prepared) -> tuple[str, str]:
        """The other line is quicker."""
        monkeypatch.setattr(process, "store_photo_files", store)
        submit_photo(proof, contributor, dish, prepared)
        return store(given)

    monkeypatch.setattr(process, "store_photo_files", meanwhile)
    photo = submit_photo(proof, contributor, dish, prepared)
    assert photo == Photo.objects.get() and len(default_storage.listdir("photos")[1]) == 2
    assert default_storage.exists(photo.file) and default_storage.exists(photo.thumbnail)


@pytest.mark.django_db
@pytest.mark.parametrize("state", [Photo.State.WAITING, Photo.State.ACCEPTED])
def test_confirming_or_skipping_again_moves_no_photo_that_was_sent(state: str) -> None:
    contributor = make_contributor()
    photo = make_photo(make_dish(contributor=contributor), state)
    form = {"proof": Proof.new("caption", contributor.pk, photo.pk).token}
    page(stranger(), "/caption/", {**form, **TICKS, "caption": "A bowl"})
    page(stranger(), "/caption/", {**form, "skip": "1"})
    photo.refresh_from_db()
    assert (photo.state, photo.caption) == (state, "A bowl")
