"""Text-to-image pipelines of diffusers, by identifier and revision; `families.py` says which are known.

Parameters of a model: `steps`, `guidance` and `size` (pixels of a side), which have no default; `scheduler`, a class of
diffusers, without it the one beside the weights; `prompt_tokens`, how many tokens of a prompt are read, without it
what the family's pipeline reads; `precision`. All of these are part of the definition. `at_once`, images per pass, is
none: an image is the same in any batch. A safety filter's verdict is a result, and no image of it is stored.
"""

import inspect
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image

from evaluation.backends import weight_files, weights
from evaluation.backends.image_decode import Pixels, get_decoder_pool
from evaluation.backends.pipeline_families import FAMILIES, Family, arrange_noise, scale_of, shape_of
from evaluation.backends.standin.images import encode_png
from evaluation.contracts import parameters
from evaluation.contracts.backend import BackendError, ImageRequest
from evaluation.contracts.study import ImageResult, ModelData, Result
from evaluation.suggestions import describe_unknown_name

if TYPE_CHECKING:
    from torch import Generator, Tensor

FILTERED = "The model's own safety filter held the image back."
NOT_FINITE = "The image holds numbers that are not finite, in full precision too."


@dataclass(frozen=True)
class Settings:
    """What an image is made with, beside weights, prompt and seed."""

    steps: int
    guidance: float
    size: int
    scheduler: str
    at_once: int
    precision: str
    prompt_tokens: int


@dataclass(frozen=True)
class Known:
    """What is known of a pipeline before any of its weights are opened. `name` is the class of diffusers."""

    name: str
    family: Family
    index: Mapping[str, Any]
    scale: int


@dataclass(frozen=True)
class Drawn:
    """Images (h, w, 3); `finite`: whether every number behind them was one; the precision that they were made in."""

    images: Sequence[Pixels]
    finite: Sequence[bool]
    precision: str


