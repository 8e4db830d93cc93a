"""Names that somebody typed: an unknown one is answered with the near ones."""

import difflib
from collections.abc import Iterable


def find_near_names(name: str, known: Iterable[str]) -> list[str]:
    """The known names that look like `name`, three at most, the nearest first."""
    folded = {each.casefold(): each for each in sorted(known)}
    return [folded[each] for each in difflib.get_close_matches(name.casefold(), folded, n=3, cutoff=0.5)]


def describe_unknown_name(what: str, name: str, known: Iterable[str]) -> str:
    """A sentence that says that `name` is no `what`, and which names come near."""
    names = sorted(known)
    if near := find_near_names(name, names):
        return f"There is no {what} {name!r}. Did you mean {' or '.join(near)}?"
    shown = ", ".join(names[:12]) + (", …" if len(names) > 12 else "")
    return f"There is no {what} {name!r}. Known: {shown or 'none yet'}."
