"""Words that mix look-alike letters: our table against the package `confusable-homoglyphs`, which must be installed.

    python -m bench.look_alikes

Asked are names of countries and languages in all scripts, of which none is a deceit; the same names with a Latin word
behind them without a blank, as people write beside scripts that share no letter shapes with Latin; and the first with
one letter replaced by its double of another script. Printed: false alarms, deceits found, microseconds a name.
"""

import time
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path

from collection.text_confusables import WORDS, mixes_confusable_letters

DATA = Path(__file__).resolve().parent.parent / "collection" / "data"
UNLIKE = ("ARABIC", "BENGALI", "CJK", "DEVANAGARI", "ETHIOPIC", "HANGUL", "HIRAGANA", "KATAKANA", "TAMIL", "THAI")
DOUBLES = str.maketrans("aceiopxy", "асеіорху")


def honest_names() -> list[str]:
    cells = [cell for name in ("countries.tsv", "languages.tsv") for cell in read_cells(DATA / name)]
    return sorted({part.strip() for cell in cells for part in cell.split(";") if len(part.strip()) > 3})


def read_cells(path: Path) -> Iterator[str]:
    for line in path.read_text(encoding="utf-8").splitlines()[1:]:
        yield from line.split("\t")[1:]


def joined_names(names: list[str]) -> list[str]:
    """Those in scripts whose letters look like none of Latin, joined to a Latin word."""
    return [f"{name}rice" for name in names if script_of(name) in UNLIKE]


def script_of(name: str) -> str:
    return unicodedata.name(name[-1], "").split(" ", 1)[0]


def deceits(names: list[str]) -> list[str]:
    """The names of Latin letters with the first letter that has a Cyrillic double replaced by it."""
    found = []
    for name in names:
        place = next((place for place, sign in enumerate(name) if sign in "aceiopxy"), None)
        word = next((word.group() for word in WORDS.finditer(name) if place is not None and word.end() > place), "")
        if place is not None and len(word) > 1:
            found.append(name[:place] + name[place].translate(DOUBLES) + name[place + 1 :])
    return found


def measure(name: str, finds: Callable[[str], bool], names: list[str]) -> None:
    joined, false = joined_names(names), deceits(names)
    started = time.perf_counter()
    found = [sum(map(finds, asked)) for asked in (names, joined, false)]
    each = (time.perf_counter() - started) / (len(names) + len(joined) + len(false)) * 1e6
    print(
        f"{name}: flags {found[0]} of {len(names)} honest names, {found[1]} of {len(joined)} joined ones, "
        f"{found[2]} of {len(false)} deceits; {each:.1f} µs each"
    )


def main() -> None:
    from confusable_homoglyphs import confusables

    names = honest_names()
    measure("ours", mixes_confusable_letters, names)
    measure("the package, whole names", lambda name: bool(confusables.is_dangerous(name)), names)

    def by_word(name: str) -> bool:
        return any(confusables.is_dangerous(word) for word in WORDS.findall(name))

    measure("the package, word by word", by_word, names)


if __name__ == "__main__":
    main()
