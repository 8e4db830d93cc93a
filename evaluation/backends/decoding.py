"""Pictures from bytes to pixels, several at once: decoding is what scoring pictures mostly consists of."""

import io
import os
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import numpy as np
import numpy.typing as npt
from PIL import Image

Pixels = npt.NDArray[np.uint8]
FORMATS = ("PNG", "JPEG", "WEBP")
MOST_PIXELS = 64_000_000


def decoded(content: bytes) -> Pixels:
    """The picture, (height, width, 3), whatever its mode; transparency is dropped as the encoders' makers do it."""
    with Image.open(io.BytesIO(content), formats=FORMATS) as picture:
        if picture.width * picture.height > MOST_PIXELS:
            raise ValueError(f"The picture has {picture.width} × {picture.height} pixels, more than can be taken.")
        return np.asarray(picture.convert("RGB"))


def all_decoded(contents: Sequence[bytes]) -> Iterator[Pixels]:
    """The pictures in their order, decoded ahead of whoever takes them."""
    return pool().map(decoded, contents) if len(contents) > 1 else map(decoded, contents)


@cache
def pool() -> ThreadPoolExecutor:
    """One pool per process: the decoders run outside the interpreter's lock, so threads suffice."""
    return ThreadPoolExecutor(len(os.sched_getaffinity(0)), thread_name_prefix="decoding")


def by_shape(pictures: Iterable[Pixels]) -> dict[tuple[int, ...], list[tuple[int, Pixels]]]:
    """Pictures of one size together, each with its place."""
    found: dict[tuple[int, ...], list[tuple[int, Pixels]]] = {}
    for place, picture in enumerate(pictures):
        found.setdefault(picture.shape, []).append((place, picture))
    return found
