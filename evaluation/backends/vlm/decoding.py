"""Answers in words: the likeliest next token of all questions about several images at once, again and again.

A step reads all weights to write one token for each question. Questions of several images therefore share it. Each
sees its image's beginning, held once for all of them, and its own tokens. All tensors have fixed places and sizes, so
that a card repeats one recorded step (a CUDA graph) and does not wait for the processor to name each kernel.
"""

import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evaluation.backends.vlm.packing import Beginning, LanguageModel, Packed, PassCache, on_its_way

if TYPE_CHECKING:
    from torch import Tensor

logger = logging.getLogger(__name__)

# Rooms grow by such steps, so that images of nearly the same size find theirs.
LENGTH_STEP = 256
OWN_STEP = 32
# Steps before a recording, which the library needs to choose its kernels.
WARM_UP = 2
HIDDEN = -1e30
# Of the free memory that a grid may take.
MOST_OF_FREE = 0.6


@dataclass(frozen=True)
class Room:
    """Sizes of a grid: `images` × `questions` rows, tokens of a beginning, of an image aside, and of a question."""

    images: int
    questions: int
    length: int
    crossed: int
    own: int

    @property
    def rows(self) -> int:
        return self.images * self.questions

    def holds(self, other: "Room") -> bool:
        """Whether `other` fits in, with a grid of the same shape."""
        same = (self.images, self.questions) == (other.images, other.questions)
        return same and self.length >= other.length and self.crossed >= other.crossed and self.own >= other.own


