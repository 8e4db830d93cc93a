"""From what a model wrote to the option it chose. Pure; nothing is ever guessed.

A letter counts where it stands alone and nothing contradicts it; the words of an option count where they are the
answer, or one plain sentence says them. Everything else is ambiguous, or no answer.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

State = Literal["answered", "ambiguous", "no answer", "failed"]

MOST_CHARACTERS = 4000
THOUGHT = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL | re.IGNORECASE)
BROKEN = re.compile(
    r"\W{0,3}(?:error\b|exception\b|traceback \(most|<!doctype|<html|http[ /]\d"
    r"|[45]\d\d (?:internal|bad|service|gateway|too many|not found)|internal server error|bad gateway"
    r"|service unavailable|gateway time|rate limit|request timed|timeout\b|cuda out of memory"
    r"|connection (?:reset|refused|aborted))",
    re.IGNORECASE,
)
# Not part of a longer word in the Latin script; other scripts write letters next to words without a space.
ALONE = re.compile(r"(?<![A-Za-z0-9À-ɏ])([A-Z])(?![A-Za-z0-9À-ɏ])")
ARTICLE = re.compile(r" {1,3}(?!(?:or|and|und|oder|ou|et|o|y|e|ni|nor)\b)[a-zà-ɏ]")
APOSTROPHE = ("'", "’")
BARE = re.compile(r"[\W_]*([A-Za-z])[\W_]*")
NEGATED = re.compile(
    r"(?:\b(?:not|nor|neither|never|except|isn['’]t|no)|n['’]t) (?:option |answer |choice )?\W?$", re.IGNORECASE
)
NEGATION = re.compile(
    r"\b(?:not|no|nor|never|neither|none|nothing|without|cannot|unlikely|kein\w*|nicht|pas|ne|hakuna|si|tidak|bukan)\b"
    r"|n['’]t\b|\b(?:no es|não)\b|(?:लेकिन|नहीं|ليس|لا )",
    re.IGNORECASE,
)
SENTENCE_END = re.compile(r"[.!?;\n。।؟]+")
WORD_EDGE = r"(?<!\w){}(?!\w)"


@dataclass(frozen=True)
class Choice:
    """What was read. `letter` is set where the state is "answered"."""

    state: State
    letter: str = ""


NOTHING = Choice("no answer")
AMBIGUOUS = Choice("ambiguous")


def read_choice(raw: str, choices: Mapping[str, str]) -> Choice:
    """The option of `choices` (letter → its words) that `raw` names. Never raises; linear in the length of `raw`."""
    text = plain(raw)
    if not text:
        return NOTHING
    if BROKEN.match(text):
        return Choice("failed")
    words = spoken(text)
    for letter, option in choices.items():
        if words and words == spoken(option):
            return Choice("answered", letter)
    if bare := BARE.fullmatch(text):
        letter = bare.group(1).upper()
        return Choice("answered", letter) if letter in choices else NOTHING
    letters = set(letters_in(text, choices))
    if len(letters) > 1:
        return AMBIGUOUS
    if letters:
        return by_letter(letters.pop(), text, choices)
    return by_words(text, choices)


def plain(raw: str) -> str:
    """Without thoughts, invisible characters and marks of form; letters of full width as usual ones."""
    text = THOUGHT.sub(" ", str(raw)[:MOST_CHARACTERS])
    text = unicodedata.normalize("NFKC", text)
    text = "".join(" " if unicodedata.category(char) in ("Cc", "Zl", "Zp") and char != "\n" else char for char in text)
    text = "".join(char for char in text if unicodedata.category(char) not in ("Cf", "Mn") or ord(char) > 0x36F)
    return re.sub(r"[*_`#]+", "", text).strip()


def spoken(text: str) -> str:
    """The words alone, to be compared."""
    return " ".join(re.findall(r"\w+", text.casefold()))


def letters_in(text: str, choices: Mapping[str, str]) -> Iterator[str]:
    """Letters of options that stand alone."""
    for found in ALONE.finditer(text):
        if found.group(1) in choices and not is_word(found, text):
            yield found.group(1)


def is_word(found: "re.Match[str]", text: str) -> bool:
    """Whether a lone letter is the article *A*, the pronoun *I*, or another word of one letter."""
    after = text[found.end() : found.end() + 8]
    return found.group(1) in "AIEOYU" and bool(ARTICLE.match(after) or after[:1] in APOSTROPHE)


def by_letter(letter: str, text: str, choices: Mapping[str, str]) -> Choice:
    """One letter is named: it counts unless it is denied, or the words of other options alone stand beside it."""
    place = next(found for found in ALONE.finditer(text) if found.group(1) == letter and not is_word(found, text))
    if NEGATED.search(text[: place.start()]):
        return AMBIGUOUS
    named = options_in(text, choices)
    if named and letter not in named:
        return AMBIGUOUS
    return Choice("answered", letter)


def by_words(text: str, choices: Mapping[str, str]) -> Choice:
    """No letter is named: the words of exactly one option, said plainly, are an answer."""
    named = options_in(text, choices)
    if not named:
        return NOTHING
    if len(named) > 1:
        return AMBIGUOUS
    option = choices[named[0]]
    first = spoken(SENTENCE_END.split(re.split(r"[,:–—-]", text, maxsplit=1)[0], maxsplit=1)[0])
    if first == spoken(option):
        return Choice("answered", named[0])
    rest = re.sub(WORD_EDGE.format(re.escape(option)), " ", text, flags=re.IGNORECASE)
    sentences = [part for part in SENTENCE_END.split(text) if part.strip()]
    if len(sentences) == 1 and not NEGATION.search(rest) and not yes_or_no(option):
        return Choice("answered", named[0])
    return AMBIGUOUS


def yes_or_no(option: str) -> bool:
    """Words so short that they stand in sentences which say something else."""
    return spoken(option) in ("yes", "no", "other", "none")


def options_in(text: str, choices: Mapping[str, str]) -> list[str]:
    """Letters of the options whose words occur, those left out that occur only within a longer one."""
    folded = spoken(text)
    for letter, option in sorted(choices.items(), key=lambda item: -len(spoken(item[1]))):
        words = spoken(option)
        if words and (found := re.search(WORD_EDGE.format(re.escape(words)), folded)):
            folded = f"{folded[: found.start()]}\0{letter}\0{folded[found.end() :]}"
    return [letter for letter in choices if f"\0{letter}\0" in folded]
