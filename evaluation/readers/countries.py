"""From what a model wrote to the countries that it names. Pure; no second model, nothing is guessed.

Names of today and former ones, in several languages, words for people and dishes, well-known parts of countries. What
is denied, compared with, asked, or part of the dish's own name does not count.
"""

import re
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice, pairwise
from typing import Literal

from collection.vocabularies.country_table import all_places
from evaluation.readers.choice import NEGATION, State
from evaluation.readers.country_names import CAPITALS, NO_COUNTRY, SHARED
from evaluation.readers.text import extract_answer_text, fold_words, is_server_error

Kind = Literal["name", "people", "part", "none"]
MOST_NAMED = 5
MOST_TOKENS = 2_000
MOST_PLACES = 50
LONGEST_NAME = 9
LONGEST_LIST = 2_000
MOST_PARTS = 60
TOKEN = re.compile(r"[^\W_]+")
CLAUSE_END = re.compile(
    r"[.!?;:\n。،؟]|,|\bbut\b|\balthough\b|\bhowever\b|\binstead\b|\bwhich\b|\band is\b", re.IGNORECASE
)
SENTENCE_END = re.compile(r"[.!?\n。؟]")
COMPARED = re.compile(
    r"\b(?:similar to|reminiscent of|inspired by|influenced? (?:by|from)|influences? (?:of|from)|compared? (?:to|with)"
    r"|resembl\w+|unlike|like the|version of|variant of|variation of|not to be confused with|confused with"
    r"|introduced (?:by|from)|brought (?:by|from)|derived from|borrowed from|neighbou?ring|close to|near|bordering)\b",
    re.IGNORECASE,
)
# Several countries after these words are examples of where a dish is found, no answer to where it is from.
EXAMPLES = re.compile(
    r"\b(?:or|either|such as|including|includes?|various|many|several|multiple|different|numerous|other|others|e\.g"
    r"|for example|among|ou|oder|o)\b",
    re.IGNORECASE,
)
# Scripts that write no spaces: a name is found as part of the text.
UNSPACED = re.compile(r"[\u0e00-\u0eff\u0f00-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
ARTICLE = re.compile(r"\bال(?=\w{2})")


@dataclass(frozen=True)
class Countries:
    """What was read. `codes` are set where the state is "answered", in the order of the text.

    A code is one of the table of countries; several joined by a blank, where any of them may be meant.
    """

    state: State
    codes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Found:
    """A place that a text names, from `start` to `end`."""

    code: str
    kind: Kind
    start: int
    end: int


NO_ANSWER = Countries("no answer")
Names = dict[tuple[str, ...], tuple[str, Kind]]


def read_countries(raw: str, about: str = "") -> Countries:
    """The countries that `raw` names as an answer; `about` is the dish's name, whose words do not count.

    Never raises; time does not grow with `raw`.
    """
    text = extract_answer_text(raw)
    if not text:
        return NO_ANSWER
    if is_server_error(text):
        return Countries("failed")
    if whole := find_exact_country(text):
        return Countries("answered", (whole,))
    text = blank_dish_name(text, extract_answer_text(about))
    kept = [found for found in islice(places_in(text), MOST_PLACES) if is_name_asserted(found, text)]
    named, people = [found for found in kept if found.kind == "name"], [each for each in kept if each.kind == "people"]
    codes, beside = select_specific_codes(named), select_specific_codes(people)
    if codes and beside and not all(any(same_place(one, other) for other in codes) for one in beside):
        return Countries("ambiguous")
    codes = codes or beside or select_specific_codes(kept)
    if not codes:
        return NO_ANSWER
    if len(codes) > 1 and (
        len(codes) > MOST_NAMED or EXAMPLES.search(extract_sentences(named or people or kept, text))
    ):
        return Countries("ambiguous")
    return Countries("answered", codes)


def countries_in(text: str) -> tuple[str, ...]:
    """All countries that a list names, such as those of a dish: no sentence, so nothing in it is denied."""
    text = text[:LONGEST_LIST]
    parts = [part.strip() for part in re.split(r",(?![^(]{0,80}\))|[;/\n]|\band\b", text) if part.strip()][:MOST_PARTS]
    codes = [code for part in [text, *parts] if (code := find_exact_country(part))]
    return specific_codes(
        [*codes, *(found.code for found in places_in(extract_answer_text(text)) if found.kind != "none")]
    )


@lru_cache(1)
def load_states() -> dict[str, str]:
    """Code of a place that is a part of a state → the code of the state."""
    return {place.code: place.within for place in all_places() if place.within}


def is_part_of(one: str, other: str) -> bool:
    """Whether one of two codes is a part of the other."""
    return load_states().get(one) == other or load_states().get(other) == one


def same_place(one: str, other: str) -> bool:
    """Whether two codes may mean the same: equal, one a part of the other, or sharing what either may mean."""
    return any(first == second or is_part_of(first, second) for first in one.split() for second in other.split())


def is_country_correct(named: Iterable[str], truth: Iterable[str]) -> bool:
    """Whether one of the countries that an answer names is one of the dish's."""
    wanted = list(truth)
    return any(same_place(one, other) for one in named for other in wanted)


@lru_cache(1)
def load_country_names() -> Names:
    """Folded words of a name → its code and what kind of name it is. What is in the list first wins."""
    found: Names = {}

    def add(names: Iterable[str], code: str, kind: Kind) -> None:
        for name in names:
            found.setdefault(tuple(fold_words(ARTICLE.sub("", name)).split()), (code, kind))

    add(NO_COUNTRY.replace("\n", " ").split(";"), "", "none")
    for place in all_places():
        add(place.answers, place.code, "name")
    for line in SHARED.splitlines():
        codes, _, names = line.partition("|")
        add(names.split(";"), codes.strip(), "name")
    for place in all_places():
        add(place.people, place.code, "people")
    for place in all_places():
        add(place.parts, place.code, "part")
    return found


@lru_cache(1)
def load_unspaced_names() -> tuple[tuple[str, str], ...]:
    """Names in scripts without spaces and their codes, the longest first."""
    found = [(name, place.code) for place in all_places() for name in place.answers if UNSPACED.search(name)]
    return tuple(sorted(found, key=lambda pair: -len(pair[0])))


def find_exact_country(text: str) -> str:
    """The code of the place of which `text` is the name and nothing else; empty where it is none."""
    words = fold_words(ARTICLE.sub("", text)).split()
    for form in (words, words[1:] if words[:1] == ["the"] else []):
        if not 0 < len(form) <= LONGEST_NAME:
            continue
        code, kind = load_country_names().get(tuple(form), ("", "none"))
        if kind in ("name", "part"):
            return code
    return dict(load_unspaced_names()).get(text.strip(" .。"), "")


def blank_dish_name(text: str, name: str) -> str:
    """`text` with the dish's own name blanked out."""
    if len(name) < 3:
        return text
    return re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", lambda found: "_" * len(found.group()), text, flags=re.IGNORECASE)


def places_in(text: str) -> Iterator[Found]:
    """Every name of the list in `text`, the longest that begins at a word; words within it do not count again."""
    tokens = list(TOKEN.finditer(text))[:MOST_TOKENS]
    words = [fold_words(ARTICLE.sub("", token.group())) for token in tokens]
    casual = text.islower()
    place = 0
    while place < len(tokens):
        found = None
        for length in range(min(LONGEST_NAME, len(tokens) - place), 0, -1):
            found = match_country_at(text, tokens[place : place + length], words[place : place + length], casual)
            if found:
                if found.kind != "none":
                    yield found
                break
        place += length if found else 1
    for name, code in load_unspaced_names():
        if (start := text.find(name)) >= 0:
            yield Found(code, "name", start, start + len(name))


def match_country_at(text: str, tokens: Sequence["re.Match[str]"], words: Sequence[str], casual: bool) -> Found | None:
    """The place of exactly these words. Names are written with a capital, unless nothing in the text is."""
    forms = [tuple(words)]
    if words[-1].endswith("s") and len(words[-1]) > 4:
        forms.append((*words[:-1], words[-1][:-1]))
    for number, form in enumerate(forms):
        if form not in load_country_names() or any(len(gap) > 2 for gap in find_word_gaps(text, tokens)):
            continue
        code, kind = load_country_names()[form]
        first = tokens[0].group()
        short = "".join(token.group() for token in tokens)
        if (number and kind != "people") or (short.upper() in CAPITALS and not short.isupper()):
            continue
        if kind == "none" or casual or not first[0].islower():
            return Found(code, kind, tokens[0].start(), tokens[-1].end())
    return None


def find_word_gaps(text: str, tokens: Sequence["re.Match[str]"]) -> list[str]:
    """What stands between the words of a name: at most a blank, a hyphen, or a full stop and a blank."""
    return [text[one.end() : other.start()] for one, other in pairwise(tokens)]


def is_name_asserted(found: Found, text: str) -> bool:
    """Whether nothing around a name denies it, compares with it or asks for it."""
    before = text[max(0, found.start - 200) : found.start]
    clause = CLAUSE_END.split(before)[-1]
    if NEGATION.search(clause) or COMPARED.search(clause):
        return False
    after = text[found.end : found.end + 200]
    ends = SENTENCE_END.search(after)
    return not (ends and ends.group() in "?؟")


def extract_sentences(found: Sequence[Found], text: str) -> str:
    """The sentences in which the names stand: whether they are examples is told there."""
    start = max([0, *(end.end() for end in SENTENCE_END.finditer(text, 0, found[0].start))])
    end = SENTENCE_END.search(text, found[-1].end)
    return text[start : end.start() if end else len(text)]


def select_specific_codes(found: Sequence[Found]) -> tuple[str, ...]:
    return specific_codes([each.code for each in found])


def specific_codes(codes: Iterable[str]) -> tuple[str, ...]:
    """Codes in their order, each once; a name that several countries share adds nothing to one of them."""
    unique = list(dict.fromkeys(code for code in codes if code))
    single: Set[str] = {code for code in unique if " " not in code}
    return tuple(code for code in unique if " " not in code or single.isdisjoint(code.split()))
