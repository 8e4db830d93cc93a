"""Questions as a language model reads them: its makers' template, the place for the image, the tokens of letters."""

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from evaluation.contracts.backend import BackendError, Question

# The same questions are put to thousands of images.
REMEMBERED = 4096


class Wording:
    """Tokens of questions. `before`: what is before the image, whatever is asked."""

    def __init__(self, tokenizer: Any, template: str, image_token: int) -> None:
        self.tokenizer = tokenizer
        self.template = template
        self.image_token = image_token
        self.after = lru_cache(REMEMBERED)(self._after)
        self.ways = lru_cache(REMEMBERED)(self._ways)
        try:
            self.before, _ = self.split("?")
        except ValueError as error:
            raise BackendError(f"The model's template and its words do not fit together. {error}") from error

    def rendered(self, text: str) -> str:
        """The question as the model's makers wrap it, with one place for the image before it."""
        content = [{"type": "image"}, {"type": "text", "text": text}]
        return str(
            self.tokenizer.apply_chat_template(
                [{"role": "user", "content": content}],
                chat_template=self.template,
                add_generation_prompt=True,
                tokenize=False,
            )
        )

    def ids(self, rendered: str) -> list[int]:
        """Tokens, with the one that begins every text once, whether the template wrote it or not."""
        return list(self.tokenizer(rendered, add_special_tokens=not self.begins(rendered))["input_ids"])

    def begins(self, rendered: str) -> bool:
        """Whether the template wrote the token that begins every text."""
        return bool(self.tokenizer.bos_token) and rendered.startswith(self.tokenizer.bos_token)

    def split(self, text: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Tokens before and after the image."""
        ids = self.ids(self.rendered(text))
        if ids.count(self.image_token) != 1:
            raise ValueError("A question does not leave exactly one place for the image.")
        place = ids.index(self.image_token)
        return tuple(ids[:place]), tuple(ids[place + 1 :])

    def _after(self, text: str) -> tuple[int, ...]:
        before, after = self.split(text)
        if before != self.before:
            raise BackendError("The model's template changes with the question before the image comes.")
        return after

    def _ways(self, question: Question) -> tuple[tuple[int, ...], ...]:
        """For each letter the tokens with which an answer by it begins. Raises ValueError for a free question."""
        if not question.letters:
            raise ValueError("A question without options has no letters to read.")
        known = self.ids(self.rendered(question.text))
        return find_distinct_tokens(
            question.letters,
            [
                [self.first(known, question.text, form) for form in (letter, f" {letter}")]
                for letter in question.letters
            ],
        )

    def first(self, known: Sequence[int], text: str, answer: str) -> int | None:
        """The token that follows the question, `known`, where `answer` does; None where the two would melt together."""
        whole = self.ids(self.rendered(text) + answer)
        return whole[len(known)] if whole[: len(known)] == known and len(whole) > len(known) else None


def find_distinct_tokens(letters: Sequence[str], forms: Sequence[Sequence[int | None]]) -> tuple[tuple[int, ...], ...]:
    """The tokens of each letter, written with or without a space.

    A token with which several letters begin (a lone space) reveals nothing and is left out. Raises BackendError where
    a letter has no token of its own.
    """
    found = [{token for token in tokens if token is not None} for tokens in forms]
    counted = Counter(token for tokens in found for token in tokens)
    ways = tuple(tuple(sorted(token for token in tokens if counted[token] == 1)) for tokens in found)
    if not all(ways):
        raise BackendError(f"The letters {', '.join(letters)} cannot be distinguished by their first token.")
    return ways
