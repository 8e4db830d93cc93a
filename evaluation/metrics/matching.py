"""How many pairs can be chosen so that no two share a side: the largest matching (Kuhn 1955)."""

import numpy as np
import numpy.typing as npt

Codes = npt.NDArray[np.intp]


def most_pairs(first: Codes, second: Codes) -> int:
    """The largest number of observations, with the codes `first` and `second` (n,), no two of which share a code."""
    if not len(first):
        return 0
    few, many = (first, second) if len(np.unique(first)) <= len(np.unique(second)) else (second, first)
    beside: dict[int, list[int]] = {}
    for one, other in np.unique(np.column_stack([few, many]), axis=0).tolist():
        beside.setdefault(one, []).append(other)
    taken: dict[int, int] = {}
    return sum(_placed(one, beside, taken) for one in sorted(beside, key=lambda one: len(beside[one])))


def _placed(start: int, beside: dict[int, list[int]], taken: dict[int, int]) -> bool:
    """Whether `start` finds a partner, others moving on to their next one if need be."""
    seen: set[int] = set()
    path: list[tuple[int, int]] = []
    waiting = [(start, iter(beside[start]))]
    while waiting:
        one, partners = waiting[-1]
        partner = next((other for other in partners if other not in seen), None)
        if partner is None:
            waiting.pop()
            if path:
                path.pop()
            continue
        seen.add(partner)
        path.append((one, partner))
        if partner not in taken:
            taken.update((other, who) for who, other in path)
            return True
        waiting.append((taken[partner], iter(beside[taken[partner]])))
    return False
