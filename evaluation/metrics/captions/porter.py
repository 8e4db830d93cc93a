"""Porter's stemmer of English (Porter 1980, *An algorithm for suffix stripping*), with the repairs that nltk makes.

The repairs: a few irregular words; *-ies* and *-ied* of short words; *y* becomes *i* after a consonant only; *-alli*
before the other endings; *-fulli*, *-logi*, *-bli*; words of two letters stay. Letters of other scripts are consonants.
"""

import re
from functools import lru_cache

IRREGULAR = {
    **dict.fromkeys(("sky", "skies"), "sky"),
    "dying": "die",
    "lying": "lie",
    "tying": "tie",
    **dict.fromkeys(("inning", "innings"), "inning"),
    **dict.fromkeys(("outing", "outings"), "outing"),
    **dict.fromkeys(("canning", "cannings"), "canning"),
    **{word: word for word in ("news", "howe", "proceed", "exceed", "succeed")},
}
SECOND = (
    *(("ational", "ate"), ("tional", "tion"), ("enci", "ence"), ("anci", "ance"), ("izer", "ize"), ("bli", "ble")),
    *(("alli", "al"), ("entli", "ent"), ("eli", "e"), ("ousli", "ous"), ("ization", "ize"), ("ation", "ate")),
    *(("ator", "ate"), ("alism", "al"), ("iveness", "ive"), ("fulness", "ful"), ("ousness", "ous")),
    *(("aliti", "al"), ("iviti", "ive"), ("biliti", "ble"), ("fulli", "ful")),
)
THIRD = (
    *(("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic"), ("ful", ""), ("ness", "")),
)
FOURTH = (
    *("al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion"),
    *("ou", "ism", "ate", "iti", "ous", "ive", "ize"),
)


@lru_cache(maxsize=1 << 16)
def stem_word(word: str) -> str:
    """The stem of a word, in lower case."""
    stem = word.lower()
    if stem in IRREGULAR:
        return IRREGULAR[stem]
    if len(word) <= 2:
        return stem
    for step in (_plural, _past, _final_y, _second, _third, _fourth, _final_e):
        stem = step(stem)
    return stem[:-1] if stem.endswith("ll") and _measure(stem[:-1]) > 1 else stem


def _shape(word: str) -> str:
    """*c* for each consonant, *v* for each vowel; y is a vowel after a consonant."""
    found = ""
    for letter in word:
        vowel = letter in "aeiou" or (letter == "y" and found.endswith("c"))
        found += "v" if vowel else "c"
    return found


def _measure(stem: str) -> int:
    """How often a consonant follows a vowel."""
    return _shape(stem).count("vc")


def _ends_short(stem: str) -> bool:
    """Consonant, vowel, consonant other than w, x, y; or a vowel and a consonant alone."""
    shape = _shape(stem)
    return shape == "vc" or (shape.endswith("cvc") and stem[-1] not in "wxy")


def _plural(word: str) -> str:
    if word.endswith("ies"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("sses"):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _past(word: str) -> str:
    if word.endswith("ied"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) else word
    ending = re.search("(ed|ing)$", word)
    stem = word[: ending.start()] if ending else ""
    if "v" not in _shape(stem):
        return word
    if stem.endswith(("at", "bl", "iz")):
        return stem + "e"
    if len(stem) > 1 and stem[-1] == stem[-2] and _shape(stem)[-1] == "c":
        return stem if stem[-1] in "lsz" else stem[:-1]
    return stem + "e" if _measure(stem) == 1 and _ends_short(stem) else stem


def _final_y(word: str) -> str:
    return word[:-1] + "i" if word.endswith("y") and len(word) > 2 and _shape(word)[-2] == "c" else word


def _second(word: str) -> str:
    if word.endswith("alli") and _measure(word[:-4]):
        return _second(word[:-2])
    if word.endswith("logi") and not word.endswith(tuple(ending for ending, _ in SECOND)):
        return word[:-1] if _measure(word[:-3]) else word
    return _replace(word, SECOND)


def _third(word: str) -> str:
    return _replace(word, THIRD)


def _replace(word: str, rules: tuple[tuple[str, str], ...]) -> str:
    """By the first rule whose ending the word has, if a consonant follows a vowel before it."""
    for ending, instead in rules:
        if word.endswith(ending):
            stem = word[: -len(ending)]
            return stem + instead if _measure(stem) else word
    return word


def _fourth(word: str) -> str:
    for ending in FOURTH:
        if word.endswith(ending):
            stem = word[: -len(ending)]
            drops = _measure(stem) > 1 and (ending != "ion" or stem[-1] in "st")
            return stem if drops else word
    return word


def _final_e(word: str) -> str:
    if not word.endswith("e"):
        return word
    stem, measure = word[:-1], _measure(word[:-1])
    return stem if measure > 1 or (measure == 1 and not _ends_short(stem)) else word
