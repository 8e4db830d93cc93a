"""From lists of ingredients to sets that can be compared: by normal form and by alias. Pure; no second model.

The normal form of an ingredient is its words in the singular, without how it is cut or how much of it is taken:
`2 cups of finely chopped onions (red)` → `onion`. Names of one ingredient meet in the first of their line in
`ingredient_names.py`.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

from evaluation.readers.choice import State
from evaluation.readers.ingredient_names import DESCRIBING, IRREGULAR, SAME
from evaluation.readers.lists import LONGEST_ITEM, clean_items, read_list
from evaluation.readers.text import extract_answer_text, fold_words

MOST_INGREDIENTS = 60
PARENTHESES = re.compile(r"\([^()]{0,200}\)|\[[^\[\]]{0,200}\]")
AMOUNT = re.compile(r"\d[\d.,/½¼¾-]*\s*(?:x\b)?|[½¼¾]")
SEVERAL = re.compile(r"\s*(?:,|;|/|\+|&|•|·|\n|،|、|\band\b|\bor\b|\bet\b|\bwith\b|\bplus\b)\s*", re.IGNORECASE)
SECTION = re.compile(r"^(?:for|ingredients?)\b[^:]{0,40}:\s*|^ingredients?\s*[-:]\s*", re.IGNORECASE)


@dataclass(frozen=True)
class Ingredients:
    """What was read. `names` are normal forms, set where the state is "answered"."""

    state: State
    names: frozenset[str] = frozenset()


def read_ingredients(raw: str) -> Ingredients:
    """The ingredients that an answer lists. Never raises; time does not grow with `raw`."""
    listed = read_list(raw)
    if listed.state != "answered":
        return Ingredients(listed.state)
    names = normal_forms(listed.items)
    return Ingredients("answered", names) if names else Ingredients("no answer")


def ingredients_in(text: str) -> frozenset[str]:
    """The ingredients of a dish as its contributor wrote them: separated by commas, lines or *and*."""
    plain = PARENTHESES.sub(" ", extract_answer_text(text))
    return normal_forms(clean_items([SECTION.sub("", part) for part in re.split(r"[,;\n،、]", plain)]))


def normal_forms(items: tuple[str, ...]) -> frozenset[str]:
    """The normal forms of items, each of which may name several ingredients (`salt and pepper`)."""
    found: dict[str, None] = {}
    for item in items:
        plain = PARENTHESES.sub(" ", item[:LONGEST_ITEM]) if PARENTHESES.sub(" ", item).strip() else item
        for part in SEVERAL.split(plain):
            if form := normal_form(part):
                found[form] = None
    return frozenset(list(found)[:MOST_INGREDIENTS])


def normal_form(name: str) -> str:
    """One ingredient's name to compare by; empty where nothing is left of it."""
    words = [singularise_word(word) for word in fold_words(AMOUNT.sub(" ", name)).split()]
    aliased = load_ingredient_aliases().get(" ".join(words))
    if aliased:
        return aliased
    kept = [word for word in words if word not in DESCRIBING and not word.isdigit()]
    form = " ".join(kept)
    return load_ingredient_aliases().get(form, form)


@lru_cache(1)
def load_ingredient_aliases() -> dict[str, str]:
    """Name in the singular → the first name of its line. A name stands for the line that holds it first."""
    found: dict[str, str] = {}
    for line in SAME.splitlines():
        names = [" ".join(singularise_word(word) for word in fold_words(name).split()) for name in line.split(";")]
        for name in names:
            found.setdefault(name, names[0])
    return found


def singularise_word(word: str) -> str:
    """A word of an English name in the singular, by its ending."""
    if word in IRREGULAR:
        return IRREGULAR[word]
    if len(word) < 4 or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies"):
        return f"{word[:-3]}y"
    if word.endswith(("ches", "shes", "xes", "sses", "oes")):
        return word[:-2]
    return word[:-1]
