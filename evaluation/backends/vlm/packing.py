"""Several questions after one beginning, in one sequence: each sees the beginning and itself, none another.

The beginning goes through the model once and stays in its cache. The questions follow as one row of tokens; a mask
keeps them apart, and positions start anew for each, so that the arithmetic is that of asking each alone.
"""

import inspect
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor

# What the cache of a language model was called before it was called just that.
PAST = "past_key_values"


@dataclass(frozen=True)
class Packed:
    """Questions in one row: `owner` of each token, its `offset` in its question, where each has its `last`."""

    ids: "Tensor"
    owner: "Tensor"
    offset: "Tensor"
    last: "Tensor"


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
    return Packed(*(torch.tensor(row, pin_memory=pinned).to(device, non_blocking=True) for row in made))


class Shared:
    """The beginning that all questions share, as the model holds it. Not for several threads."""

    def __init__(self, network: Any, embedded: "Tensor") -> None:
        """`embedded`: (1, tokens, width), what the model is given of the beginning."""
        from transformers import DynamicCache

        self.network = network
        self.language = network.model.language_model
        self.cache_name = "cache" if "cache" in inspect.signature(self.language.forward).parameters else PAST
        self.cache = DynamicCache()
        self.length = embedded.shape[1]
        self.forward(embedded, None, None)

    def forward(self, embedded: "Tensor", mask: "Tensor | None", positions: "Tensor | None") -> "Tensor":
        """One pass, which the cache remembers → (1, tokens, width), where it was given."""
        given = {"attention_mask": mask, "position_ids": positions, self.cache_name: self.cache}
        found: Tensor = self.language(inputs_embeds=embedded, use_cache=True, **given).last_hidden_state
        return found.to(embedded.device)

    def forget(self) -> None:
        """Removes what was passed after the beginning, at least one token."""
        self.cache.crop(self.length - self.cache.get_seq_length())

    def asked(self, questions: Packed) -> "Tensor":
        """Logits of the first token of each answer, (questions, vocabulary)."""
        seen = questions.owner[:, None] == questions.owner[None, :]
        seen &= questions.offset[:, None] >= questions.offset[None, :]
        return self.logits(self.passed(questions.ids, seen, questions.offset)[questions.last])

    def logits(self, hidden: "Tensor") -> "Tensor":
        found: Tensor = self.network.lm_head(hidden)
        return found.to(hidden.device)

    def passed(self, ids: "Tensor", seen: "Tensor", offset: "Tensor") -> "Tensor":
        """What the model makes of each token. `seen`: (tokens, tokens after the beginning) that it may look at."""
        import torch

        all_of_it = seen.new_ones((len(ids), self.length))
        mask = torch.cat([all_of_it, seen], dim=1)[None, None]
        embedded = self.network.get_input_embeddings()(ids[None])
        return self.forward(embedded, mask, self.length + offset[None])[0]

    def continued(self, questions: Packed, most: int, ends: Collection[int]) -> list[list[int]]:
        """The likeliest continuation of each question, up to `most` tokens, without the token that ends it."""
        import torch

        ids = self.asked(questions).argmax(dim=-1)
        offset = questions.offset[questions.last]
        owner, going = questions.owner, torch.arange(len(ids), device=ids.device)
        made: list[list[int]] = [[] for _ in range(len(ids))]
        for step in range(most):
            ended = set()
            for place, (number, token) in enumerate(zip(going.tolist(), ids.tolist(), strict=True)):
                if token in ends:
                    ended.add(place)
                else:
                    made[number].append(token)
            keep = torch.tensor([place for place in range(len(ids)) if place not in ended], dtype=torch.long)
            going, ids, offset = (row[keep.to(row.device)] for row in (going, ids, offset))
            if not len(ids):
                break
            if step + 1 < most:
                owner, offset = torch.cat([owner, going]), offset + 1
                ids = self.logits(self.passed(ids, going[:, None] == owner[None, :], offset)).argmax(dim=-1)
        return made


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
