"""Images as an encoder wants them, computed on the device: the arithmetic of Pillow, in batches.

Pillow resizes in two passes and rounds to whole grey levels after each; so does this, with the same filter, and the
width always first, as Pillow did before version 13 chose the order by the size. Results
therefore lie within a grey level of the makers' own image processors as published, on every machine and with every
version of Pillow.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from evaluation.contracts.backend import BackendError
from evaluation.readers import image_decode

if TYPE_CHECKING:
    from torch import Tensor, device

VERSION = "pillow-like-1"
FILTERS = {2: "bilinear", 3: "bicubic"}  # by Pillow's numbers
# As floating point numbers on the card these are 0.8 GB, and as much again while they are resized.
PIXELS_AT_ONCE = 256 * 512 * 512


@dataclass(frozen=True)
class Preparation:
    """`edge`: the shorter side, or `size` (height, width); then `crop` (height, width) from the middle."""

    filter: str
    edge: int | None
    size: tuple[int, int] | None
    crop: tuple[int, int] | None
    scale: float
    mean: tuple[float, ...]
    deviation: tuple[float, ...]

    @property
    def name(self) -> str:
        """Belongs to every vector: another preparation gives other numbers."""
        edge = f"{self.edge}" if self.edge else "x".join(map(str, self.size or ()))
        crop = f" crop {'x'.join(map(str, self.crop))}" if self.crop else ""
        return f"{image_decode.VERSION} {VERSION} {self.filter} {edge}{crop}"

    def target(self, height: int, width: int) -> tuple[int, int]:
        """Height and width of an image after resizing."""
        if self.edge is None:
            return self.size or (height, width)
        short, long = min(height, width), max(height, width)
        other = int(self.edge * long / short)
        return (self.edge, other) if height <= width else (other, self.edge)

    def prepared(self, pixels: "Tensor", device: str) -> "Tensor":
        """Images of one size, (n, h, w, 3) uint8 → (n, 3, height, width) float32 on the device."""
        import torch

        height, width = pixels.shape[1:3]
        parts = pixels.split(max(1, PIXELS_AT_ONCE // (height * width)))
        return torch.cat([self.prepared_part(part.to(device, non_blocking=True)) for part in parts])

    def prepared_part(self, pixels: "Tensor") -> "Tensor":
        values = pixels.permute(0, 3, 1, 2).float()
        values = self.cropped(resize_images(values, self.target(*values.shape[-2:]), self.filter))
        mean, deviation = (
            build_channel_tensor(self.mean, pixels.device),
            build_channel_tensor(self.deviation, pixels.device),
        )
        return (values * self.scale - mean) / deviation

    def cropped(self, values: "Tensor") -> "Tensor":
        if self.crop is None:
            return values
        tall, wide = self.crop
        above, left = (values.shape[-2] - tall) // 2, (values.shape[-1] - wide) // 2
        return values[..., above : above + tall, left : left + wide]


@cache
def build_channel_tensor(row: tuple[float, ...], place: "device") -> "Tensor":
    """A value per channel, kept on the device: copying three numbers for each batch would make the card wait."""
    import torch

    return torch.tensor(row, device=place).view(1, 3, 1, 1)


def resize_images(values: "Tensor", size: tuple[int, int], name: str) -> "Tensor":
    """Both sides to `size` (height, width), the width first."""
    if values.shape[-1] != size[1]:
        values = one_pass(values, (values.shape[-2], size[1]), name)
    return values if values.shape[-2] == size[0] else one_pass(values, size, name)


def one_pass(values: "Tensor", size: tuple[int, int], name: str) -> "Tensor":
    """Resizes one side, then rounds to whole grey levels as Pillow does, halves upwards."""
    import torch

    resized = torch.nn.functional.interpolate(values, size=size, mode=name, antialias=True, align_corners=False)
    return resized.add_(0.5).floor_().clamp_(0, 255)


def parse_preparation_config(config: Mapping[str, Any]) -> Preparation:
    """From the image processor's published configuration. Raises BackendError where it asks for something else."""
    number = int(config.get("resample", 3))
    if number not in FILTERS or not config.get("do_resize", True) or not config.get("do_normalize", True):
        raise BackendError(f"Images for this encoder are prepared in a way that is not known here: {dict(config)}.")
    size = config.get("size", 224)
    size = size if isinstance(size, Mapping) else {"shortest_edge": int(size)}
    crop = config.get("crop_size") if config.get("do_center_crop", "crop_size" in config) else None
    edge = size.get("shortest_edge")
    prepared = Preparation(
        filter=FILTERS[number],
        edge=int(edge) if edge else None,
        size=None if edge else parse_height_width(size),
        crop=parse_height_width(crop) if crop else None,
        scale=float(config.get("rescale_factor", 1 / 255)),
        mean=tuple(map(float, config["image_mean"])),
        deviation=tuple(map(float, config["image_std"])),
    )
    if prepared.crop and prepared.edge and max(prepared.crop) > prepared.edge:
        raise BackendError("Images for this encoder are cropped to more than they are resized to.")
    return prepared


def parse_height_width(size: Mapping[str, int] | int) -> tuple[int, int]:
    return (size["height"], size["width"]) if isinstance(size, Mapping) else (size, size)