class DiffusersPipeline:
    """Makes images from seeds: each has its own generator, so that it is the same in every batch."""

    def __init__(self, model: ModelData) -> None:
        self.known, self.settings = known_of(model)
        self.family, self.precision = self.known.family, self.settings.precision
        self.pipeline = pipeline_of(model, self.known, self.settings)
        self.denoiser = getattr(self.pipeline, self.family.denoiser)
        # It is asked once the numbers of an image are known to be finite; about others it says anything.
        self.checker = getattr(self.pipeline, "safety_checker", None)
        if self.checker is not None:
            self.pipeline.register_modules(safety_checker=None)
        self.finite: list[bool] = []
        self.pipeline.vae.decoder.register_forward_hook(self.note_finite)

    @staticmethod
    def inspect(model: ModelData) -> list[str]:
        """See `evaluation.backends.inspect_model`."""
        known, settings = known_of(model)
        weight_files.require_complete_weights(model, weight_files.missing_of_pipeline(model, known.index))
        scheduler_of(model, known, settings.scheduler)
        return [f"family {known.name}", f"images of {settings.size} × {settings.size} pixels"]

    @property
    def circumstances(self) -> Mapping[str, Any]:
        import diffusers

        return {
            **weights.describe_environment(self.precision),
            "diffusers": diffusers.__version__,
            "scheduler": type(self.pipeline.scheduler).__name__,
            "safety_filter": self.checker is not None,
        }

    def excess(self, prompt: str) -> int:
        """Tokens beyond those that the family's text encoder reads; 0 where all fit."""
        return max(0, self.length(prompt) - self.settings.prompt_tokens) if self.reads else self.clip_excess(prompt)

    @property
    def reads(self) -> bool:
        """Whether a text encoder with a longer reach than CLIP's is there."""
        return getattr(self.pipeline, self.family.reader[1], None) is not None if self.family.reader[1] else False

    def length(self, prompt: str) -> int:
        """Tokens of a prompt as the family's reader takes it."""
        text, before = self.family.wrapped(self.pipeline, prompt.lower().strip() if self.family.lowered else prompt)
        return len(getattr(self.pipeline, self.family.reader[0])(text).input_ids) - before

    def clip_excess(self, prompt: str) -> int:
        """Tokens beyond those that the shortest of the model's CLIP encoders reads; 0 where all fit."""
        found = [kept for name in self.family.clips if (kept := getattr(self.pipeline, name, None)) is not None]
        return max([0, *(len(kept(prompt).input_ids) - kept.model_max_length for kept in found)])

    @property
    def preferred_batch(self) -> int:
        return int(self.settings.at_once)

    def generate(self, requests: Sequence[ImageRequest]) -> Iterator[Result]:
        at_once = self.settings.at_once
        for start in range(0, len(requests), at_once):
            with weights.convert_memory_errors():
                results = self.results(requests[start : start + at_once])
            yield from results

    def results(self, requests: Sequence[ImageRequest]) -> list[Result]:
        """One pass; those of its images that half precision spoiled are made again in full."""
        made = self.judged(requests, self.drawn(requests, self.precision))
        spoiled = [request for request in requests if made[request.key].state == "failed"]
        if spoiled and self.precision != "fp32":
            again = self.judged(spoiled, self.in_full(spoiled))
            for key, result in again.items():
                made[key] = add_circumstances(result, not_finite_in=self.precision)
        return list(made.values())

    def in_full(self, requests: Sequence[ImageRequest]) -> Drawn:
        """The same noise through the same weights, computed in fp32."""
        with cast_to_float32(self.pipeline):
            return self.drawn(requests, "fp32")

    def drawn(self, requests: Sequence[ImageRequest], precision: str) -> Drawn:
        generators, noise = self.noise(requests)
        self.finite.clear()
        with drawing_from(self.pipeline.scheduler, generators):
            found = self.pipeline(
                prompt=[request.prompt for request in requests],
                height=self.settings.size,
                width=self.settings.size,
                num_inference_steps=self.settings.steps,
                generator=generators,
                latents=noise.to(
                    self.pipeline.device, weights.dtype_of("fp32" if self.family.noise_in_full else precision)
                ),
                output_type="pt",
                **self.asked(len(requests)),
            ).images
        levels = found.float().nan_to_num().mul(255).round().byte()
        return Drawn(list(levels.permute(0, 2, 3, 1).cpu().numpy()), list(self.finite), precision)

    def asked(self, images: int) -> dict[str, Any]:
        """What this family's pipeline is told beside prompt, size and steps."""
        family, told = self.family, {self.family.guidance: self.settings.guidance, **self.family.fixed}
        if family.negative is not None and self.settings.guidance > 1:
            told["negative_prompt"] = [family.negative] * images
        if family.prompt_tokens:
            told["max_sequence_length"] = self.settings.prompt_tokens
        return told

    def noise(self, requests: Sequence[ImageRequest]) -> "tuple[list[Generator], Tensor]":
        """What each image begins with, float32, drawn on the processor from its seed alone, as the pipeline takes it.

        Schedulers that draw during the steps too go on with the image's own generator.
        """
        import torch

        side = self.settings.size // self.known.scale
        shape = shape_of(self.family, self.denoiser.config.in_channels, side)
        generators = [torch.Generator("cpu").manual_seed(seed_of(request)) for request in requests]
        drawn = torch.stack([torch.randn(shape, generator=kept) for kept in generators])
        return generators, arrange_noise(self.family, drawn)

    def note_finite(self, _: Any, __: Any, decoded: "Tensor") -> None:
        """After the decoder, before its numbers are cut to what an image can show."""
        self.finite += decoded.isfinite().flatten(1).all(1).tolist()

    def judged(self, requests: Sequence[ImageRequest], drawn: Drawn) -> dict[str, Result]:
        """Unit key → what its image is: done, filtered, or failed where its numbers are no image."""
        shared = {**self.circumstances, "precision": drawn.precision, "pass": len(requests)}
        images = [Image.fromarray(pixels) for pixels in drawn.images]
        flagged, contents = self.flagged(images), get_decoder_pool().map(encode_png, images)
        made: dict[str, Result] = {}
        for request, fine, held, content in zip(requests, drawn.finite, flagged, contents, strict=True):
            note = {**shared, **self.unread(request.prompt)}
            if not fine:
                made[request.key] = Result(request.key, "failed", reason=NOT_FINITE, circumstances=note)
            elif held:
                image = image_of(request, b"", self.settings.size)
                made[request.key] = Result(request.key, "filtered", reason=FILTERED, image=image, circumstances=note)
            else:
                image = image_of(request, content, self.settings.size)
                made[request.key] = Result(request.key, image=image, circumstances=note)
        return made

    def unread(self, prompt: str) -> dict[str, int]:
        """What is noted where CLIP reads less of a prompt than the encoder that it is measured by."""
        cut = self.clip_excess(prompt) if self.reads else 0
        return {"clip_cut": cut} if cut else {}

    def flagged(self, images: Sequence[Image.Image]) -> Sequence[bool]:
        """The verdict of the safety filter that lies beside the weights; nothing is flagged where there is none."""
        import torch

        if self.checker is None:
            return [False] * len(images)
        values = self.pipeline.feature_extractor(list(images), return_tensors="pt").pixel_values
        values = values.to(self.checker.device, self.checker.dtype)
        with torch.inference_mode():
            # It would black out what it flags, in the second of its arguments.
            _, found = self.checker(clip_input=values, images=[np.empty(0)] * len(images))
        return [bool(flag) for flag in found]


