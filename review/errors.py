"""The one way in which review says no: a sentence for the person, a status for the machine."""

from collections.abc import Sequence


class RequestRefusedError(Exception):
    """What was asked is not possible, and nothing was stored. `sentence` says why and what to do.

    `typed`: own words that were sent, to be shown so that they can be copied.
    """

    def __init__(self, sentence: str, status: int = 409, typed: Sequence[str] = ()) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.status = status
        self.typed = typed
