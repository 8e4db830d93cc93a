"""Names that somebody typed: an unknown one is answered with the near ones."""

import difflib
from collections.abc import Iterable


def describe_unknown_name(what: str, name: str, known: Iterable[str]) -> str:
    """A sentence that says that `name` is no `what`, and which names come near."""
    names = sorted(known)
    folded = {known.casefold(): known for known in names}
    near = [folded[each] for each in difflib.get_close_matches(name.casefold(), folded, n=3, cutoff=0.5)]
    if near:
        return f"There is no {what} {name!r}. Did you mean {' or '.join(near)}?"
    shown = ", ".join(names[:12]) + (", …" if len(names) > 12 else "")
    return f"There is no {what} {name!r}. Known: {shown or 'none yet'}."
