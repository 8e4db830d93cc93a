"""How many images a second the diffusers backend makes, against the published way in the same run.

    python -m bench.generation_throughput [--images 48] [--at-once 8 16] [--gpus 1]

The published way makes one image after the other with the library's pipeline in its default precision, fp32, and
loads the pipeline anew for every dish (five images). Random weights in the shape of Stable Diffusion 2.1: speed does
not depend on their values, quality does, so none is reported. `--small` is for trying the script without a card.
"""

import argparse
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np

from bench.multi_gpu import about, over_cards
from evaluation.backends import weights
from evaluation.backends.diffusion import DiffusersPipeline
from evaluation.backends.standin.images import encode_png
from evaluation.contracts.backend import ImageRequest
from evaluation.contracts.study import ModelData

PER_DISH = 5
GUIDANCE = 7.5
PROMPT = "generate a photograph of food from ghana called waakye {}."


def save_model(folder: Path, small: bool) -> None:
    """Random weights in half precision, 2.6 GB, and a tokenizer of letters that fills no more than it must."""
    import torch
    from diffusers import AutoencoderKL, DDIMScheduler, StableDiffusionPipeline, UNet2DConditionModel
    from transformers import CLIPTextModel

    torch.manual_seed(0)
    wide = (32, 32, 32, 32) if small else (320, 640, 1280, 1280)
    pixels = (32, 32, 32, 32) if small else (128, 256, 512, 512)
    tokenizer, text = words(small)
    with made_on_the_device():
        unet = UNet2DConditionModel(
            sample_size=96,
            block_out_channels=wide,
            attention_head_dim=[2] * 4 if small else [5, 10, 20, 20],
            cross_attention_dim=text.hidden_size,
            use_linear_projection=True,
        )
        vae = AutoencoderKL(
            block_out_channels=pixels,
            layers_per_block=2,
            latent_channels=4,
            down_block_types=("DownEncoderBlock2D",) * 4,
            up_block_types=("UpDecoderBlock2D",) * 4,
        )
        encoder = CLIPTextModel(text)
    scheduler = DDIMScheduler(
        beta_start=0.00085,
        beta_end=0.012,
        beta_schedule="scaled_linear",
        clip_sample=False,
        set_alpha_to_one=False,
        steps_offset=1,
        prediction_type="v_prediction",
    )
    StableDiffusionPipeline(
        vae=vae.half(),
        text_encoder=encoder.half(),
        tokenizer=tokenizer,
        unet=unet.half(),
        scheduler=scheduler,
        safety_checker=None,
        feature_extractor=None,
        requires_safety_checker=False,
    ).save_pretrained(folder)