def round_up(number: int, step: int) -> int:
    return -(-number // step) * step


def room_for(beginnings: Sequence[Beginning], questions: int, longest: int, most: int) -> Room:
    """`longest`: tokens of a question; `most`: of an answer."""
    crossed = [each.layers[layer][0].shape[2] for each in beginnings for layer in each.crossing]
    return Room(
        len(beginnings),
        questions,
        round_up(max(each.length for each in beginnings), LENGTH_STEP),
        max(crossed, default=0),
        round_up(longest + most, OWN_STEP),
    )


def bytes_of_room(beginning: Beginning, room: Room) -> int:
    """What the keys and values of a grid take."""
    total = 0
    for number, (key, value) in enumerate(beginning.layers):
        one = sum(each.element_size() * each.shape[1] * each.shape[3] for each in (key, value))
        crossing = number in beginning.crossing
        total += one * (room.images * room.crossed if crossing else room.images * room.length + room.rows * room.own)
    return total


class Grid(PassCache):
    """Keys, values and present tokens of `room.rows` questions. The cache and the attention of one step.

    Row `image · questions + question`. Rows that nobody asked write tokens that nobody reads.
    """

    def __init__(
        self, language: LanguageModel, like: Beginning, room: Room, most: int, ends: frozenset[int], device: Any
    ) -> None:
        import torch

        super().__init__(like)
        self.language, self.room, self.most, self.ends = language, room, most, ends
        self.crossing = like.crossing
        self.before: list[tuple[Tensor, Tensor]] = []
        self.own: list[tuple[Tensor, Tensor]] = []
        for number, (key, value) in enumerate(like.layers):
            tokens = room.crossed if number in like.crossing else room.length
            # Zeros and not whatever lay there: nothing times NaN is NaN.
            self.before.append(
                (
                    key.new_zeros((room.images, key.shape[1], tokens, key.shape[3])),
                    value.new_zeros((room.images, value.shape[1], tokens, value.shape[3])),
                )
            )
            own = 0 if number in like.crossing else room.own
            self.own.append(
                (
                    key.new_zeros((room.rows, key.shape[1], own, key.shape[3])),
                    value.new_zeros((room.rows, value.shape[1], own, value.shape[3])),
                )
            )
        whole = {"device": device, "dtype": torch.long}
        self.rows = torch.arange(room.rows, **whole)
        self.ids, self.offset, self.shift = (torch.zeros(room.rows, **whole) for _ in range(3))
        self.lengths, self.crossed = (torch.ones(room.images, **whole) for _ in range(2))
        self.step_number = torch.zeros(1, **whole)
        self.made = torch.zeros((most, room.rows), **whole)
        self.ended = torch.zeros(room.rows, device=device, dtype=torch.bool)
        self.end_ids = torch.tensor(sorted(ends), **whole)
        self.masks: dict[tuple[int, str, Any], Tensor] = {}
        self.graph: Any = None

    def load(self, beginnings: Sequence[Beginning]) -> None:
        """Takes the place of whatever was here."""
        import torch

        for image, beginning in enumerate(beginnings):
            for number, pair in enumerate(beginning.layers):
                for held, given in zip(self.before[number], pair, strict=True):
                    held[image, :, : given.shape[2]] = given[0]
            self.lengths[image] = beginning.length
            for layer in beginning.crossing:
                self.crossed[image] = beginning.layers[layer][0].shape[2]
            part = slice(image * self.room.questions, (image + 1) * self.room.questions)
            self.shift[part] = torch.as_tensor(beginning.position, device=self.shift.device)
        self.offset.zero_()
        self.ids.zero_()
        self.ended.fill_(True)

    def keeper(self, questions: Packed, rows: "Tensor") -> Any:
        """What `LanguageModel.asked` gives keys and values to; `rows`: of the questions, in this grid."""
        owner, offset = rows[questions.owner], questions.offset

        def kept(layer: int, key: "Tensor", value: "Tensor") -> None:
            there = owner.to(key.device), offset.to(key.device)
            for held, given in zip(self.own[layer], (key, value), strict=True):
                held[there[0], :, there[1]] = given[0].transpose(0, 1)

        return kept

    def first(self, rows: "Tensor", ids: "Tensor", lengths: Sequence[int]) -> None:
        """The first tokens of the answers in `rows`; `lengths`: tokens of their questions."""
        import torch

        self.ids[rows] = ids
        self.offset[rows] = torch.tensor(lengths, device=self.offset.device)
        self.ended[rows] = False

    def continued(self) -> list[list[int]]:
        """Tokens of each row, up to `most`, without the one that ends it. The grid's questions are used up."""
        self.made[0] = self.ids
        self.ended |= self.at_end()
        self.step_number.fill_(1)
        finished = on_its_way(self.ended.all())
        written = 1
        while written < self.most:
            self.repeat()
            written += 1
            # The card has its next step while the processor looks at what came of the one before.
            if bool(finished()):
                break
            finished = on_its_way(self.ended.all())
        return [cut_at_end(row[:written], self.ends) for row in self.made.t().tolist()]

    def at_end(self) -> "Tensor":
        return (self.ids[:, None] == self.end_ids).any(dim=1)

    def repeat(self) -> None:
        if self.graph is None:
            self.step()
        else:
            self.graph.replay()

    def record(self) -> None:
        """Records a step where a card can repeat it. What the grid holds is lost."""
        import torch

        if self.ids.device.type != "cuda" or len({pair[0].device for pair in self.before}) > 1:
            return
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        try:
            with torch.cuda.stream(stream):
                for _ in range(WARM_UP):
                    self.step()
            torch.cuda.current_stream().wait_stream(stream)
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                self.step()
            self.graph = graph
        except torch.OutOfMemoryError:
            raise
        except RuntimeError as error:
            # Some models ask the card for a number in the middle of a step. They are asked step by step.
            logger.warning("A step could not be recorded: %s", str(error).partition("\n")[0])

    def step(self) -> None:
        """One token more for each row."""
        self.masks.clear()
        hidden = self.language.passed(self, self.ids, self.shift + self.offset)
        self.ids.copy_(self.language.logits(hidden).argmax(dim=-1))
        self.ended |= self.at_end()
        # Beyond its end the last place is written again and again.
        self.made.index_copy_(0, self.step_number.clamp(max=self.most - 1), self.ids[None])
        self.offset.add_(1).clamp_(max=self.room.own - 1)
        self.step_number.add_(1)
        self.masks.clear()

    def update(self, key: "Tensor", value: "Tensor", layer: int, *_: Any, **__: Any) -> tuple["Tensor", "Tensor"]:
        rows, offset = self.rows.to(key.device), self.offset.to(key.device)
        for held, given in zip(self.own[layer], (key, value), strict=True):
            held[rows, :, offset] = given[0].transpose(0, 1)
        return key, value

    def attend(
        self, layer: int, query: "Tensor", key: "Tensor", value: "Tensor", scale: float, window: int
    ) -> "Tensor":
        """See `AttentionPass`. Both sets of keys under one softmax: rows are few, so nothing is gained by two."""
        import torch

        keys, values = self.before[layer]
        images, shared, length, width = keys.shape
        rows, each = self.room.rows, query.shape[1] // shared
        crossing = layer in self.crossing
        by_row = query[0].transpose(0, 1).reshape(rows, shared, each, width)
        by_image = by_row.view(images, -1, shared, each, width).transpose(1, 2).reshape(images, shared, -1, width)
        scores = (by_image @ keys.transpose(2, 3)).view(images, shared, -1, each, length)
        mask = self.mask(window, "crossed" if crossing else "before", query.device)
        if crossing:
            shares = (
                torch.add(mask, scores, alpha=scale).softmax(dim=-1).to(query.dtype).view(images, shared, -1, length)
            )
            found = (shares @ values).view(images, shared, -1, each, width).transpose(1, 2)
            return found.reshape(1, rows, -1, width)
        own_keys, own_values = self.own[layer]
        own = (by_row @ own_keys.transpose(2, 3)).view(images, -1, shared, each, self.room.own).transpose(1, 2)
        own_mask = self.mask(window, "own", query.device).view(images, 1, -1, 1, self.room.own)
        both = mask.new_empty((*scores.shape[:-1], length + self.room.own))
        torch.add(mask, scores, alpha=scale, out=both[..., :length])
        torch.add(own_mask, own, alpha=scale, out=both[..., length:])
        both = both.softmax(dim=-1).to(query.dtype)
        found = both[..., :length].reshape(images, shared, -1, length) @ values
        found = found.view(images, shared, -1, each, width).transpose(1, 2).reshape(rows, shared, each, width)
        found = found + both[..., length:].transpose(1, 2).reshape(rows, shared, each, -1) @ own_values
        return found.reshape(1, rows, -1, width)

    def mask(self, window: int, keys: str, device: Any) -> "Tensor":
        """What is added to scores of `keys`, once for all layers of a step that look equally far."""
        known = (window, keys, device)
        if known not in self.masks:
            self.masks[known] = self.build_mask(window, keys).to(device)
        return self.masks[known]

    def build_mask(self, window: int, keys: str) -> "Tensor":
        import torch

        if keys == "own":
            place = torch.arange(self.room.own, device=self.offset.device)
            back = self.offset[:, None] - place
            seen = (back >= 0) & (back < window) if window else back >= 0
            return hide_unseen(seen)[:, None, None]
        if keys == "crossed":
            place = torch.arange(self.room.crossed, device=self.offset.device)
            return hide_unseen(place < self.crossed[:, None])[:, None, None, None]
        place = torch.arange(self.room.length, device=self.offset.device)
        seen = (place < self.lengths[:, None])[:, None]
        if window:
            at = self.lengths[:, None] + self.offset.view(self.room.images, -1)
            seen = seen & (at[:, :, None] - place < window)
        return hide_unseen(seen)[:, None, :, None]


def hide_unseen(seen: "Tensor") -> "Tensor":
    """True → 0, false → so little that its share is nothing."""
    import torch

    return torch.zeros(seen.shape, device=seen.device).masked_fill(~seen, HIDDEN)


def cut_at_end(ids: Sequence[int], ends: Collection[int]) -> list[int]:
    return list(ids[: next((place for place, token in enumerate(ids) if token in ends), len(ids))])


class Decoder:
    """Keeps a grid, and its recorded step, for as long as questions fit into it."""

    def __init__(self, language: LanguageModel, device: Any) -> None:
        self.language, self.device = language, device
        self.grid: Grid | None = None

    def fits(self, beginnings: Sequence[Beginning], room: Room) -> bool:
        """Whether so large a grid is there already, or finds place in the card's memory."""
        import torch

        if self.device.type != "cuda" or (self.grid and self.grid.room.holds(room)):
            return True
        free, _ = torch.cuda.mem_get_info(self.device)
        free += torch.cuda.memory_reserved(self.device) - torch.cuda.memory_allocated(self.device)
        if self.grid:
            free += bytes_of_room(beginnings[0], self.grid.room)
        return bytes_of_room(beginnings[0], room) < MOST_OF_FREE * free

    def grid_for(self, beginnings: Sequence[Beginning], room: Room, most: int, ends: frozenset[int]) -> Grid:
        """A grid that holds the beginnings, and no questions yet."""
        grid = self.grid
        if grid is None or not grid.room.holds(room) or (grid.most, grid.ends) != (most, ends):
            # The old one makes room first.
            grid = self.grid = None
            grid = self.grid = Grid(self.language, beginnings[0], room, most, ends, self.device)
            grid.record()
        grid.load(beginnings)
        return grid
