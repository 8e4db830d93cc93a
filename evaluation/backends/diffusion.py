"""Stable Diffusion (1.x, 2.x and XL) by identifier and revision, on diffusers.

Parameters of a model: `steps`, `guidance` and `size` (pixels of a side), which have no default; `scheduler`, a class of
diffusers, without it the one beside the weights; `precision`. All of these are part of the definition. `at_once`,
pictures per pass, is none: a picture is the same in any batch. A safety filter's verdict is a result, and no picture of
it is kept.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image

from evaluation.backends import loading
from evaluation.backends.base import BackendError, ImageRequest
from evaluation.backends.decoding import Pixels, pool
from evaluation.backends.sketch import png
from evaluation.names import unknown
from evaluation.studies.base import ImageResult, ModelData, Result

if TYPE_CHECKING:
    from torch import Generator, Tensor

FAMILIES = ("StableDiffusionPipeline", "StableDiffusionXLPipeline")
TOKENIZERS = ("tokenizer", "tokenizer_2")
AT_ONCE = 8
FILTERED = "The model's own safety filter held the picture back."
NOT_FINITE = "The picture holds numbers that are not finite, in full precision too."


@dataclass(frozen=True)
class Settings:
    """What a picture is made with, beside weights, prompt and seed."""

    steps: int
    guidance: float
    size: int
    scheduler: str
    at_once: int


@dataclass(frozen=True)
class Drawn:
    """Pictures (h, w, 3); `finite`: whether every number behind them was one; the precision that they were made in."""

    pictures: Sequence[Pixels]
    finite: Sequence[bool]
    precision: str


class StableDiffusion:
    """Makes pictures from seeds: each has its own generator, so that it is the same in every batch."""

    def __init__(self, model: ModelData) -> None:
        self.settings = settings_of(model)
        self.precision = loading.precision_of(model)
        self.pipeline = pipeline_of(model, self.precision)
        set_scheduler(self.pipeline, self.settings.scheduler)
        if self.settings.size % self.pipeline.vae_scale_factor:
            raise BackendError(f"{model.slug}: size is a multiple of {self.pipeline.vae_scale_factor} pixels.")
        # It is asked once the numbers of a picture are known to be finite; about others it says anything.
        self.checker = getattr(self.pipeline, "safety_checker", None)
        if self.checker is not None:
            self.pipeline.register_modules(safety_checker=None)
        self.finite: list[bool] = []
        self.pipeline.vae.decoder.register_forward_hook(self.note_finite)

    @property
    def circumstances(self) -> Mapping[str, Any]:
        import diffusers

        return {
            **loading.circumstances(self.precision),
            "diffusers": diffusers.__version__,
            "scheduler": type(self.pipeline.scheduler).__name__,
            "safety_filter": self.checker is not None,
        }

    def excess(self, prompt: str) -> int:
        """Tokens beyond those that the shortest of the model's text encoders reads; 0 where all fit."""
        found = [kept for name in TOKENIZERS if (kept := getattr(self.pipeline, name, None)) is not None]
        return max(0, *(len(kept(prompt).input_ids) - kept.model_max_length for kept in found))

    def generate(self, requests: Sequence[ImageRequest]) -> Iterator[Result]:
        at_once = self.settings.at_once
        for start in range(0, len(requests), at_once):
            with loading.memory():
                results = self.results(requests[start : start + at_once])
            yield from results

    def results(self, requests: Sequence[ImageRequest]) -> list[Result]:
        """One pass; those of its pictures that half precision spoiled are made again in full."""
        made = self.judged(requests, self.drawn(requests, self.precision))
        spoiled = [request for request in requests if made[request.key].state == "failed"]
        if spoiled and self.precision != "fp32":
            again = self.judged(spoiled, self.in_full(spoiled))
            for key, result in again.items():
                made[key] = noted(result, not_finite_in=self.precision)
        return list(made.values())

    def in_full(self, requests: Sequence[ImageRequest]) -> Drawn:
        """The same noise through the same weights, computed in fp32."""
        import torch

        try:
            self.pipeline.to(torch.float32)
            return self.drawn(requests, "fp32")
        finally:
            self.pipeline.to(loading.dtype_of(self.precision))

    def drawn(self, requests: Sequence[ImageRequest], precision: str) -> Drawn:
        generators, noise = self.noise(requests)
        self.finite.clear()
        found = self.pipeline(
            prompt=[request.prompt for request in requests],
            height=self.settings.size,
            width=self.settings.size,
            num_inference_steps=self.settings.steps,
            guidance_scale=self.settings.guidance,
            generator=generators,
            latents=noise.to(self.pipeline.device, loading.dtype_of(precision)),
            output_type="pt",
        ).images
        levels = found.float().nan_to_num().mul(255).round().byte()
        return Drawn(list(levels.permute(0, 2, 3, 1).cpu().numpy()), list(self.finite), precision)

    def noise(self, requests: Sequence[ImageRequest]) -> "tuple[list[Generator], Tensor]":
        """What each picture begins with, (n, channels, h, w) float32, drawn on the processor from its seed alone.

        Schedulers that draw during the steps too go on with the picture's own generator.
        """
        import torch

        side = self.settings.size // self.pipeline.vae_scale_factor
        shape = (self.pipeline.unet.config.in_channels, side, side)
        generators = [torch.Generator("cpu").manual_seed(seed_of(request)) for request in requests]
        return generators, torch.stack([torch.randn(shape, generator=kept) for kept in generators])

    def note_finite(self, _: Any, __: Any, decoded: "Tensor") -> None:
        """After the decoder, before its numbers are cut to what a picture can show."""
        self.finite += decoded.isfinite().flatten(1).all(1).tolist()

    def judged(self, requests: Sequence[ImageRequest], drawn: Drawn) -> dict[str, Result]:
        """Unit key → what its picture is: done, filtered, or failed where its numbers are no picture."""
        note = {**self.circumstances, "precision": drawn.precision, "pass": len(requests)}
        pictures = [Image.fromarray(pixels) for pixels in drawn.pictures]
        flagged, contents = self.flagged(pictures), pool().map(png, pictures)
        made: dict[str, Result] = {}
        for request, fine, held, content in zip(requests, drawn.finite, flagged, contents, strict=True):
            if not fine:
                made[request.key] = Result(request.key, "failed", reason=NOT_FINITE, circumstances=note)
            elif held:
                image = image_of(request, b"", self.settings.size)
                made[request.key] = Result(request.key, "filtered", reason=FILTERED, image=image, circumstances=note)
            else:
                image = image_of(request, content, self.settings.size)
                made[request.key] = Result(request.key, image=image, circumstances=note)
        return made

    def flagged(self, pictures: Sequence[Image.Image]) -> Sequence[bool]:
        """The verdict of the safety filter that lies beside the weights; nothing is flagged where there is none."""
        import torch

        if self.checker is None:
            return [False] * len(pictures)
        values = self.pipeline.feature_extractor(list(pictures), return_tensors="pt").pixel_values
        values = values.to(self.checker.device, self.checker.dtype)
        with torch.inference_mode():
            # It would black out what it flags, in the second of its arguments.
            _, found = self.checker(clip_input=values, images=[np.empty(0)] * len(pictures))
        return [bool(flag) for flag in found]


