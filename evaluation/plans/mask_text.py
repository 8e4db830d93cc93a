"""Hidden names in running text: notes, reasons, methods, cells that hold more than one name."""

import re
from collections.abc import Sequence
from functools import cached_property

from evaluation.metrics.ordering import model_key
from evaluation.plans.mask_names import MASKED_ROLES, MODEL, Names

HIDDEN = "Hidden while names are masked: a note that would tell which model is meant."
# The definition of a run, written as `name: value; name: value`: settings tell a model as well as its name does.
SETTINGS = re.compile(r"(?:^|; )(?:model|revision|backend|identifier|steps|guidance|scheduler|size): ")
# `Reviewers: Kenya, Dalle2: 7; Kenya, Dalle3: 9.`
LIST = re.compile(r"(?P<head>[^;:]*: )?(?P<parts>.*; .*?)(?P<end>\.?)", re.DOTALL)
# Shorter revisions may be parts of anything.
SHORT = 5


def has_digit(name: str) -> bool:
    """Names with a digit, such as dalle3, are found within anything; others may be a part of common words."""
    return any(sign.isdigit() for sign in name)


def looked_for(name: str) -> str:
    """The pattern that finds a name: anywhere if it holds a digit, else as whole words."""
    return re.escape(name) if has_digit(name) else rf"(?<!\w){re.escape(name)}(?!\w)"


class Words:
    """Finds every spelling of a hidden name."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self._seen: dict[str, str] = {}

    @cached_property
    def spellings(self) -> dict[str, tuple[str, str]]:
        """What is looked for, in small letters → its kind, and what is there instead."""
        found: dict[str, tuple[str, str]] = {}
        for model in self._names.models:
            if model.role in MASKED_ROLES:
                shown = MODEL, self._names.shown("model", model.slug)
                plain = model.title.partition(" (")[0]
                for name in (model.title, plain, model.slug, model.identifier):
                    found[name.casefold()] = shown
        for (kind, value), name in self._names.names.items():
            if kind == MODEL or self._names.places:
                found.setdefault(value.casefold(), (kind, name))
        return {name: shown for name, shown in found.items() if name}

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        longest_first = sorted(self.spellings, key=len, reverse=True)
        return re.compile("|".join(map(looked_for, longest_first)) or r"(?!)", re.IGNORECASE)

    @cached_property
    def traces(self) -> set[str]:
        """Revisions, and names without spaces and signs: where one is left, the whole text is hidden."""
        models = [model for model in self._names.models if model.role in MASKED_ROLES]
        keys = {model_key(name) for model in models for name in (model.title, model.slug, model.identifier)}
        revisions = {model.revision.casefold() for model in models}
        return {trace for trace in {*filter(has_digit, keys), *revisions} if len(trace) >= SHORT}

    def hidden(self, text: str) -> str:
        """`text` with masked names in the place of real ones, or a sentence that says that it is hidden.

        The order of names in a text is that of the real ones: the parts of a list are sorted anew, and a part that
        names two is hidden.
        """
        if text not in self._seen:
            self._seen[text] = self._hidden(text)
        return self._seen[text]

    def _hidden(self, text: str) -> str:
        if SETTINGS.search(text):
            return HIDDEN
        listed = LIST.fullmatch(text)
        if not listed:
            return self._part(text)
        head, parts = self._part(listed["head"] or ""), [*map(self._part, listed["parts"].split("; "))]
        if HIDDEN in (head, *parts):
            return HIDDEN
        as_they_were = parts == listed["parts"].split("; ")
        return head + "; ".join(parts if as_they_were else sorted(parts)) + listed["end"]

    def _part(self, text: str) -> str:
        """A part of a text that may name one model and one place."""
        lowered = text.casefold()
        # Few texts name anything, and looking for the names one by one is much quicker than the pattern of all.
        if not any(name in lowered for name in self.spellings):
            return HIDDEN if self.traced(text) else text
        met = {self.spellings[found.casefold()] for found in self.pattern.findall(text)}
        shown = self.pattern.sub(lambda found: self.spellings[found.group().casefold()][1], text)
        several = len(met) > len({kind for kind, _name in met})
        return HIDDEN if several or self.traced(shown) else shown

    def traced(self, text: str) -> bool:
        """Whether a revision or a name without its signs is left in a text."""
        plain = "".join(filter(str.isalnum, text.casefold()))
        return any(trace in plain for trace in self.traces)

    def notes(self, notes: Sequence[str]) -> list[str]:
        """Notes, those that name something in the order of what they say now, at the places of such notes."""
        shown = [*map(self.hidden, notes)]
        changed = [place for place, note in enumerate(notes) if shown[place] != note]
        for place, note in zip(changed, sorted(shown[place] for place in changed), strict=True):
            shown[place] = note
        return list(dict.fromkeys(shown))
