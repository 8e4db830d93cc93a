"""Images that show nothing are told from those that do."""

import io

import numpy as np
import pytest
from PIL import Image, ImageFilter

from evaluation.backends.standin.images import Sketch
from evaluation.contracts.backend import ImageRequest
from evaluation.contracts.study import ModelData
from evaluation.readers import image_decode, image_quality
from evaluation.readers.image_decode import ImageError

SKETCH = ModelData(1, "sketch", "image_generator", "sketch", "sketch", "1", {"size": 512}, demonstration=True)


def encoded(image: Image.Image, kind: str = "PNG") -> bytes:
    stream = io.BytesIO()
    image.save(stream, kind)
    return stream.getvalue()


def scene(size: int = 512, contrast: float = 50) -> Image.Image:
    """Noise with the spectrum of photographs, amplitude 1/f."""
    noise = np.random.default_rng(0).standard_normal((size, size))
    steps = np.fft.fftfreq(size)
    frequency = np.hypot(steps[:, None], steps[None, :])
    frequency[0, 0] = 1
    field = np.fft.ifft2(np.fft.fft2(noise) / frequency).real
    return Image.fromarray((field / field.std() * contrast + 128).clip(0, 255).astype(np.uint8)).convert("RGB")


def plate() -> Image.Image:
    [result] = Sketch(SKETCH).generate([ImageRequest("key", "Draw", "Waakye", seed=1)])
    assert result.image is not None
    return Image.open(io.BytesIO(result.image.content))


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP"])
def test_an_image_has_its_kind_and_size_and_no_flaw(kind: str) -> None:
    found = image_quality.assess_image_quality(encoded(scene(), kind))
    assert found == image_quality.ImageQuality(f"image/{kind.lower()}", 512, 512, "")


@pytest.mark.parametrize(
    ("image", "flaw"),
    [
        (Image.new("RGB", (64, 64)), image_quality.BLACK_REASON),
        (scene(contrast=1).point(lambda value: value // 24), image_quality.BLACK_REASON),
        (Image.new("RGB", (64, 64), "white"), image_quality.FLAT_REASON),
        (Image.new("RGB", (64, 64), "#a8431f"), image_quality.FLAT_REASON),
        (scene(contrast=1.5), image_quality.FLAT_REASON),
        (Image.new("RGBA", (64, 64), (0, 0, 0, 0)), image_quality.FLAT_REASON),
        (scene().filter(ImageFilter.GaussianBlur(16)), image_quality.BLURRED_REASON),
        (plate().filter(ImageFilter.GaussianBlur(16)), image_quality.BLURRED_REASON),
    ],
)
def test_black_flat_and_blurred_images_are_told(image: Image.Image, flaw: str) -> None:
    assert image_quality.assess_image_quality(encoded(image)).flaw == flaw


@pytest.mark.parametrize(
    "image",
    [
        plate(),
        scene().filter(ImageFilter.GaussianBlur(4)),
        scene(contrast=15),
        scene().point(lambda value: value // 5),
        scene().convert("L"),
        scene().convert("P"),
        scene().resize((1024, 40)),
    ],
)
def test_dark_soft_and_pale_images_stay(image: Image.Image) -> None:
    assert image_quality.assess_image_quality(encoded(image)).flaw == ""


@pytest.mark.parametrize("size", [(1, 1), (2, 300), (3, 3)])
def test_the_smallest_images_upset_nothing(size: tuple[int, int]) -> None:
    assert (
        image_quality.assess_image_quality(encoded(Image.new("RGB", size, "white"))).flaw == image_quality.FLAT_REASON
    )


def test_an_image_too_narrow_to_be_blurred_has_no_flaw() -> None:
    assert image_quality.assess_image_quality(encoded(scene().crop((0, 0, 300, 2)))).flaw == ""


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "no PNG, JPEG or WebP"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "no PNG, JPEG or WebP"),
        (b'{"error": "expired"}', "no PNG, JPEG or WebP"),
        (encoded(scene())[:9000], "damaged"),
        (encoded(scene(), "GIF"), "no PNG, JPEG or WebP"),
    ],
)
def test_what_is_no_image_says_so(content: bytes, sentence: str) -> None:
    with pytest.raises(ImageError, match=sentence):
        image_quality.assess_image_quality(content)


def test_an_image_that_would_fill_the_memory_is_not_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(image_decode, "MOST_PIXELS", 100)
    with pytest.raises(ImageError, match="million pixels"):
        image_quality.assess_image_quality(encoded(Image.new("RGB", (11, 10))))
