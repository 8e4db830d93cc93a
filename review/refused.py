"""The one way in which review says no: a sentence for the person, a status for the machine."""


class Refused(Exception):
    """What was asked is not possible, and nothing was stored. `sentence` says why and what to do."""

    def __init__(self, sentence: str, status: int = 409) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.status = status
