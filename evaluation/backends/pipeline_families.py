"""Families of text-to-image pipelines that are known: how each is asked, how much of a prompt it reads, its noise.

Sources: the pipelines of diffusers 0.42 and the model cards of their makers. A family that is not here is refused
before its weights are opened: it would draw something, and nobody could say with which prompt and which noise.
"""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from evaluation.contracts.parameters import PRECISIONS

if TYPE_CHECKING:
    from torch import Tensor


def as_it_is(pipeline: Any, prompt: str) -> tuple[str, int]:
    return prompt, 0


def in_its_template(pipeline: Any, prompt: str) -> tuple[str, int]:
    return pipeline.prompt_template_encode.format(prompt), pipeline.prompt_template_encode_start_idx


def in_a_chat(pipeline: Any, prompt: str) -> tuple[str, int]:
    said = [{"role": "user", "content": prompt}]
    rendered = pipeline.tokenizer.apply_chat_template(
        said, tokenize=False, add_generation_prompt=True, enable_thinking=True
    )
    return rendered, 0


def after_its_system_prompt(pipeline: Any, prompt: str) -> tuple[str, int]:
    return f"{pipeline.system_prompt} <Prompt Start> {prompt}", 0


def after_its_instruction(pipeline: Any, prompt: str) -> tuple[str, int]:
    """Sana's instruction is in the signature of its call; all but two of its tokens come on top."""
    lines = inspect.signature(type(pipeline).__call__).parameters["complex_human_instruction"].default
    before = "\n".join(lines)
    return f"{before}{prompt.lower().strip()}", len(pipeline.tokenizer.encode(before)) - 2


@dataclass(frozen=True)
class Family:
    """`denoiser`: the network that takes the noise. `noise`: how the noise of one image lies in it.

    `plain`: (channels, h, w); `packed`: the same in patches of 2 × 2, a row of patches; `frames`: packed, of a video
    of one frame. `multiple`: cells of the latent image that a side is a multiple of. `guidance`: the argument that
    the parameter *guidance* becomes; `negative`: the prompt that guidance points away from, where the library has none
    of its own. `reader`: the tokenizer that the words count by, with the encoder behind it, where the pipeline has
    one; without it (`may_lack_reader`), or beside it, the `clips` read as far as they reach. `prompt_tokens`: what the
    reader takes without the parameter *prompt_tokens*, `most_prompt_tokens`: the most it can take. `wrapped`: what the
    pipeline makes of a prompt before its tokens are counted, and how many of these it takes away again. `lowered`:
    prompts are made lower-case, as in training. `noise_in_full`: the noise stays in fp32 whatever the precision.
    `tolerance`: by how many grey levels an image in fp32 may differ between alone and in a batch. `fixed`: further
    arguments of every call.
    """

    denoiser: Literal["unet", "transformer"] = "transformer"
    noise: Literal["plain", "packed", "frames"] = "plain"
    multiple: int = 2
    guidance: str = "guidance_scale"
    negative: str | None = None
    reader: tuple[str, str] = ("", "")
    may_lack_reader: bool = False
    clips: tuple[str, ...] = ()
    prompt_tokens: int = 0
    most_prompt_tokens: int = 0
    wrapped: Callable[[Any, str], tuple[str, int]] = as_it_is
    lowered: bool = False
    safety: bool = False
    noise_in_full: bool = False
    precisions: tuple[str, ...] = PRECISIONS
    tolerance: int = 1
    fixed: Mapping[str, Any] = field(default_factory=dict)


# Captions are left as they are: cleaning them depends on packages that may be absent. The size is the one asked for.
PIXART: Mapping[str, Any] = {"clean_caption": False, "use_resolution_binning": False}
ONLY = ("tokenizer", "text_encoder")
SECOND, THIRD = ("tokenizer_2", "text_encoder_2"), ("tokenizer_3", "text_encoder_3")

FAMILIES: Mapping[str, Family] = {
    "StableDiffusionPipeline": Family("unet", multiple=1, clips=("tokenizer",), safety=True),
    "StableDiffusionXLPipeline": Family("unet", multiple=1, clips=("tokenizer", "tokenizer_2")),
    "StableDiffusion3Pipeline": Family(
        reader=THIRD,
        may_lack_reader=True,
        clips=("tokenizer", "tokenizer_2"),
        prompt_tokens=256,
        most_prompt_tokens=512,
    ),
    "FluxPipeline": Family(
        noise="packed", reader=SECOND, clips=("tokenizer",), prompt_tokens=512, most_prompt_tokens=512
    ),
    "PixArtAlphaPipeline": Family(reader=ONLY, prompt_tokens=120, most_prompt_tokens=120, lowered=True, fixed=PIXART),
    "PixArtSigmaPipeline": Family(reader=ONLY, prompt_tokens=300, most_prompt_tokens=300, lowered=True, fixed=PIXART),
    "LatentConsistencyModelPipeline": Family("unet", multiple=1, clips=("tokenizer",), safety=True),
    "ChromaPipeline": Family(noise="packed", reader=ONLY, prompt_tokens=512, most_prompt_tokens=512),
    "AuraFlowPipeline": Family(reader=ONLY, prompt_tokens=256, most_prompt_tokens=256),
    # From here on language models read the prompts; their makers run them in bf16, and fp16 lacks the numbers.
    "Lumina2Pipeline": Family(
        reader=ONLY,
        prompt_tokens=256,
        most_prompt_tokens=256,
        wrapped=after_its_system_prompt,
        precisions=("fp32", "bf16"),
    ),
    "SanaPipeline": Family(
        multiple=1,
        reader=ONLY,
        prompt_tokens=300,
        most_prompt_tokens=300,
        wrapped=after_its_instruction,
        precisions=("fp32", "bf16"),
        fixed=PIXART,
    ),
    "ZImagePipeline": Family(
        reader=ONLY,
        prompt_tokens=512,
        most_prompt_tokens=512,
        wrapped=in_a_chat,
        noise_in_full=True,
        precisions=("fp32", "bf16"),
    ),
    "QwenImagePipeline": Family(
        noise="frames",
        guidance="true_cfg_scale",
        negative=" ",
        reader=ONLY,
        prompt_tokens=512,
        most_prompt_tokens=1024,
        wrapped=in_its_template,
        precisions=("fp32", "bf16"),
    ),
}


def scale_of(vae: Mapping[str, Any]) -> int:
    """Pixels of a side for one cell of the latent image, from the decoder's own configuration."""
    if "temperal_downsample" in vae:
        return 2 ** len(vae["temperal_downsample"])
    return 2 ** (len(vae.get("encoder_block_out_channels") or vae.get("block_out_channels", (1,))) - 1)


def shape_of(family: Family, channels: int, side: int) -> tuple[int, ...]:
    """The shape in which the library draws the noise of one image. `channels`: those that the denoiser takes."""
    if family.noise == "plain":
        return channels, side, side
    shape = channels // 4, side, side
    return (1, *shape) if family.noise == "frames" else shape


def arrange_noise(family: Family, noise: "Tensor") -> "Tensor":
    """The noise of several images as the pipeline takes it."""
    if family.noise == "plain":
        return noise
    images, (channels, height, width) = noise.shape[0], noise.shape[-3:]
    cut = noise.reshape(images, channels, height // 2, 2, width // 2, 2).permute(0, 2, 4, 1, 3, 5)
    return cut.reshape(images, height // 2 * (width // 2), channels * 4)
