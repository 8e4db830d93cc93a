"""Several questions after one beginning, in one sequence: each sees the beginning and itself, none another.

The beginning goes through the model once and stays in its cache. The questions follow as one row of tokens, those
about several images too; positions start anew for each, so that the arithmetic is that of asking each alone.
"""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from evaluation.backends.vlm.attention import attend_once, attending, build_causal_mask, merge_attention

if TYPE_CHECKING:
    from torch import Tensor

# What the cache of a language model was called before it was called just that.
PAST = "past_key_values"


@dataclass(frozen=True)
class Packed:
    """Questions in one row: `owner` of each token, its `offset` in its question, where each has its `last`.

    `lengths`: tokens of each question.
    """

    ids: "Tensor"
    owner: "Tensor"
    offset: "Tensor"
    last: "Tensor"
    lengths: tuple[int, ...]

    @cached_property
    def longest(self) -> int:
        return max(self.lengths)

    @cached_property
    def slots(self) -> "Tensor":
        """The place of each token where every question has as much room as the longest."""
        return self.owner * self.longest + self.offset


def pack_questions(questions: Sequence[Sequence[int]], device: Any) -> Packed:
    """Token ids of each question → one row of them all."""
    import torch

    if not all(questions):
        raise ValueError("A question has no tokens.")
    lengths = [len(question) for question in questions]
    made = (
        [token for question in questions for token in question],
        [number for number, length in enumerate(lengths) for _ in range(length)],
        [place for length in lengths for place in range(length)],
        [sum(lengths[: number + 1]) - 1 for number in range(len(lengths))],
    )
    # From page-locked memory, so that asking does not wait for what the card is still doing.
    pinned = torch.device(device).type == "cuda"
    ids, owner, offset, last = (torch.tensor(row, pin_memory=pinned).to(device, non_blocking=True) for row in made)
    return Packed(ids, owner, offset, last, tuple(lengths))


@dataclass(frozen=True)
class Beginning:
    """What the model holds of an image and of what is before it.

    `layers`: keys and values of each layer, (1, heads, tokens, width). In `crossing` layers these are the image's,
    and every token of a question looks at all of them. `position`: of the first token after it, a number or a tensor
    of one, which differs from `length` where an image counts otherwise than by tokens.
    """

    layers: tuple[tuple["Tensor", "Tensor"], ...]
    length: int
    position: Any
    crossing: frozenset[int] = frozenset()


class LanguageModel:
    """The part of a vision-language model that reads and writes words, whatever its family. Not for several threads."""

    def __init__(self, network: Any) -> None:
        self.network = network
        self.inner = network.model.language_model
        self.cache_name = "cache" if "cache" in inspect.signature(self.inner.forward).parameters else PAST
        self.crossing = frozenset(getattr(self.inner, "cross_attention_layers", None) or ())

    def begin(self, embedded: "Tensor") -> Beginning:
        """`embedded`: (1, tokens, width), what the model is given of the beginning."""
        from transformers import DynamicCache

        cache = DynamicCache()
        self.inner(inputs_embeds=embedded, use_cache=True, **{self.cache_name: cache})
        return self.beginning_of(cache, embedded.shape[1])

    def beginning_of(self, cache: Any, length: int, position: Any = None, visible: float = 1.0) -> Beginning:
        """What a cache of the library holds. `visible`: the share of crossing keys, the first ones, that are real."""
        layers = []
        for number, layer in enumerate(cache.layers):
            kept = round(layer.keys.shape[2] * visible) if number in self.crossing else length
            layers.append((layer.keys[:, :, :kept], layer.values[:, :, :kept]))
        return Beginning(tuple(layers), length, length if position is None else position, self.crossing)

    def passed(self, now: Any, ids: "Tensor", positions: "Tensor") -> "Tensor":
        """What the model makes of each token of the row, (tokens, width). `now`: how they attend, what keeps them."""
        embedded = self.network.get_input_embeddings()(ids[None])
        given = {"position_ids": positions[None], self.cache_name: now}
        with attending(self.inner, now):
            found: Tensor = self.inner(inputs_embeds=embedded, use_cache=True, **given).last_hidden_state
        return found[0].to(embedded.device)

    def logits(self, hidden: "Tensor") -> "Tensor":
        """(tokens, width) → (tokens, vocabulary)."""
        found: Tensor = self.network.lm_head(hidden)
        return found.to(hidden.device)

    def asked(
        self,
        beginnings: Sequence[Beginning],
        counts: Sequence[int],
        questions: Packed,
        keep: "Callable[[int, Tensor, Tensor], None] | None" = None,
    ) -> "Tensor":
        """Logits of the first token of each answer, (questions, vocabulary).

        `counts`: how many questions in turn are about each of `beginnings`. `keep` gets the number of each layer with
        the keys and values of all tokens in the row.
        """
        import torch

        now = QuestionPass(beginnings, counts, questions, keep)
        about = [
            beginning.position + questions.offset[part] for beginning, part in zip(beginnings, now.parts, strict=True)
        ]
        return self.logits(self.passed(now, questions.ids, torch.cat(about))[questions.last])


