"""Words of menus, `plain_words.txt`: of kinds of dishes (left out where a name of its own remains), of plain food."""

from pathlib import Path

FILE = Path(__file__).with_suffix(".txt")


def _read() -> dict[str, frozenset[str]]:
    """Heading → the words below it."""
    found: dict[str, set[str]] = {}
    words: set[str] = set()
    for line in FILE.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            words = found.setdefault(line.lstrip("# ").partition(":")[0], set())
        else:
            words.update(line.split())
    return {heading: frozenset(held) for heading, held in found.items()}


_WORDS = _read()
GENERIC = _WORDS["generic"]
PLAIN = GENERIC | _WORDS["plain"]
