"""Tokens of captions. Results of different tokenizers cannot be compared, so that each is named in the result.

*words-1*: runs of letters, marks and digits, folded in case (NFC); an apostrophe within a word and a point or comma
within a number stay. *graphemes-1*: the same, but scripts that are written without blanks between words are split into
graphemes: a letter with its marks. It is chosen for a set as soon as one text holds such a script.
"""

import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

Tokens = tuple[str, ...]
# First and last code points of scripts without blanks.
WITHOUT_BLANKS = (
    (0x0E00, 0x0FFF),  # Thai, Lao, Tibetan
    (0x1000, 0x109F),  # Myanmar
    (0x1780, 0x17FF),  # Khmer
    (0x1950, 0x19FF),  # Tai Le, New Tai Lue, Khmer symbols
    (0x1A20, 0x1AAF),  # Tai Tham
    (0x1B00, 0x1B7F),  # Balinese
    (0x2E80, 0x2FDF),  # radicals of Han
    (0x3005, 0x3007),  # marks and zero of Han
    (0x3021, 0x3029),
    (0x3031, 0x30FF),  # Hiragana, Katakana
    (0x31F0, 0x31FF),
    (0x3400, 0x4DBF),  # Han
    (0x4E00, 0x9FFF),
    (0xA980, 0xA9FF),  # Javanese, Myanmar
    (0xAA60, 0xAA7F),
    (0xF900, 0xFAFF),
    (0xFF66, 0xFF9F),
    (0x1B000, 0x1B16F),
    (0x20000, 0x3FFFF),
)
STARTS = [first for first, _last in WITHOUT_BLANKS]
# Letters that are written at the letter before them: am of Thai and Lao, voicing of narrow Katakana.
ATTACHED = frozenset("\u0e33\u0eb3\uff9e\uff9f")
JOINERS = frozenset("\u200c\u200d")
APOSTROPHES = frozenset("'\u2019")


@dataclass(frozen=True)
class Tokenizer:
    """`name` stands beside results; `graphemes`: scripts without blanks are split."""

    name: str
    graphemes: bool

    def split(self, text: str) -> Tokens:
        return tuple(_split(text, self.graphemes))


WORDS = Tokenizer("words-1", graphemes=False)
GRAPHEMES = Tokenizer("graphemes-1", graphemes=True)


def choose_tokenizer(texts: Iterable[str]) -> Tokenizer:
    """The tokenizer for texts that are compared with each other."""
    return GRAPHEMES if any(lacks_blanks(char) for text in texts for char in text) else WORDS


def lacks_blanks(char: str) -> bool:
    """It belongs to a script without blanks between words."""
    place = bisect_right(STARTS, ord(char)) - 1
    return place >= 0 and ord(char) <= WITHOUT_BLANKS[place][1]


def _split(text: str, graphemes: bool) -> list[str]:
    folded = unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())
    found: list[str] = []
    within = alone = False
    for place, char in enumerate(folded):
        mark = unicodedata.category(char)[0] == "M" or char in JOINERS or char in ATTACHED
        if mark:
            if within:
                found[-1] += char
            continue
        if not _belongs(folded, place):
            within = alone = False
            continue
        single = graphemes and lacks_blanks(char)
        if within and not single and not alone:
            found[-1] += char
        else:
            found.append(char)
        within, alone = True, single
    return found


def _belongs(text: str, place: int) -> bool:
    """The character is part of a word or number."""
    char = text[place]
    if unicodedata.category(char)[0] in "LN":
        return True
    before, after = text[place - 1 : place], text[place + 1 : place + 2]
    if char in APOSTROPHES:
        return before.isalpha() and after.isalpha()
    return char in ".," and before.isdigit() and after.isdigit()


def find_tokens(wanted: Sequence[str], among: Sequence[str]) -> bool:
    """`wanted`, at least one token, stands in `among` in one piece."""
    size = len(wanted)
    return size > 0 and any(tuple(among[i : i + size]) == tuple(wanted) for i in range(len(among) - size + 1))
