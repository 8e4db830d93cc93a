"""Photos: every kind ends upright, sRGB, small and bare; what cannot be read gets a sentence."""

import io
import struct
import zlib

import pytest
from django.core.files.storage import default_storage
from django.test import Client
from PIL import Image, ImageCms
from pytest_django import Settings

from collection.models import Dish, Photo
from collection.photos import PhotoError, prepare
from collection.proof import Proof
from tests.collection.make import make_contributor, make_dish, make_photo, make_steward, page, picture, stranger, upload

SECRET = b"GPS-4711"


def opened(data: bytes) -> Image.Image:
    return Image.open(io.BytesIO(data))


def halves(kind: str = "JPEG", orientation: int = 1, **options: object) -> bytes:
    """Left half red, right half blue, 400 × 200, with an orientation flag and a maker's note."""
    image = Image.new("RGB", (400, 200), "red")
    image.paste("blue", (200, 0, 400, 200))
    exif = Image.Exif()
    exif[0x0112] = orientation
    exif[0x010F] = SECRET.decode()
    buffer = io.BytesIO()
    image.save(buffer, kind, exif=exif.tobytes(), **options)
    return buffer.getvalue()


def reddish(image: Image.Image, x: int, y: int) -> bool:
    red, _green, blue = image.convert("RGB").getpixel((x, y))  # type: ignore[misc]
    return red > 150 and blue < 100


KINDS = {
    "jpeg": lambda: picture(),
    "progressive": lambda: picture(progressive=True),
    "cmyk": lambda: picture(mode="CMYK"),
    "grey jpeg": lambda: picture(mode="L"),
    "mpo": lambda: picture(kind="MPO", save_all=True, append_images=[Image.new("RGB", (400, 300))]),
    "png": lambda: picture(kind="PNG"),
    "png with alpha": lambda: picture(kind="PNG", mode="RGBA"),
    "png with palette": lambda: picture(kind="PNG", mode="P", transparency=0),
    "png with 16 bits": lambda: picture(kind="PNG", mode="I;16"),
    "png of one bit": lambda: picture(kind="PNG", mode="1"),
    "webp": lambda: picture(kind="WEBP"),
    "gif that moves": lambda: picture(kind="GIF", save_all=True, append_images=[Image.new("RGB", (400, 300))]),
    "heic": lambda: picture(kind="HEIF"),
    "avif": lambda: picture(kind="AVIF"),
    "large": lambda: picture((4000, 3000)),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_ends_as_a_small_rgb_jpeg(kind: str) -> None:
    prepared = prepare(KINDS[kind]())
    for data in (prepared.image, prepared.thumbnail):
        image = opened(data)
        assert (image.format, image.mode) == ("JPEG", "RGB")
        assert not {"exif", "icc_profile", "comment", "xmp", "photoshop"} & set(image.info)
    assert max(prepared.width, prepared.height) <= 1600 and prepared.width * 3 == prepared.height * 4
    assert len(prepared.thumbnail) <= 12 * 1024


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP", "HEIF", "AVIF"])
def test_orientation_is_applied_and_nothing_of_the_camera_stays(kind: str) -> None:
    data = halves(kind, orientation=6)
    assert SECRET in data
    prepared = prepare(data)
    image = opened(prepared.image)
    assert image.size == (200, 400)
    assert reddish(image, 100, 50) and not reddish(image, 100, 350)
    assert SECRET not in prepared.image + prepared.thumbnail


def test_comment_does_not_travel_with_the_photo() -> None:
    data = picture(comment=SECRET)
    assert SECRET in data and SECRET not in prepare(data).image


def test_profile_does_not_travel_with_the_photo() -> None:
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    data = picture(icc_profile=profile)
    assert b"ICC_PROFILE" in data and b"ICC_PROFILE" not in prepare(data).image


def test_broken_profile_does_not_lose_the_photo() -> None:
    assert prepare(picture(icc_profile=b"no profile")).width == 400


def test_noise_still_gets_a_small_thumbnail() -> None:
    noise = Image.effect_noise((1600, 1600), 200).convert("RGB")
    buffer = io.BytesIO()
    noise.save(buffer, "PNG")
    assert len(prepare(buffer.getvalue()).thumbnail) <= 12 * 1024


def test_transparent_becomes_white() -> None:
    clear = Image.new("RGBA", (100, 100), (0, 0, 0, 0))
    buffer = io.BytesIO()
    clear.save(buffer, "PNG")
    assert min(opened(prepare(buffer.getvalue()).image).getpixel((50, 50))) > 250  # type: ignore[arg-type]


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
    "bitmap": (picture(kind="BMP"), "could not be read"),
    "cut off": (picture((1000, 1000))[:-2000], "could not be read"),
    "only a head": (picture()[:30], "could not be read"),
    "cut off heic": (picture(kind="HEIF")[:-400], "could not be read"),
    "cut off png": (picture(kind="PNG")[:-200], "could not be read"),
    "pixel bomb": (png_of(60_000, 60_000), "more pixels"),
    "large bomb": (png_of(9_000, 9_000), "more pixels"),
    "speck": (picture((8, 8)), "too small"),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_what_is_no_photo_gets_a_sentence(kind: str) -> None:
    data, sentence = HOSTILE[kind]
    with pytest.raises(PhotoError, match=sentence):
        prepare(data)


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
    assert "larger than 15 MB" in send(picture() + b"\0" * 300_000)
    assert Photo.objects.count() == 0


@pytest.mark.django_db
def test_photo_goes_through_while_the_broker_is_down(settings: Settings) -> None:
    settings.CELERY_BROKER_URL = settings.REDIS_URL = "redis://127.0.0.1:1/0"
    assert "Your photo arrived" in send(picture())


@pytest.mark.django_db
def test_files_of_a_replaced_draft_are_gone() -> None:
    contributor = make_contributor()
    dish = make_dish(contributor=contributor)
    token = Proof.new("photo", contributor.pk, dish.pk).token
    for size in ((400, 300), (300, 300)):
        page(stranger(), "/photo/", {"proof": token, "photo": upload(picture(size))})
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
