"""A stand-in for models that chat about dishes: hashes. Deterministic, and no measurement."""

import hashlib
import json
import random
from collections.abc import Iterator, Sequence

from evaluation.contracts.backend import Answer, Conversation
from evaluation.contracts.study import ModelData

COUNTRIES = ("Nigeria", "India", "Kenya", "Peru", "Japan", "Poland")
INGREDIENTS = ("rice", "beans", "onions", "tomatoes", "salt", "palm oil", "chicken", "flour", "sugar", "milk")
# Words that tell what is asked, in both wordings of the questions → what may be answered.
ASKED = {
    "true or false": ("True", "False"),
    "ingredient": INGREDIENTS,
    "breakfast": ("breakfast", "lunch", "dinner", "snack", "anytime"),
    "soup": ("Soup", "Side dish", "Dessert", "Main dish - eaten with sides"),
    "spoon": ("Spoon", "Fork", "Knife", "Fingers"),
}


class StandinChat:
    """Answers by the hash of what is asked. Demonstrations only: the answers mean nothing."""

    def __init__(self, model: ModelData) -> None:
        self.name = model.identifier

    def converse(self, conversations: Sequence[Conversation]) -> Iterator[Answer]:
        for each in conversations:
            asked = "\n".join(message["content"] for message in each.messages)
            draw = random.Random(hashlib.sha256(f"{self.name} {each.seed} {asked}".encode()).digest())
            yield Answer(text=draw_answer(asked.casefold(), draw))


def draw_answer(asked: str, draw: random.Random) -> str:
    offered = next((words for word, words in ASKED.items() if word in asked), ())
    if "True" in offered:
        return draw.choice(offered)
    if offered:
        return json.dumps(draw.sample(offered, draw.randint(1, len(offered) - 1)))
    if "country" in asked:
        return draw.choice(COUNTRIES)
    return draw.choice(("A demonstration, not a description.", "I'm sorry, this demonstration knows no dish."))
