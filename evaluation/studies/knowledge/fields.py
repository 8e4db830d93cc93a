"""What is asked about a dish, and the rules of the paper for its answers (World Wide recipe, App. H.2 and H.3)."""

from collections.abc import Mapping, Sequence

from evaluation.metrics.set_overlap import iou

DESCRIPTION = "description"
FIELDS = ("country", "time_of_day", "type_of_dish", "utensils", "ingredients")
# Option → the words that mean it, for our reader. Fingers are hands: a contributor writes the one, a model the other.
OPTIONS: Mapping[str, Mapping[str, Sequence[str]]] = {
    "time_of_day": {
        "breakfast": ("breakfast", "morning"),
        "lunch": ("lunch", "lunchtime", "midday", "noon"),
        "dinner": ("dinner", "supper", "evening meal"),
        "snack": ("snack", "snacks"),
        "anytime": ("anytime", "any time", "all day", "throughout the day"),
    },
    "type_of_dish": {
        "starter": ("starter", "starters", "appetizer", "appetiser"),
        "soup": ("soup", "soups"),
        "salad": ("salad", "salads"),
        "sauce": ("sauce", "sauces"),
        "side_dish": ("side dish", "side dishes"),
        "main_alone": ("main dish stand alone", "main dish standalone", "one pot meal", "main dish on its own"),
        "main_sides": ("main dish eaten with sides", "main dish with sides", "eaten with sides"),
        "small_shared": ("small plate bowl for sharing", "small plate or bowl for sharing", "small plate for sharing"),
        "small_collection": (
            "small plate bowl served as a part of a collection",
            "small plate bowl served as part of a collection",
            "small plate or bowl one of several",
        ),
        "dessert": ("dessert", "desserts"),
    },
    "utensils": {
        "knife": ("knife", "knives"),
        "fork": ("fork", "forks"),
        "spoon": ("spoon", "spoons", "tablespoon", "teaspoon", "ladle"),
        "chopsticks": ("chopsticks", "chopstick"),
        "hand": ("hand", "hands", "finger", "fingers", "right hand", "left hand", "bare hands"),
    },
}
# The options that the published comparison looks for as parts of the text; "other" is none of them.
PUBLISHED_OPTIONS: Mapping[str, Sequence[str]] = {
    "time_of_day": ("breakfast", "lunch", "dinner", "snack", "anytime"),
    "type_of_dish": (
        "starter",
        "soup",
        "salad",
        "sauce",
        "side dish",
        "main dish - stand alone",
        "main dish - eaten with sides",
        "small plate / bowl for sharing",
        "small plate / bowl served as a part of a collection",
        "dessert",
    ),
    "utensils": ("fork", "knife", "spoon", "chopsticks", "finger", "hand"),
}
# Code of a kind (App. B.4) → its words as published, in which both rules find it.
KIND_WORDS: Mapping[str, str] = dict(zip(OPTIONS["type_of_dish"], PUBLISHED_OPTIONS["type_of_dish"], strict=True))
# App. H.3: a description that holds one of these words, in either case, is a failure of this kind.
FAILURES: Mapping[str, Sequence[str]] = {
    "apologises": ("sorry", "apologize", "i'm afraid", "unfortunately"),
    "not_known": (
        "not known",
        "not a known",
        "unknown",
        "not sure",
        "no idea",
        "no information",
        "no data",
        "i don't know",
        "i don't have",
        "not widely known",
        "not widely",
        "n't a known dish",
        "any known dish",
        "any specific information",
        "lesser-known",
        "not well known",
        "not well-known",
    ),
    "not_real": (
        "not real",
        "fictional",
        "fictitious",
        "imaginary",
        "not exist",
        "don't exist",
        "not a real",
        "made-up",
        "made up dish",
    ),
    "guesses": ("guess", "speculate", "making it up", "take a shot", "take a stab"),
}


def options_in(text: str, field: str) -> frozenset[str]:
    """The published options that occur in `text` as parts of it, in either case."""
    lower = text.lower()
    return frozenset(option for option in PUBLISHED_OPTIONS[field] if option in lower)


def published_iou(answer: str, truth: str, field: str) -> float | None:
    """IoU of the options in both texts as published; None where the truth holds none: such rows are not counted."""
    wanted = options_in(truth, field)
    return iou(options_in(answer, field), wanted) if wanted else None


def failures_of(description: str) -> dict[str, bool]:
    """Which kinds of failure the words of a description show, by the published substrings."""
    lower = description.lower()
    return {kind: any(word in lower for word in words) for kind, words in FAILURES.items()}
