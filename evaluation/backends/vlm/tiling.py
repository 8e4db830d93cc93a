"""Images as LLaVA-NeXT wants them: the whole image small, and tiles of it large (*any resolution*).

Source: the image processor of LLaVA-NeXT as published with the weights. Resizing is that of `preparing.py`.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evaluation.backends.image_resize import FILTERS, VERSION, build_channel_tensor, resize_images
from evaluation.contracts.backend import BackendError
from evaluation.readers import image_decode

if TYPE_CHECKING:
    from torch import Tensor

Size = tuple[int, int]


@dataclass(frozen=True)
class Tiling:
    """`edge`: pixels of a tile's side; `resolutions`: sizes (height, width) that an image may be brought to."""

    filter: str
    edge: int
    resolutions: tuple[Size, ...]
    scale: float
    mean: tuple[float, ...]
    deviation: tuple[float, ...]

    @property
    def name(self) -> str:
        return f"{image_decode.VERSION} {VERSION} {self.filter} tiles {self.edge}"

    def resolution(self, size: Size) -> Size:
        """The resolution that keeps most of an image of this size, and among these the one that wastes least."""
        height, width = size

        def merit(resolution: Size) -> tuple[int, int]:
            tall, wide = resolution
            ratio = min(wide / width, tall / height)
            kept = min(int(width * ratio) * int(height * ratio), width * height)
            return kept, kept - tall * wide

        return max(self.resolutions, key=merit)

    def tiles(self, pixels: "Tensor") -> "Tensor":
        """An image (h, w, 3) uint8 on its device → (1 + tiles, 3, edge, edge) float32, the whole image first."""
        import torch

        values = pixels.permute(2, 0, 1)[None].float()
        size = (values.shape[2], values.shape[3])
        resolution = self.resolution(size)
        fitted = resize_images(values, compute_fitted_size(size, resolution), self.filter)
        padded = in_the_middle(fitted, resolution)
        rows, columns = resolution[0] // self.edge, resolution[1] // self.edge
        cut = padded.view(3, rows, self.edge, columns, self.edge).permute(1, 3, 0, 2, 4).flatten(0, 1)
        whole = resize_images(values, (self.edge, self.edge), self.filter)
        mean, deviation = (
            build_channel_tensor(self.mean, pixels.device),
            build_channel_tensor(self.deviation, pixels.device),
        )
        return (torch.cat([whole, cut]) * self.scale - mean) / deviation


def compute_fitted_size(size: Size, resolution: Size) -> Size:
    """The size of an image scaled to touch the edges of `resolution`."""
    across, down = resolution[1] / size[1], resolution[0] / size[0]
    if across < down:
        return min(math.ceil(size[0] * across), resolution[0]), resolution[1]
    return resolution[0], min(math.ceil(size[1] * down), resolution[1])


def in_the_middle(values: "Tensor", size: Size) -> "Tensor":
    """The image on black of `size`."""
    import torch

    above, left = (size[0] - values.shape[-2]) // 2, (size[1] - values.shape[-1]) // 2
    below, right = size[0] - values.shape[-2] - above, size[1] - values.shape[-1] - left
    return torch.nn.functional.pad(values, (left, right, above, below))


def parse_tiling_config(config: Mapping[str, Any], resolutions: Sequence[Sequence[int]]) -> Tiling:
    """From the image processor's published configuration. Raises BackendError where it asks for something else."""
    number = int(config.get("resample", 3))
    crop, size = config.get("crop_size", {}), config.get("size", {})
    edge = crop.get("height") or size.get("height") or size.get("shortest_edge")
    if number not in FILTERS or not edge or not config.get("do_normalize", True):
        raise BackendError(f"Images for this model are prepared in a way that is not known here: {dict(config)}.")
    if any(side % edge for resolution in resolutions for side in resolution) or not resolutions:
        raise BackendError(f"The resolutions {list(resolutions)} are no multiples of the tiles' {edge} pixels.")
    return Tiling(
        filter=FILTERS[number],
        edge=int(edge),
        resolutions=tuple((int(height), int(width)) for height, width in resolutions),
        scale=float(config.get("rescale_factor", 1 / 255)),
        mean=tuple(map(float, config["image_mean"])),
        deviation=tuple(map(float, config["image_std"])),
    )
