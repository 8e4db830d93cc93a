"""Is a dish in a reference list? Three rules, side by side.

`substring` is the paper's (App. D): a name of the dish lies within a name or alias of the reference, or the other way
round, case ignored. It finds the alias "K" in every dish with a k; `substring_3` leaves out names of fewer than three
signs on either side. `same_name` asks for the same name: folded for its
script, in any order of words, words such as "soup" left out where a name of its own remains, or spelled with one or
two letters otherwise where the countries agree.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from evaluation.novelty.folding import Form, extract_name_forms
from evaluation.novelty.plain_words import GENERIC, PLAIN

SUBSTRING, SUBSTRING_3, SAME_NAME = "substring", "substring_3", "same_name"
RULES = (SUBSTRING, SUBSTRING_3, SAME_NAME)
SAME, SAME_WORDS, SPELLING = "same name", "same words", "spelled otherwise"
# A name of fewer letters may mean something else in another country.
CERTAIN = 6
ONE_LETTER, TWO_LETTERS = 6, 10
# Scripts of syllables or ideas: one sign otherwise is another word, and few signs are a name.
DENSE = frozenset({"CJK", "HANGUL", "ETHIOPIC"})


class Entry(NamedTuple):
    """A dish or an entry of the reference: a key, its names as written, and the codes of its countries."""

    key: str
    names: tuple[str, ...]
    countries: frozenset[str] = frozenset()


class Match(NamedTuple):
    """A dish taken to be in the reference: the two names, by which sign, and whether a country is shared."""

    key: str
    name: str
    other: str
    how: str
    shared_country: bool


class Substrings:
    """The paper's rule over all names of a reference, lower case. Names of fewer than `least` signs do not count."""

    def __init__(self, entries: Sequence[Entry], least: int = 1) -> None:
        self.least = least
        self.owners: dict[str, list[tuple[Entry, str]]] = defaultdict(list)
        for entry in entries:
            for name in entry.names:
                if len(low := name.lower().strip()) >= least:
                    self.owners[low].append((entry, name))
        self.lengths = sorted({len(name) for name in self.owners})
        self.joined = "\x00".join(self.owners)

    def matches(self, dish: Entry) -> Iterator[Match]:
        """Every entry that shares a name with `dish` by the rule, each once."""
        seen: set[str] = set()
        for name in dish.names:
            for low in self.found(name.lower().strip()):
                for entry, other in self.owners[low]:
                    if entry.key not in seen:
                        seen.add(entry.key)
                        shared = bool(entry.countries & dish.countries)
                        yield Match(entry.key, name, other, SUBSTRING, shared)

    def found(self, name: str) -> Iterator[str]:
        """Reference names within `name`, then those that `name` lies within."""
        if len(name) < self.least:
            return
        starts = range(len(name))
        within = {name[start : start + length] for length in self.lengths for start in starts if length <= len(name)}
        yield from sorted(part for part in within if part in self.owners)
        place = self.joined.find(name)
        while place >= 0:
            begin = self.joined.rfind("\x00", 0, place) + 1
            end = self.joined.find("\x00", place)
            end = len(self.joined) if end < 0 else end
            yield self.joined[begin:end]
            place = self.joined.find(name, end)


class SameNames:
    """The stronger rule over all names of a reference."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self.compact: dict[str, list[tuple[Entry, str]]] = defaultdict(list)
        self.words: dict[frozenset[str], list[tuple[Entry, str, Form]]] = defaultdict(list)
        self.by_country: dict[str, list[tuple[Entry, str, Form]]] = defaultdict(list)
        for entry in entries:
            for name in entry.names:
                for form in extract_name_forms(name):
                    self.add(entry, name, form)

    def add(self, entry: Entry, name: str, form: Form) -> None:
        self.compact[form.compact].append((entry, name))
        if own := own_words(form):
            self.words[own].append((entry, name, form))
        for country in entry.countries:
            self.by_country[country].append((entry, name, form))

    def matches(self, dish: Entry) -> Iterator[Match]:
        """Every entry that has the same name as `dish`, each once, by its strongest sign."""
        found: dict[str, Match] = {}
        for name in dish.names:
            for form in extract_name_forms(name):
                for match in self.of_form(dish, name, form):
                    found.setdefault(match.key, match)
        yield from found.values()

    def of_form(self, dish: Entry, name: str, form: Form) -> Iterator[Match]:
        own = own_words(form)
        for entry, other in self.compact.get(form.compact, ()):
            shared = bool(entry.countries & dish.countries)
            if shared or is_unambiguous_name(form, own):
                yield Match(entry.key, name, other, SAME, shared)
        for entry, other, near in self.words.get(own, ()) if own else ():
            if entry.countries & dish.countries and is_nested_name(form, near):
                yield Match(entry.key, name, other, SAME_WORDS, True)
        if own and form.script not in DENSE:
            yield from self.spelled_otherwise(dish, name, form)

    def spelled_otherwise(self, dish: Entry, name: str, form: Form) -> Iterator[Match]:
        for country in sorted(dish.countries):
            for entry, other, near in self.by_country.get(country, ()):
                if near.script == form.script and own_words(near) and is_close_spelling(form.compact, near.compact):
                    yield Match(entry.key, name, other, SPELLING, True)


def is_nested_name(one: Form, other: Form) -> bool:
    """Whether one of two names only adds words to the other: "egusi" and "egusi soup", not "mealie meal" and "mealie
    bread"."""
    mine, theirs = set(one.words), set(other.words)
    return mine <= theirs or theirs <= mine


def own_words(form: Form) -> frozenset[str]:
    """The words that make a name its own; empty where all are words of any menu ("fish soup")."""
    if set(form.words) <= PLAIN:
        return frozenset()
    return frozenset(word for word in form.words if word not in GENERIC)


def is_unambiguous_name(form: Form, own: frozenset[str]) -> bool:
    """Whether the name alone tells the dish, whatever the country."""
    letters = sum(map(len, own)) if own else 0
    return letters >= (2 if form.script in DENSE else CERTAIN)


def is_close_spelling(one: str, other: str) -> bool:
    """One letter otherwise among six or more, two among ten or more; swapped neighbours are one."""
    shorter = min(len(one), len(other))
    allowed = 0 if shorter < ONE_LETTER else 1 if shorter < TWO_LETTERS else 2
    return abs(len(one) - len(other)) <= allowed and edit_distance(one, other, allowed) <= allowed


def edit_distance(one: str, other: str, most: int) -> int:
    """Letters to insert, delete, replace or swap with a neighbour (optimal string alignment); `most` + 1 for more."""
    before: list[int] = []
    above = list(range(len(other) + 1))
    for row, letter in enumerate(one, 1):
        present = [row]
        for column, sign in enumerate(other, 1):
            cost = min(above[column] + 1, present[-1] + 1, above[column - 1] + (letter != sign))
            if row > 1 and column > 1 and letter == other[column - 2] and one[row - 2] == sign:
                cost = min(cost, before[column - 2] + 1)
            present.append(cost)
        if min(present) > most:
            return most + 1
        before, above = above, present
    return min(above[-1], most + 1)


Searcher = Substrings | SameNames


def create_searcher(rule: str, entries: Sequence[Entry]) -> Searcher:
    """What finds the matches of a dish among `entries` by the rule of this name."""
    if rule == SAME_NAME:
        return SameNames(entries)
    return Substrings(entries, 3 if rule == SUBSTRING_3 else 1)
