"""An encoder whose vectors were made elsewhere: it knows those that were imported, and no others."""

from collections.abc import Sequence
from typing import NoReturn

from evaluation.contracts.study import ModelData


class StoredEncoder:
    """Stands for imported vectors, which come with the work; asked for a new one it fails with a reason."""

    def __init__(self, model: ModelData) -> None:
        self.slug = model.slug
        self.preprocessing = str(model.parameters.get("preprocessing", ""))

    def encode_images(self, contents: Sequence[bytes]) -> NoReturn:
        self.fail("image")

    def encode_texts(self, texts: Sequence[str]) -> NoReturn:
        self.fail("text")

    def fail(self, what: str) -> NoReturn:
        raise LookupError(f"No vector of this {what} was imported for {self.slug}, and it cannot make one.")
