"""Images from bytes to pixels, several at once: decoding is what scoring images mostly consists of."""

import os
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from evaluation.readers.image_decode import Header, ImageError, Pixels, decode_pixels, read_header

if TYPE_CHECKING:
    from torch import Tensor

# Stacks, or single images, that are being decoded while the device works on an earlier one.
AHEAD = 2


@dataclass
class Stack:
    """Images of one size, with their places among those that were asked for; `pixels` is (n, h, w, 3) uint8."""

    places: list[int]
    pixels: "Tensor"


class DecodedAhead(bytes):
    """The bytes of an image whose pixels are being decoded already; who wants these need not decode them again."""

    header: Header
    pixels: "Future[Pixels]"
    # Bytes of the pixels.
    prepared_bytes: int


def decode_ahead(content: bytes) -> bytes:
    """The same content, its pixels on their way. What is no image comes back as it is: whoever reads it will say so."""
    try:
        read = read_header(content)
    except ImageError:
        return content
    found = DecodedAhead(content)
    found.header, found.prepared_bytes = read, read.height * read.width * 3
    found.pixels = get_ahead_pool().submit(pixels_of, content, read)
    return found


def find_header(content: bytes) -> Header:
    """As `read_header`, of an image that is being decoded too."""
    return content.header if isinstance(content, DecodedAhead) else read_header(content)


def decode_image_bytes(content: bytes) -> Pixels:
    """The image, (height, width, 3), as `readers.image_decode.decode_image` gives it. Raises ImageError."""
    return pixels_of(content, read_header(content))


def pixels_of(content: bytes, read: Header) -> Pixels:
    """Plain images by OpenCV, which gives the same pixels outside the interpreter's lock; others by Pillow."""
    import cv2

    if read.plain:
        found = cv2.imdecode(
            np.frombuffer(content, dtype=np.uint8), cv2.IMREAD_COLOR_RGB | cv2.IMREAD_IGNORE_ORIENTATION
        )
        if found is not None:
            return np.asarray(found, dtype=np.uint8)
    # Whatever the fast decoder gives up on, Pillow reads or names the reason.
    return decode_pixels(content)


def decode_stacks(contents: Sequence[bytes], at_once: int, device: str) -> Iterator[list[Stack]]:
    """The images in parts of `at_once`, each as stacks of one size, decoded ahead of anyone who takes them.

    Stacks lie in page-locked memory where a card will read them. Raises ImageError for what is no image.
    """
    waiting: deque[tuple[list[Stack], list[Future[None]]]] = deque()
    for start in range(0, len(contents), at_once):
        # Headers too are read only now, while the decoders are busy with the part before.
        waiting.append(start_decoding(contents[start : start + at_once], start, device))
        if len(waiting) > AHEAD:
            yield finish_decoding(*waiting.popleft())
    while waiting:
        yield finish_decoding(*waiting.popleft())


def decode_image_stream(contents: Sequence[bytes], device: str) -> Iterator["Tensor"]:
    """The images one after the other, (h, w, 3) uint8, the next ones decoded meanwhile; memory as in `stacks`.

    Raises ImageError for what is no image, when its turn comes.
    """
    waiting: deque[Future[Tensor]] = deque()
    for content in contents:
        waiting.append(get_decoder_pool().submit(decode_to_tensor, content, device))
        if len(waiting) > AHEAD:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()


def decode_to_tensor(content: bytes, device: str) -> "Tensor":
    import torch

    read = find_header(content)
    pixels = torch.empty((read.height, read.width, 3), dtype=torch.uint8, pin_memory=device == "cuda")
    decode_into(content, read, pixels.numpy())
    return pixels


def start_decoding(contents: Sequence[bytes], first: int, device: str) -> tuple[list[Stack], list[Future[None]]]:
    """One part of the images, `first` being the place of its first one among all."""
    import torch

    headers = [find_header(content) for content in contents]
    groups: dict[tuple[int, int], list[int]] = {}
    for place, read in enumerate(headers):
        groups.setdefault((read.height, read.width), []).append(place)
    made, tasks = [], []
    for size, members in groups.items():
        pixels = torch.empty((len(members), *size, 3), dtype=torch.uint8, pin_memory=device == "cuda")
        rows = pixels.numpy()
        tasks += [
            get_decoder_pool().submit(decode_into, contents[place], headers[place], rows[number])
            for number, place in enumerate(members)
        ]
        made.append(Stack([first + place for place in members], pixels))
    return made, tasks


def decode_into(content: bytes, read: Header, target: Pixels) -> None:
    target[:] = content.pixels.result() if isinstance(content, DecodedAhead) else pixels_of(content, read)


def finish_decoding(made: list[Stack], tasks: Sequence[Future[None]]) -> list[Stack]:
    for task in tasks:
        task.result()
    return made


@cache
def get_decoder_pool() -> ThreadPoolExecutor:
    """One pool per process: the decoders run outside the interpreter's lock, so threads suffice."""
    return ThreadPoolExecutor(count_decoders(), thread_name_prefix="decoding")


@cache
def get_ahead_pool() -> ThreadPoolExecutor:
    """As `get_decoder_pool`, for images of later batches: those of the present one never wait behind them."""
    return ThreadPoolExecutor(count_decoders(), thread_name_prefix="decoding-ahead")


def count_decoders() -> int:
    """This process's share of the cores: on a host of several cards one process works for each of them."""
    return max(1, len(os.sched_getaffinity(0)) // max(1, count_host_cards()))


def count_host_cards() -> int:
    """NVIDIA cards of this host, also those that this process does not see; 0 where there is none."""
    return sum(path.name.removeprefix("nvidia").isdigit() for path in Path("/dev").glob("nvidia*"))