def words(small: bool) -> tuple[Any, Any]:
    """A tokenizer of letters, and the shape of the text encoder of Stable Diffusion 2.1."""
    from transformers import CLIPTextConfig, CLIPTokenizer

    letters = [f"{letter}{end}" for letter in "abcdefghijklmnopqrstuvwxyz.0123456789" for end in ("", "</w>")]
    vocabulary = {piece: number for number, piece in enumerate([*letters, "<|startoftext|>", "<|endoftext|>"])}
    ends = {"bos_token_id": len(letters), "eos_token_id": len(letters) + 1, "pad_token_id": len(letters) + 1}
    sizes = {"hidden_size": 64, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
    if not small:
        sizes = {"hidden_size": 1024, "intermediate_size": 4096, "num_hidden_layers": 23, "num_attention_heads": 16}
    text = CLIPTextConfig(vocab_size=49408, max_position_embeddings=77, hidden_act="gelu", **sizes, **ends)
    return CLIPTokenizer(vocab=vocabulary, merges=[], model_max_length=77), text


def made_on_the_device() -> AbstractContextManager[Any]:
    """Random numbers for a billion weights are drawn on the card, where there is one."""
    import torch

    return torch.device(weights.select_device())


def requests(count: int) -> list[ImageRequest]:
    """Images of dishes, five of each."""
    return [ImageRequest(f"u{n}", PROMPT.format(n // PER_DISH), "", seed=n) for n in range(count)]


def backend(arguments: dict[str, Any]) -> DiffusersPipeline:
    parameters = {"guidance": GUIDANCE, **{name: arguments[name] for name in ("precision", "steps", "size", "at_once")}}
    folder = str(arguments["folder"])
    return DiffusersPipeline(ModelData(0, "random", "image_generator", "diffusers", folder, "", parameters))


class OneByOne:
    """The library's pipeline, one prompt at a time. `load_seconds`: what loading it took."""

    def __init__(self, options: argparse.Namespace, folder: Path, precision: str) -> None:
        from diffusers import StableDiffusionPipeline

        start = time.perf_counter()
        self.pipeline = StableDiffusionPipeline.from_pretrained(folder, dtype=weights.dtype_of(precision))
        self.pipeline.to(weights.select_device())
        self.load_seconds = time.perf_counter() - start
        self.pipeline.set_progress_bar_config(disable=True)
        self.options = options

    def made(self, given: Sequence[ImageRequest]) -> tuple[list[Any], float]:
        """Images, and seconds for each with its file."""
        start = time.perf_counter()
        images = [self.draw_image(request) for request in given]
        for draw_image in images:
            encode_png(draw_image)
        return images, (time.perf_counter() - start) / len(given)

    def draw_image(self, request: ImageRequest) -> Any:
        import torch

        assert request.seed is not None
        size = {"height": self.options.size, "width": self.options.size}
        generator = torch.Generator("cpu").manual_seed(request.seed)
        found = self.pipeline(
            request.prompt,
            num_inference_steps=self.options.steps,
            guidance_scale=GUIDANCE,
            generator=generator,
            **size,
        )
        return found.images[0]


def batched(ready: Callable[[], None], arguments: dict[str, Any]) -> tuple[int, float]:
    """Images, as files in memory, and seconds of one process."""
    made = backend(arguments)
    list(made.generate(requests(arguments["at_once"])))
    given = requests(arguments["images"])
    ready()
    start = time.perf_counter()
    results = list(made.generate(given))
    seconds = time.perf_counter() - start
    again = sum("not_finite_in" in result.circumstances for result in results)
    if again:
        print(f"    {again} of {len(results)} images were made twice: half precision did not hold their numbers")
    return sum(result.state == "done" for result in results), seconds


def report_published(folder: Path, options: argparse.Namespace) -> tuple[float, list[Any]]:
    """Seconds per image as published, the pipeline loaded for every dish, and the images."""
    published, images = 0.0, []
    for precision in ("fp32", "fp16"):
        if precision == "fp16" and weights.select_device() == "cpu":
            continue
        single = OneByOne(options, folder, precision)
        single.made(requests(1))
        found, seconds = single.made(requests(options.baseline))
        reloading = seconds + single.load_seconds / PER_DISH
        print(
            f"one by one in {precision}: {1 / seconds:.3f} images/s; loading takes {single.load_seconds:.1f} s, "
            f"so for every dish anew {1 / reloading:.3f} images/s"
        )
        if not published:
            published, images = reloading, found
        del single
    return published, images


def report_batched(folder: Path, options: argparse.Namespace, published: float, precision: str, at_once: int) -> None:
    names = {"folder": folder, "precision": precision, "at_once": at_once, "images": options.images}
    rate = over_cards(options.gpus, batched, {**names, "steps": options.steps, "size": options.size})
    print(
        f"  {precision}, {at_once} at once: {rate:7.3f} images/s on {options.gpus} card(s), "
        f"{rate * published:5.1f} × the published way (fp32, loaded for every dish)"
    )


def report_likeness(folder: Path, options: argparse.Namespace, reference: Sequence[Any]) -> None:
    """How far images in batches lie from those that the library's pipeline makes alone, by the same seeds."""
    shape = {"folder": folder, "steps": options.steps, "size": options.size, "at_once": len(reference)}
    wanted = np.stack([np.asarray(draw_image).astype(int) for draw_image in reference])
    for precision in ("fp32", options.precisions[0]):
        made = backend({**shape, "precision": precision}).drawn(requests(len(reference)), precision)
        difference = np.abs(np.stack(made.images).astype(int) - wanted)
        print(
            f"  {len(reference)} images at once in {precision} beside one by one in fp32: grey levels apart "
            f"{difference.mean():.3f} on average, {difference.max()} at most"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--images", type=int, default=48, help="images per card and measurement")
    parser.add_argument("--baseline", type=int, default=4, help="images one by one")
    parser.add_argument("--at-once", type=int, nargs="+", default=[8, 16], help="images per pass")
    parser.add_argument("--precisions", nargs="+", default=["fp16", "bf16"])
    parser.add_argument("--size", type=int, default=512)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--gpus", type=int, default=1)
    parser.add_argument("--small", action="store_true", help="small networks: only to try the script")
    options = parser.parse_args()
    import diffusers

    print(f"{about()}, diffusers {diffusers.__version__}; {options.size} × {options.size}, {options.steps} steps")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        save_model(folder, options.small)
        published, images = report_published(folder, options)
        for precision in options.precisions:
            for at_once in options.at_once:
                report_batched(folder, options, published, precision, at_once)
        report_likeness(folder, options, images)


if __name__ == "__main__":
    main()
