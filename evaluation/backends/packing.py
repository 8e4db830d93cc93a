"""Several questions after one beginning, in one sequence: each sees the beginning and itself, none another.

The beginning goes through the model once and stays in its cache. The questions follow as one row of tokens; a mask
keeps them apart, and positions start anew for each, so that the arithmetic is that of asking each alone.
"""

import inspect
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evaluation.backends.base import BackendError

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


def packed(questions: Sequence[Sequence[int]], device: Any) -> Packed:
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
    return Packed(*(torch.tensor(row, device=device) for row in made))


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
        """One pass, which the cache remembers → (1, tokens, width)."""
        given = {"attention_mask": mask, "position_ids": positions, self.cache_name: self.cache}
        found: Tensor = self.language(inputs_embeds=embedded, use_cache=True, **given).last_hidden_state
        return found

    def forget(self) -> None:
        """Only the beginning stays."""
        if (more := self.cache.get_seq_length() - self.length) > 0:
            self.cache.crop(-more)

    def asked(self, questions: Packed) -> "Tensor":
        """Logits of the first token of each answer, (questions, vocabulary)."""
        seen = questions.owner[:, None] == questions.owner[None, :]
        seen &= questions.offset[:, None] >= questions.offset[None, :]
        return self.logits(self.passed(questions.ids, seen, questions.offset)[questions.last])

    def logits(self, hidden: "Tensor") -> "Tensor":
        found: Tensor = self.network.lm_head(hidden)
        return found

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
            if not len(ids) or step + 1 == most:
                break
            owner, offset = torch.cat([owner, going]), offset + 1
            ids = self.logits(self.passed(ids, going[:, None] == owner[None, :], offset)).argmax(dim=-1)
        return made


def letter_tokens(tokenizer: Any, before: str, letters: Sequence[str]) -> list[list[int]]:
    """The tokens with which an answer that begins with each letter begins, written with or without a space.

    A token with which several letters begin (a lone space) tells nothing and is left out. Raises BackendError where
    a letter has no token of its own.
    """
    found = [{first_token(tokenizer, before, text) for text in (letter, f" {letter}")} for letter in letters]
    counted = Counter(token for tokens in found for token in tokens)
    ways = [sorted(token for token in tokens if counted[token] == 1) for tokens in found]
    if not all(ways):
        raise BackendError(f"The letters {', '.join(letters)} cannot be told apart by their first token.")
    return ways


def first_token(tokenizer: Any, before: str, text: str) -> int:
    """The token that follows `before` where `text` does."""
    known, whole = (list(tokenizer(given)["input_ids"]) for given in (before, before + text))
    same = 0
    while same < min(len(known), len(whole)) and known[same] == whole[same]:
        same += 1
    return int(whole[min(same, len(whole) - 1)])
