"""A stand-in for models that answer questions about images: hashes. Deterministic, and no measurement."""

import hashlib
from collections.abc import Iterator, Sequence
from typing import ClassVar

from evaluation.contracts.backend import Answer, Asked, Question, Reading
from evaluation.contracts.study import ModelData


class StandinAnswers:
    """Chooses an option by image and question. Demonstrations only: the answers mean nothing."""

    readings: ClassVar[tuple[Reading, ...]] = ("generated", "logits")

    def __init__(self, model: ModelData) -> None:
        self.name = model.identifier

    def answer(self, asked: Sequence[Asked], reading: Reading) -> Iterator[Sequence[Answer]]:
        for each in asked:
            image = hashlib.sha256(each.image).digest()
            yield [self.one(image, question, reading) for question in each.questions]

    def one(self, image: bytes, question: Question, reading: Reading) -> Answer:
        weights = [self.weight(image, option) for option in question.options]
        if not weights:
            return Answer(text="demonstration")
        # The first place attracts a little, as it does with real models: some answers depend on the order.
        weights[0] *= 1.2
        if reading == "logits":
            return Answer(probabilities=tuple(weight / sum(weights) for weight in weights))
        return Answer(text=question.letters[weights.index(max(weights))])

    def weight(self, image: bytes, option: str) -> float:
        digest = hashlib.sha256(f"{self.name} {option}".encode() + image).digest()
        return 0.05 + digest[0] / 255
