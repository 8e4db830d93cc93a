"""How many images a second the encoder backend scores, against the published way in the same run.

    python -m bench.clip_throughput [--images 2048] [--gpus 1]

The published way opens an image, runs the image processor and the model in fp32, one image after the other. Random
weights in the shape of CLIP ViT-B/32: speed does not depend on their values, quality does, so none is reported.
"""

import argparse
import io
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from bench.multi_gpu import about, over_cards
from evaluation.backends.clip import ClipEncoder
from evaluation.contracts.backend import Vectors
from evaluation.contracts.study import ModelData

DISTINCT = 64
WANTED = {"PNG": 20, "JPEG": 60}
LEAST_COSINE = 0.9995


def images(form: str, count: int, size: int = 512) -> list[bytes]:
    """`count` images of soft colours with fine grain; 64 different ones in turn."""
    random, found = np.random.default_rng(7), []
    for _ in range(min(DISTINCT, count)):
        rough = Image.fromarray(random.integers(0, 256, (24, 24, 3), dtype=np.uint8))
        soft = np.asarray(rough.resize((size, size), Image.Resampling.BICUBIC), dtype=np.int16)
        grainy = np.clip(soft + random.normal(0, 3, soft.shape), 0, 255).astype(np.uint8)
        stream = io.BytesIO()
        Image.fromarray(grainy).save(stream, form, **({"quality": 90} if form == "JPEG" else {}))
        found.append(stream.getvalue())
    return [found[number % len(found)] for number in range(count)]


def save_model(folder: Path) -> None:
    """Random weights in the shape of CLIP ViT-B/32, with the image processor's settings and a small tokenizer."""
    import torch
    from transformers import CLIPConfig, CLIPModel, CLIPTokenizer

    torch.manual_seed(0)
    CLIPModel(CLIPConfig()).save_pretrained(folder)
    reference_processor()().save_pretrained(folder)
    letters = [f"{letter}{end}" for letter in "abcdefghijklmnopqrstuvwxyz." for end in ("", "</w>")]
    vocabulary = {piece: number for number, piece in enumerate([*letters, "<|startoftext|>", "<|endoftext|>"])}
    CLIPTokenizer(vocab=vocabulary, merges=[]).save_pretrained(folder)


def reference_processor() -> Any:
    """The library's image processor on Pillow, as it was published with; its name changed between versions."""
    import transformers

    return getattr(transformers, "CLIPImageProcessorPil", None) or transformers.CLIPImageProcessor


def encoder(folder: Path, precision: str, at_once: int = 256) -> ClipEncoder:
    return ClipEncoder(
        ModelData(0, "random", "encoder", "clip", str(folder), "", {"precision": precision, "at_once": at_once})
    )


def one_by_one(folder: Path, contents: Sequence[bytes]) -> tuple[Vectors, float]:
    """Vectors and images per second the published way."""
    import torch
    from transformers import CLIPModel

    device = "cuda" if torch.cuda.is_available() else "cpu"
    network = CLIPModel.from_pretrained(folder).to(device).eval()
    processor = reference_processor().from_pretrained(folder)

    def one(content: bytes) -> np.ndarray:
        with Image.open(io.BytesIO(content)) as image, torch.no_grad():
            values = processor(images=image.convert("RGB"), return_tensors="pt").to(device)
            found = network.get_image_features(**values)
        return np.asarray(getattr(found, "pooler_output", found)[0].cpu())

    for content in contents[:3]:
        one(content)
    start = time.perf_counter()
    vectors = np.stack([one(content) for content in contents])
    return vectors, len(contents) / (time.perf_counter() - start)


def batched(ready: Callable[[], None], arguments: dict[str, Any]) -> tuple[int, float]:
    """Images and seconds of one process; the files lie in memory, as a worker has them."""
    backend = encoder(arguments["folder"], arguments["precision"], arguments["at_once"])
    contents = images(arguments["form"], arguments["images"])
    backend.encode_images(contents[: 4 * arguments["at_once"]])
    ready()
    start = time.perf_counter()
    backend.encode_images(contents)
    return len(contents), time.perf_counter() - start


def cosines(one: Vectors, other: Vectors) -> np.ndarray:
    return np.asarray((one * other).sum(axis=1) / np.linalg.norm(one, axis=1) / np.linalg.norm(other, axis=1))


def report(folder: Path, form: str, options: argparse.Namespace) -> None:
    few = images(form, options.baseline)
    reference, slow = one_by_one(folder, few)
    print(f"\n512 × 512 {form}, {len(few[0]) // 1024} KiB a file: one by one in fp32 {slow:.1f} images/s")
    for precision in ("fp32", "bf16", "fp16"):
        vectors = encoder(folder, precision).encode_images(few)
        near, centred = cosines(vectors, reference), cosines(vectors - reference.mean(0), reference - reference.mean(0))
        arguments = {"folder": folder, "form": form, "images": options.images, "precision": precision}
        fast = over_cards(options.gpus, batched, {**arguments, "at_once": options.at_once})
        print(
            f"  {precision}: {fast:8.1f} images/s on {options.gpus} card(s), {fast / slow:5.1f} × one by one "
            f"(wanted {WANTED[form]}); cosine with one by one: least {near.min():.6f} (wanted {LEAST_COSINE}), "
            f"least without the common part {centred.min():.4f}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--images", type=int, default=4096, help="images per card and measurement")
    parser.add_argument("--baseline", type=int, default=128, help="images one by one")
    parser.add_argument("--at-once", type=int, default=256, help="images per forward pass")
    parser.add_argument("--forms", nargs="+", default=list(WANTED), choices=list(WANTED))
    parser.add_argument("--gpus", type=int, default=1)
    options = parser.parse_args()
    print(about())
    with tempfile.TemporaryDirectory() as folder:
        save_model(Path(folder))
        for form in options.forms:
            report(Path(folder), form, options)


if __name__ == "__main__":
    main()
