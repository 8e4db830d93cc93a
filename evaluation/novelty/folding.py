"""Names of dishes in forms that can be compared: one form for all spellings of a word, in whatever script.

What is dropped depends on the script: an accent over a Latin letter or a vowel mark over an Arabic one is a matter of
spelling, a vowel sign of Devanagari or Thai is a letter.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

# Marks that are a matter of spelling: Latin, Greek, Cyrillic accents; Hebrew points; Arabic vowel marks and hamzas.
SPELLING_MARKS = re.compile(
    "[\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0640\u1ab0-\u1aff\u1dc0-\u1dff]"
)
SAME_LETTERS = str.maketrans(
    {"ı": "i", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ħ": "h", "ŋ": "ng", "ɛ": "e"}
    | {"ɔ": "o", "ə": "e", "ɓ": "b", "ɗ": "d", "ƙ": "k", "ƴ": "y", "ɣ": "g", "ʋ": "v", "ǝ": "e", "ɖ": "d", "ƒ": "f"}
    | {"ى": "ي", "ی": "ي", "ة": "ه", "ک": "ك", "ے": "ي", "ہ": "ه", "ھ": "ه", "ۀ": "ه", "ۂ": "ه", "٬": ""}
)
APOSTROPHES = re.compile("['’‘ʼʻ`´ʹ＇\u200c\u200d\u200e\u200f\u2060\ufeff]")
# What stands between two names of one dish rather than inside a name.
BETWEEN = re.compile(r"[()\[\]{}/|;:,،؛、，；፣=+\n\"“”«»]| [-–—] |\bor\b|\baka\b|\balso known as\b", re.IGNORECASE)
MOST_NAMES = 12
LONGEST = 300


class Form(NamedTuple):
    """One name: its folded words, all of one script (`LATIN`, `ARABIC`, as Unicode names its letters)."""

    words: tuple[str, ...]
    script: str

    @property
    def compact(self) -> str:
        """The words without blanks: "tom yum" and "tomyum" are one name."""
        return "".join(self.words)


def fold_name(text: str) -> str:
    """`text` in lower case, without the marks that are a matter of spelling in its script."""
    plain = unicodedata.normalize("NFKD", APOSTROPHES.sub("", text).casefold())
    return unicodedata.normalize("NFC", SPELLING_MARKS.sub("", plain)).translate(SAME_LETTERS)


@lru_cache(maxsize=4096)
def script_of(letter: str) -> str:
    """The script of a letter by its Unicode name, kana and Chinese characters as one; empty for digits."""
    first = unicodedata.name(letter, "").partition(" ")[0].partition("-")[0]
    if first in ("CJK", "HIRAGANA", "KATAKANA"):
        return "CJK"
    return "" if first == "DIGIT" else first


def words_of(text: str) -> list[str]:
    """Runs of letters, their vowel signs, and digits."""
    found, word = [], ""
    for sign in fold_name(text):
        if unicodedata.category(sign)[0] in "LMN":
            word += sign
        elif word:
            found.append(word)
            word = ""
    return [*found, word] if word else found


def by_script(words: list[str]) -> Iterator[Form]:
    """Consecutive words of one script as one name; digits go with what is before them."""
    held: list[str] = []
    script = ""
    for word in words:
        mine = script_of(word[0]) or script
        if held and mine != script:
            yield Form(tuple(held), script)
            held = []
        held.append(word)
        script = mine
    if held:
        yield Form(tuple(held), script)


def extract_name_forms(*texts: str) -> tuple[Form, ...]:
    """The names that `texts` hold, folded, each once: "Tlitli (soup) – تليتلي" holds three."""
    found: dict[Form, None] = {}
    for text in texts:
        for part in BETWEEN.split(text[:LONGEST]):
            found.update(dict.fromkeys(by_script(words_of(part))))
    return tuple(found)[:MOST_NAMES]
