"""Attention of several questions over a beginning that they share, without copying it and without any mask.

A token attends to two sets of keys: those of the beginning, and those of its own question. Each set is attended to by
itself; two results become the one over both sets by their log-sum-exp (Milakov & Gimelshein 2018; Juravsky et al.
2024, *Hydragen*): out = out₁·w + out₂·(1 − w), w = σ(lse₁ − lse₂). The card's fast kernel computes both.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Protocol

from evaluation.contracts.backend import BackendError

if TYPE_CHECKING:
    from torch import Tensor

# The name by which the library finds `attend_in_pass`.
NAME = "shared_beginning"
# What the card's fast kernel accepts.
MOST_WIDTH = 256
WIDTH_STEP = 8


class AttentionPass(Protocol):
    """What goes through the model now, and how its tokens attend."""

    def attend(
        self, layer: int, query: "Tensor", key: "Tensor", value: "Tensor", scale: float, window: int
    ) -> "Tensor":
        """Queries (1, heads, tokens, width), keys and values of the same tokens → (1, tokens, heads, width).

        `window`: how far back a token looks, itself included; 0 without bound.
        """
        ...


PRESENT: ContextVar[AttentionPass] = ContextVar("PRESENT")


@contextmanager
def attending(language: Any, now: AttentionPass) -> Iterator[None]:
    """The language model attends by `now` instead of by its own function."""
    register_attention()
    config = language.config
    before, mark = config._attn_implementation, PRESENT.set(now)
    config._attn_implementation = NAME
    try:
        yield
    finally:
        config._attn_implementation = before
        PRESENT.reset(mark)


def register_attention() -> None:
    from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

    if NAME not in ALL_ATTENTION_FUNCTIONS:
        ALL_ATTENTION_FUNCTIONS.register(NAME, attend_in_pass)


def attend_in_pass(
    module: Any,
    query: "Tensor",
    key: "Tensor",
    value: "Tensor",
    attention_mask: Any = None,
    scaling: float | None = None,
    sliding_window: int | None = None,
    **given: Any,
) -> tuple["Tensor", None]:
    """What the library calls in each layer. Raises BackendError for arithmetic that is not known here."""
    if unknown := [name for name in ("softcap", "s_aux", "position_bias") if given.get(name) is not None]:
        raise BackendError(f"Attention of this model has {', '.join(unknown)}, which is not supported.")
    scale = query.shape[-1] ** -0.5 if scaling is None else float(scaling)
    return PRESENT.get().attend(module.layer_idx, query, key, value, scale, sliding_window or 0), None


def attend_once(
    query: "Tensor", key: "Tensor", value: "Tensor", scale: float, *, causal: bool = False, seen: "Tensor | None" = None
) -> tuple["Tensor", "Tensor"]:
    """Attention with its log-sum-exp: (rows, heads, tokens, width) and (rows, heads, tokens) in fp32.

    Keys and values may have fewer heads, of which each serves several of the query's. `seen`: (tokens, keys), what may
    be looked at; a token that may look at nothing has −∞ and zeros. `causal` is for as many keys as tokens.
    """
    rows, heads, tokens, width = query.shape
    shared, length = key.shape[1], key.shape[2]
    if fast_here(query) and seen is None:
        if causal:
            key, value = (each.repeat_interleave(heads // shared, dim=1) for each in (key, value))
            return fast_attention(query, key, value, scale, causal=True)
        # Heads that share keys stand one after the other: as more tokens of one head they need no copy of the keys.
        found, sums = fast_attention(query.reshape(rows, shared, -1, width), key, value, scale, causal=False)
        return found.reshape(query.shape), sums.reshape(rows, heads, tokens)
    grouped = query.reshape(rows, shared, -1, width).float()
    scores = (grouped @ key.float().transpose(2, 3)).mul_(scale).view(rows, shared, -1, tokens, length)
    if causal:
        seen = build_causal_mask(tokens, 0, query.device)
    if seen is not None:
        scores = scores.masked_fill(~seen, float("-inf"))
    sums = scores.logsumexp(dim=-1)
    shares = (scores - sums.clamp_min(-1e30)[..., None]).exp_()
    found = shares.view(rows, shared, -1, length) @ value.float()
    return found.view(query.shape).to(query.dtype), sums.reshape(rows, heads, tokens)


def fast_here(query: "Tensor") -> bool:
    """Whether the card's own kernel computes it."""
    import torch

    half = query.dtype in (torch.float16, torch.bfloat16)
    return query.device.type == "cuda" and half and query.shape[-1] <= MOST_WIDTH and query.shape[-1] % WIDTH_STEP == 0


def fast_attention(
    query: "Tensor", key: "Tensor", value: "Tensor", scale: float, *, causal: bool
) -> tuple["Tensor", "Tensor"]:
    """By the kernel that PyTorch uses itself; only this way does it give the log-sum-exp."""
    import torch

    found = torch.ops.aten._scaled_dot_product_flash_attention(query, key, value, 0.0, causal, False, scale=scale)
    return found[0], found[1]


def build_causal_mask(tokens: int, window: int, device: Any) -> "Tensor":
    """(tokens, tokens), true where a token looks at itself and those before it, `window` of them at most."""
    import torch

    place = torch.arange(tokens, device=device)
    seen = place[:, None] >= place[None, :]
    return seen & (place[:, None] - place[None, :] < window) if window else seen


def merge_attention(one: tuple["Tensor", "Tensor"], other: tuple["Tensor", "Tensor"]) -> "Tensor":
    """Two results over two sets of keys as one over both; the second set is not empty for any token."""
    import torch

    weight = torch.sigmoid(one[1] - other[1])[..., None]
    return torch.lerp(other[0], one[0], weight.to(one[0].dtype))