def known_of(model: ModelData) -> tuple[Known, Settings]:
    """The family by its index, and what images are made with. Raises BackendError; no weights are opened."""
    given = parameters.resolve_parameter_values(model)
    index = weights.read_model_json(model, "model_index.json")
    if index is None:
        config = weights.read_model_json(model, "config.json") or {}
        kind = config.get("model_type") or "that nothing names, without a model_index.json"
        raise BackendError(weights.other_family(model, str(kind), FAMILIES))
    name = str(index.get("_class_name", ""))
    if name not in FAMILIES:
        raise BackendError(weights.other_family(model, name, FAMILIES))
    family, vae = FAMILIES[name], weights.read_model_json(model, "vae/config.json")
    if vae is None:
        raise BackendError(f"{model.slug} could not be loaded: {model.identifier} holds no vae/config.json.")
    if given["precision"] not in family.precisions:
        raise BackendError(
            f"{model.slug}: {name} does not work in {given['precision']}. Accepted: {', '.join(family.precisions)}."
        )
    with weights.convert_loading_errors(model):
        known = Known(name, family, index, scale_of(vae))
    if given["size"] % (known.scale * family.multiple):
        raise BackendError(f"{model.slug}: The parameter size is a multiple of {known.scale * family.multiple} pixels.")
    return known, settings_of(model, known, given)


def settings_of(model: ModelData, known: Known, given: Mapping[str, Any]) -> Settings:
    """Raises BackendError where more of a prompt is to be read than the family can read."""
    family, tokens = known.family, given["prompt_tokens"]
    if tokens is not None and tokens > family.most_prompt_tokens:
        most = family.most_prompt_tokens
        accepted = f"at most {most}" if most else "none, its text encoder says how much it reads"
        raise BackendError(
            f"{model.slug}: The parameter prompt_tokens is {tokens}. Accepted for {known.name}: {accepted}."
        )
    return Settings(
        steps=given["steps"],
        guidance=given["guidance"],
        size=given["size"],
        scheduler=given["scheduler"],
        at_once=given["at_once"],
        precision=given["precision"],
        prompt_tokens=tokens or family.prompt_tokens,
    )


