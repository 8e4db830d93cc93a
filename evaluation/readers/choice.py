"""From what a model wrote to the option it chose. Pure; nothing is ever guessed.

A letter counts where it is alone and nothing denies or contradicts it; the words of an option count where they
are the answer, or one plain sentence says them. Everything else is ambiguous, or no answer.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

State = Literal["answered", "ambiguous", "no answer", "failed"]

MOST_CHARACTERS = 4000
MOST_WITH_THOUGHTS = 200_000
THOUGHT = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL | re.IGNORECASE)
THOUGHT_END = "</think>"
BROKEN = re.compile(
    r"\W{0,3}(?:error\b|exception\b|traceback \(most|<!doctype|<html|http[ /]\d"
    r"|[45]\d\d (?:internal|bad|service|gateway|too many|not found)|internal server error|bad gateway"
    r"|service unavailable|gateway time|rate limit|request (?:timed|failed)|timeout\b|cuda out of memory"
    r"|connection (?:reset|refused|aborted)|(?-i:[\w.]{0,80}(?:Error|Exception)\b))",
    re.IGNORECASE,
)
NOT_APPLICABLE = re.compile(r"(?<!\w)n ?[/\\] ?a(?!\w)", re.IGNORECASE)
# All blocks of the Latin script, so that the letters of Yoruba or Vietnamese do not cut a word.
LATIN = "A-Za-z0-9À-ɏɐ-ʯḀ-ỿⱠ-Ɀ꜠-ꟿ"
CASELESS = r"(?<![{latin}])[A-Z](?![{latin}])"
# Small letters are letters of options only where their place says so.
SMALL = re.compile(
    r"\A\W*([a-z])[).:\]](?=\s|\Z)|(?<!\w)\(([a-z])\)"
    r"|\b(?:answer|option|choice|letter|respuesta|réponse|antwort|resposta|risposta)"
    r"(?: is| es| est| ist| é| è)?(?: option| the)?[^\w\n]{1,3}([a-z])\W*\Z"
)
CONJUNCTIONS = "or|and|und|oder|ou|et|o|y|e|ni|nor|is|because|since"
VERBS = "was|are|as|seems|appears|would|could|might|may|if|but|ist|es|est|é|è"
ARTICLE = re.compile(rf" {{1,3}}(?!(?:{CONJUNCTIONS}|{VERBS})\b)[a-zà-ɏ]")
NAME = re.compile(r" {1,3}[A-ZÀ-Þ][\w-]")
PRONOUN = re.compile(rf" {{1,3}}(?!(?:{CONJUNCTIONS})\b)[a-z]")
NAMING = re.compile(r"\b(?:option|choice|letter|choose|select|pick) \W?\Z", re.IGNORECASE)
PART_OF_NAME = re.compile(r"(?:\bvitamins? |(?<!\w)[A-Za-z]\.|°)\Z", re.IGNORECASE)
GOES_ON_AS_NAME = re.compile(r"\.[A-Za-z](?!\w)|['’]\w")
BARE = re.compile(r"[\W_]*([^\W\d_])[\W_]*")
FINAL = re.compile(
    r"(?:answer|antwort|respuesta|réponse|resposta|risposta|jibu|jawaban|ответ|答案|答え|回答|정답|उत्तर|الإجابة|الجواب)"
    r"(?: (?:is|es|est|ist|é|è|ni|هي|هو)\b|是|は)?[ :'(\[-]{0,4}([A-Z])[)'\]]?(?:[.;!]|\s*\Z|\n)",
    re.IGNORECASE,
)
NEGATION = re.compile(
    r"\b(?:not|no|nor|never|neither|none|nothing|without|cannot|except|rather than|unlikely|kein\w*|nicht|pas|ne|não"
    r"|hakuna|si|siyo|tidak|bukan|không|değil|nie|inte|ikke|не|нет|ليس\w*|لا|नहीं|लेकिन)\b|n['’]t\b|\bn['’]est\b"
    r"|नहीं|不|ない|아니",
    re.IGNORECASE,
)
WRONG = re.compile(
    r"\b(?:wrong|incorrect|false|untrue|excluded|falsch|incorrect[oae]|erróne[oa]|fals[oa]|faux)\b", re.IGNORECASE
)
NOT_THIS = re.compile(r"(?:\b(?:not|never|no|kein\w*|nicht|pas|tidak|bukan|не)|n['’]t) (?:an? |the )?\Z", re.IGNORECASE)
CLAUSE = re.compile(r"[,.;:!?。،؟]")
AFTER_CLAUSE = re.compile(r"[,.;:!?\n()。،؟]| [-–—] |\b(?:because|since|as)\b")
GOES_ON = re.compile(r"\W*(?:or|and|maybe|perhaps|but)\b|\s*[/,&]", re.IGNORECASE)
SENTENCE_END = re.compile(r"[.!?;\n。।؟]+")
WORD_EDGE = r"(?<!\w){}(?!\w)"


@dataclass(frozen=True)
class Choice:
    """What was read. `letter` is set where the state is "answered"."""

    state: State
    letter: str = ""


@dataclass(frozen=True)
class Place:
    """A letter that is alone, and where."""

    letter: str
    start: int
    end: int


NOTHING = Choice("no answer")
AMBIGUOUS = Choice("ambiguous")


def read_choice(raw: str, choices: Mapping[str, str]) -> Choice:
    """The option of `choices` (letter → its words) that `raw` names. Never raises; time does not grow with `raw`."""
    given = {unicodedata.normalize("NFKC", key).upper(): key for key in choices}
    found = read_plain(strip_formatting(raw), {letter: choices[key] for letter, key in given.items()})
    return Choice(found.state, given.get(found.letter, "")) if found.letter else found


def read_plain(text: str, choices: Mapping[str, str]) -> Choice:
    if not text:
        return NOTHING
    if BROKEN.match(text):
        return Choice("failed")
    if bare := bare_letters(text, choices):
        return one_of(bare)
    if BARE.fullmatch(text):
        return NOTHING
    if declared := declared_letters(text, choices):
        named = options_in(text, choices)
        return AMBIGUOUS if named and declared.isdisjoint(named) else one_of(declared)
    if "N" not in choices:
        text = NOT_APPLICABLE.sub(" ", text)
    places = letters_in(text, choices)
    letters = {place.letter for place in places}
    if len(letters) > 1:
        return AMBIGUOUS
    return by_letter(places[0], text, choices) if letters else by_words(text, choices)


def one_of(letters: set[str]) -> Choice:
    return Choice("answered", next(iter(letters))) if len(letters) == 1 else AMBIGUOUS


def strip_formatting(raw: str) -> str:
    """Without thoughts, invisible characters and marks of form; letters of full width as usual ones."""
    text = THOUGHT.sub(" ", str(raw)[:MOST_WITH_THOUGHTS])
    text = text[text.rfind(THOUGHT_END) + len(THOUGHT_END) :] if THOUGHT_END in text else text
    if len(text) > MOST_CHARACTERS:
        text = f"{text[: MOST_CHARACTERS // 2]}\n{text[-MOST_CHARACTERS // 2 :]}"
    text = unicodedata.normalize("NFKC", text)
    text = "".join(" " if unicodedata.category(char) in ("Cc", "Zl", "Zp") and char != "\n" else char for char in text)
    text = "".join(char for char in text if unicodedata.category(char) not in ("Cf", "Mn") or ord(char) > 0x36F)
    return re.sub(r"[*_`#]+", "", text).strip()


def extract_spoken_words(text: str) -> str:
    """The words alone, to be compared."""
    return " ".join(re.findall(r"\w+", text.casefold()))


def bare_letters(text: str, choices: Mapping[str, str]) -> set[str]:
    """Options of which `text` is the letter or the words, and nothing else."""
    words = extract_spoken_words(text)
    found = {letter for letter, option in choices.items() if words and words == extract_spoken_words(option)}
    bare = BARE.fullmatch(text)
    return found | ({bare.group(1).upper()} & set(choices) if bare else set())


def declared_letters(text: str, choices: Mapping[str, str]) -> set[str]:
    """Letters on a line of their own, with or without their words, and those that a sentence ends with as its answer.

    What denies them in the words before, or goes on with another one, leaves them out.
    """
    lines = ["", *(line for line in text.split("\n") if line.strip()), ""]
    found: set[str] = set()
    for before, line, after in zip(lines, lines[1:], lines[2:], strict=False):
        letters = bare_letters(line, choices) if BARE.fullmatch(line) else with_words(line, choices)
        if letters and not GOES_ON.match(after) and not says_no(CLAUSE.split(before)[-1]):
            found |= letters
    for final in FINAL.finditer(text):
        before = text[max(0, final.start() - 200) : final.start()]
        if not GOES_ON.match(text, final.end()) and not says_no(CLAUSE.split(before)[-1]):
            found |= {final.group(1).upper()} & set(choices)
    return found


def says_no(text: str) -> bool:
    return bool(NEGATION.search(text) or WRONG.search(text))


def with_words(line: str, choices: Mapping[str, str]) -> set[str]:
    words = extract_spoken_words(line)
    return {letter for letter, option in choices.items() if words == f"{letter.lower()} {extract_spoken_words(option)}"}


@lru_cache(64)
def compile_letter_pattern(others: str) -> "re.Pattern[str]":
    """Capitals of the Latin script, and `others`, that are no part of a longer word.

    Scripts without spaces write words next to a Latin letter, which still is alone.
    """
    latin = CASELESS.format(latin=LATIN)
    return re.compile(rf"{latin}|(?<!\w)[{re.escape(others)}](?!\w)" if others else latin)


def letters_in(text: str, choices: Mapping[str, str]) -> list[Place]:
    """Letters that stand alone as such, also those of no option where they contradict one that is named."""
    others = "".join(sorted(letter for letter in choices if len(letter) == 1 and not "A" <= letter <= "Z"))
    places = [
        Place(found.group(), found.start(), found.end())
        for found in compile_letter_pattern(others).finditer(text)
        if not is_word(found, text, choices)
    ]
    places = places or list(small_letters(text))
    return places if any(place.letter in choices for place in places) else []


def small_letters(text: str) -> Iterator[Place]:
    for found in SMALL.finditer(text):
        place = found.lastindex or 0
        yield Place(found.group(place).upper(), found.start(place), found.end(place))


def is_word(found: "re.Match[str]", text: str, choices: Mapping[str, str]) -> bool:
    """Whether a lone letter is the article *A*, the pronoun *I*, or a part of a name or a longer word."""
    letter, before, after = found.group(), text[: found.start()][-20:], text[found.end() :][:80]
    if NAMING.search(before):
        return False
    if PART_OF_NAME.search(before) or GOES_ON_AS_NAME.match(after):
        return True
    if (after[:1] == "-" and after[1:2].islower()) or (letter == "A" and NAME.match(after)):
        return not any(
            extract_spoken_words(after).startswith(extract_spoken_words(option)) for option in choices.values()
        )
    if letter in "OI" and letter not in choices:
        return True
    if letter == "I":
        return bool(PRONOUN.match(after))
    if letter not in "AEOYU":
        return False
    return bool(ARTICLE.match(after)) or (after[:1] in ("'", "’") and before[-1:] not in ("'", "‘"))


def by_letter(place: Place, text: str, choices: Mapping[str, str]) -> Choice:
    """One letter is named: it counts unless it is denied, asked, or beside the words of other options alone."""
    if place.letter not in choices or is_letter_denied(place, text, choices[place.letter]):
        return AMBIGUOUS
    named = options_in(text, choices)
    if named and place.letter not in named:
        return AMBIGUOUS
    return Choice("answered", place.letter)


def is_letter_denied(place: Place, text: str, option: str) -> bool:
    """Whether the words around the letter say that it is not the answer, or only ask."""
    own = re.compile(WORD_EDGE.format(re.escape(option)), re.IGNORECASE)
    before = CLAUSE.split(own.sub(" ", text[: place.start]))[-1]
    rest = own.sub(" ", text[place.end :]).lstrip(" :.)-–—")
    after = AFTER_CLAUSE.split(rest, maxsplit=1)[0] if rest else ""
    if says_no(before) or says_no(after):
        return True
    if any(NOT_THIS.search(text[: found.start()][-20:]) for found in own.finditer(text)) and not yes_or_no(option):
        return True
    return bool(re.match(r"[^.!;\n]*\?", rest)) and len(extract_spoken_words(before).split()) > 1


def by_words(text: str, choices: Mapping[str, str]) -> Choice:
    """No letter is named: the words of exactly one option, said plainly, are an answer."""
    named = options_in(text, choices)
    if not named:
        return NOTHING
    if len(named) > 1:
        return AMBIGUOUS
    option = choices[named[0]]
    first = extract_spoken_words(SENTENCE_END.split(re.split(r"[,:–—-]", text, maxsplit=1)[0], maxsplit=1)[0])
    if first == extract_spoken_words(option):
        return Choice("answered", named[0])
    rest = re.sub(WORD_EDGE.format(re.escape(option)), " ", text, flags=re.IGNORECASE)
    sentences = [part for part in SENTENCE_END.split(text) if part.strip()]
    plainly = len(sentences) == 1 and "?" not in text and not says_no(rest)
    return Choice("answered", named[0]) if plainly and not yes_or_no(option) else AMBIGUOUS


def yes_or_no(option: str) -> bool:
    """Words so short that they are in sentences which say something else."""
    return extract_spoken_words(option) in ("yes", "no", "other", "none")


def options_in(text: str, choices: Mapping[str, str]) -> list[str]:
    """Letters of the options whose words occur, those left out that occur only within a longer one."""
    folded = extract_spoken_words(text)
    for letter, option in sorted(choices.items(), key=lambda item: -len(extract_spoken_words(item[1]))):
        words = extract_spoken_words(option)
        if words and (found := re.search(WORD_EDGE.format(re.escape(words)), folded)):
            folded = f"{folded[: found.start()]}\0{letter}\0{folded[found.end() :]}"
    return [letter for letter in choices if f"\0{letter}\0" in folded]
