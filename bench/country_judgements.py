"""Where the published judgement of countries and our reader agree and differ, to be judged by eye.

    python -m bench.country_judgements [--data DIR] [--sample 200]

Prints the counts, then so many disagreements and agreements, drawn with a stored seed: how often, the answer, the
dish's countries, what was read, J where the judge model accepted it, R where the reader does.
"""

import argparse
import os
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

SEED = 20250623
Judged = tuple[str, str, str, str, str]


def judged(folder: Path) -> Iterator[Judged]:
    """Answer, countries, what was read, and both judgements, of every row of the three files."""
    from evaluation.readers.countries import countries_in, is_country_correct, read_countries
    from wwd.exchange.published import knowledge
    from wwd.exchange.published.models import ANSWERERS
    from wwd.exchange.published.source import Report, read_wellformed_rows

    for name in ANSWERERS:
        file = f"{knowledge.FOLDER}/{name}{knowledge.COMPARED}"
        for row in read_wellformed_rows(folder / "wwd", file, ("local_name",), Report()):
            found = read_countries(row["country_llm"], row["local_name"])
            reads = is_country_correct(found.codes, countries_in(row["countries"]))
            accepted = row["country_match"] == "True"
            what = " ".join(found.codes) or found.state
            yield row["country_llm"], row["countries"], what, "J" if accepted else "-", "R" if reads else "-"


def show(title: str, rows: Sequence[Judged], sample: int) -> None:
    drawn = random.Random(SEED).sample(rows, min(sample, len(rows)))
    print(f"\n{title}: {len(drawn)} of {len(rows)}")
    for row, n in sorted(Counter(drawn).items()):
        answer, *rest = (" ".join(cell.split())[:240] for cell in row)
        print(f"{n:3} {' | '.join([answer, *rest])}")


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "wwd.settings")
    import django

    django.setup()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("WWD_PUBLISHED_DATA", "published")))
    parser.add_argument("--sample", type=int, default=200)
    chosen = parser.parse_args()
    found = list(judged(chosen.data))
    print(dict(Counter("".join(row[3:]) for row in found)))
    show("Disagreements", [row for row in found if row[3:] in (("J", "-"), ("-", "R"))], chosen.sample)
    show("Agreements", [row for row in found if row[3:] in (("J", "R"), ("-", "-"))], chosen.sample)


if __name__ == "__main__":
    main()