def settings_of(model: ModelData) -> Settings:
    """Raises BackendError for what is missing or cannot be used, before anything is loaded."""
    given = model.parameters
    if given.get("seeds") is False:
        raise BackendError(f"{model.slug}: this backend makes pictures from seeds; the parameter seeds is false.")
    return Settings(
        steps=whole(model, "steps"),
        guidance=number(model, "guidance"),
        size=whole(model, "size"),
        scheduler=str(given.get("scheduler", "")),
        at_once=whole(model, "at_once") if "at_once" in given else AT_ONCE,
    )


def number(model: ModelData, name: str) -> float:
    found = model.parameters.get(name)
    if isinstance(found, bool) or not isinstance(found, int | float) or not 0 <= found < float("inf"):
        raise BackendError(f"{model.slug}: the parameter {name} is {found!r}. Accepted: a number of at least 0.")
    return float(found)


def whole(model: ModelData, name: str) -> int:
    found = number(model, name)
    if found < 1 or found != int(found):
        raise BackendError(f"{model.slug}: the parameter {name} is {found:g}. Accepted: a whole number of at least 1.")
    return int(found)


def pipeline_of(model: ModelData, precision: str) -> Any:
    """The pipeline with its weights on the device. Raises BackendError."""
    import diffusers
    import transformers

    diffusers.utils.logging.disable_progress_bar()
    transformers.utils.logging.disable_progress_bar()
    source = loading.source_of(model)
    with loading.loading(model):
        pipeline = diffusers.AutoPipelineForText2Image.from_pretrained(
            model.identifier,
            **source,
            **prepared(model, source),
            use_safetensors=True,
            dtype=loading.dtype_of(precision),
        )
        family = type(pipeline).__name__
        if family not in FAMILIES:
            raise BackendError(f"{model.slug} is of the family {family}. Accepted: {', '.join(FAMILIES)}.")
        pipeline.set_progress_bar_config(disable=True)
        return pipeline.to(loading.device())


def prepared(model: ModelData, source: Mapping[str, Any]) -> dict[str, Any]:
    """How pictures come before the safety filter, where there is one: on Pillow, so that all hosts give it the same."""
    import diffusers
    import transformers

    parts = diffusers.DiffusionPipeline.load_config(model.identifier, **source)
    if not (parts.get("feature_extractor") or [None])[0]:
        return {}
    kind = getattr(transformers, "CLIPImageProcessorPil", None) or transformers.CLIPImageProcessor
    return {"feature_extractor": kind.from_pretrained(model.identifier, subfolder="feature_extractor", **source)}


def set_scheduler(pipeline: Any, name: str) -> None:
    """Replaces the scheduler beside the weights by another one, with the settings that belong to the weights."""
    if not name:
        return
    known = {kind.__name__: kind for kind in pipeline.scheduler.compatibles}
    if name not in known:
        raise BackendError(unknown("scheduler for these weights named", name, known))
    pipeline.scheduler = known[name].from_config(pipeline.scheduler.config)


def seed_of(request: ImageRequest) -> int:
    if request.seed is None:
        raise ValueError("The picture has no seed.")
    return request.seed


def noted(result: Result, **notes: Any) -> Result:
    return replace(result, circumstances={**result.circumstances, **notes})


def image_of(request: ImageRequest, content: bytes, size: int) -> ImageResult:
    """The picture, or, without content, the record that there is none."""
    return ImageResult(
        content, "image/png", size, size, prompt_sent=request.prompt, prompt_id=request.prompt_id, seed=request.seed
    )