@dataclass(frozen=True)
class CrossedLayer:
    """What the library looks for in a layer that looks at the image alone."""

    keys: "Tensor"
    values: "Tensor"
    is_initialized: bool = True


class PassCache:
    """What the library takes for a cache: `layers` is looked into by models whose words look at an image aside."""

    is_sliding: tuple[bool, ...] = ()

    def __init__(self, beginning: Beginning) -> None:
        self.layers = tuple(CrossedLayer(*pair) for pair in beginning.layers) if beginning.crossing else ()

    def get_seq_length(self, layer_idx: int = 0) -> int:
        """Nobody may count by it: positions are given."""
        return 0


class QuestionPass(PassCache):
    """Questions of a row, each after its own beginning: the cache and the attention of one pass."""

    def __init__(
        self,
        beginnings: Sequence[Beginning],
        counts: Sequence[int],
        questions: Packed,
        keep: "Callable[[int, Tensor, Tensor], None] | None",
    ) -> None:
        super().__init__(beginnings[0])
        self.beginnings, self.questions, self.keep = beginnings, questions, keep
        self.parts: list[slice] = []
        asked, start = iter(questions.lengths), 0
        for count in counts:
            end = start + sum(next(asked) for _ in range(count))
            self.parts.append(slice(start, end))
            start = end

    def update(self, key: "Tensor", value: "Tensor", layer: int, *_: Any, **__: Any) -> tuple["Tensor", "Tensor"]:
        if self.keep:
            self.keep(layer, key, value)
        return key, value

    def attend(
        self, layer: int, query: "Tensor", key: "Tensor", value: "Tensor", scale: float, window: int
    ) -> "Tensor":
        """See `AttentionPass`."""
        import torch

        before = [
            self.over_beginning(beginning, layer, query[:, :, part], part, scale, window)
            for beginning, part in zip(self.beginnings, self.parts, strict=True)
        ]
        whole = before[0] if len(before) == 1 else tuple(torch.cat(each, dim=2) for each in zip(*before, strict=True))
        if layer in self.beginnings[0].crossing:
            return whole[0].transpose(1, 2)
        own = self.over_own(query, key, value, scale, window)
        return merge_attention((whole[0], whole[1]), own).transpose(1, 2)

    def over_beginning(
        self, beginning: Beginning, layer: int, query: "Tensor", part: slice, scale: float, window: int
    ) -> tuple["Tensor", "Tensor"]:
        import torch

        key, value = beginning.layers[layer]
        seen = None
        if window and beginning.length + self.questions.longest > window and layer not in beginning.crossing:
            place = torch.arange(beginning.length, device=query.device)
            offset = self.questions.offset[part].to(query.device)
            seen = beginning.length + offset[:, None] - place[None, :] < window
        return attend_once(query, key, value, scale, seen=seen)

    def over_own(
        self, query: "Tensor", key: "Tensor", value: "Tensor", scale: float, window: int
    ) -> tuple["Tensor", "Tensor"]:
        """Each question as a row of its own, with room for the longest; what is behind its end is thrown away."""
        count, room = len(self.questions.lengths), self.questions.longest
        slots = self.questions.slots.to(query.device)

        def spread_out(values: "Tensor") -> "Tensor":
            """(1, heads, tokens, width) → (questions, heads, room, width)"""
            held = values.new_zeros((count * room, values.shape[1], values.shape[3]))
            held[slots] = values[0].transpose(0, 1)
            return held.view(count, room, *held.shape[1:]).transpose(1, 2)

        seen = build_causal_mask(room, window, query.device) if window and window < room else None
        found, sums = attend_once(
            spread_out(query), spread_out(key), spread_out(value), scale, causal=seen is None, seen=seen
        )
        width = query.shape[3]
        back = found.transpose(1, 2).reshape(count * room, -1, width)[slots].transpose(0, 1)
        return back[None], sums.transpose(1, 2).reshape(count * room, -1)[slots].transpose(0, 1)[None]


def on_its_way(values: "Tensor") -> "Callable[[], Tensor]":
    """What the card is still computing → what waits for it, and for nothing that the card was given later."""
    import torch

    if values.device.type != "cuda":
        return lambda: values
    found, done = values.to("cpu", non_blocking=True), torch.cuda.Event()
    done.record(torch.cuda.current_stream(values.device))

    def arrived() -> "Tensor":
        done.synchronize()
        return found

    return arrived
