"""How fast images are resized and tiled for models, against the library's image processors in the same run.

    python -m bench.preparation [--images 64] [--size 512]

The library's processors are those on Pillow, which need no further package; ours run on the processor and, where there
is one, on the card. Both get decoded pixels. Also printed: the largest and the mean difference in grey levels.
"""

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from evaluation.backends.image_resize import parse_preparation_config
from evaluation.backends.vlm.tiling import parse_tiling_config

RESOLUTIONS = ((336, 672), (672, 336), (672, 672), (1008, 336), (336, 1008))
LLAVA: dict[str, Any] = {
    "resample": 3,
    "size": {"shortest_edge": 336},
    "crop_size": {"height": 336, "width": 336},
    "image_mean": [0.48145466, 0.4578275, 0.40821073],
    "image_std": [0.26862954, 0.26130258, 0.27577711],
}


def rate(work: Callable[[], Any], count: int) -> float:
    """Images a second, the best of three after a first one that warms up."""
    work()
    best = 0.0
    for _ in range(3):
        started = time.perf_counter()
        work()
        best = max(best, count / (time.perf_counter() - started))
    return best


def places() -> list[str]:
    import torch

    return ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]


def compare(name: str, library: Callable[[Any], Any], ours: Callable[[Any, str], Any], pixels: Any) -> None:
    """Prints both rates and the difference in grey levels."""
    import torch

    count = len(pixels)
    base = rate(lambda: [library(image) for image in pixels.numpy()], count)
    print(f"{name}: the library {base:.0f} images/s")
    for place in places():

        def run(place: str = place) -> Any:
            made = ours(pixels, place)
            if place == "cuda":
                torch.cuda.synchronize()
            return made

        speed = rate(run, count)
        print(f"{name}: ours on {place} {speed:.0f} images/s, {speed / base:.1f} times the library's")
    found, wanted = ours(pixels[:1], "cpu")[0].numpy(), np.asarray(library(pixels[0].numpy()))
    grey = np.abs(found - wanted) * min(LLAVA["image_std"]) * 255
    print(f"{name}: largest difference {grey.max():.2f} grey levels, mean {grey.mean():.3f}")


def main() -> None:
    import torch
    from transformers import CLIPImageProcessorPil, LlavaNextImageProcessorPil

    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--images", type=int, default=64)
    parser.add_argument("--size", type=int, default=512)
    options = parser.parse_args()
    generator = torch.Generator().manual_seed(1)
    shape = (options.images, options.size, options.size, 3)
    pixels = torch.randint(0, 256, shape, dtype=torch.uint8, generator=generator)
    clip, llava = (
        CLIPImageProcessorPil(),
        LlavaNextImageProcessorPil(**LLAVA, image_grid_pinpoints=[list(size) for size in RESOLUTIONS]),
    )
    preparation = parse_preparation_config(clip.to_dict())
    tiling = parse_tiling_config(LLAVA, RESOLUTIONS)
    compare(
        "resizing for CLIP",
        lambda image: clip(image, return_tensors="np")["pixel_values"][0],
        lambda batch, place: preparation.prepared(batch, place),
        pixels,
    )
    compare(
        "tiles for LLaVA-NeXT",
        lambda image: llava(image, return_tensors="np")["pixel_values"][0],
        lambda batch, place: [tiling.tiles(image.to(place)) for image in batch],
        pixels,
    )


if __name__ == "__main__":
    main()
