"""A stand-in for image generators: a drawing from name and seed that says on its face that it is none."""

import hashlib
import io
import random
from collections.abc import Iterator, Sequence

from PIL import Image, ImageDraw, ImageFont

from evaluation.contracts.backend import ImageRequest
from evaluation.contracts.study import ImageResult, ModelData, Result

BANNER = "DEMONSTRATION: NOT A GENERATED PICTURE"
DEFAULT_SIZE = 512
PAPER = ["#efe3cf", "#e6d5c3", "#dfe6d8", "#d9dee6", "#ecdcdc"]
FOOD = ["#a8431f", "#d98a29", "#7c8b3a", "#5b3a29", "#c9b458", "#8c2f39", "#3f6b4f"]


class Sketch:
    """Draws a plate with shapes. Same model, name, prompt and seed: the same bytes."""

    def __init__(self, model: ModelData) -> None:
        self.identifier = model.identifier
        self.size = int(model.parameters.get("size", DEFAULT_SIZE))

    def generate(self, requests: Sequence[ImageRequest]) -> Iterator[Result]:
        for request in requests:
            content = encode_png(self.draw(request))
            image = ImageResult(
                content,
                "image/png",
                self.size,
                self.size,
                prompt_sent=request.prompt,
                prompt_id=request.prompt_id,
                seed=request.seed,
                sample=request.sample,
            )
            yield Result(request.key, image=image, circumstances={"backend": "sketch", "demonstration": True})

    def draw(self, request: ImageRequest) -> Image.Image:
        text = "\n".join([self.identifier, request.name, request.prompt, str(request.seed), str(request.sample)])
        digest = hashlib.sha256(text.encode("utf-8", "replace")).digest()
        image = draw_plate(random.Random(digest), self.size)
        number = request.seed if request.seed is not None else request.sample
        draw_labels(image, filter_drawable_name(request.name), f"seed {number}")
        return image


def draw_plate(choice: random.Random, size: int) -> Image.Image:
    """A plate seen from above with a heap of shapes, (size, size) RGB."""
    image = Image.new("RGB", (size, size), choice.choice(PAPER))
    draw = ImageDraw.Draw(image)
    edge = size // 8
    draw.ellipse((edge, edge, size - edge, size - edge), fill="#fbfaf7", outline="#b9ad9c", width=size // 64)
    for _ in range(choice.randint(9, 24)):
        x, y = (size / 2 + choice.gauss(0, size / 10) for _ in range(2))
        width, height = (choice.uniform(size / 24, size / 8) for _ in range(2))
        shape = draw.ellipse if choice.random() < 0.7 else draw.rectangle
        shape((x - width, y - height, x + width, y + height), fill=choice.choice(FOOD))
    return image


def draw_labels(image: Image.Image, name: str, number: str) -> None:
    """Writes the banner along the lower edge, and name and number above the plate."""
    draw, size = ImageDraw.Draw(image), image.width
    height = size // 16
    draw.rectangle((0, size - height, size, size), fill="#2b211a")
    draw_fitted_text(draw, BANNER, (size // 2, size - height // 2), size - 8, height * 0.6, "#fffaf3")
    draw_fitted_text(
        draw, " · ".join(part for part in (name, number) if part), (size // 2, size // 16), size - 8, height, "#2b211a"
    )


def draw_fitted_text(
    draw: ImageDraw.ImageDraw, text: str, at: tuple[int, int], width: int, height: float, colour: str
) -> None:
    """Writes `text` centred at `at`, smaller where it would be wider than `width`."""
    font = ImageFont.load_default(height)
    needed = font.getlength(text)
    if needed > width:
        font = ImageFont.load_default(max(4.0, height * width / needed))
    draw.text(at, text, font=font, fill=colour, anchor="mm")


def filter_drawable_name(name: str) -> str:
    """The name where the font has all of its letters, else nothing: boxes in place of letters help nobody."""
    font = ImageFont.load_default(16)
    missing = bytes(font.getmask("\uffff"))
    name = " ".join(name.split())[:60]
    return name if all(letter == " " or bytes(font.getmask(letter)) != missing for letter in name) else ""


def encode_png(image: Image.Image) -> bytes:
    stream = io.BytesIO()
    image.save(stream, "PNG")
    return stream.getvalue()
