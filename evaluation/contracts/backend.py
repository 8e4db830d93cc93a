"""What studies may ask of backends: one small protocol per role. A backend is made with its model's data."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

from evaluation.contracts.study import FinalState, Result

Vectors = npt.NDArray[np.float32]


class BackendError(Exception):
    """The backend cannot work here at all, whatever the unit: unknown, not installed, not set up.

    The run then pauses with this text; its units stay as they are.
    """


class DeviceMemoryError(Exception):
    """The card's memory did not suffice for so many units at once. The runner halves the batch and goes on."""


@dataclass(frozen=True)
class ImageRequest:
    """One image to make. `name` is what the image is to show. Exactly one of `seed` and `sample` is set."""

    key: str
    prompt: str
    name: str
    prompt_id: int | None = None
    seed: int | None = None
    sample: int | None = None


class ImageGenerator(Protocol):
    """Makes images. One result per request, any order; a refusal is a result and never an exception."""

    def generate(self, requests: Sequence[ImageRequest]) -> Iterator[Result]: ...


class PromptLimited(Protocol):
    """What an image generator offers too where it knows what its text encoder reads."""

    def excess(self, prompt: str) -> int:
        """Tokens, counted by the model's own tokenizer, beyond those that the text encoder reads; 0 where all fit."""
        ...


class Encoder(Protocol):
    """Gives vectors of images and texts, (n, d) float32, not normalised, comparable by cosine."""

    preprocessing: str

    def encode_images(self, contents: Sequence[bytes]) -> Vectors: ...

    def encode_texts(self, texts: Sequence[str]) -> Vectors: ...


class Preparing(Protocol):
    """What a backend offers too where it can begin with an image before its turn comes."""

    def prepare(self, content: bytes) -> bytes:
        """The same bytes, with what was begun of them; called from several threads, and for what is no image.

        Their attribute `prepared_bytes`, where there is one, says how much memory that takes.
        """
        ...


class Batched(Protocol):
    """What a backend offers too where it computes so many units in one pass, and fewer are not much cheaper."""

    preferred_batch: int


class PixelSource(Protocol):
    """Gives images as arrays, small, for studies that measure pixels."""

    def pixels(self, contents: Sequence[bytes]) -> Iterator[npt.NDArray[np.uint8]]:
        """Images (h, w, 3) in the order of `contents`. Raises ImageError for what is no image."""
        ...


Reading = Literal["generated", "logits"]


@dataclass(frozen=True)
class Question:
    """A question as the model sees it. `letters` name its `options`, which the text holds too; none in a free one."""

    text: str
    letters: tuple[str, ...] = ()
    options: tuple[str, ...] = ()


@dataclass(frozen=True)
class Asked:
    """One image and the questions about it. Each is answered by itself, as if no other had been asked."""

    image: bytes
    questions: tuple[Question, ...]


@dataclass(frozen=True)
class Answer:
    """What a model answered: its raw words, or one probability per letter, in their order, which sum to 1."""

    text: str = ""
    probabilities: tuple[float, ...] = ()
    state: FinalState = "done"
    reason: str = ""
    circumstances: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Conversation:
    """What a chat model is told, in the form of the OpenAI protocol: `role` and `content` of each message.

    `seed` belongs to the sample; backends that take none are asked anew for each.
    """

    messages: tuple[Mapping[str, str], ...]
    seed: int = 0


class Chat(Protocol):
    """Answers conversations, each by itself, as if no other had been asked."""

    def converse(self, conversations: Sequence[Conversation]) -> Iterator[Answer]:
        """One answer for each, in their order. What was given before an error counts."""
        ...


class VisualAnswerer(Protocol):
    """Answers questions about images. `readings`: how its answers can be had.

    `generated`: the words that the model writes. `logits`: the probabilities of the option letters as its first word.
    """

    readings: tuple[Reading, ...]

    def answer(self, asked: Sequence[Asked], reading: Reading) -> Iterator[Iterable[Answer]]:
        """For every image in turn one answer per question, in their order.

        What was given before an error counts. Raises OSError or ValueError for what is no image.
        """
        ...
