"""What studies may ask of backends: one small protocol per role. A backend is made with its model's data."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from evaluation.studies.base import Result

Vectors = npt.NDArray[np.float32]


class BackendError(Exception):
    """The backend cannot work here at all, whatever the unit: unknown, not installed, not set up.

    The run then pauses with this text; its units stay as they are.
    """


class OutOfMemory(Exception):
    """The card's memory did not suffice for so many units at once. The runner halves the batch and goes on."""


@dataclass(frozen=True)
class ImageRequest:
    """One picture to make. `name` is what the picture is to show. Exactly one of `seed` and `sample` is set."""

    key: str
    prompt: str
    name: str
    prompt_id: int | None = None
    seed: int | None = None
    sample: int | None = None


class ImageGenerator(Protocol):
    """Makes pictures. One result per request, any order; a refusal is a result and never an exception."""

    def generate(self, requests: Sequence[ImageRequest]) -> Iterator[Result]: ...


class PromptLimited(Protocol):
    """What an image generator offers too where it knows what its text encoder reads."""

    def excess(self, prompt: str) -> int:
        """Tokens, counted by the model's own tokenizer, beyond those that the text encoder reads; 0 where all fit."""
        ...


class Encoder(Protocol):
    """Gives vectors of pictures and texts, (n, d) float32, not normalised, comparable by cosine."""

    preprocessing: str

    def encode_images(self, contents: Sequence[bytes]) -> Vectors: ...

    def encode_texts(self, texts: Sequence[str]) -> Vectors: ...
