"""How long the readers of answers take on real-looking and hostile strings, each string by itself.

    python -m bench.readers [--strings 10000]

Prints the slowest string of each reader; none may take 50 ms, and none may raise.
"""

import argparse
import random
import time
from collections.abc import Callable, Iterator
from functools import partial

from evaluation.readers.countries import countries_in, read_countries
from evaluation.readers.ingredients import ingredients_in, read_ingredients
from evaluation.readers.lists import read_list, read_options
from evaluation.studies.knowledge.fields import OPTIONS

SEED = 20250623
MOST = 0.05
LONG = 200_000
PIECES = (
    "Nigeria Congo the of not but from United States Korea Guinea Republic Democratic and or, rice beans salt 'n' it's "
    "breakfast lunch hand spoon Main dish - eaten with sides Error: timeout <think> </think> ``` \\u0041 \\ \" ' [ ] { "
    "} ( ) , ; : . ? ! - • 1. 2) \n \t \0 \u202e \u200b \ufeff 日本 الجزائر भारत Россия İ ı ß ﬀ 𝔫 🍲 \ud800 a\u0301 ½ ٣"
)
WORDS = PIECES.split(" ")
CODE = (
    "__import__('os').system('touch /tmp/hostile')",
    "eval('1+1')",
    "{{7*7}} ${7*7} <%= 7*7 %>",
    "'; DROP TABLE evaluation_outcome; --",
    "[].__class__.__base__.__subclasses__()",
    "<script>alert(1)</script>",
    '{"a": NaN, "b": Infinity, "c": 1e999999}',
    "[" + "9" * 5000 + "]",
)
PATTERNS: tuple[Callable[[random.Random], str], ...] = (
    lambda draw: " ".join(draw.choices(WORDS, k=draw.randint(0, 40))),
    lambda draw: "".join(chr(draw.randint(0, 0x10FFFF)) for _ in range(draw.randint(0, 120))),
    lambda draw: "".join(draw.choices("[]{}()'\",: \\ab\n", k=draw.randint(0, 200))),
    lambda draw: draw.choice(CODE) + " ".join(draw.choices(WORDS, k=draw.randint(0, 5))),
    lambda draw: str([draw.choice(WORDS) for _ in range(draw.randint(0, 30))])[: draw.randint(0, 200)],
)
LARGE: tuple[Callable[[random.Random], str], ...] = (
    lambda draw: draw.choice("[({") * LONG,
    lambda draw: draw.choice("'\"\\ ,.-\n") * LONG,
    lambda draw: "[" * 4000 + "'a'" + "]" * 4000,
    lambda draw: draw.choice(WORDS) * (LONG // 8),
    lambda draw: (draw.choice(WORDS) + draw.choice(" ,.'-")) * 20_000,
    lambda draw: " ".join(draw.choices(WORDS, k=20_000)),
    lambda draw: "a" * LONG + draw.choice(WORDS),
    lambda draw: "'a' " * 50_000,
    lambda draw: "not " * 3000 + "Nigeria, " * 2000,
    lambda draw: "- " * 50_000,
    lambda draw: "1. (" * 50_000,
)


def hostile(strings: int) -> Iterator[str]:
    """So many strings, the same in every run; one in fifty is large."""
    draw = random.Random(SEED)
    for number in range(strings):
        yield draw.choice(LARGE if number % 50 == 49 else PATTERNS)(draw)


READERS: dict[str, Callable[[str], object]] = {
    "countries": lambda text: read_countries(text, text[:40]),
    "countries of a dish": countries_in,
    "list": read_list,
    "ingredients": read_ingredients,
    "ingredients of a dish": ingredients_in,
    **{f"options: {field}": partial(read_options, options=options) for field, options in OPTIONS.items()},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--strings", type=int, default=10_000)
    texts = list(hostile(parser.parse_args().strings))
    print(f"{len(texts)} strings, {max(map(len, texts))} characters at most")
    for name, read in READERS.items():
        read(texts[0])
        slowest, total, of = 0.0, 0.0, ""
        for text in texts:
            begun = time.process_time()
            read(text)
            took = time.process_time() - begun
            total += took
            if took > slowest:
                slowest, of = took, text
        verdict = "" if slowest < MOST else "  TOO SLOW"
        print(f"{name:24} mean {1e6 * total / len(texts):7.0f} µs  worst {1e3 * slowest:5.1f} ms  {of[:40]!a}{verdict}")


if __name__ == "__main__":
    main()
