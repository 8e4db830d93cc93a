"""Families of text-to-image pipelines that are known: how each is asked, how much of a prompt it reads, its noise.

Sources: the pipelines of diffusers 0.42 and the model cards of their makers. A family that is not here is refused
before its weights are opened: it would draw something, and nobody could say with which prompt and which noise.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from evaluation.backends.declared import PRECISIONS

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class Family:
    """`denoiser`: the network that takes the noise. `noise`: how the noise of one picture lies in it.

    `plain`: (channels, h, w); `packed`: the same in patches of 2 × 2, a row of patches; `frames`: packed, of a video
    of one frame. `multiple`: cells of the latent picture that a side is a multiple of. `guidance`: the argument that
    the parameter *guidance* becomes; `negative`: the prompt that guidance points away from, where the library has none
    of its own. `reader`: the tokenizer that the words count by, with the encoder behind it, where the pipeline has
    one; without it (`may_lack_reader`), or beside it, the `clips` read as far as they reach. `prompt_tokens`: what the
    reader takes without the parameter *prompt_tokens*, `most_prompt_tokens`: the most it can take. `wrapped`: the
    pipeline writes the prompt into a template of its own. `lowered`: prompts are made lower-case, as in training.
    `tolerance`: by how many grey levels a picture in fp32 may differ between alone and in a batch.
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
    wrapped: bool = False
    lowered: bool = False
    safety: bool = False
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
    # Its text encoder leaves the numbers of fp16.
    "QwenImagePipeline": Family(
        noise="frames",
        guidance="true_cfg_scale",
        negative=" ",
        reader=ONLY,
        prompt_tokens=512,
        most_prompt_tokens=1024,
        wrapped=True,
        precisions=("fp32", "bf16"),
    ),
}


def scale_of(vae: Mapping[str, Any]) -> int:
    """Pixels of a side for one cell of the latent picture, from the decoder's own configuration."""
    halvings = vae.get("temperal_downsample")
    return 2 ** (len(halvings) if halvings is not None else len(vae.get("block_out_channels", ())) - 1)


def shape_of(family: Family, channels: int, side: int) -> tuple[int, ...]:
    """The shape in which the library draws the noise of one picture. `channels`: those that the denoiser takes."""
    if family.noise == "plain":
        return channels, side, side
    shape = channels // 4, side, side
    return (1, *shape) if family.noise == "frames" else shape


def laid(family: Family, noise: "Tensor") -> "Tensor":
    """The noise of several pictures as the pipeline takes it."""
    if family.noise == "plain":
        return noise
    pictures, (channels, height, width) = noise.shape[0], noise.shape[-3:]
    cut = noise.reshape(pictures, channels, height // 2, 2, width // 2, 2).permute(0, 2, 4, 1, 3, 5)
    return cut.reshape(pictures, height // 2 * (width // 2), channels * 4)
