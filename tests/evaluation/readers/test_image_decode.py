"""One image is the same pixels for people, quality checks, encoders, questions about images, and providers."""

import io
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageCms, PngImagePlugin

from evaluation.backends.pixels import Pixels as PixelsBackend
from evaluation.backends.standin.encoder import compute_colour_features
from evaluation.contracts.study import ModelData
from evaluation.images.files import reduce_image
from evaluation.readers import image_quality
from evaluation.readers.image_decode import GROUND, ImageError, as_sent, decode_image, decode_pixels, read_header
from review.campaigns.image_copies import review_copy

SIDE = 64


def scene() -> Image.Image:
    """Dark on the left, light on the right, red above and blue below: every turn of it is another image."""
    across, down = np.meshgrid(np.arange(SIDE), np.arange(SIDE))
    return Image.fromarray(np.stack([255 - down * 3, across * 3, down * 3], axis=-1).astype(np.uint8))


def encoded(image: Image.Image, kind: str = "PNG", **options: Any) -> bytes:
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


def turned(orientation: int, kind: str) -> bytes:
    exif = Image.Exif()
    exif[0x0112] = orientation
    return encoded(scene(), kind, exif=exif, **({"quality": 95} if kind == "JPEG" else {"lossless": True}))


def clear() -> bytes:
    """The scene as it would be, wholly transparent."""
    image = scene().convert("RGBA")
    image.putalpha(0)
    return encoded(image)


def sixteen_bits() -> bytes:
    return encoded(Image.fromarray((np.arange(SIDE * SIDE).reshape(SIDE, SIDE) * 16).astype(np.uint16)))


def with_profile() -> bytes:
    lab = ImageCms.ImageCmsProfile(ImageCms.createProfile("XYZ"))
    return encoded(scene(), icc_profile=lab.tobytes())


def with_red_for_blue() -> bytes:
    """The scene in a space like sRGB whose red is the blue of sRGB."""
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    swapped = profile.replace(b"rXYZ", b"....", 1).replace(b"bXYZ", b"rXYZ", 1).replace(b"....", b"bXYZ", 1)
    return encoded(scene(), icc_profile=swapped)


def moving() -> bytes:
    return encoded(scene(), save_all=True, append_images=[Image.new("RGB", (SIDE, SIDE), "black")])


def xmp_orientation() -> bytes:
    told = PngImagePlugin.PngInfo()
    told.add_itxt("XML:com.adobe.xmp", '<x:xmpmeta><rdf:Description tiff:Orientation="3"/></x:xmpmeta>')
    return encoded(scene(), pnginfo=told)


ODD: dict[str, Callable[[], bytes]] = {
    **{f"orientation {n}": lambda n=n: turned(n, "JPEG") for n in range(1, 9)},  # type: ignore[misc]
    "orientation 3, WebP": lambda: turned(3, "WEBP"),
    "orientation 3, PNG": lambda: encoded(scene(), exif=orientation(3)),
    "transparent": clear,
    "half transparent palette": lambda: encoded(scene().convert("P"), transparency=3),
    "16 bits": sixteen_bits,
    "profile": with_profile,
    "several frames": moving,
    "grey": lambda: encoded(scene().convert("L")),
    "grey with alpha": lambda: encoded(scene().convert("LA")),
    "CMYK": lambda: encoded(scene().convert("CMYK"), "JPEG"),
    "one bit": lambda: encoded(scene().convert("1")),
    "plain": lambda: encoded(scene()),
    "plain JPEG": lambda: encoded(scene(), "JPEG"),
}


def orientation(value: int) -> Image.Exif:
    exif = Image.Exif()
    exif[0x0112] = value
    return exif


def small(pixels: np.ndarray) -> np.ndarray:
    """Means of eight by eight fields, for images that were compressed or scaled."""
    image = Image.fromarray(np.asarray(pixels, dtype=np.uint8)).resize((8, 8), Image.Resampling.BOX)
    return np.asarray(image, dtype=np.float64)


def make_model_data() -> ModelData:
    return ModelData(1, "pixels", "pixels", "pixels", "pixels", "", {})


def opened(content: bytes) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(content)).convert("RGB"))