def pipeline_of(model: ModelData, known: Known, settings: Settings) -> Any:
    """The pipeline with its weights on the device. Raises BackendError."""
    import diffusers
    import transformers

    diffusers.utils.logging.disable_progress_bar()
    transformers.utils.logging.disable_progress_bar()
    given = {**scheduler_of(model, known, settings.scheduler), **load_feature_extractor(model, known)}
    if known.family.may_lack_reader:
        given |= {part: None for part in known.family.reader if not (known.index.get(part) or [None])[0]}
    with weights.convert_loading_errors(model):
        pipeline = getattr(diffusers, known.name).from_pretrained(
            model.identifier,
            **weights.source_of(model),
            **given,
            use_safetensors=True,
            dtype=weights.dtype_of(settings.precision),
        )
        pipeline.set_progress_bar_config(disable=True)
        return pipeline.to(weights.select_device())


def load_feature_extractor(model: ModelData, known: Known) -> dict[str, Any]:
    """How images come before the safety filter, where there is one: on Pillow, so that all hosts give it the same."""
    import transformers

    if not known.family.safety or not (known.index.get("feature_extractor") or [None])[0]:
        return {}
    kind = getattr(transformers, "CLIPImageProcessorPil", None) or transformers.CLIPImageProcessor
    with weights.convert_loading_errors(model):
        found = kind.from_pretrained(model.identifier, subfolder="feature_extractor", **weights.source_of(model))
    return {"feature_extractor": found}


def scheduler_of(model: ModelData, known: Known, name: str) -> dict[str, Any]:
    """Another scheduler than the one beside the weights, with the settings of these; nothing without a name."""
    if not name:
        return {}
    import diffusers

    kind = str((known.index.get("scheduler") or ["", ""])[1])
    if not hasattr(diffusers, kind):
        raise BackendError(f"{model.slug}: the scheduler beside the weights, {kind!r}, is none of diffusers.")
    source = {key: value for key, value in weights.source_of(model).items() if key != "trust_remote_code"}
    with weights.convert_loading_errors(model):
        own = getattr(diffusers, kind).from_pretrained(model.identifier, subfolder="scheduler", **source)
    fitting = {each.__name__: each for each in own.compatibles}
    if name not in fitting:
        raise BackendError(describe_unknown_name("scheduler for these weights named", name, fitting))
    return {"scheduler": fitting[name].from_config(own.config)}


@contextmanager
def drawing_from(scheduler: Any, generators: "Sequence[Generator]") -> Iterator[None]:
    """What a scheduler draws during the steps comes from the images' generators, whatever the pipeline hands on."""
    drawn = "generator" in inspect.signature(scheduler.step).parameters
    if drawn:
        scheduler.step = partial(scheduler.step, generator=generators)
    try:
        yield
    finally:
        if drawn:
            del scheduler.step


@contextmanager
def cast_to_float32(pipeline: Any) -> Iterator[None]:
    """Everything in fp32 for a while; afterwards each tensor as it was: some encoders keep a part in fp32 always."""
    parts = [part for part in pipeline.components.values() if hasattr(part, "parameters")]
    tensors = [tensor for part in parts for tensor in chain(part.parameters(), part.buffers())]
    before = [(tensor, tensor.dtype) for tensor in tensors if tensor.is_floating_point()]
    try:
        for tensor, _ in before:
            tensor.data = tensor.data.float()
        yield
    finally:
        for tensor, dtype in before:
            tensor.data = tensor.data.to(dtype)


def seed_of(request: ImageRequest) -> int:
    if request.seed is None:
        raise ValueError("The image has no seed.")
    return request.seed


def add_circumstances(result: Result, **notes: Any) -> Result:
    return replace(result, circumstances={**result.circumstances, **notes})


def image_of(request: ImageRequest, content: bytes, size: int) -> ImageResult:
    """The image, or, without content, the record that there is none."""
    return ImageResult(
        content, "image/png", size, size, prompt_sent=request.prompt, prompt_id=request.prompt_id, seed=request.seed
    )
