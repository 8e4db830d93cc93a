"""How many people of a country use the internet: ITU through UNdata, `evaluation/data/internet_use.csv`."""

import csv
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

FILE = Path(__file__).resolve().parent.parent / "data" / "internet_use.csv"
SOURCE = "International Telecommunication Union (ITU), individuals using the internet, through UNdata (data.un.org)"


class InternetUse(NamedTuple):
    """The latest figure of one country. `percent`: of its population, 0 to 100; `country` as UNdata writes it."""

    country: str
    year: int
    percent: float


@lru_cache(maxsize=1)
def internet_use() -> Mapping[str, InternetUse]:
    """ISO 3166-1 alpha-3 → figure. Countries without one since 2015 are not there; years differ between countries."""
    with FILE.open(encoding="utf-8", newline="") as file:
        return MappingProxyType(
            {
                row["iso3"]: InternetUse(row["country"], int(row["year"]), float(row["percent_using_internet"]))
                for row in csv.DictReader(file)
            }
        )
