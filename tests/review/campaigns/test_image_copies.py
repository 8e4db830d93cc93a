"""Review copies: equal in kind whatever they were made of."""

from io import BytesIO

import pytest
from PIL import Image
from PIL.JpegImagePlugin import JpegImageFile

from evaluation import content_store
from review.campaigns.image_copies import MAX_BYTES, SIDE, CopyError, review_copy, store_image_copies
from tests.review.make import make_image_bytes


def noise(side: int = 900) -> bytes:
    out = BytesIO()
    Image.effect_noise((side, side), 200).convert("RGB").save(out, "PNG")
    return out.getvalue()


def opened(content: bytes) -> JpegImageFile:
    return JpegImageFile(BytesIO(content))


def brightness(content: bytes, x: int, y: int) -> int:
    return opened(content).convert("L").tobytes()[y * SIDE + x]


def with_metadata() -> bytes:
    exif = Image.Exif()
    exif[0x010E] = "secret prompt"
    exif[0x0112] = 6
    return make_image_bytes("blue", (300, 200), "JPEG", exif=exif, comment=b"secret model", dpi=(72, 72))


def palette() -> bytes:
    out = BytesIO()
    Image.new("RGB", (200, 900), "green").convert("P").save(out, "PNG")
    return out.getvalue()


SOURCES = {
    "small PNG": make_image_bytes("red", (96, 64)),
    "large JPEG with metadata": with_metadata(),
    "noise": noise(),
    "palette": palette(),
    "WebP": make_image_bytes("white", (1024, 1024), "WEBP"),
}


@pytest.mark.parametrize("source", SOURCES)
def test_copy_is_a_square_jpeg_under_the_limit_by_one_encoder_setting(source: str) -> None:
    content = review_copy(SOURCES[source])
    copy, plain = opened(content), opened(review_copy(SOURCES["small PNG"]))
    assert (copy.format, copy.mode, copy.size) == ("JPEG", "RGB", (SIDE, SIDE))
    assert len(content) <= MAX_BYTES
    assert copy.quantization == plain.quantization
    assert copy.layer == plain.layer
    assert copy.info == plain.info


@pytest.mark.parametrize("source", SOURCES)
def test_copy_carries_no_metadata(source: str) -> None:
    content = review_copy(SOURCES[source])
    assert b"secret" not in content
    assert not opened(content).getexif()
    assert set(opened(content).info) <= {
        "jfif",
        "jfif_version",
        "jfif_unit",
        "jfif_density",
        "progressive",
        "progression",
    }


def test_orientation_is_applied_and_transparency_becomes_white() -> None:
    image = Image.new("RGB", (400, 200), "white")
    image.paste("black", (0, 0, 200, 200))
    exif = Image.Exif()
    exif[0x0112] = 6
    out = BytesIO()
    image.save(out, "JPEG", exif=exif)
    turned = review_copy(out.getvalue())
    assert brightness(turned, 256, 20) < 30 < 220 < brightness(turned, 256, 490)
    clear = BytesIO()
    Image.new("RGBA", (50, 50), (255, 0, 0, 0)).save(clear, "PNG")
    assert abs(brightness(review_copy(clear.getvalue()), 9, 9) - 255) < 4


def test_same_image_gives_the_same_copy() -> None:
    assert review_copy(SOURCES["noise"]) == review_copy(SOURCES["noise"])


@pytest.mark.parametrize("content", [b"", b"no picture", make_image_bytes()[:60]])
def test_what_cannot_be_read_is_a_copy_error(content: bytes) -> None:
    with pytest.raises(CopyError, match="cannot be read"):
        review_copy(content)


def test_file_that_is_not_held_is_a_copy_error() -> None:
    with pytest.raises(CopyError, match="not held"):
        store_image_copies("0" * 64)


def test_copy_is_kept_under_its_own_hash() -> None:
    original = content_store.store_content(SOURCES["WebP"])
    copy, large = store_image_copies(original)
    assert len({copy, large, original}) == 3
    assert content_store.read_content(copy) == review_copy(SOURCES["WebP"])
    assert opened(content_store.read_content(large)).size == (1024, 1024)


@pytest.mark.parametrize("corner", [(0, 976), (944, 976), (976, 928)])
def test_mark_that_a_provider_leaves_in_a_bottom_corner_is_cut_off(corner: tuple[int, int]) -> None:
    signed = Image.new("RGB", (1024, 1024), "black")
    signed.paste("white", (*corner, corner[0] + 48, corner[1] + 48))
    out = BytesIO()
    signed.save(out, "PNG")
    low, high = opened(review_copy(out.getvalue())).convert("L").getextrema()
    assert (low, high) == (0, 0)