@pytest.mark.parametrize("name", ODD)
def test_everybody_is_given_the_same_pixels(name: str) -> None:
    content = ODD[name]()
    wanted = decode_pixels(content)
    assert (read_header(content).height, read_header(content).width) == wanted.shape[:2]
    assert np.array_equal(opened(as_sent(content)[0]), wanted)
    backend = PixelsBackend(make_model_data())
    assert np.array_equal(next(iter(backend.pixels([content]))), wanted)
    assert np.allclose(small(opened(reduce_image(content, SIDE))), small(wanted), atol=8)
    plain = encoded(Image.fromarray(wanted))
    assert review_copy(content) == review_copy(plain)
    assert image_quality.assess_image_quality(content).flaw == image_quality.assess_image_quality(plain).flaw
    assert np.array_equal(compute_colour_features(content), compute_colour_features(plain))


@pytest.mark.torch
@pytest.mark.parametrize("name", ODD)
def test_encoders_and_questions_are_given_these_pixels_too(name: str) -> None:
    from evaluation.backends.image_decode import decode_image_bytes, decode_image_stream, decode_stacks

    content = ODD[name]()
    wanted = decode_pixels(content)
    assert np.array_equal(decode_image_bytes(content), wanted)
    assert np.array_equal(next(decode_image_stream([content], "cpu")).numpy(), wanted)
    [[stack]] = decode_stacks([content], 1, "cpu")
    assert np.array_equal(stack.pixels[0].numpy(), wanted)


@pytest.mark.parametrize("name", ODD)
def test_only_what_any_decoder_reads_alike_is_plain(name: str) -> None:
    content = ODD[name]()
    plain = read_header(content).plain
    assert plain == (name in ("plain", "plain JPEG", "orientation 1"))
    if plain:
        assert np.array_equal(opened(content), decode_pixels(content))
        assert as_sent(content)[0] is content


def test_an_image_is_upright_whatever_its_orientation_says() -> None:
    upright = np.asarray(scene(), dtype=np.float64)
    for value, turn in ((3, 2), (6, 3), (8, 1)):
        assert np.abs(decode_pixels(turned(value, "JPEG")) - np.rot90(upright, turn)).mean() < 4


def test_xmp_says_the_orientation_too() -> None:
    assert np.array_equal(decode_pixels(xmp_orientation()), np.rot90(np.asarray(scene()), 2))
    assert not read_header(xmp_orientation()).plain


def test_transparent_parts_lie_on_the_ground() -> None:
    assert np.array_equal(np.unique(decode_pixels(clear()).reshape(-1, 3), axis=0), [GROUND])


@pytest.mark.parametrize(("level", "wanted"), [(0, 0), (128, 0), (129, 1), (257, 1), (32768, 128), (65535, 255)])
def test_16_bits_are_scaled(level: int, wanted: int) -> None:
    """Level · 255 ÷ 65535, rounded: 128 ÷ 257 = .498 → 0, 129 ÷ 257 = .502 → 1."""
    content = encoded(Image.fromarray(np.full((4, 4), level, dtype=np.uint16)))
    assert np.unique(decode_pixels(content)) == [wanted]


def test_the_first_frame_counts() -> None:
    assert np.array_equal(decode_pixels(moving()), np.asarray(scene()))


def test_nothing_of_the_file_but_its_pixels_is_in_a_decoded_image() -> None:
    assert decode_image(encoded(scene(), "JPEG", comment=b"secret", exif=orientation(1))).info == {}


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 400), st.binary(min_size=1, max_size=20), st.sampled_from(["PNG", "JPEG", "WEBP"]))
def test_damaged_content_is_an_image_or_an_image_error(place: int, junk: bytes, kind: str) -> None:
    content = bytearray(encoded(scene().resize((16, 16)), kind))
    start = place % len(content)
    content[start : start + len(junk)] = junk
    try:
        assert decode_pixels(bytes(content)).ndim == 3
    except ImageError as error:
        assert str(error).endswith(".")


def test_colours_are_read_by_the_profile_of_the_file() -> None:
    found, plain = decode_pixels(with_red_for_blue()).astype(int), np.asarray(scene()).astype(int)
    assert np.abs(found - plain[:, :, ::-1]).max() <= 3
